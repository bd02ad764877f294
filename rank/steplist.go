package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/mpi"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/screen"
	"busbar/sweeps"
)

// listSteps shows the points of --step and their operations, and measures nothing; it needs no library.
func listSteps(cfg *config, l mpi.Launch, out io.Writer) error {
	backends, err := backend.Choose(&cfg.Options, func() string { return unseenBackend(cfg) })
	if err != nil {
		return err
	}
	if err := cfg.checkStepBackends(backends); err != nil {
		return err
	}
	file, text, err := readModel(cfg)
	if err != nil {
		return err
	}
	p, err := makeModel(cfg, file, text)
	if err != nil {
		return err
	}
	s, err := stepSweep(cfg)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	size, whence := launchSize(l)
	var b strings.Builder
	m := p.model
	fmt.Fprintf(&b, "# plan: training steps of %s on %s, %d ranks (%s)\n", m.Name, strings.Join(backends, ","), size, whence)
	for _, line := range screen.Wrap(screen.ModelLine(m), 78) {
		fmt.Fprintln(&b, "# "+line)
	}
	if m.About != "" {
		for _, line := range screen.Wrap(m.About, 78) {
			fmt.Fprintln(&b, "# "+line)
		}
	}
	for _, n := range worldsOf(s, size) {
		if n > size {
			fmt.Fprintf(&b, "# world %d: skipped, it does not fit %d ranks\n", n, size)
			continue
		}
		for _, library := range backends {
			if err := p.listWorld(&b, cfg, s, library, n); err != nil {
				return err
			}
		}
	}
	_, err = io.WriteString(out, b.String())
	return err
}

// listWorld writes the points of a world.
func (p *stepPlan) listWorld(b *strings.Builder, cfg *config, s *sweeps.Sweep, library string, n int) error {
	points, plans, same, err := p.plans(cfg, library, n, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "#\n# world %d on %s\n#    bucket  ops   smallest    largest   together     memory\n", n, library)
	section := ""
	var impossible error
	for i, point := range points {
		if g := point.GroupString(); g != section {
			section = g
			fmt.Fprintf(b, "# %s%s\n", g, screen.Modelled(point))
		}
		if err := point.Impossible(); err != nil {
			fmt.Fprintf(b, "%11s unsupported\n", point.Bucket)
			impossible = err
			continue
		}
		least, most, all, err := opBytes(plans[i])
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		fmt.Fprintf(b, "%11s %4d %10s %10s %10s %10s\n", point.Bucket, len(plans[i].Ops), units.Binary(least), units.Binary(most), units.Binary(all), units.Binary(plans[i].Bytes))
	}
	if impossible != nil {
		same = append(same, "unsupported: "+impossible.Error())
	}
	for _, text := range same {
		for _, line := range screen.Wrap(text, 78) {
			fmt.Fprintln(b, "# "+line)
		}
	}
	for _, line := range screen.Wrap(howLong(points, s, cfg.plan.Budget != nil), 78) {
		fmt.Fprintln(b, "# "+line)
	}
	return nil
}

// howLong says what points take, as far as that is known before.
func howLong(points []step.Point, s *sweeps.Sweep, asked bool) string {
	text := units.Count(len(points), "point")
	if left := slices.DeleteFunc(slices.Clone(points), func(p step.Point) bool { return p.Impossible() != nil }); len(left) < len(points) {
		text, points = fmt.Sprintf("%s, of which %d can be measured", text, len(left)), left
	}
	text += "; "
	if s.Iterations > 0 {
		return text + units.Count(s.Iterations, "round") + " of four steps each"
	}
	text += fmt.Sprintf("about %s at %s a point, and what checks and slow rounds take", roundTime(time.Duration(len(points))*s.Budget), s.Budget)
	if !asked {
		most := 0
		for _, group := range step.Groups(points) {
			most = max(most, len(group))
		}
		text += fmt.Sprintf("; longer where %d rounds take longer, which it takes to compare the buckets (--budget ends them before)", step.RoundsToCompare(most))
	}
	return text
}

// opBytes is the smallest and the largest operation of a step, and all together, in bytes as the collectives count them.
func opBytes(p *step.Plan) (least, most, all int64, err error) {
	for i := range p.Ops {
		c, err := p.Case(i)
		if err != nil {
			return 0, 0, 0, err
		}
		if i == 0 {
			least = c.SizeBytes
		}
		least, most, all = min(least, c.SizeBytes), max(most, c.SizeBytes), all+c.SizeBytes
	}
	return least, most, all, nil
}
