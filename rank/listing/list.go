// Package listing prints a plan before it is measured (--list).
package listing

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"busbar/internal/coll"
	"busbar/internal/units"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/machine"
	"busbar/rank/pace"
	"busbar/rank/plan"
	"busbar/rank/screen"
)

// Write prints the plan of a launch. It needs no library.
func Write(o *plan.Options, started launch.Started, out io.Writer) error {
	size := max(1, started.Size)
	p, err := plan.Preview(o, size)
	if err != nil {
		return err
	}
	l := &list{p: p}
	if started.Size < 1 {
		l.wrapped("", screen.WorldOfOne)
	}
	if p.Step != nil {
		l.steps(size)
	} else {
		l.printf("# plan: %s on %s, %s\n", p.SweepName(), strings.Join(p.Backends, ","), units.Count(size, "rank"))
		l.origins()
		for i, part := range p.Sweep.Parts {
			if part.Calls > 0 {
				l.printf("# part %d (%s): calls: %.6g\n", i+1, part.Collectives[0], part.Calls)
			}
		}
		for _, note := range append(p.Sweep.Unmet(), p.Sweep.LeftOut(size)...) {
			l.wrapped("", note)
		}
	}
	if o.Pattern != "" {
		err = l.pattern(started)
	} else {
		err = l.worlds(size)
	}
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	_, err = io.WriteString(out, l.String())
	return err
}

// list builds the text of a plan.
type list struct {
	strings.Builder
	p *plan.Plan
}

func (l *list) printf(format string, a ...any) { fmt.Fprintf(l, format, a...) }

// wrapped writes a comment in lines of at most 80 columns; prefix precedes the first line.
func (l *list) wrapped(prefix, text string) {
	prefix = "# " + prefix
	for i, line := range screen.Wrap(text, 80-len(prefix)) {
		if i > 0 {
			prefix = "#" + strings.Repeat(" ", len(prefix)-1)
		}
		l.printf("%s%s\n", prefix, line)
	}
}

// origins writes the source of each part of the plan, a line per source.
func (l *list) origins() {
	by := map[string][]string{}
	for key, from := range l.p.Sweep.Origins() {
		source, at, ok := strings.Cut(from, ":") // the rest is the line in a file
		if ok {
			key += " (line " + at + ")"
		}
		by[source] = append(by[source], key)
	}
	for _, source := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[source])
		l.wrapped("from "+source+": ", strings.Join(by[source], ", "))
	}
}

// worlds writes the plan of each world.
func (l *list) worlds(size int) error {
	for _, n := range l.p.Worlds {
		if n > size {
			l.printf("# world %d: skipped (%s)\n", n, units.Count(size, "rank"))
			continue
		}
		for _, name := range l.p.Backends {
			if l.p.Step != nil {
				if err := l.stepWorld(name, n); err != nil {
					return err
				}
			} else if _, _, err := l.world(name, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// world writes the cases of a world, and returns the minimum and maximum of their time.
func (l *list) world(name string, n int) (shortest, longest time.Duration, err error) {
	s := l.p.Sweep
	cases, err := l.p.Cases(name, n)
	if err != nil {
		return 0, 0, err
	}
	free, limit, memErr := machine.FreeMemory("/")
	onHost := memErr == nil && (backend.OnHosts(name) || name == backend.Simulation)
	l.printf("#\n# world %d\n#            size       count     type   op root  in mode         memory  time\n", n)
	largest := 0.0
	last := ""
	for _, c := range cases {
		heading := strings.TrimSpace(fmt.Sprint(c.Collective, " ", c.Imbalance))
		if c.Groups.Divided() {
			heading = c.Groups.Heading(heading)
		}
		if heading != last {
			last = heading
			l.printf("# %s\n", last)
		}
		memory := l.memory(c, cases)
		largest = max(largest, memory)
		t := pace.Estimate(c, s.Options, n, 1)
		note := ""
		if c.Groups.Divided() {
			note = " group " + c.Groups.Name()
		}
		if c.Groups.Alone || c.Groups.Number < 2 { // all others at once are in the time of the first
			shortest += t
			longest += max(t, s.Budget+t)
		}
		if c.Count == 0 {
			note += " too small"
		} else if onHost && memory*float64(n) > float64(free) {
			note += " ?memory"
		}
		l.printf("%s %8s %5s%s\n", caseColumns(c), binaryOf(memory), roundTime(t), note)
	}
	l.printf("# %s; buffers up to %s per rank", units.Count(len(cases), "point"), binaryOf(largest))
	if onHost {
		l.printf(" (%s: %s available)", limit, units.Binary(free))
	} else if !backend.OnHosts(name) {
		l.printf(" of GPU memory (not checked)")
	}
	l.printf("\n# expected time of all points: %s to %s (rough estimate)\n", roundTime(shortest), roundTime(longest))
	if s.TimeLimit > 0 {
		l.printf("# --time-limit %s: message sizes are skipped if the plan does not fit\n", s.TimeLimit)
	}
	return shortest, longest, nil
}

// memory returns the bytes of buffers of a case on the rank that needs most.
func (l *list) memory(c coll.Case, cases []coll.Case) (most float64) {
	ranks := []int{0, max(0, c.Root)}
	for rank := range c.Imbalance.Ranks() {
		ranks = append(ranks, rank)
	}
	for _, rank := range ranks {
		most = max(most, l.p.Options.Layout(l.p.Sweep, cases, rank).Memory(c))
	}
	return most
}

// caseColumns formats the columns of a case.
func caseColumns(c coll.Case) string {
	root, op := "-", "-"
	if c.Root >= 0 {
		root = fmt.Sprint(c.Root)
	}
	if c.Op != 0 {
		op = c.Op.String()
	}
	return fmt.Sprintf("%17d %11d %8s %4s %4s %3s %-10s",
		c.SizeBytes, c.Count, c.Type, op, root, c.Placement, c.Mode)
}

// roundTime formats a duration with about two digits.
func roundTime(d time.Duration) string {
	switch {
	case d < 100*time.Millisecond:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// binaryOf is units.Binary for values beyond the range of int64.
func binaryOf(bytes float64) string { return units.Binary(int64(min(bytes, 1<<62))) }
