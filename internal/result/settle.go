package result

import (
	"slices"
)

// related groups the files that have records of one run, or of runs that continue each other. Files alone are left out.
func related(files []*source) [][]*source {
	group := make([]int, len(files)) // index of a file in the same group, or its own
	root := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	first := map[string]int{} // by run
	for i, s := range files {
		group[i] = i
		if j, ok := first[s.run.ID]; ok {
			group[i] = root(j)
		} else {
			first[s.run.ID] = i
		}
	}
	for i, s := range files {
		for _, id := range s.run.Resumes {
			if j, ok := first[id]; ok {
				group[root(j)] = root(i)
			}
		}
	}
	members := map[int][]*source{}
	for i, s := range files {
		members[root(i)] = append(members[root(i)], s)
	}
	var groups [][]*source
	for i := range files {
		if m := members[i]; len(m) > 1 {
			groups = append(groups, m)
		}
	}
	return groups
}

// ancestors are, for each run, the runs among files that it continues, also by way of others.
func ancestors(files []*source) map[string]map[string]bool {
	parents := map[string][]string{}
	for _, s := range files {
		parents[s.run.ID] = s.run.Resumes
	}
	all := map[string]map[string]bool{}
	for id := range parents {
		seen := map[string]bool{}
		open := slices.Clone(parents[id])
		for len(open) > 0 {
			p := open[len(open)-1]
			open = open[:len(open)-1]
			if !seen[p] && p != id {
				seen[p] = true
				open = append(open, parents[p]...)
			}
		}
		all[id] = seen
	}
	return all
}

// place is where one record of a group stands.
type place struct {
	source *source
	line   int
	ok     bool
	next   int // the point's record before this one, as an index; -1: none
}

// settler decides which records of a group of files count.
type settler struct {
	places []place
	newest map[PointKey]int // index of a point's last place
	seen   map[string]*lineSet
	twice  map[*source]int
}

// keyed is what settling needs of one record.
type keyed struct {
	key     PointKey
	n, line int
	ok      bool
}

// settle marks the lines that are not to count: the second copy of a record, and along a chain a point that was not ok
// where another run of the chain has it ok, or tried it later.
func (d *Dataset) settle(group []*source) error {
	s := &settler{newest: map[PointKey]int{}, seen: map[string]*lineSet{}, twice: map[*source]int{}}
	err := inOrder(group, keysOf, func(b *batch, records []keyed) error {
		for _, r := range records {
			s.add(b.source, r)
		}
		return nil // an error of reading comes again, and is told, when the rows are read
	})
	if err != nil {
		return err
	}
	replaced := s.supersede(ancestors(group))
	for _, f := range group {
		if n := s.twice[f]; n > 0 {
			d.note(f.path, "%s in another file of the same run (a copy) and counted once", records(n))
		}
		if n := replaced[f]; n > 0 {
			d.note(f.path, "%s not ok here, and replaced by a run that goes with this one by --resume", records(n))
		}
	}
	return nil
}

func keysOf(b *batch) []keyed {
	var found []keyed
	b.each(func(line []byte, n int, _ bool) {
		var r Record
		if kindOf(line) == KindCase && decodeTable(line, &r) == nil {
			found = append(found, keyed{Point(b.source.run.Backend.Name, r.Case, r.Cycle), r.N, n, r.Status == OK})
		}
	})
	return found
}

func (s *settler) add(f *source, r keyed) {
	seen := s.seen[f.run.ID]
	if seen == nil {
		seen = &lineSet{}
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
	p := place{f, r.line, r.ok, -1}
	if i, there := s.newest[r.key]; there {
		p.next = i
	}
	s.newest[r.key] = len(s.places)
	s.places = append(s.places, p)
}

// maxNumber bounds the memory that a record with a nonsense number can ask for.
const maxNumber = 1 << 30

// supersede drops what another run of the chain stands for, and counts it by file.
func (s *settler) supersede(before map[string]map[string]bool) map[*source]int {
	replaced := map[*source]int{}
	for _, i := range s.newest {
		for j := i; j >= 0; j = s.places[j].next {
			if p := &s.places[j]; !p.ok && s.replacedBy(i, p, before) {
				p.source.drop.add(p.line)
				replaced[p.source]++
			}
		}
	}
	return replaced
}

// replacedBy says whether a record of the point whose list begins at i counts in the place of p.
func (s *settler) replacedBy(i int, p *place, before map[string]map[string]bool) bool {
	for ; i >= 0; i = s.places[i].next {
		q := &s.places[i]
		later := before[q.source.run.ID][p.source.run.ID]
		if later || q.ok && before[p.source.run.ID][q.source.run.ID] {
			return true
		}
	}
	return false
}
