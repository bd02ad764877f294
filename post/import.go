package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"busbar/internal/document"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/atomicfile"
	"busbar/post/foreign"
	"busbar/post/input"
	"busbar/post/usage"
)

// importer is what post import was asked to do.
type importer struct {
	stdout, stderr io.Writer
	out            string
	strict         bool
	words          []string
	given          foreign.Given
	seen           map[string]string // paths by the hash of what they hold
	counts         foreign.Counts
	files, runs    int
}

func newImport(stdout, stderr io.Writer) *cobra.Command {
	m := &importer{stdout: stdout, stderr: stderr, seen: map[string]string{}}
	cmd := &cobra.Command{
		Use:     "import [flags] FILE...",
		Short:   "Turn what other benchmarks printed into result files",
		GroupID: "results",
		Long: `Reads text of nccl-tests and rccl-tests of all years, their JSON and CSV, text
of the OSU and Intel benchmarks and of the collective profiler, PARAM's
COMMS-RES rows, SuperBench's results and the CSV of all-reduce scripts. The
layout is found by what a file holds (docs/import.md). Result files are written
into ./results, for merge, show, plot and report; each says which tool measured,
and names the file it was made from.

A row becomes a record for each placement; rows are never merged. What a file
does not tell stays empty, and --set says it in its place. Lines that are no
part of a known layout are kept beside the result files and counted. Importing a
file again replaces what it was made into.`,
		Example: `  post import all_reduce.log
  post import -o baseline logs/*.log && post merge baseline
  post import --set world=16 --set placement=out osu_allgather.txt`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage.New(errors.New("import wants the files to read"), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return m.run(cmd.Context(), cmd, args) },
	}
	cmd.Flags().StringVarP(&m.out, "out", "o", input.DefaultFolder, "write into this `DIR`")
	cmd.Flags().BoolVar(&m.strict, "strict", false, "fail on unknown lines, torn rows and doubtful points")
	cmd.Flags().StringArrayVar(&m.words, "set", nil,
		"`KEY=VALUE` where a file does not tell it: world, collective,\ntype, placement, mode")
	return cmd
}

func (m *importer) run(ctx context.Context, cmd *cobra.Command, args []string) (err error) {
	if m.given, err = foreign.ParseGiven(m.words); err != nil {
		return usage.New(fmt.Errorf("--set: %w", err), cmd.CommandPath())
	}
	failed := 0
	for _, path := range args {
		err := m.file(ctx, path)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var full *unwritableError
		if errors.As(err, &full) {
			return err
		}
		if err != nil {
			failed++
			fmt.Fprintln(m.stderr, "post:", document.Printable(err.Error()))
		}
	}
	whole := m.counts.Rows - m.counts.Torn
	words := fmt.Sprintf("%s in, %s out (%s, %s, of %s)", units.Count(m.counts.Rows, "row"), units.Count(whole, "row"),
		units.Count(m.counts.Points, "point"), units.Count(m.runs, "run"), units.Count(m.files, "file"))
	if failed > 0 {
		return fmt.Errorf("%d of %d files could not be imported; of the others: %s", failed, len(args), words)
	}
	fmt.Fprintf(m.stderr, "post: %s\n", words)
	return nil
}

// file imports one file, whole or not at all.
func (m *importer) file(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is no file; import wants the files themselves, since each is read more than once", path)
	}
	hash := ""
	if err == nil {
		hash, err = foreign.Hash(path)
	}
	if err != nil {
		return err
	}
	if same := m.seen[hash]; same != "" {
		fmt.Fprintf(m.stderr, "post: %s: holds the same bytes as %s, which is imported already\n", document.Printable(path),
			document.Printable(same))
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s := &importSink{ctx: ctx, dir: m.out, hash: hash}
	defer s.Discard()
	counts, err := foreign.Read(f, foreign.File{Path: path, SHA256: hash, Given: m.given}, s)
	if err == nil && m.strict && counts.Torn+counts.Unknown+counts.Doubtful > 0 {
		err = fmt.Errorf("%s (--strict: %s)", counts.First.Text(), aside(counts))
	}
	if err == nil {
		err = s.keep(counts.Points)
	}
	if err != nil {
		return err
	}
	m.seen[hash] = path
	m.counts.Add(counts)
	m.files, m.runs = m.files+1, m.runs+len(s.tables)
	m.say(path, s, counts)
	return nil
}

// say tells what became of a file.
func (m *importer) say(path string, s *importSink, counts foreign.Counts) {
	for _, t := range s.tables {
		fmt.Fprintln(m.stdout, t.draft.Path)
		for _, w := range t.warnings {
			fmt.Fprintf(m.stderr, "post: %s: %s\n", document.Printable(path), document.Printable(w))
		}
	}
	words := fmt.Sprintf("%s, %s in %s", strings.Join(s.formats, ", "), units.Count(counts.Points, "point"),
		units.Count(counts.Rows, "row"))
	if more := aside(counts); more != "" {
		words += "; " + more
	}
	if s.lines != nil {
		words += ", kept in " + s.lines.Path
	}
	fmt.Fprintf(m.stderr, "post: %s: %s\n", document.Printable(path), document.Printable(words))
	if counts.First.Fact != nil {
		fmt.Fprintf(m.stderr, "post: the first: %s\n", document.Printable(counts.First.Text()))
	}
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

// unwritableError is a folder or disk that takes nothing: no file can be imported.
type unwritableError struct{ err error }

func (e *unwritableError) Error() string { return e.err.Error() }
func (e *unwritableError) Unwrap() error { return e.err }

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
			err = &unwritableError{err}
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
		return nil, &unwritableError{err}
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
		return &unwritableError{err}
	}
	return nil
}

func (s *importSink) Discard() {
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
