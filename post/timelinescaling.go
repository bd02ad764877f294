package main

import (
	"context"
	"errors"

	"busbar/internal/coll"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// checkScaling finds what is wrong with --scaling and --against.
func (t *timeliner) checkScaling(args []string) error {
	kinds := []string{timeline.Strong, timeline.Weak}
	switch {
	case t.scaling == "" && t.against != nil:
		return errors.New("--against compares runs on different numbers of ranks: say --scaling strong where all did the " +
			"same work, or weak where each rank did")
	case t.scaling == "":
		return nil
	case t.scaling != timeline.Strong && t.scaling != timeline.Weak:
		return coll.Unknown("kind of scaling", t.scaling, kinds)
	case len(args) < 2 && t.against == nil:
		return errors.New("--scaling compares runs on different numbers of ranks: name a folder or a file of each, or the " +
			"others with --against")
	}
	return nil
}

// read reads the run that is shown: with --scaling, the one of which most GPUs were read, compared with the others.
func (t *timeliner) read(ctx context.Context, args []string) (*timeline.Timeline, error) {
	if t.scaling == "" {
		return readTimeline(ctx, t.stderr, &t.outputFlags, args, t.Options)
	}
	var runs []*timeline.Timeline
	for _, paths := range t.runs(args) {
		run, err := readTimeline(ctx, t.stderr, &t.outputFlags, paths, t.Options)
		if err != nil {
			return nil, err
		}
		run.Called = units.Some(paths)
		runs = append(runs, run)
	}
	found, err := timeline.ScalingOf(t.scaling, runs)
	if err != nil {
		return nil, err
	}
	shown := runs[0]
	if t.against == nil {
		for _, run := range runs {
			if len(run.Devices) > len(shown.Devices) {
				shown = run
			}
		}
	}
	shown.Scaling = found
	return shown, nil
}

// runs are the paths of each run; the arguments are one run where others are named with --against.
func (t *timeliner) runs(args []string) (runs [][]string) {
	if t.against != nil {
		runs = append(runs, args)
		args = t.against
	}
	for _, path := range args {
		runs = append(runs, []string{path})
	}
	return runs
}
