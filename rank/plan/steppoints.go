package plan

import (
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/exit"
)

// waysFor returns the ways in which a backend is measured: of --progress, which is for all backends, those that it has.
func (o *StepOptions) waysFor(name string) (ways []step.Progress) {
	has, usual := backend.Progress(name)
	if len(o.Progress) == 0 {
		return usual
	}
	for _, w := range o.Progress {
		if slices.Contains(has, w) {
			ways = append(ways, w)
		}
	}
	return ways
}

// CheckBackends refuses flags of --step that no backend of the run has.
func (o *StepOptions) CheckBackends(backends []string) error {
	if o.Model == "" {
		return nil
	}
	hosts, gpus, polls := false, false, false
	for _, b := range backends {
		polls = polls || slices.Contains(o.waysFor(b), step.Poll)
		hosts, gpus = hosts || backend.OnHosts(b), gpus || !backend.OnHosts(b)
		if backend.OnHosts(b) && len(o.waysFor(b)) == 0 {
			has, _ := backend.Progress(b)
			return exit.Usagef("--progress %s: %s has %s alone: add it, or leave out --progress",
				Words(o.Progress), b, Words(has))
		}
	}
	switch {
	case !hosts && len(o.Progress) > 0:
		return exit.Usagef("--progress is for communication on a host; " +
			"on a GPU a stream of its own does it: leave it out")
	case !polls && o.Poll != PollInterval:
		return exit.Usagef("--poll-interval is for --progress poll, which --backend %s does not do: leave it out",
			strings.Join(backends, ","))
	case !hosts && o.Threads != 1:
		return exit.Usagef("--compute-threads is for computing on a host; a GPU computes with kernels: leave it out")
	case !gpus && o.Kernel != "auto":
		return exit.Usagef("--compute-kernel is for computing on a GPU; " +
			"a host computes with --compute-threads: leave it out")
	}
	return nil
}

// StepPoints returns the points of a backend: one group after another, and in each the caps as they were asked for.
func (o *Options) StepPoints(backend string) (points []step.Point) {
	types := o.Flags.Types
	if len(types) == 0 {
		types = []coll.DataType{coll.Float32}
	}
	ways := o.Step.waysFor(backend)
	if len(ways) == 0 {
		ways = []step.Progress{""}
	}
	for _, s := range o.Step.Strategies {
		for _, t := range types {
			for _, w := range ways {
				for _, b := range o.Step.Buckets {
					points = append(points, step.Point{Strategy: s, Bucket: b, Type: t, Progress: w})
				}
			}
		}
	}
	return points
}
