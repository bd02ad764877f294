package main

import (
	"cmp"
	"fmt"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/pattern"
	"busbar/internal/result"
)

// pattern heads the table of a pattern.
func (s *screen) pattern(r *patternRun) {
	s.pace, s.section, s.several = r.pace, "", len(r.books) > 1
	for _, b := range r.books {
		s.paths = append(s.paths, b.sheet.w.Path())
	}
	if !s.on {
		return
	}
	s.bar.total(r.pace.planned)
	var said notice.List
	for _, b := range r.books {
		s.head(&b.run, fmt.Sprintf("%s x %d", r.of, len(r.of.ranks[0])))
		s.before(&b.run, &said)
	}
}

// The heads of a pattern's table.
const (
	patternNames = "#      size in how       time    ±  busbw    nodes"
	patternUnits = "#       (B)              (us)  (%) (GB/s) #"
)

// round is when a group was measured.
func (s *screen) round(g *result.Group) string {
	if g.Alone() {
		return "alone"
	}
	n, again := pattern.Number(len(s.plan.pattern.rounds), g.Round)
	if again {
		return fmt.Sprintf("round %d once more", n)
	}
	return fmt.Sprintf("round %d", n)
}

// patternRow adds a record of a group to the table; backend says of which, where there are several.
func (s *screen) patternRow(library string, r *result.Record) {
	s.counts[r.Status]++
	if !s.on {
		return
	}
	if section := s.round(r.Group) + ": " + r.Collective.String(); section != s.section {
		if s.section == "" {
			fmt.Fprintf(s.out, "#\n%s\n%s\n", patternNames, patternUnits)
		}
		s.section = section
		s.note("%s", section)
	}
	left := fmt.Sprintf("%11d %3s %.3s ", r.SizeBytes, r.Placement, r.Mode)
	nodes := r.Group.Members()
	if library != "" {
		nodes = library + " " + nodes
	}
	if r.Status != result.OK {
		s.notMeasured(left+nodes+" ", r)
		return
	}
	t := r.Time
	checked := map[string]string{"ok": "0", "off": "-"}[r.Check.Result]
	row := fmt.Sprintf("%s%10s %4s %6s %s ", left, digits(t.Seconds*1e6, 10), halfWidth(t),
		digits(r.BusBW(t.Seconds)/1e9, 6), checked)
	fmt.Fprintln(s.out, row+clip(nodes, max(12, 80-len(row))))
	s.notes.add(r)
}

// halfWidth is half the interval in percent of the time, in four columns.
func halfWidth(t *result.Time) string {
	switch {
	case t.Hi <= 0 || t.Seconds <= 0:
		return "-"
	case t.Hi-t.Lo >= 19.99*t.Seconds:
		return ">999"
	}
	return digits(50*(t.Hi-t.Lo)/t.Seconds, 4)
}

// verdict says which nodes and links are slow, by each case.
func (s *screen) verdict(library string, rehearsed bool, verdicts map[coll.Case]pattern.Verdict, hosts []string) {
	if !s.on {
		return
	}
	cases := make([]coll.Case, 0, len(verdicts))
	for c := range verdicts {
		cases = append(cases, c)
	}
	slices.SortFunc(cases, func(a, b coll.Case) int {
		return cmp.Or(cmp.Compare(a.SizeBytes, b.SizeBytes), cmp.Compare(a.String(), b.String()))
	})
	fmt.Fprintln(s.out, "#")
	if rehearsed {
		s.note("SIMULATED: what follows is not about hardware")
	}
	for _, c := range cases {
		name := c.String()
		if library != "" {
			name = library + " " + name
		}
		v := verdicts[c]
		for _, n := range v.Notices(hosts) {
			s.wrapped("# ", name+": "+notice.Text(n.Fact))
		}
	}
}
