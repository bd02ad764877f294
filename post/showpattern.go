package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/internal/units"
)

// patterns are the runs shown that were measured in groups of nodes. One that continues another is judged with it; launches
// are not mixed otherwise, as a node that was slow in one may have been mended before the next.
type patterns struct{ of []*patternTimes }

// patternTimes are what the groups of a pattern took in a run, and in those that continue it.
type patternTimes struct {
	runs  []string // their IDs
	run   *result.Run
	cases []coll.Case
	times map[result.PointKey]result.Time
}

func (p *patterns) add(f *result.File) {
	t := &patternTimes{runs: append([]string{f.Run.ID}, f.Run.Resumes...), run: &f.Run, times: map[result.PointKey]result.Time{}}
	for i := range f.Records {
		r := &f.Records[i]
		if !slices.Contains(t.cases, r.Case) {
			t.cases = append(t.cases, r.Case)
		}
		if r.Timed() {
			t.times[r.Point(f.Run.Backend.Name)] = *r.Time
		}
	}
	p.of = append(p.of, t)
}

// chains are the runs, oldest first, each with those that continue it.
func (p *patterns) chains() (chains []*patternTimes) {
	runs := slices.Clone(p.of)
	slices.SortStableFunc(runs, func(a, b *patternTimes) int { return a.run.Start.Compare(b.run.Start) })
	for _, t := range runs {
		i := slices.IndexFunc(chains, func(c *patternTimes) bool {
			return c.run.Key() == t.run.Key() && slices.ContainsFunc(t.runs, func(id string) bool { return slices.Contains(c.runs, id) })
		})
		if i < 0 {
			chains = append(chains, t)
			continue
		}
		c := chains[i]
		c.runs = append(c.runs, t.runs...)
		for _, k := range t.cases {
			if !slices.Contains(c.cases, k) {
				c.cases = append(c.cases, k)
			}
		}
		maps.Copy(c.times, t.times)
	}
	return chains
}

// write writes the verdict on each pattern.
func (p *patterns) write(w io.Writer) {
	chains := p.chains()
	for _, t := range chains {
		of := t.run.Pattern
		title := fmt.Sprintf("%s of %s with %s (%s), in %s: %s", of.Kind, units.Count(len(of.Hosts), "node"), t.run.Backend.Name, t.run.Backend.Library,
			units.Count(of.Rounds, "round"), units.Some(of.Hosts))
		if t.run.Rehearse {
			title += " (REHEARSED: it says nothing about hardware)"
		}
		if len(chains) > 1 {
			title += ", begun " + t.run.Start.Format("2006-01-02 15:04:05 UTC")
		}
		fmt.Fprintln(w)
		for _, line := range wrap(title, 80) {
			fmt.Fprintln(w, line)
		}
		verdicts := pattern.Verdicts(of, t.run.Backend.Name, t.cases, t.times)
		for _, c := range t.cases {
			fmt.Fprintf(w, "\n%s\n", c)
			v := verdicts[c]
			for _, sentence := range v.Sentences(of.Hosts) {
				for i, line := range wrap(sentence, 78) {
					fmt.Fprintln(w, indent(i)+line)
				}
			}
			if of.Kind == pattern.Pairs {
				writePairs(w, of.Hosts, &v)
			} else {
				t.writeHalves(w, c)
			}
		}
	}
}

// indent is what stands before a line of a finding: a dash before the first.
func indent(line int) string {
	if line == 0 {
		return "- "
	}
	return "  "
}

// mostColumns is how many nodes a table of pairs has room for in 80 columns.
const mostColumns = 11

// writePairs writes what pairs took, as multiples of the median of the sound ones.
func writePairs(w io.Writer, hosts []string, v *pattern.Verdict) {
	if v.Pairs.Base <= 0 {
		return
	}
	table := v.Relative()
	fmt.Fprintf(w, "  pairs' times in the rounds as multiples of %s, the median of sound pairs\n", units.Duration(v.Pairs.Base))
	if len(hosts) > mostColumns {
		writeNodes(w, hosts, table)
		return
	}
	fmt.Fprintf(w, "  %-14s", "")
	for i := range hosts {
		fmt.Fprintf(w, " %4d", i+1)
	}
	fmt.Fprintln(w)
	for i, row := range table {
		fmt.Fprintf(w, "  %2d %-11s", i+1, clip(hosts[i]))
		for k, x := range row {
			cell := "?"
			switch {
			case k == i:
				cell = "-"
			case x > 0:
				cell = multiple(x)
			}
			fmt.Fprintf(w, " %4s", cell)
		}
		fmt.Fprintln(w)
	}
}

// multiple writes a factor in four columns.
func multiple(x float64) string {
	if x < 1 {
		return fmt.Sprintf("%.2f", x)
	}
	return units.Times(min(x, 9999))
}

// writeNodes names the nodes whose pairs took longest, where there are too many for a table.
func writeNodes(w io.Writer, hosts []string, table [][]float64) {
	const most = 8
	type node struct {
		host   string
		middle float64
	}
	var nodes []node
	for i, row := range table {
		row = slices.DeleteFunc(slices.Clone(row), func(x float64) bool { return x <= 0 })
		if len(row) > 0 {
			slices.Sort(row)
			nodes = append(nodes, node{hosts[i], row[len(row)/2]})
		}
	}
	slices.SortStableFunc(nodes, func(a, b node) int { return cmp.Compare(b.middle, a.middle) })
	var words []string
	for _, n := range nodes[:min(most, len(nodes))] {
		words = append(words, n.host+" "+multiple(n.middle))
	}
	for i, line := range wrap("slowest nodes, by the median of their pairs: "+strings.Join(words, ", "), 78) {
		fmt.Fprintln(w, strings.Repeat(" ", 2+2*min(i, 1))+line)
	}
}

// writeHalves writes what the halves of each round took.
func (t *patternTimes) writeHalves(w io.Writer, c coll.Case) {
	rounds, err := pattern.Rounds(t.run.Pattern.Kind, len(t.run.Pattern.Hosts))
	if err != nil {
		return
	}
	for i, halves := range rounds {
		var words []string
		for _, nodes := range halves {
			g := &result.Group{Round: i + 1}
			for _, n := range nodes {
				g.Hosts = append(g.Hosts, t.run.Pattern.Hosts[n])
			}
			key := result.Point(t.run.Backend.Name, c, 0)
			key.Group = g.String()
			took := t.times[key]
			words = append(words, fmt.Sprintf("%s %s", units.Duration(took.Seconds), units.Some(g.Hosts)))
		}
		for k, line := range wrap(fmt.Sprintf("round %d: %s", i+1, strings.Join(words, " | ")), 78) {
			fmt.Fprintln(w, strings.Repeat(" ", 2+2*min(k, 1))+line)
		}
	}
}

// writePatternRun writes one run of a pattern: what it was, and the points that have no figure. Its times are judged with those of
// the runs that go on with it.
func writePatternRun(w io.Writer, f *result.File) {
	notes := &footnotes{}
	writeHead(w, f, notes)
	for i := range f.Records {
		if r := &f.Records[i]; r.Status != result.OK {
			for k, line := range wrap(fmt.Sprintf("%s, %s: %s: %s", r.Case, r.Group, r.Status, r.Reason), 78) {
				fmt.Fprintln(w, indent(k)+line)
			}
		}
	}
	notes.write(w)
}
