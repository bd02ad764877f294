// Package importer makes result files of what other benchmarks printed.
package importer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/atomicfile"
	"busbar/post/foreign"
)

// Importer imports files.
type Importer struct {
	Dir    string        // of the result files
	Strict bool          // fail on unknown lines, incomplete rows and doubtful points
	Given  foreign.Given // what the user states

	counts      foreign.Counts
	runs, files int
}

// Imported is what became of a file.
type Imported struct {
	Runs    []ImportedRun
	Counts  foreign.Counts
	formats []string
}

// ImportedRun is the result file of one run.
type ImportedRun struct {
	Path     string
	Warnings []string
}

// File makes result files of a file, all or none.
func (m *Importer) File(ctx context.Context, path string) (*Imported, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		const reason = "not a regular file; name the files to import"
		return nil, fmt.Errorf("%s: %s", path, reason)
	}
	hash, err := foreign.Hash(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &importSink{ctx: ctx, dir: m.Dir, hash: hash}
	defer func() { atomicfile.DiscardAll(s.drafts()) }()
	made := &Imported{}
	made.Counts, err = foreign.Read(f, foreign.File{Path: path, SHA256: hash, Given: m.Given}, s)
	if c := made.Counts; err == nil && m.Strict && c.Torn+c.Unknown+c.Doubtful > 0 {
		err = fmt.Errorf("%s (--strict: %s)", c.First.Text(), aside(c))
	}
	if err == nil {
		err = s.keep()
	}
	if err != nil {
		return nil, err
	}
	for _, t := range s.tables {
		made.Runs = append(made.Runs, ImportedRun{t.draft.Path, t.warnings})
		made.formats = units.AddOnce(made.formats, t.format)
	}
	m.counts.Add(made.Counts)
	m.runs, m.files = m.runs+len(made.Runs), m.files+1
	return made, nil
}

// Summary counts what all files had.
func (m *Importer) Summary() string {
	whole := m.counts.Rows - m.counts.Torn
	return fmt.Sprintf("%s in, %s out (%s, %s, of %s)", units.Count(m.counts.Rows, "row"), units.Count(whole, "row"),
		units.Count(m.counts.Points, "point"), units.Count(m.runs, "run"), units.Count(m.files, "file"))
}

// Summary counts what a file had.
func (f *Imported) Summary() string {
	words := fmt.Sprintf("%s, %s in %s", strings.Join(f.formats, ", "), units.Count(f.Counts.Points, "point"),
		units.Count(f.Counts.Rows, "row"))
	if more := aside(f.Counts); more != "" {
		words += "; " + more
	}
	return words
}

// aside counts what is not in the records.
func aside(c foreign.Counts) string {
	var words []string
	for _, f := range []struct {
		n    int
		noun string
	}{{c.Torn, "incomplete row"}, {c.Unknown, "unknown line"}, {c.Doubtful, "doubtful point"}, {c.Log, "log line"}} {
		if f.n > 0 {
			words = append(words, units.Count(f.n, f.noun))
		}
	}
	return strings.Join(words, ", ")
}

// UnwritableError is a folder or disk that takes nothing: no file can be imported.
type UnwritableError struct{ err error }

func (e *UnwritableError) Error() string { return e.err.Error() }
func (e *UnwritableError) Unwrap() error { return e.err }

// importSink writes what is read of one file into drafts, which are kept together or not at all.
type importSink struct {
	ctx       context.Context
	dir, hash string
	tables    []*importTable
}

// importTable is the draft of one run's file. A log may have many thousand of them, so that what ended holds no file
// open and no buffer.
type importTable struct {
	*result.Bulk // nil once it has ended
	draft        *atomicfile.Draft
	format       string
	warnings     []string
}

// End implements foreign.Table.
func (t *importTable) End(e result.End) error {
	err := t.Bulk.End(e)
	if t.Bulk = nil; err == nil {
		if err = t.draft.Finish(); err != nil {
			err = &UnwritableError{err}
		}
	}
	return err
}

// Begin implements foreign.Sink. The file has the same name each time that its source is imported.
func (s *importSink) Begin(run *result.Run, ranks []result.Rank) (foreign.Table, error) {
	name := fmt.Sprintf("imported_%s_%s_%d.jsonl", s.hash[:12], slug(run.Imported.Tool), len(s.tables)+1)
	d, err := atomicfile.New(s.ctx, filepath.Join(s.dir, name))
	if err != nil {
		return nil, &UnwritableError{err}
	}
	b, err := result.NewBulk(d, *run, ranks)
	t := &importTable{Bulk: b, draft: d, format: run.Imported.Format, warnings: run.Warnings.Texts()}
	s.tables = append(s.tables, t)
	return t, err
}

// keep gives the files their names.
func (s *importSink) keep() error {
	if err := atomicfile.KeepAll(s.drafts()); err != nil {
		return &UnwritableError{err}
	}
	return nil
}

// drafts are those of all tables.
func (s *importSink) drafts() (all []*atomicfile.Draft) {
	for _, t := range s.tables {
		all = append(all, t.draft)
	}
	return all
}

var notInName = regexp.MustCompile(`[^a-z0-9.]+`)

// slug is a text as part of a file name.
func slug(text string) string {
	return strings.Trim(notInName.ReplaceAllString(strings.ToLower(text), "-"), "-")
}
