package main

import (
	"context"
	"slices"

	"busbar/internal/result"
	"busbar/post/analysis"
	"busbar/post/input"
	"busbar/post/timeline"
)

// join sets the collectives of a timeline against the benchmark that --results names.
func (t *timeliner) join(ctx context.Context, found *timeline.Timeline) error {
	files, passed, err := input.Find(t.results)
	if err != nil {
		return err
	}
	data, err := result.MergeContext(ctx, files, t.MergeOptions)
	if err != nil {
		return err
	}
	c := analysis.NewCollector()
	err = data.Each(func(row result.Row) error {
		c.Add(row)
		return context.Cause(ctx)
	})
	if err != nil {
		return err
	}
	notes := slices.Concat(passed, data.Notes())
	if curves := c.Curves(); len(curves) > 0 {
		found.Join(curves, t.IncludeRehearsed)
		note(t.stderr, t.Kept(notes))
		return nil
	}
	return &result.NothingError{Problems: notes}
}
