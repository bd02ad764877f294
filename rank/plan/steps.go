package plan

import (
	"fmt"
	"maps"
	"slices"

	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/rank/exit"
	"busbar/sweeps"
)

// Steps is the plan of --step, equal on all ranks.
type Steps struct {
	Model  *step.Model
	Source string // YAML text of the model
}

// stepsOf parses the model file; nil without --step.
func (o *Options) stepsOf(f file) (*Steps, error) {
	if o.Step.Model == "" {
		return nil, nil
	}
	m, err := step.Parse(f.Name, f.Text)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if o.Step.Compute > 0 {
		m.Scale(o.Step.Compute.Seconds())
	}
	return &Steps{m, string(f.Text)}, nil
}

// readModel reads the model file of --step.
func (o *Options) readModel() (f file, err error) {
	if o.Step.Model == "" {
		return f, nil
	}
	f.Name, f.Text, err = step.Read(o.Step.Model, sweeps.Models())
	if err != nil {
		err = exit.With(exit.Usage, fmt.Errorf("--step %s: %w", o.Step.Model, err))
	}
	return f, err
}

// stepWarmup is the default number of warm-up rounds: the check has set up all connections before.
const stepWarmup = 1

// stepSweep returns the options of --step as a sweep without cases.
func (o *Options) stepSweep() (*sweeps.Sweep, error) {
	s, err := sweeps.Default().With(o.Flags)
	if err != nil {
		return nil, err
	}
	s.Name = "step"
	if o.Flags.Warmup == nil {
		s.Warmup = stepWarmup
	}
	return s, nil
}

// stepOrigins are the keys of a sweep that apply to --step.
var stepOrigins = []string{"precision", "budget", "iterations", "warmup", "check", "worlds"}

// StepHeader adds the step to the first line of a file.
func (p *Plan) StepHeader(run *result.Run, points []step.Point, computing string) {
	m := p.Step.Model
	run.Step = &result.Step{
		Model:     m.Name,
		Source:    p.Step.Source,
		About:     m.About,
		Params:    m.Params(),
		Layers:    len(m.Layers),
		Forward:   m.Forward(),
		Backward:  m.Backward(),
		Optimizer: m.Optimizer,
		First:     p.Options.Step.First,
		Computing: computing,
		Points:    points,
	}
	if slices.ContainsFunc(points, func(p step.Point) bool { return p.Progress == step.Poll }) {
		run.Step.Interval = p.Options.Step.Poll.Seconds()
	}
	maps.DeleteFunc(run.Sweep.Origins, func(key, _ string) bool { return !slices.Contains(stepOrigins, key) })
}

// trySteps checks the plans of all worlds and backends before the run measures.
func (p *Plan) trySteps() error {
	if p.Step == nil {
		return nil
	}
	for _, n := range p.Worlds {
		for _, b := range p.Backends {
			if _, err := p.StepWorld(b, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// StepWorld holds the points of a backend in one world.
type StepWorld struct {
	Points []step.Point
	Plans  []*step.Plan // by point
	Same   []string     // notes on skipped bucket sizes: those that give the same buckets as another
}

// StepWorld plans the points of a backend in a world. It skips points with the same buckets as an earlier bucket size.
func (p *Plan) StepWorld(backend string, world int) (w StepWorld, err error) {
	for _, point := range p.Options.StepPoints(backend) {
		plan, err := step.NewPlan(p.Step.Model, point, world, step.Options{First: p.Options.Step.First})
		if err != nil {
			return w, exit.With(exit.Usage, fmt.Errorf("--step: %w", err))
		}
		i := slices.IndexFunc(w.Plans, func(other *step.Plan) bool { return other.Same(plan) })
		if i < 0 {
			w.Points, w.Plans = append(w.Points, point), append(w.Plans, plan)
			continue
		}
		w.Same = append(w.Same, fmt.Sprintf("%s: --bucket %s is skipped: same buckets as %s",
			point.GroupString(), point.Bucket, w.Points[i].Bucket))
	}
	return w, nil
}
