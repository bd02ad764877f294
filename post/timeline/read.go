package timeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/trace"
)

// Read makes one timeline of all traces found. What is named and cannot be read is an error; what lies in a folder is
// skipped, which the notices report.
func Read(ctx context.Context, paths []string, o Options) (*Timeline, []notice.Notice, error) {
	files, passed, err := trace.Files(paths)
	if err != nil {
		return nil, nil, err
	}
	reading := trace.Options{}
	if o.StepPattern != nil {
		reading.KeepRange = o.StepPattern.MatchString
	}
	b, read, points := NewBuilder(o), 0, ownPoints{}
	problems, err := trace.Each(ctx, files, reading, func(f *trace.File) error {
		read++
		points.add(f)
		if err := b.Add(f); err != nil {
			return err
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, nil, err
	}
	named := func(n notice.Notice) bool { return slices.Contains(paths, n.At.File) }
	if problems = append(passed, problems...); read == 0 || slices.ContainsFunc(problems, named) {
		return nil, nil, &noTraceError{paths, problems}
	}
	if err := points.one(); err != nil {
		return nil, nil, err
	}
	found := b.Timeline()
	found.Skipped = problems
	if !found.Ran() {
		return nil, problems, &idleError{paths, found}
	}
	return found, problems, nil
}

// idleError says that in what was named no GPU did anything.
type idleError struct {
	paths []string
	found *Timeline
}

func (e *idleError) Error() string {
	var facts []notice.Fact
	for _, n := range e.found.Notes {
		facts = append(facts, n.Fact)
	}
	idle := fmt.Errorf("nothing ran on a GPU in %s", units.Some(e.paths))
	return strings.Join(append([]string{idle.Error()}, notice.ToDos(facts...)...), "\n  ")
}

// noTraceError says that there is nothing to analyse, or that something that was named is no trace.
type noTraceError struct {
	paths    []string
	problems []notice.Notice
}

func (e *noTraceError) Error() string {
	if len(e.problems) == 1 {
		return e.problems[0].Full()
	}
	text := fmt.Errorf("no trace of a GPU in %s", units.Some(e.paths)).Error()
	if len(e.problems) > 0 {
		text = "cannot read"
	}
	for i, p := range e.problems {
		if i == mostListed {
			return text + fmt.Sprintf("\n  and %d more", len(e.problems)-i)
		}
		text += "\n  " + p.Full()
	}
	return text
}

// mostListed is how many files or points an error lists.
const mostListed = 16
