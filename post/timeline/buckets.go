package timeline

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/stats"
)

// Sizes below which an all-reduce is not taken for a bucket of gradients: it is a loss, a norm or a counter.
const (
	leastBucket      = 4 << 10
	leastBucketShare = 1024 // of the largest of its communicator
)

// What groups of another kind of parallelism are called, and those over which gradients go all the same.
var (
	otherParallel = regexp.MustCompile(
		`(?i)tensor|pipeline|expert|context|sequence|model|(?:^|[^a-z])(?:tp|pp|ep|cp|mp)(?:[^a-z]|$)`)
	dataParallel = regexp.MustCompile(`(?i)data|ddp|(?:^|[^a-z])dp(?:[^a-z]|$)`)
)

// placed is one all-reduce at its place in a sequence.
type placed struct {
	h     *happening
	bytes int64
	typ   string
}

func (p placed) same(o placed) bool { return p.bytes == o.bytes && p.typ == o.typ }

// buckets are the gradient buckets of DDP: all-reduces of floating-point numbers in one communicator, of sizes that
// come in the same order in step after step. Where the file has no steps, a sequence that repeats itself makes them.
// Three or more that are all of one size are activations of tensor parallelism rather, and a communicator that gathers
// and scatters more than it reduces is one of sharded training.
func (c *communication) buckets() []Bucket {
	candidates := make([][]placed, len(c.groups))
	sharded := make([]int64, len(c.groups)) // bytes
	for i := range c.all {
		h := &c.all[i]
		if h.call < 0 {
			continue
		}
		g, call := c.groupOf(h), &c.Calls[h.call]
		switch call.What {
		case coll.AllGather, coll.ReduceScatter:
			sharded[g] += max(0, call.Bytes)
		case coll.AllReduce:
			if call.Bytes >= leastBucket && isFloat(call.Type) {
				candidates[g] = append(candidates[g], placed{h, call.Bytes, call.Type})
			}
		}
	}
	found := []Bucket{}
	for g, sequence := range candidates {
		sequence, reduced := withoutSmall(sequence)
		about := c.groups[g].About
		if len(sequence) == 0 || sharded[g] > reduced || otherParallel.MatchString(about) &&
			!dataParallel.MatchString(about) {
			continue
		}
		for n, place := range c.places(sequence) {
			b := Bucket{Number: n + 1, Bytes: place[0].bytes, Type: place[0].typ, Group: c.groups[g].Name, Steps: len(place)}
			b.Median = medianOf(place, func(h *happening) int64 { return h.End - h.Start })
			b.Exposed = medianOf(place, func(h *happening) int64 { return h.exposed })
			found = append(found, b)
		}
	}
	return found
}

// isFloat says whether gradients may be of a type; one that is not known may be.
func isFloat(typ string) bool {
	return typ == "" || strings.Contains(typ, "float")
}

// withoutSmall leaves out what is tiny beside the largest, and says how many bytes are left.
func withoutSmall(sequence []placed) (kept []placed, bytes int64) {
	var largest int64
	for _, p := range sequence {
		largest = max(largest, p.bytes)
	}
	for _, p := range sequence {
		if p.bytes >= largest/leastBucketShare {
			kept = append(kept, p)
			bytes += p.bytes
		}
	}
	return kept, bytes
}

func medianOf(place []placed, of func(*happening) int64) float64 {
	values := make([]float64, len(place))
	for i, p := range place {
		values[i] = milliseconds(of(p.h))
	}
	return stats.Median(values)
}

// places are the calls at each place of a step's sequence; none where steps have no sequence in common.
func (c *communication) places(sequence []placed) [][]placed {
	repeats := c.byStep(sequence)
	if len(c.host) == 0 {
		repeats = byPeriod(sequence)
	}
	if len(repeats) < 2 || ofOneSize(repeats[0]) {
		return nil
	}
	places := make([][]placed, len(repeats[0]))
	for _, step := range repeats {
		for i, p := range step {
			places[i] = append(places[i], p)
		}
	}
	return places
}

func ofOneSize(step []placed) bool {
	return len(step) > 2 && !slices.ContainsFunc(step, func(p placed) bool { return !p.same(step[0]) })
}

// byStep are the sequences of the steps that have the commonest one. Others may be: DDP orders its buckets anew after
// its first step, and steps that gather gradients reduce nothing.
func (c *communication) byStep(sequence []placed) [][]placed {
	steps := make([][]placed, len(c.host))
	for _, p := range sequence {
		if n := c.stepOf[p.h.first]; n >= 0 {
			steps[n] = append(steps[n], p)
		}
	}
	alike := map[string][][]placed{}
	var most string
	for _, step := range steps {
		if len(step) == 0 {
			continue
		}
		var key strings.Builder
		for _, p := range step {
			fmt.Fprintf(&key, "%d %s,", p.bytes, p.typ)
		}
		k := key.String()
		alike[k] = append(alike[k], step)
		if cmp.Or(cmp.Compare(len(alike[k]), len(alike[most])), strings.Compare(most, k)) >= 0 {
			most = k
		}
	}
	return alike[most]
}

// byPeriod cuts a sequence that repeats itself where its calls lie farthest apart: there is the forward pass.
func byPeriod(sequence []placed) (repeats [][]placed) {
	p := period(sequence)
	if 2*p > len(sequence) {
		return nil
	}
	cut, widest := 0, -1.0
	for at := range p {
		var gaps []float64
		for i := at; i < len(sequence); i += p {
			if i > 0 {
				gaps = append(gaps, float64(sequence[i].h.Start-sequence[i-1].h.End))
			}
		}
		if gap := stats.Median(gaps); gap > widest {
			cut, widest = at, gap
		}
	}
	for i := cut; i+p <= len(sequence); i += p {
		repeats = append(repeats, sequence[i:i+p])
	}
	return repeats
}

// period is after how many calls a sequence repeats itself, its length where it does not: by the longest beginning that
// is an end too.
func period(sequence []placed) int {
	border := make([]int, len(sequence))
	for i := 1; i < len(sequence); i++ {
		k := border[i-1]
		for k > 0 && !sequence[i].same(sequence[k]) {
			k = border[k-1]
		}
		if sequence[i].same(sequence[k]) {
			k++
		}
		border[i] = k
	}
	return len(sequence) - border[len(sequence)-1]
}
