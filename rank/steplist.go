package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"busbar/internal/step"
	"busbar/mpi"
)

// listSteps shows the points of --step and their operations, and measures nothing; it needs no library.
func listSteps(cfg *config, l mpi.Launch, out io.Writer) error {
	backends, err := chooseBackends(cfg, func() string { return unseenBackend(cfg) })
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
		return &codeError{exitUsage, err}
	}
	size, whence := launchSize(l)
	var b strings.Builder
	m := p.model
	fmt.Fprintf(&b, "# plan: training steps of %s on %s, %d ranks (%s)\n", m.Name, strings.Join(backends, ","), size, whence)
	fmt.Fprintf(&b, "# %s\n", m)
	if m.About != "" {
		for _, line := range wrap(m.About, 78) {
			fmt.Fprintln(&b, "# "+line)
		}
	}
	for _, n := range worldsOf(s, size) {
		if n > size {
			fmt.Fprintf(&b, "# world %d: skipped, it does not fit %d ranks\n", n, size)
			continue
		}
		for _, backend := range backends {
			if err := p.listWorld(&b, cfg, s.Budget, backend, n); err != nil {
				return err
			}
		}
	}
	_, err = io.WriteString(out, b.String())
	return err
}

// listWorld writes the points of a world.
func (p *stepPlan) listWorld(b *strings.Builder, cfg *config, budget time.Duration, backend string, n int) error {
	points, plans, same, err := p.plans(cfg, backend, n, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "#\n# world %d on %s\n", n, backend)
	var possible []*step.Plan
	modelled, impossible := false, 0
	for i, plan := range plans {
		if plan == nil {
			if impossible++; impossible == 1 {
				same = append(same, "unsupported: "+points[i].Impossible().Error())
			}
			continue
		}
		possible = append(possible, plan)
		modelled = modelled || points[i].Compression != step.Compression{}
	}
	if impossible > 1 {
		same = append(same, fmt.Sprintf("and so are %s more", plural(impossible-1, "point")))
	}
	if err := step.WriteTable(b, possible); err != nil {
		return err
	}
	if modelled {
		same = append(same, "compression is modelled: smaller messages are sent, and the time that it takes is computed through")
	}
	for _, text := range same {
		for _, line := range wrap(text, 78) {
			fmt.Fprintln(b, "# "+line)
		}
	}
	fmt.Fprintf(b, "# %s; about %s at %s a point, and what checks and slow rounds take\n", plural(len(points), "point"), roundTime(time.Duration(len(points))*budget), budget)
	return nil
}
