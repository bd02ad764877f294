package timeline

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/post/trace"
)

// method is by what calls were matched.
type method int

const (
	byNumber method = iota
	byStep
	byOrder
	byKind
	byPeer
)

var methodNames = []notice.MatchMethod{
	byNumber: notice.ByNumber, byStep: notice.ByStep, byOrder: notice.ByOrder, byKind: notice.ByKind,
	byPeer: notice.ByPeer,
}

// kind stands for what two calls must share to be one collective. It is a number, as millions of them are compared.
type kind int32

// likeness is what a kind stands for.
type likeness struct {
	name  string
	bytes int64
}

// likenessOf is that of a call. Ranks of an uneven exchange have different sizes, and its size is no part of it.
func (d *Device) likenessOf(s *seen) likeness {
	k := likeness{bytes: trace.Unknown}
	if s.collective < 0 || int(s.collective) >= len(d.Collectives) {
		return k
	}
	of := &d.Collectives[s.collective]
	k.name = of.Name
	switch k.name {
	case coll.AllReduce.String(), coll.AllGather.String(), coll.ReduceScatter.String(), coll.Broadcast.String(),
		coll.Reduce.String():
		if of.Bytes != nil {
			k.bytes = *of.Bytes
		}
	}
	return k
}

// match finds which calls of a party are one. Of several ways the first that matches half of the shortest part is
// taken, else the one that matches most.
func (c *comparison) match(p *party) {
	if len(p.parts) < 2 {
		c.leave(p)
		return
	}
	m := newMatcher(c, p)
	shortest := len(p.parts[0].calls)
	for _, q := range p.parts {
		shortest = min(shortest, len(q.calls))
	}
	var best method
	for _, w := range m.methods() {
		found := w.match()
		if len(found) > len(p.matches) {
			p.matches, best = found, w.method
		}
		if 2*len(found) >= shortest {
			break
		}
	}
	c.methods[best] += len(p.matches)
	for _, q := range p.parts {
		c.alone += len(q.calls) - len(p.matches)
	}
}

// matcher matches the calls of one party. Its methods return the place in part.calls by part, for each matched call.
type matcher struct {
	*party
	of    *comparison
	kinds [][]kind // of the calls of each part
}

func newMatcher(c *comparison, p *party) *matcher {
	m := &matcher{party: p, of: c, kinds: make([][]kind, len(p.parts))}
	numbers := map[likeness]kind{}
	for i, q := range p.parts {
		d := m.device(i)
		m.kinds[i] = make([]kind, len(q.calls))
		for n, at := range q.calls {
			of := d.likenessOf(&d.seen[at])
			if _, known := numbers[of]; !known {
				numbers[of] = kind(len(numbers))
			}
			m.kinds[i][n] = numbers[of]
		}
	}
	return m
}

// device is that of a part.
func (m *matcher) device(part int) *Device { return &m.of.timeline.Devices[m.parts[part].device] }

// matchWay is one way to match.
type matchWay struct {
	method
	match func() [][]int32
}

// methods are the ways to try, in their order.
func (m *matcher) methods() []matchWay {
	if m.peers {
		return []matchWay{{byPeer, m.all}}
	}
	ways := []matchWay{{byNumber, m.byNumbers}, {byStep, m.bySteps}}
	if m.name == "" {
		ways = append(ways, matchWay{byKind, m.byKinds})
	}
	return append(ways, matchWay{byOrder, m.inOrder})
}

// all matches calls one by one, if all ranks have as many.
func (m *matcher) all() (found [][]int32) {
	for _, q := range m.parts {
		if len(q.calls) != len(m.parts[0].calls) {
			return nil
		}
	}
	for n := range m.parts[0].calls {
		found = append(found, slices.Repeat([]int32{int32(n)}, len(m.parts)))
	}
	return found
}

// wrongs is how many of a hundred calls that should be one may be of different kinds before the way they were matched
// is not believed.
const wrongs = 2

