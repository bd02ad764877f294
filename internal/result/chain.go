package result

import (
	"context"
	"slices"

	"busbar/internal/notice"
)

// chains groups the files that have records of one run, or of runs that continue each other, oldest first as they come.
// Files alone are left out.
func chains(files []*source) [][]*source {
	var members [][]*source
	chain := map[string]int{} // index of its members, by run
	for _, s := range files {
		mine := -1
		for _, id := range append([]string{s.run.ID}, s.run.Resumes...) {
			switch other, here := chain[id]; {
			case !here || other == mine:
			case mine < 0:
				mine = other
			default:
				for _, m := range members[other] {
					chain[m.run.ID] = mine
				}
				members[mine], members[other] = append(members[mine], members[other]...), nil
			}
		}
		if mine < 0 {
			mine, members = len(members), append(members, nil)
		}
		members[mine], chain[s.run.ID] = append(members[mine], s), mine
	}
	for _, m := range members {
		slices.SortStableFunc(m, byStart)
	}
	return slices.DeleteFunc(members, func(m []*source) bool { return len(m) < 2 })
}

func byStart(a, b *source) int { return a.run.Start.Compare(b.run.Start) }

// settle marks the records of a chain that are not to count. The error is the context's cause.
func (d *Dataset) settle(ctx context.Context, chain []*source) error {
	s := newSettler()
	type keyed struct {
		key    PointKey
		n      int
		status Status
	}
	keep := func(records []keyed, run *Run, r *Record) []keyed {
		return append(records, keyed{r.Point(run.Backend.Name), r.N, r.Status})
	}
	err := read(&Dataset{files: chain}, tabular, keep, func(from *source, records []keyed) error {
		for _, r := range records {
			s.add(from, r.n, r.key, r.status)
		}
		return context.Cause(ctx) // an error of reading comes again, and is reported, when the rows are read
	}, nil)
	if err != nil {
		return err
	}
	s.finish()
	for _, f := range chain {
		if f.copied > 0 {
			d.note(f.path, notice.RecordsCopied{Records: f.copied})
		}
		if f.replaced > 0 {
			d.note(f.path, notice.RecordsReplaced{Records: f.replaced})
		}
	}
	return nil
}

// settler decides which records of a chain count: each once, by run and number. A point that was not measured counts
// only if the chain has it measured nowhere, and then by its last record, where one that was tried comes before one
// that was not. Wrong data, and what a later version may write, count always, and as tried.
type settler struct {
	seen   map[recordID]bool
	points map[PointKey]*settled
}

type recordID struct {
	run string
	n   int
}

// settled is what is known of a point so far.
type settled struct {
	measured bool
	tried    bool    // of last: it was run, to no end
	last     *source // with the record that counts unless the point is measured; nil: none
	index    int     // of that record
}

func newSettler() *settler {
	return &settler{seen: map[recordID]bool{}, points: map[PointKey]*settled{}}
}

// add takes the next record of a file.
func (s *settler) add(from *source, n int, key PointKey, status Status) {
	index := from.settled
	from.settled++
	id := recordID{from.run.ID, n}
	if n > 0 && s.seen[id] {
		from.drop[index] = true
		from.copied++
		return
	}
	s.seen[id] = true
	p := s.points[key]
	if p == nil {
		p = &settled{}
		s.points[key] = p
	}
	tried := true
	switch status {
	case OK:
		p.measured = true
		return
	case Skipped, Unsupported:
		tried = false
	case OOM, Timeout, Failed, Unfinished:
	default:
		if p.last != nil && !p.tried {
			p.last.replace(p.index)
			p.last = nil
		}
		p.tried = true
		return
	}
	if p.tried && !tried {
		from.replace(index)
		return
	}
	if p.last != nil {
		p.last.replace(p.index)
	}
	p.tried, p.last, p.index = tried, from, index
}

// finish drops what was not measured of points that are.
func (s *settler) finish() {
	for _, p := range s.points {
		if p.measured && p.last != nil {
			p.last.replace(p.index)
		}
	}
}

func (s *source) replace(index int) {
	s.drop[index] = true
	s.replaced++
}
