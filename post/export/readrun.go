package export

import (
	"context"

	"busbar/internal/result"
)

// ReadRun reads a run whole, or until the context ends.
func ReadRun(ctx context.Context, path string) (*result.File, error) {
	var records []result.Record
	f, err := result.Scan(path, func(r *result.Record) error {
		records = append(records, *r)
		return ctx.Err()
	})
	if err == nil {
		f.Records = records
	}
	return f, err
}
