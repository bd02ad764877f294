// Package listing prints a plan before it is measured (--list).
package listing

import (
	"fmt"
	"io"
	"maps"
	"runtime"
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

// launchSize returns how many ranks there are, and how that is known.
func launchSize(s launch.Started) (size int, source string) {
	if s.Size < 1 {
		return min(8, max(2, runtime.NumCPU())), "as make demo would launch; no launcher detected"
	}
	return s.Size, "as launched"
}

// Write prints what would be measured, and measures nothing. It needs no library.
func Write(o *plan.Options, started launch.Started, out io.Writer) error {
	size, source := launchSize(started)
	p, err := plan.Preview(o, size)
	if err != nil {
		return err
	}
	l := &list{p: p}
	if p.Step != nil {
		l.steps(size, source)
	} else {
		l.printf("# plan: %s on %s, %d ranks (%s)\n", p.SweepName(), strings.Join(p.Backends, ","), size, source)
		l.origins()
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

// list is the text of a plan while it is written.
type list struct {
	strings.Builder
	p *plan.Plan
}

func (l *list) printf(format string, a ...any) { fmt.Fprintf(l, format, a...) }

// wrapped writes a text in lines of at most 80 columns, each after "# ", the first after "# " and prefix.
func (l *list) wrapped(prefix, text string) {
	prefix = "# " + prefix
	for i, line := range screen.Wrap(text, 80-len(prefix)) {
		if i > 0 {
			prefix = "#" + strings.Repeat(" ", len(prefix)-1)
		}
		l.printf("%s%s\n", prefix, line)
	}
}

// origins writes where each part of the plan comes from, a line for each source.
func (l *list) origins() {
	by := map[string][]string{}
	for key, from := range l.p.Sweep.Origins() {
		source, at, ok := strings.Cut(from, ":") // the line of a file follows
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
			l.printf("# world %d: skipped, it does not fit %d ranks\n", n, size)
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

// world writes the cases of a world, and returns the time that they take at least and at most.
func (l *list) world(name string, n int) (least, most time.Duration, err error) {
	s := l.p.Sweep
	cases, err := l.p.Cases(name, n)
	if err != nil {
		return 0, 0, err
	}
	free, limit, memErr := machine.FreeMemory("/")
	onHost := memErr == nil && (backend.OnHosts(name) || name == backend.Simulation)
	l.printf("#\n# world %d\n#            size       count     type   op root  in mode         memory about\n", n)
	largest := 0.0
	last := coll.Collective(0)
	for _, c := range cases {
		if c.Collective != last {
			last = c.Collective
			l.printf("# %s\n", last)
		}
		memory := l.memory(c, cases)
		largest = max(largest, memory)
		t := pace.Estimate(c, s.Options, n, 1)
		least += t
		most += max(t, s.Budget+t)
		note := ""
		if c.Count == 0 {
			note = " too small"
		} else if onHost && memory*float64(n) > float64(free) {
			note = " ?memory"
		}
		l.printf("%s %8s %5s%s\n", caseColumns(c), binaryOf(memory), roundTime(t), note)
	}
	l.printf("# %s; buffers of a rank up to %s", units.Count(len(cases), "point"), binaryOf(largest))
	if onHost {
		l.printf(" (%s leaves %s here)", limit, units.Binary(free))
	} else if !backend.OnHosts(name) {
		l.printf(" of GPU memory, which is not checked")
	}
	l.printf("\n# expected: %s to %s (guessed from a laptop's memory, nothing was measured)\n",
		roundTime(least), roundTime(most))
	if s.TimeLimit > 0 {
		l.printf("# --time-limit %s: sizes will be thinned where the plan does not fit\n", s.TimeLimit)
	}
	return least, most, nil
}

// memory is how many bytes of buffers a case takes, of the rank that needs most.
func (l *list) memory(c coll.Case, cases []coll.Case) (most float64) {
	for _, rank := range []int{0, max(0, c.Root)} {
		most = max(most, l.p.Options.Layout(l.p.Sweep, cases, rank).Memory(c))
	}
	return most
}

// caseColumns are the columns of a case.
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

// roundTime writes a duration to about two digits.
func roundTime(d time.Duration) string {
	switch {
	case d < 100*time.Millisecond:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// binaryOf is units.Binary for what may be beyond any integer.
func binaryOf(bytes float64) string { return units.Binary(int64(min(bytes, 1<<62))) }
