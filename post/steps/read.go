package steps

import (
	"context"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// Read reads the files of training steps of a dataset; problems are what is wrong with them.
func Read(ctx context.Context, data *result.Dataset) (runs []*Run, problems []notice.Notice, err error) {
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
	return Gather(read), problems, nil
}
