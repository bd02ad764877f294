package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/screen"
	"busbar/sweeps"
)

// plan is what this launch will measure, equal on all ranks.
type plan struct {
	sweep    *sweeps.Sweep
	worlds   []int
	pattern  *nodePattern // nil: worlds are measured one after another
	step     *stepPlan    // nil: collectives are measured
	backends []string
	launch   string       // UUID
	campaign string       // UUID
	past     *result.Past // rank 0 with --resume
}

// sheetText is a sweep as rank 0 read it, with what else rank 0 decides.
type planText struct {
	File             string
	Text             []byte
	Model            string // the model's file, with --step
	ModelText        []byte
	Launch, Campaign string
}

// agreeOnPlan reads the sweep on rank 0 and makes the plan of it on every rank.
func (j *job) agreeOnPlan() (*plan, error) {
	j.watch.Phase("read the sweep", 0)
	t, err := share(j, func() (planText, error) {
		t := planText{Launch: result.NewID(), Campaign: j.cfg.campaign}
		var err error
		if t.File, t.Text, err = readSweep(j.cfg); err == nil {
			_, err = makeSweep(j.cfg, t.File, t.Text)
		}
		if err != nil {
			return t, exit.With(exit.Usage, err)
		}
		if t.Model, t.ModelText, err = readModel(j.cfg); err == nil {
			_, err = makeModel(j.cfg, t.Model, t.ModelText)
		}
		return t, err
	})
	if err != nil {
		return nil, err
	}
	p := &plan{launch: t.Launch, campaign: cmp.Or(t.Campaign, t.Launch)}
	if p.sweep, err = makeSweep(j.cfg, t.File, t.Text); err != nil {
		return nil, err
	}
	if p.step, err = makeModel(j.cfg, t.Model, t.ModelText); err != nil {
		return nil, err
	}
	p.worlds = worldsOf(p.sweep, j.size)
	if p.pattern, err = j.agreeOnPattern(p.sweep); err != nil {
		return nil, j.elsewhere(err)
	}
	if p.backends, err = backend.Choose(&j.cfg.Options, func() string { return backend.Auto(j.host(), p.worlds) }); err != nil {
		return nil, j.elsewhere(err)
	}
	if err := j.cfg.checkStepBackends(p.backends); err != nil {
		return nil, j.elsewhere(err)
	}
	_, err = j.onRoot(func() ([]byte, error) { return nil, j.tryPlan(p) })
	return p, err
}

// tryPlan finds what is wrong with the plan of any world, and with the folder of results, before anything is measured.
// It runs on rank 0, which keeps what --resume continues.
func (j *job) tryPlan(p *plan) (err error) {
	worlds := p.worlds
	if p.pattern != nil {
		worlds = []int{p.pattern.size()}
	}
	if err := p.tryStep(j.cfg); err != nil {
		return err
	}
	for _, n := range worlds {
		cases, err := p.sweep.Plan(n, backend.Places(p.backends[0]))
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		if j.cfg.GPU.Graph > 0 && slices.ContainsFunc(cases, func(c coll.Case) bool { return c.Mode == coll.Latency }) {
			return exit.Usagef("-G launches many operations at once, which is no latency: leave out --mode latency, or -G")
		}
	}
	if err := result.CheckDir(j.cfg.out); err != nil {
		return exit.With(exit.Environment, err)
	}
	if j.cfg.resume {
		if p.past, err = j.readPast(); err != nil {
			return exit.With(exit.Environment, err)
		}
	}
	return nil
}

// readPast reads what --resume continues; that there is nothing is said and no error.
func (j *job) readPast() (*result.Past, error) {
	files, err := result.Find(j.cfg.out)
	var none *result.NotFoundError
	if errors.As(err, &none) {
		fmt.Fprintf(j.stderr, "rank: nothing to resume in %s: everything is measured\n", j.cfg.out)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--resume cannot read %s: %w", j.cfg.out, err)
	}
	past := result.ReadPast(files)
	for _, problem := range past.Problems {
		fmt.Fprintf(j.stderr, "rank: %s\n", problem.Full())
	}
	return past, nil
}

// elsewhere keeps an error that every rank has for rank 0 to say.
func (j *job) elsewhere(err error) error {
	if j.rank != 0 {
		return exit.ErrElsewhere
	}
	return err
}

// readSweep reads the sweep that the command line asks for: the one named; quick when nothing is said about the plan;
// otherwise the implicit one under the flags.
func readSweep(cfg *config) (file string, text []byte, err error) {
	switch {
	case cfg.step.model != "":
		return "", nil, nil
	case cfg.sweep != "":
		return sweeps.Read(cfg.sweep)
	case planned(cfg.plan):
		return "", nil, nil
	case cfg.pattern != "":
		return sweeps.Read("pattern")
	}
	return sweeps.Read("quick")
}

func makeSweep(cfg *config, file string, text []byte) (*sweeps.Sweep, error) {
	if cfg.step.model != "" {
		return stepSweep(cfg)
	}
	s := sweeps.Default()
	if file != "" {
		var err error
		if s, err = sweeps.Parse(file, text); err != nil {
			return nil, err
		}
	}
	s, err := s.With(cfg.plan)
	if err == nil && (cfg.cycles != 1 || cfg.pattern != "") && cfg.plan.TimeLimit == nil {
		s.TimeLimit = 0 // a sweep's own limit is meant for one cycle in one world
	}
	return s, err
}

func worldsOf(s *sweeps.Sweep, size int) []int {
	if len(s.Worlds) > 0 {
		return s.Worlds
	}
	return []int{size}
}

// sweepName is how the sweep is called in files and tables.
func sweepName(s *sweeps.Sweep) string {
	return strings.TrimSuffix(filepath.Base(s.Name), filepath.Ext(s.Name))
}

// planned says whether flags alone make a plan, so that quick does not stand behind them.
func planned(o sweeps.Overrides) bool {
	return o.MinBytes != nil || o.MaxBytes != nil || o.StepFactor != nil || o.StepBytes != nil || len(o.Elements) > 0 || len(o.Collectives) > 0
}

// kind is what the plan measures.
func (p *plan) kind() screen.Kind {
	switch {
	case p.step != nil:
		return screen.Steps
	case p.pattern != nil:
		return screen.Pattern
	}
	return screen.Collectives
}
