package main

import (
	"context"
	"slices"

	"busbar/internal/result"
	"busbar/post/steps"
)

// gatherSteps reads the files of a dataset that are of training steps; problems are what is wrong with them.
func gatherSteps(ctx context.Context, data *result.Dataset, files []string) (runs []*steps.Run, problems []result.Problem, err error) {
	if !slices.ContainsFunc(data.Runs(), func(r *result.Run) bool { return r.Step != nil }) {
		return nil, nil, nil
	}
	var read []*result.StepFile
	for _, path := range files {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		f, err := result.ReadSteps(path)
		if err != nil {
			continue // of collectives, or the dataset tells what is wrong with it
		}
		read, problems = append(read, f), append(problems, f.Problems...)
	}
	return steps.Gather(read), problems, nil
}
