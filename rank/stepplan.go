package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/rank/exit"
	"busbar/sweeps"
)

// stepPlan is what --step measures, equal on all ranks.
type stepPlan struct {
	model  *step.Model
	source string // the model's YAML text as read
}

// makeModel makes the model that the command line asks for of what step.Read returned; nil without --step.
func makeModel(cfg *config, file string, text []byte) (*stepPlan, error) {
	if cfg.step.model == "" {
		return nil, nil
	}
	m, err := step.Parse(file, text)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if cfg.step.compute > 0 {
		m.Scale(cfg.step.compute.Seconds())
	}
	return &stepPlan{m, string(text)}, nil
}

// readModel reads the model's file where the command line asks for steps.
func readModel(cfg *config) (file string, text []byte, err error) {
	if cfg.step.model == "" {
		return "", nil, nil
	}
	file, text, err = step.Read(cfg.step.model, sweeps.Models())
	if err != nil {
		err = exit.With(exit.Usage, fmt.Errorf("--step %s: %w", cfg.step.model, err))
	}
	return file, text, err
}

// stepWarmup is how many rounds are not counted where -w does not say: the check has connected everything before.
const stepWarmup = 1

// stepSweep has the options of a run of steps, in the form of a sweep: it has no cases.
func stepSweep(cfg *config) (*sweeps.Sweep, error) {
	s, err := sweeps.Default().With(cfg.plan)
	if err != nil {
		return nil, err
	}
	s.Name = "step"
	if cfg.plan.Warmup == nil {
		s.Warmup = stepWarmup
	}
	return s, nil
}

// stepOrigins are the keys of a sweep that say something of a run of steps.
var stepOrigins = []string{"precision", "budget", "iterations", "warmup", "check", "worlds"}

// header fills in what the first line of a file says of steps.
func (p *stepPlan) header(run *result.Run, cfg *config, points []step.Point, computing string) {
	if p == nil {
		return
	}
	m := p.model
	s := &result.Step{Model: m.Name, Source: p.source, About: m.About, Params: m.Params(), Layers: len(m.Layers), Forward: m.Forward(), Backward: m.Backward(),
		Optimizer: m.Optimizer, First: cfg.step.first, Computing: computing, Points: points}
	if slices.ContainsFunc(points, func(p step.Point) bool { return p.Progress == step.Poll }) {
		s.Interval = cfg.step.Poll.Seconds()
	}
	run.Step = s
	maps.DeleteFunc(run.Sweep.Origins, func(key, _ string) bool { return !slices.Contains(stepOrigins, key) })
}

// tryStep finds what is wrong with the plans of any world and backend before anything is measured.
func (p *plan) tryStep(cfg *config) error {
	if p.step == nil {
		return nil
	}
	for _, n := range p.worlds {
		for _, b := range p.backends {
			if _, _, _, err := p.step.plans(cfg, b, n, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// plans are the points of a backend in a world with their plans, without those whose buckets are the same as those of
// an earlier cap; of these it is said which. What is impossible has no plan.
func (p *stepPlan) plans(cfg *config, backend string, world int, copyRate float64) (points []step.Point, plans []*step.Plan, same []string, err error) {
	asked := cfg.stepPoints(backend)
	var twins []capTwins
	for _, point := range asked {
		if point.Impossible() != nil {
			points, plans = append(points, point), append(plans, nil)
			continue
		}
		plan, err := step.NewPlan(p.model, point, world, step.Options{First: cfg.step.first, CopyRate: copyRate})
		if err != nil {
			return nil, nil, nil, exit.With(exit.Usage, fmt.Errorf("--step: %w", err))
		}
		i := slices.IndexFunc(plans, func(other *step.Plan) bool { return other != nil && other.Same(plan) })
		if i < 0 {
			points, plans = append(points, point), append(plans, plan)
			continue
		}
		twins = addTwin(twins, point, points[i])
	}
	groups := len(step.Groups(asked))
	for _, t := range twins {
		same = append(same, t.say(groups))
	}
	return points, plans, same, nil
}

// capTwins are two caps that give the same buckets, in some groups.
type capTwins struct {
	left, measured step.Cap
	groups         []string
}

func addTwin(all []capTwins, left, measured step.Point) []capTwins {
	i := slices.IndexFunc(all, func(t capTwins) bool { return t.left == left.Bucket && t.measured == measured.Bucket })
	if i < 0 {
		i, all = len(all), append(all, capTwins{left: left.Bucket, measured: measured.Bucket})
	}
	all[i].groups = append(all[i].groups, left.GroupString())
	return all
}

// say names the groups where they are not all there are.
func (t capTwins) say(groups int) string {
	text := fmt.Sprintf("--bucket %s gives the same buckets as %s, and is measured with it", t.left, t.measured)
	if len(t.groups) < groups {
		text += " (" + strings.Join(t.groups, "; ") + ")"
	}
	return text
}

// seconds is a time in seconds as a duration.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
