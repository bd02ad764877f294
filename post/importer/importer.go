// Package importer makes result files of what other benchmarks printed.
package importer

import (
	"context"
	"fmt"
	"os"
	"strings"

	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/atomicfile"
	"busbar/post/foreign"
)

// Importer imports files, each once.
type Importer struct {
	Dir    string        // of the result files
	Strict bool          // refuse unknown lines, torn rows and doubtful points
	Given  foreign.Given // what the user states

	paths  map[string]string // of what is imported, by hash
	counts foreign.Counts
	runs   int
}

// Imported is what became of a file.
type Imported struct {
	Runs    []importedRun
	Counts  foreign.Counts
	formats []string
	lines   string // the file with its lines of no known layout; "" without one
	same    string // a file with the same bytes, imported before; nothing else is set then
}

// importedRun is the result file of one run.
type importedRun struct {
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
		return nil, fmt.Errorf("%s: is no file; import wants the files themselves, since each is read more than once", path)
	}
	hash, err := foreign.Hash(path)
	if err != nil {
		return nil, err
	}
	if same := m.paths[hash]; same != "" {
		return &Imported{same: same}, nil
	}
	made, err := m.file(ctx, foreign.File{Path: path, SHA256: hash, Given: m.Given})
	if err != nil {
		return nil, err
	}
	if m.paths == nil {
		m.paths = map[string]string{}
	}
	m.paths[hash] = path
	m.counts.Add(made.Counts)
	m.runs += len(made.Runs)
	return made, nil
}

func (m *Importer) file(ctx context.Context, of foreign.File) (*Imported, error) {
	f, err := os.Open(of.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &importSink{ctx: ctx, dir: m.Dir, hash: of.SHA256}
	defer s.discard()
	counts, err := foreign.Read(f, of, s)
	if err == nil && m.Strict && counts.Torn+counts.Unknown+counts.Doubtful > 0 {
		err = fmt.Errorf("%s (--strict: %s)", counts.First.Text(), aside(counts))
	}
	if err == nil {
		err = s.keep(counts.Points)
	}
	if err != nil {
		return nil, err
	}
	made := &Imported{formats: s.formats, Counts: counts}
	for _, t := range s.tables {
		made.Runs = append(made.Runs, importedRun{t.draft.Path, t.warnings})
	}
	if s.lines != nil {
		made.lines = s.lines.Path
	}
	return made, nil
}

// Summary counts what all files had.
func (m *Importer) Summary() string {
	whole := m.counts.Rows - m.counts.Torn
	return fmt.Sprintf("%s in, %s out (%s, %s, of %s)", units.Count(m.counts.Rows, "row"), units.Count(whole, "row"),
		units.Count(m.counts.Points, "point"), units.Count(m.runs, "run"), units.Count(len(m.paths), "file"))
}

// Summary counts what a file had.
func (f *Imported) Summary() string {
	if f.same != "" {
		return fmt.Sprintf("holds the same bytes as %s, which is imported already", f.same)
	}
	words := fmt.Sprintf("%s, %s in %s", strings.Join(f.formats, ", "), units.Count(f.Counts.Points, "point"),
		units.Count(f.Counts.Rows, "row"))
	if more := aside(f.Counts); more != "" {
		words += "; " + more
	}
	if f.lines != "" {
		words += ", kept in " + f.lines
	}
	return words
}

// aside counts what is not in the records.
func aside(c foreign.Counts) string {
	var words []string
	for _, f := range []struct {
		n    int
		noun string
	}{{c.Torn, "torn row"}, {c.Unknown, "unknown line"}, {c.Doubtful, "doubtful point"}, {c.Log, "line"}} {
		if f.n == 0 {
			continue
		}
		text := units.Count(f.n, f.noun)
		if f.noun == "line" {
			text += " of the library's log"
		}
		words = append(words, text)
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
	formats   []string
	lines     *atomicfile.Draft // lines of no known layout; nil as long as there is none
}

// importTable is the draft of one run's file. A log may have many thousand of them, so that what ended holds no file
// open and no buffer.
type importTable struct {
	*result.Bulk // nil once it has ended
	draft        *atomicfile.Draft
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

// name is that of a file made of this source: the same each time that it is imported.
func (s *importSink) name(what string) string {
	return fmt.Sprintf("imported_%s_%s", s.hash[:12], what)
}

func (s *importSink) create(name string) (*atomicfile.Draft, error) {
	d, err := atomicfile.New(s.ctx, s.dir+string(os.PathSeparator)+name)
	if err != nil {
		return nil, &UnwritableError{err}
	}
	return d, nil
}

// Begin implements foreign.Sink.
func (s *importSink) Begin(run *result.Run, ranks []result.Rank) (foreign.Table, error) {
	d, err := s.create(s.name(fmt.Sprintf("%s_%d.jsonl", slug(run.Imported.Tool), len(s.tables)+1)))
	if err != nil {
		return nil, err
	}
	b, err := result.NewBulk(d, *run, ranks)
	t := &importTable{Bulk: b, draft: d, warnings: run.Warnings.Texts()}
	s.tables = append(s.tables, t)
	s.formats = units.AddOnce(s.formats, run.Imported.Format)
	return t, err
}

// Line implements foreign.Sink.
func (s *importSink) Line(n int, text string) (err error) {
	if s.lines == nil {
		if s.lines, err = s.create(s.name("lines.txt")); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(s.lines, "%d: %s\n", n, strings.TrimRight(text, "\r\n"))
	return err
}

// keep makes sure that every point can be read back, and gives the files their names.
func (s *importSink) keep(points int) error {
	written := 0
	for _, t := range s.tables {
		f, err := result.Scan(t.draft.File.Name(), func(*result.Record) error { return context.Cause(s.ctx) })
		if err != nil {
			return err
		}
		written += f.Points
	}
	if written != points {
		return fmt.Errorf("%d points were read and %d can be read back: nothing is kept; this is a fault of busbar", points,
			written)
	}
	var drafts []*atomicfile.Draft
	for _, t := range s.tables {
		drafts = append(drafts, t.draft)
	}
	if s.lines != nil {
		drafts = append(drafts, s.lines)
	}
	if err := atomicfile.KeepAll(drafts); err != nil {
		return &UnwritableError{err}
	}
	return nil
}

func (s *importSink) discard() {
	for _, t := range s.tables {
		t.draft.Discard()
	}
	if s.lines != nil {
		s.lines.Discard()
	}
}

// slug is a text as part of a file name.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.'
	})
	return strings.Join(words, "-")
}
