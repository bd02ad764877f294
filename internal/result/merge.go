package result

import (
	"context"
	"os"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// MergeOptions are how runs are put together.
type MergeOptions struct {
	IncludeRehearsed bool // let rehearsed runs in beside measured ones
	NoSteps          bool // leave runs of training steps out, which have no rows, and note how many they are
}

// Dataset is many runs as one stream of rows. Its files are read anew by Each and by each Write method, up to the size
// that they had when Merge looked at them.
type Dataset struct {
	files []*source
	notes []notice.Notice // of Merge
	late  []notice.Notice // of the last reading
}

// source is one file of a Dataset.
type source struct {
	path             string
	run              *Run
	size             int64
	drop             map[int]bool // records, by index, that another one replaces
	settled          int          // records that settler.add has taken
	copied, replaced int          // of drop
}

// Row is one point of one run. Both are the callee's to keep; neither is to be changed.
type Row struct {
	Run    *Run
	Record *Record
}

// Merge puts runs together: no record twice (by run and number), and along a chain of resumed runs what was measured in
// the place of what was not. Files that cannot be used are notes; the error is a *RehearsedError, a *NothingError, or
// of the system.
func Merge(files []string, o MergeOptions) (*Dataset, error) {
	return MergeContext(context.Background(), files, o)
}

// MergeContext is Merge that gives up with the context's cause.
func MergeContext(ctx context.Context, files []string, o MergeOptions) (*Dataset, error) {
	d := &Dataset{}
	for _, path := range files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s, err := openSource(path)
		if err != nil {
			d.notes = append(d.notes, notice.OfError(path, err))
			continue
		}
		d.files = append(d.files, s)
	}
	if len(d.files) == 0 {
		return nil, &NothingError{Problems: d.notes}
	}
	d.noteMissing()
	if d.files = d.withoutSteps(o); len(d.files) == 0 {
		return nil, &NothingError{Problems: d.notes}
	}
	// Older runs first, independent of file names: the first copy counts.
	slices.SortStableFunc(d.files, byStart)
	if err := d.refuseMixture(o); err != nil {
		return nil, err
	}
	d.noteDifferences()
	for _, chain := range chains(d.files) {
		if err := d.settle(ctx, chain); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// withoutSteps are the files of collectives, and of training steps unless these are to be left out.
func (d *Dataset) withoutSteps(o MergeOptions) (files []*source) {
	if !o.NoSteps {
		return d.files
	}
	for _, s := range d.files {
		if s.run.Step == nil {
			files = append(files, s)
		}
	}
	if n := len(d.files) - len(files); n > 0 {
		d.notes = append(d.notes, notice.New(notice.StepsSkipped{Files: n}))
	}
	return files
}

// StepFiles are the paths of the files of training steps, oldest run first; ReadSteps reads them.
func (d *Dataset) StepFiles() (paths []string) {
	for _, s := range d.files {
		if s.run.Step != nil {
			paths = append(paths, s.path)
		}
	}
	return paths
}

func openSource(path string) (*source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := newLineReader(f)
	defer lines.release()
	run, err := readHeader(path, lines)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat() // behind the header, which may be written just now
	if err != nil {
		return nil, err
	}
	return &source{path: path, run: run, size: info.Size(), drop: map[int]bool{}}, nil
}

// refuseMixture is the error for simulated values beside measured ones, unless the mixture is requested.
func (d *Dataset) refuseMixture(o MergeOptions) error {
	e := &RehearsedError{}
	for _, s := range d.files {
		if s.run.Rehearse {
			e.Rehearsed = append(e.Rehearsed, s.path)
		} else {
			e.Measured = append(e.Measured, s.path)
		}
	}
	if len(e.Rehearsed) > 0 && len(e.Measured) > 0 && !o.IncludeRehearsed {
		return e
	}
	return nil
}

// noteMissing notes which runs are continued here, but not here themselves.
func (d *Dataset) noteMissing() {
	here := map[string]bool{}
	for _, s := range d.files {
		here[s.run.ID] = true
	}
	for _, s := range d.files {
		for _, id := range s.run.Resumes {
			if !here[id] {
				d.note(s.path, notice.ResumedRunMissing{Run: id})
			}
		}
	}
}

// Runs are the runs, oldest first, each once.
func (d *Dataset) Runs() (runs []*Run) {
	for _, same := range units.GroupBy(d.files, func(s *source) string { return s.run.ID }) {
		runs = append(runs, same[0].run)
	}
	return runs
}

// Notes are what a reader of the rows should know: files passed over, duplicates, interrupted runs, lines that could
// not be read. They are complete once Each or a Write method has returned.
func (d *Dataset) Notes() []notice.Notice { return slices.Concat(d.notes, d.late) }

func (d *Dataset) note(path string, f notice.Fact) {
	d.notes = append(d.notes, notice.InFile(path, 0, f))
}
