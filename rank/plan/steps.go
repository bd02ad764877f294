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

// Steps is what --step measures, equal on all ranks.
type Steps struct {
	Model  *step.Model
	Source string // the model's YAML text as read
}

// stepsOf makes the model that the command line asks for from its file; nil without --step.
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

// readModel reads the model's file if the command line asks for steps.
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

// stepWarmup is the default number of rounds that are not counted: the check has connected everything before.
const stepWarmup = 1

// stepSweep returns the options of a run of steps, in the form of a sweep without cases.
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

// stepOrigins are the keys of a sweep that apply to a run of steps.
var stepOrigins = []string{"precision", "budget", "iterations", "warmup", "check", "worlds"}

// StepHeader fills in what the first line of a file states of steps.
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

// trySteps finds what is wrong with the plans of any world and backend before anything is measured.
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

// StepWorld is the points of a backend in one world.
type StepWorld struct {
	Points []step.Point
	Plans  []*step.Plan // by point
	Same   []string     // sentences: which caps are left out since they give the buckets of another
}

// StepWorld plans the points of a backend in a world, without those whose buckets are the same as those of an earlier
// cap.
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
		w.Same = append(w.Same, fmt.Sprintf("%s: --bucket %s gives the same buckets as %s, and is measured with it",
			point.GroupString(), point.Bucket, w.Points[i].Bucket))
	}
	return w, nil
}
