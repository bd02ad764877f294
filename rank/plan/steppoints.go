package plan

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/exit"
)

// CheckBackends rejects flags of --step that no backend of the run supports.
func (o *StepOptions) CheckBackends(backends []string) error {
	onGPU := func(b string) bool { return !backend.OnHosts(b) }
	if o.Model != "" && o.Kernel != "auto" && !slices.ContainsFunc(backends, onGPU) {
		return exit.Usagef("--compute-kernel requires a GPU backend: leave it out")
	}
	return nil
}

// StepPoints returns the points of a backend: one group after another, with the bucket sizes in command-line order.
func (o *Options) StepPoints(name string) (points []step.Point) {
	types := o.Flags.Types
	if len(types) == 0 {
		types = []coll.DataType{coll.Float32}
	}
	_, progress := backend.Progress(name)
	if len(progress) == 0 {
		progress = []step.Progress{""}
	}
	for _, s := range o.Step.Strategies {
		for _, t := range types {
			for _, p := range progress {
				for _, b := range o.Step.Buckets {
					points = append(points, step.Point{Strategy: s, Bucket: b, Type: t, Progress: p})
				}
			}
		}
	}
	return points
}
