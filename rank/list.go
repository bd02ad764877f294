package main

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
	"busbar/mpi"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/machine"
	"busbar/rank/pace"
	"busbar/rank/screen"
	"busbar/sweeps"
)

// listPlan shows what would be measured, and measures nothing; it needs no MPI.
func listPlan(cfg *config, l mpi.Launch, out io.Writer) error {
	if cfg.step.model != "" {
		return listSteps(cfg, l, out)
	}
	backends, err := backend.Choose(&cfg.Options, func() string { return unseenBackend(cfg) })
	if err != nil {
		return err
	}
	file, text, err := readSweep(cfg)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	s, err := makeSweep(cfg, file, text)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	size, whence := launchSize(l)
	var b strings.Builder
	fmt.Fprintf(&b, "# plan: %s on %s, %d ranks (%s)\n", sweepName(s), strings.Join(backends, ","), size, whence)
	listOrigins(&b, s.Origins())
	if cfg.pattern != "" {
		if err := listPattern(&b, cfg, s, backends, l); err != nil {
			return exit.With(exit.Usage, err)
		}
		_, err = io.WriteString(out, b.String())
		return err
	}
	for _, n := range worldsOf(s, size) {
		if n > size {
			fmt.Fprintf(&b, "# world %d: skipped, it does not fit %d ranks\n", n, size)
			continue
		}
		for _, name := range backends {
			if _, _, err := listWorld(&b, cfg, s, name, n); err != nil {
				return exit.With(exit.Usage, err)
			}
		}
	}
	_, err = io.WriteString(out, b.String())
	return err
}

// unseenBackend is what auto is taken for where nobody looks.
func unseenBackend(cfg *config) string {
	if cfg.NCCLFlag() != "" || cfg.Simulate {
		return "nccl"
	}
	return "mpi"
}

// launchSize is how many ranks there are, and how that is known.
func launchSize(l mpi.Launch) (size int, whence string) {
	if l.Size < 1 {
		return min(8, max(2, runtime.NumCPU())), "as make demo would launch; no launcher is seen"
	}
	return l.Size, "as launched"
}

// listOrigins says where each part of the plan comes from, a line for each source.
func listOrigins(b *strings.Builder, origins map[string]string) {
	by := map[string][]string{}
	for key, from := range origins {
		source, _, _ := strings.Cut(from, ":") // the line of a file follows
		if place, at, ok := strings.Cut(from, ":"); ok {
			key += " (line " + at + ")"
			source = place
		}
		by[source] = append(by[source], key)
	}
	for _, source := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[source])
		prefix := "# from " + source + ": "
		for i, line := range screen.Wrap(strings.Join(by[source], ", "), 80-len(prefix)) {
			if i > 0 {
				prefix = "#" + strings.Repeat(" ", len(prefix)-1)
			}
			fmt.Fprintln(b, prefix+line)
		}
	}
}

// listWorld writes the cases of a world, and returns the time that they take at least and at most.
func listWorld(b *strings.Builder, cfg *config, s *sweeps.Sweep, name string, n int) (least, most time.Duration, err error) {
	cases, err := s.Plan(n, backend.Places(name))
	if err != nil {
		return 0, 0, err
	}
	lay := cfg.layout(s, cases, 0)
	free, limit, memErr := machine.FreeMemory("/")
	onHost := memErr == nil && (backend.OnHosts(name) || name == backend.Simulation)
	fmt.Fprintf(b, "#\n# world %d\n#            size       count     type   op root  in mode         memory about\n", n)
	largest := 0.0
	last := coll.Collective(0)
	for _, c := range cases {
		if c.Collective != last {
			last = c.Collective
			fmt.Fprintf(b, "# %s\n", last)
		}
		memory := 0.0
		for _, r := range []int{0, max(0, c.Root)} {
			lay.Rank = r
			memory = max(memory, lay.Memory(c))
		}
		largest = max(largest, memory)
		t := pace.Estimate(c, s.Options, n, 1)
		least += t
		most += max(t, s.Budget+t)
		root, op := "-", "-"
		if c.Root >= 0 {
			root = fmt.Sprint(c.Root)
		}
		if c.Op != 0 {
			op = c.Op.String()
		}
		note := ""
		if c.Count == 0 {
			note = " too small"
		} else if onHost && memory*float64(n) > float64(free) {
			note = " ?memory"
		}
		fmt.Fprintf(b, "%17d %11d %8s %4s %4s %3s %-10s %8s %5s%s\n", c.SizeBytes, c.Count, c.Type, op, root, c.Placement, c.Mode,
			binaryOf(memory), roundTime(t), note)
	}
	fmt.Fprintf(b, "# %s; buffers of a rank up to %s", units.Count(len(cases), "point"), binaryOf(largest))
	if onHost {
		fmt.Fprintf(b, " (%s leaves %s here)", limit, units.Binary(free))
	} else if !backend.OnHosts(name) {
		b.WriteString(" of GPU memory, which is not looked at here")
	}
	fmt.Fprintf(b, "\n# expected: %s to %s (guessed from a laptop's memory, nothing was measured)\n", roundTime(least), roundTime(most))
	if s.TimeLimit > 0 {
		fmt.Fprintf(b, "# --time-limit %s: sizes will be thinned where the plan does not fit\n", s.TimeLimit)
	}
	return least, most, nil
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

// binaryOf is binary for what may be beyond any integer.
func binaryOf(bytes float64) string { return units.Binary(int64(min(bytes, 1<<62))) }
