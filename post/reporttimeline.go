package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"busbar/internal/result"
	"busbar/post/input"
	"busbar/post/report"
	"busbar/post/timeline"
)

// readTraces makes one timeline of what --timeline named; nil where it was not given.
func (r *reporter) readTraces(ctx context.Context) (*timeline.Timeline, error) {
	if len(r.traces) == 0 {
		return nil, nil
	}
	return readTimeline(ctx, r.stderr, &r.outputFlags, r.traces, r.traced)
}

// alone says whether there are traces to report and no results: none were named, and none lie where they are looked
// for.
func (r *reporter) alone(args []string, err error) bool {
	var none *result.NotFoundError
	var nothing *result.NothingError
	if len(args) > 0 || len(r.traces) == 0 || err == nil {
		return false
	}
	if _, missing := os.Stat(input.DefaultFolder); missing != nil {
		return true
	}
	return errors.As(err, &none) || errors.As(err, &nothing)
}

// onlyTimeline writes a report about timelines alone.
func (r *reporter) onlyTimeline(ctx context.Context, found *timeline.Timeline) error {
	var err error
	if r.out, err = input.Folder(r.out, r.traces); err != nil {
		return err
	}
	if err := r.mayWrite(); err != nil {
		return err
	}
	fmt.Fprintf(r.stderr, "post: there are no results in ./%s: the report is about the timeline alone\n", input.DefaultFolder)
	found.Ignore(r.Shows)
	made := report.OfTimeline(found, r.options())
	return r.write(ctx, made)
}

func (r *reporter) options() report.Options {
	return report.Options{Tool: versionLine(), Made: time.Now(), Dir: r.out}
}
