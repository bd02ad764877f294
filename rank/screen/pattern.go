package screen

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/sweeps"
)

// Pattern prints the header of a pattern, with a file per library; groups describes its groups.
func (s *Screen) Pattern(files []File, groups string, rounds int, o sweeps.Options) {
	s.rounds = rounds
	s.Head(files, groups, o)
}

// The headers of a pattern's table.
const (
	patternNames = "#      size in how       time    ±  busbw    nodes"
	patternUnits = "#       (B)              (us)  (%) (GB/s) #"
)

// round names the round of a group.
func (s *Screen) round(g *result.Group) string {
	if g.Alone() {
		return "alone"
	}
	n, again := pattern.Number(s.rounds, g.Round)
	if again {
		return fmt.Sprintf("round %d repeated", n)
	}
	return fmt.Sprintf("round %d", n)
}

// PatternRow prints a record of a group.
func (s *Screen) PatternRow(library string, r *result.Record) {
	s.counts[r.Status]++
	if !s.on {
		return
	}
	if section := s.round(r.Group) + ": " + r.Collective.String(); section != s.section {
		if s.section == "" {
			fmt.Fprintf(s.out, "#\n%s\n%s\n", patternNames, patternUnits)
		}
		s.section = section
		s.Note("%s", section)
	}
	left := fmt.Sprintf("%11d %3s %.3s ", r.SizeBytes, r.Placement, r.Mode)
	nodes := r.Group.Members()
	if s.several {
		nodes = library + " " + nodes
	}
	if r.Status != result.OK {
		s.notMeasured(left+nodes+" ", r.Status, r.Why)
		return
	}
	t := r.Time
	row := fmt.Sprintf("%s%10s %4s %6s %s ", left, digits(t.Seconds*1e6, 10), halfWidth(t),
		digits(r.BusBW(t.Seconds)/1e9, 6), wrongElements(r.Check))
	fmt.Fprintln(s.out, row+Clip(nodes, max(12, 80-len(row))))
	s.notes.add(r.Case, r.Warnings)
}

// halfWidth returns the half-width of the confidence interval in percent of the time, in four columns.
func halfWidth(t *result.Time) string {
	switch {
	case t.Hi <= 0 || t.Seconds <= 0:
		return "-"
	case t.Hi-t.Lo >= 19.99*t.Seconds:
		return ">999"
	}
	return digits(50*(t.Hi-t.Lo)/t.Seconds, 4)
}

// Verdict prints the slow nodes and links of each case.
func (s *Screen) Verdict(library string, verdicts map[coll.Case]pattern.Verdict, hosts []string) {
	if !s.on {
		return
	}
	cases := slices.SortedFunc(maps.Keys(verdicts), func(a, b coll.Case) int {
		return cmp.Or(cmp.Compare(a.SizeBytes, b.SizeBytes), cmp.Compare(a.String(), b.String()))
	})
	fmt.Fprintln(s.out, "#")
	for _, c := range cases {
		name := c.String()
		if s.several {
			name = library + " " + name
		}
		v := verdicts[c]
		for _, n := range v.Notices(hosts) {
			s.Wrapped("# ", name+": "+notice.Text(n.Fact))
		}
	}
}
