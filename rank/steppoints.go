package main

import (
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/exit"
)

// waysOf are the ways in which a backend's communication can go on beside computing, and those that are measured where
// nobody asks; none on a GPU, where a stream does it.
func waysOf(backend string) (has, unasked []step.Progress) {
	switch backend {
	case "mpi":
		return step.Ways(), []step.Progress{step.NoCalls, step.Poll}
	case "gloo":
		return []step.Progress{step.Thread}, []step.Progress{step.Thread}
	}
	return nil, nil
}

// waysFor are the ways in which a backend is measured: of a list that is for several backends, those that it has.
func (o *stepOptions) waysFor(backend string) (ways []step.Progress) {
	has, unasked := waysOf(backend)
	if len(o.progress) == 0 {
		return unasked
	}
	for _, w := range o.progress {
		if slices.Contains(has, w) {
			ways = append(ways, w)
		}
	}
	return ways
}

// checkStepBackends refuses what is asked of --step and no backend of the run has.
func (c *config) checkStepBackends(backends []string) error {
	o := &c.step
	if o.model == "" {
		return nil
	}
	hosts, gpus, polls := false, false, false
	for _, b := range backends {
		polls = polls || slices.Contains(o.waysFor(b), step.Poll)
		hosts, gpus = hosts || backend.OnHosts(b), gpus || !backend.OnHosts(b)
		if backend.OnHosts(b) && len(o.waysFor(b)) == 0 {
			has, _ := waysOf(b)
			return exit.Usagef("--progress %s: %s has %s alone: add it, or leave out --progress", words(o.progress), b, words(has))
		}
	}
	switch {
	case !hosts && len(o.progress) > 0:
		return exit.Usagef("--progress is for communication on a host; on a GPU a stream of its own does it: leave it out")
	case !polls && o.Poll != pollInterval:
		return exit.Usagef("--poll-interval is for --progress poll, which --backend %s does not do: leave it out", strings.Join(backends, ","))
	case !hosts && o.Threads != 1:
		return exit.Usagef("--compute-threads is for computing on a host; a GPU computes with kernels: leave it out")
	case !gpus && o.Kernel != "auto":
		return exit.Usagef("--compute-kernel is for computing on a GPU; a host computes with --compute-threads: leave it out")
	}
	return nil
}

// stepPoints are the points of a backend: one group after another, and in each the caps as they were asked for.
func (c *config) stepPoints(backend string) (points []step.Point) {
	o := &c.step
	types := c.plan.Types
	if len(types) == 0 {
		types = []coll.DataType{coll.Float32}
	}
	ways := o.waysFor(backend)
	if len(ways) == 0 {
		ways = []step.Progress{0}
	}
	for _, s := range o.strategies {
		for _, t := range types {
			for _, c := range o.compress {
				for _, w := range ways {
					for _, b := range o.buckets {
						points = append(points, step.Point{Strategy: s, Bucket: b, Type: t, Compression: c, Progress: w})
					}
				}
			}
		}
	}
	return points
}
