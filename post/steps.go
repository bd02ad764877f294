package main

import (
	"context"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/steps"
)

// gatherSteps reads the files of a dataset that are of training steps; problems are what is wrong with them.
func gatherSteps(ctx context.Context, data *result.Dataset) (runs []*steps.Run, problems []notice.Notice, err error) {
	var read []*result.StepFile
	for _, path := range data.StepFiles() {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		f, err := result.ReadSteps(path)
		if err != nil {
			problems = append(problems, notice.OfError(path, err))
			continue
		}
		read, problems = append(read, f), append(problems, f.Problems...)
	}
	return steps.Gather(read), problems, nil
}
