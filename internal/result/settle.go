package result

import (
	"context"

	"busbar/internal/notice"
)

// settle marks the lines of related files that are not to count: the second copy of a record, and along a chain a
// point that was not ok where another run has it ok, or tried it later. The error is the context's cause.
func (d *Dataset) settle(ctx context.Context, group []*source) error {
	s := newSettler()
	err := inOrder(group, keysOf, func(b *batch, records []keyed) error {
		for _, r := range records {
			s.add(b.source, r)
		}
		return context.Cause(ctx) // an error of reading comes again, and is told, when the rows are read
	})
	if err != nil {
		return err
	}
	replaced := s.supersede(ancestors(group))
	for _, f := range group {
		if n := s.twice[f]; n > 0 {
			d.note(f.path, notice.RecordsCopied{Records: n})
		}
		if n := replaced[f]; n > 0 {
			d.note(f.path, notice.RecordsReplaced{Records: n})
		}
	}
	return nil
}

// keyed is what settling needs of one record.
type keyed struct {
	key     PointKey
	n, line int
	weight  weight
}

func keysOf(b *batch) []keyed {
	var found []keyed
	b.each(func(line []byte, n int, _ bool) {
		var r Record
		if kindOf(line) == KindCase && decodeTable(line, &r) == nil {
			found = append(found, keyed{r.Point(b.source.run.Backend.Name), r.N, n, weigh(r.Status)})
		}
	})
	return found
}

// weight is what a record's status says about its point.
type weight uint8

const (
	measured weight = iota // has a figure that holds
	untried                // nothing was run
	tried                  // was run, to no end
	finding                // wrong data, and what a later version may say: no other record stands for it
)

func weigh(s Status) weight {
	switch s {
	case OK:
		return measured
	case Skipped, Unsupported:
		return untried
	case OOM, Timeout, Failed, Unfinished:
		return tried
	}
	return finding
}

// settler decides which records of a group of files count. A soak has millions of records of some hundred cases, so
// that what is kept of each is small.
type settler struct {
	places []place
	points map[PointKey]int32 // the points without their cycles, numbered
	newest map[turn]int32     // index of a point's last place
	seen   map[string]*set
	twice  map[*source]int
}

func newSettler() *settler {
	return &settler{points: map[PointKey]int32{}, newest: map[turn]int32{}, seen: map[string]*set{},
		twice: map[*source]int{}}
}

// turn is a point in one cycle.
type turn struct {
	point int32
	cycle int
}

// place is where one record of a group stands.
type place struct {
	source *source
	line   int
	before int32 // the point's record before this one, as an index; -1: none
	weight weight
}

func (s *settler) add(f *source, r keyed) {
	seen := s.seen[f.run.ID]
	if seen == nil {
		seen = &set{}
		s.seen[f.run.ID] = seen
	}
	if r.n > 0 && r.n < maxNumber {
		if seen.has(r.n) {
			f.drop.add(r.line)
			s.twice[f]++
			return
		}
		seen.add(r.n)
	}
	p := place{f, r.line, -1, r.weight}
	key := s.turn(r.key)
	if i, there := s.newest[key]; there {
		p.before = i
	}
	s.newest[key] = int32(len(s.places)) // a place takes 24 bytes: memory ends before int32 does
	s.places = append(s.places, p)
}

func (s *settler) turn(k PointKey) turn {
	cycle := k.Cycle
	k.Cycle = 0
	i, there := s.points[k]
	if !there {
		i = int32(len(s.points))
		s.points[k] = i
	}
	return turn{i, cycle}
}

// maxNumber bounds the memory that a record with a nonsense number can ask for.
const maxNumber = 1 << 26

// supersede drops what another run of the chain stands for, and counts it by file.
func (s *settler) supersede(before *ancestry) map[*source]int {
	replaced := map[*source]int{}
	for _, i := range s.newest {
		for j := i; j >= 0; j = s.places[j].before {
			if p := &s.places[j]; s.replaced(i, p, before) {
				p.source.drop.add(p.line)
				replaced[p.source]++
			}
		}
	}
	return replaced
}

// replaced says whether another record of the point, whose list begins at i, counts in the place of p.
func (s *settler) replaced(i int32, p *place, before *ancestry) bool {
	if p.weight == measured || p.weight == finding {
		return false
	}
	for ; i >= 0; i = s.places[i].before {
		q := &s.places[i]
		later := before.continues(q.source.run.ID, p.source.run.ID)
		earlier := before.continues(p.source.run.ID, q.source.run.ID)
		switch {
		case q.weight == measured && (later || earlier || p.weight == untried):
			return true
		case later && (q.weight == tried || p.weight == untried):
			return true
		}
	}
	return false
}
