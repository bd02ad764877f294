package timeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/trace"
)

// Read builds one timeline from all traces found. An unreadable named file is an error; an unreadable file in a folder
// is skipped with a notice.
func Read(ctx context.Context, paths []string, o Options) (*Timeline, []notice.Notice, error) {
	files, passed, err := trace.Files(paths)
	if err != nil {
		return nil, nil, err
	}
	reading := trace.Options{}
	if o.StepPattern != nil {
		reading.KeepRange = o.StepPattern.MatchString
	}
	b, read := NewBuilder(o), 0
	points := map[string]string{} // busbar's own steps: folder and step
	problems := passed
	for _, path := range files {
		f, err := trace.Read(ctx, path, reading)
		switch {
		case ctx.Err() != nil:
			return nil, nil, context.Cause(ctx)
		case err != nil:
			problems = append(problems, notice.OfError(path, err))
			continue
		}
		read++
		if own := f.Own; own != nil {
			point := fmt.Sprint(own.Run, own.Point)
			points[point] = fmt.Sprintf("%s   %s, %s", filepath.Dir(f.Path), own.Model, own.Step)
		}
		b.Add(f)
	}
	named := func(n notice.Notice) bool { return slices.Contains(paths, n.At.File) }
	if read == 0 || slices.ContainsFunc(problems, named) {
		return nil, nil, noTrace(paths, problems)
	}
	if len(points) > 1 {
		return nil, nil, fmt.Errorf(
			"these are traces of %s of rank --step, and a timeline is of one: name its folder%s",
			units.Count(len(points), "point"),
			listed(slices.Sorted(maps.Values(points))),
		)
	}
	found := b.Timeline()
	found.Skipped = problems
	if !found.Ran() {
		var facts []notice.Fact
		for _, n := range found.Notes {
			facts = append(facts, n.Fact)
		}
		return nil, problems, fmt.Errorf(
			"nothing ran on a GPU in %s%s",
			units.Some(paths),
			listed(notice.ToDos(facts...)),
		)
	}
	return found, problems, nil
}

// noTrace is the error for no traces at all, or a named file that is not a trace.
func noTrace(paths []string, problems []notice.Notice) error {
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.Full())
	}
	switch len(lines) {
	case 0:
		return fmt.Errorf("no trace of a GPU in %s", units.Some(paths))
	case 1:
		return errors.New(lines[0])
	}
	return fmt.Errorf("cannot read%s", listed(lines))
}

// listed formats lines below an error.
func listed(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "\n  " + strings.Join(lines, "\n  ")
}
