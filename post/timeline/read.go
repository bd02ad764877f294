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
	b := NewBuilder(o)
	points := map[string]string{} // busbar's own steps: folder and step
	met := map[string]*reduced{}  // by identity
	problems := passed
	var parts []*reduced
	for _, path := range files {
		f, err := read(ctx, path, o)
		switch {
		case ctx.Err() != nil:
			return nil, nil, context.Cause(ctx)
		case err != nil:
			problems = append(problems, notice.OfError(path, err))
			continue
		}
		if own := f.Own; own != nil {
			point := fmt.Sprint(own.Run, own.Point)
			points[point] = fmt.Sprintf("%s   %s, %s", filepath.Dir(f.File.Path), own.Model, own.Step)
		}
		for _, id := range f.identities() {
			if other := met[id]; id != "" && other != nil && other != f && other.File.Facts+f.File.Facts != "" {
				return nil, nil, fmt.Errorf("%s and %s are of the same trace: give only one of them", other.source(),
					f.source())
			}
			met[id] = f
		}
		parts = append(parts, f)
	}
	if slices.ContainsFunc(parts, func(f *reduced) bool { return f.File.Facts != "" }) {
		slices.SortStableFunc(parts, func(a, b *reduced) int { // as in a folder of their traces
			return slices.Compare(strings.Split(a.File.Path, "/"), strings.Split(b.File.Path, "/"))
		})
	}
	for _, f := range parts {
		if err := b.agree(f); err != nil {
			return nil, nil, err
		}
		b.join(f)
	}
	if len(parts) == 0 || named(paths, problems) {
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

// readRuns reads a timeline of each path; all have the same rule. The notices concern files, also with an error.
func readRuns(ctx context.Context, paths []string, o Options) (runs []*Timeline, notes []notice.Notice, err error) {
	for _, path := range paths {
		run, problems, err := Read(ctx, []string{path}, o)
		if notes = append(notes, problems...); err != nil {
			return nil, notes, err
		}
		runs = append(runs, run)
		if err := runs[0].Rule.agree(path, run.Rule); err != nil {
			return nil, notes, err
		}
	}
	return runs, notes, nil
}

// named reports whether a problem is that of a named file.
func named(paths []string, problems []notice.Notice) bool {
	return slices.ContainsFunc(problems, func(n notice.Notice) bool { return slices.Contains(paths, n.At.File) })
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