// byNumbers matches by the numbers in the file. Several kernels of one number are told apart by their order.
func (m *matcher) byNumbers() (found [][]int32) {
	type number struct {
		seq   int64
		again int
	}
	rest := make([]map[number]int32, len(m.parts)-1)
	var first []number
	for i, q := range m.parts {
		times := map[int64]int{}
		if i > 0 {
			rest[i-1] = map[number]int32{}
		}
		for n, at := range q.calls {
			seq := m.device(i).seen[at].seq
			if seq < 0 {
				return nil
			}
			k := number{seq, times[seq]}
			times[seq]++
			if i == 0 {
				first = append(first, k)
			} else {
				rest[i-1][k] = int32(n)
			}
		}
	}
	wrong := 0
next:
	for n, k := range first {
		one := []int32{int32(n)}
		for _, r := range rest {
			at, has := r[k]
			if !has {
				continue next
			}
			one = append(one, at)
		}
		if !m.alike(one) {
			wrong++
			continue
		}
		found = append(found, one)
	}
	if 100*wrong > wrongs*(len(found)+wrong) {
		return nil
	}
	return found
}

// alike reports whether calls are of one kind.
func (m *matcher) alike(match []int32) bool {
	for i, at := range match {
		if m.kinds[i][at] != m.kinds[0][match[0]] {
			return false
		}
	}
	return true
}

// bySteps matches the calls of steps of one name, where all ranks have the same kinds in the same order in it.
func (m *matcher) bySteps() (found [][]int32) {
	steps := make([]map[string][]int32, len(m.parts))
	var order []string
	for i, q := range m.parts {
		d := m.device(i)
		if d.repeatsSteps() {
			return nil
		}
		steps[i] = map[string][]int32{}
		for n, at := range q.calls {
			s := m.of.stepOf(q.device, &d.seen[at])
			if s.name == "" {
				continue
			}
			if i == 0 && steps[0][s.name] == nil {
				order = append(order, s.name)
			}
			steps[i][s.name] = append(steps[i][s.name], int32(n))
		}
	}
	for _, name := range order {
		var of [][]int32
		for n := range steps[0][name] {
			one := make([]int32, 0, len(m.parts))
			for i := range m.parts {
				if mine := steps[i][name]; len(mine) == len(steps[0][name]) {
					one = append(one, mine[n])
				}
			}
			if len(one) < len(m.parts) || !m.alike(one) {
				of = nil
				break
			}
			of = append(of, one)
		}
		found = append(found, of...)
	}
	return found
}

// repeatsSteps says that steps of a device share a name, so that it does not tell them apart.
func (d *Device) repeatsSteps() bool {
	names := map[string]bool{}
	for _, s := range d.Steps {
		if names[s.Name] {
			return true
		}
		names[s.Name] = true
	}
	return false
}

// byKinds matches the calls of each kind by their order, for kinds of which all ranks have as many. Calls of several
// communicators may change places between ranks; those of one kind seldom do.
func (m *matcher) byKinds() (found [][]int32) {
	places := make([]map[kind][]int32, len(m.parts))
	for i := range m.parts {
		places[i] = map[kind][]int32{}
		for n, k := range m.kinds[i] {
			places[i][k] = append(places[i][k], int32(n))
		}
	}
	taken := map[kind]int{}
	for n, k := range m.kinds[0] {
		one := []int32{int32(n)}
		for i := 1; i < len(m.parts) && len(places[i][k]) == len(places[0][k]); i++ {
			one = append(one, places[i][k][taken[k]])
		}
		taken[k]++
		if len(one) == len(m.parts) {
			found = append(found, one)
		}
	}
	return found
}

// how is by what was matched.
func (c *comparison) how() (all notice.MatchedByAll) {
	for m, name := range methodNames {
		if n := c.methods[method(m)]; n > 0 {
			all = append(all, notice.MatchedBy{How: name, Calls: n})
		}
	}
	return all
}
