package foreign

import (
	"bufio"
	"regexp"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
)

// line is one line of text, without launcher prefixes.
type line struct {
	n    int
	text string
	body string // trimmed, without the comment mark
	mark bool   // it had a comment mark
}

func newLine(n int, text string) line {
	body := strings.TrimSpace(text)
	l := line{n: n, text: text, mark: strings.HasPrefix(body, "#")}
	l.body = strings.TrimSpace(strings.TrimLeft(body, "#"))
	return l
}

// parser reads one family of layouts.
type parser interface {
	// take reads a line; false: not of this layout. Without an open test it accepts only a beginning.
	take(l line) (bool, error)
	// close ends the open test.
	close() error
}

// layout is the common part of the parsers.
type layout struct {
	in    *input
	shell *shell
	test  *test // nil: none is open
}

func (p *layout) close() error {
	t := p.test
	if p.test = nil; t == nil {
		return nil
	}
	return t.end()
}

// begin closes the open test and begins the next.
func (p *layout) begin(tool, format string, line int) (*test, error) {
	err := p.close()
	p.test = p.in.newTest(p.shell, tool, format, line)
	return p.test, err
}

// columnTable is a table whose heading names its columns.
type columnTable struct {
	columns   []string
	point     coll.Case // common to all rows
	operation string    // for a test that is not a collective
}

// columnFunc sets a named column's value in a record.
type columnFunc func(rec *result.Record, name, word string) bool

// record returns a record of a row in line n, without the values of the row.
func (c *columnTable) record(t *test, n int) *result.Record {
	rec := newRecord(n, coll.Other, c.operation)
	rec.Case, rec.SizeBytes, rec.Count = c.point, -1, -1
	if rec.World = t.run.World; rec.World == 0 { // a size may be computed from it
		t.in.file.Given.give(&rec.Case, t.run.Imported.Given, "world")
	}
	return rec
}

// fill sets the values of a row; false if one is invalid.
func (c *columnTable) fill(rec *result.Record, words []string, put columnFunc) bool {
	for i, name := range c.columns {
		if len(words) != len(c.columns) || !put(rec, name, words[i]) {
			return false
		}
	}
	return true
}

// stream is the lines of one process.
type stream struct {
	parsers []parser // first the one that took the last line
	shell   *shell
}

func newStream(in *input) *stream {
	sh := &shell{around: newAround("")}
	base := layout{in: in, shell: sh}
	s := &stream{shell: sh, parsers: []parser{
		&ncclText{layout: base}, &osu{layout: base}, &imb{layout: base}, &table{layout: base},
	}}
	for i := range rowFormats {
		s.parsers = append(s.parsers, &rowTable{layout: base, rowFormat: &rowFormats[i]})
	}
	return s
}

// maxStreams bounds the number of processes; further ones share a stream.
const maxStreams = 1024

// text reads a file of lines, and separates processes by line prefixes.
func (in *input) text(r *bufio.Reader) error {
	var who units.Numbers[string]
	var streams []*stream
	err := lines(r, func(n int, text string) error {
		process, rest := "", text
		if !plainLog.MatchString(text) {
			process, rest = unprefixed(text)
		}
		if _, known := who[process]; !known && len(streams) >= maxStreams {
			process = ""
		}
		i, added := who.Of(process)
		if added {
			streams = append(streams, newStream(in))
		}
		return streams[i].take(in, newLine(n, rest), text)
	})
	for _, s := range streams {
		for _, p := range s.parsers {
			if e := p.close(); err == nil {
				err = e
			}
		}
	}
	return err
}

var (
	fence = regexp.MustCompile("^(`{3,}\\w*|[-=*]{3,}|\\[exit status \\d+\\])$")
	// plainLog matches a pure NCCL log line; logs have millions.
	plainLog   = regexp.MustCompile(`^[^<>\[\]|\s]+:\d+:\d+ \[\w+\] NCCL INFO `)
	libraryLog = regexp.MustCompile(`\b(NCCL|RCCL) (INFO|WARN|TRACE|ABORT|VERSION|version)\b|^(NCCL|RCCL) version\b`)
)

// take passes a line to the open layout, then to the others.
func (s *stream) take(in *input, l line, raw string) error {
	if plainLog.MatchString(l.text) {
		return s.log(in, l, raw)
	}
	for i, p := range s.parsers {
		known, err := p.take(l)
		if err == nil && known && i > 0 {
			err = s.parsers[0].close()
			s.parsers[0], s.parsers[i] = p, s.parsers[0]
		}
		if known || err != nil {
			return err
		}
	}
	switch {
	case l.body == "" || fence.MatchString(l.body) || s.shell.take(l):
		return nil
	case libraryLog.MatchString(l.text):
		return s.log(in, l, raw)
	}
	s.shell.note(l.text)
	return in.unknown(l.n, raw)
}

var ncclLoaded = regexp.MustCompile(`(?:^| (?:NCCL|RCCL) INFO )(NCCL|RCCL) version *:? *(\S+)`)

// log counts a line of the library's log and records its version and variables.
func (s *stream) log(in *input, l line, raw string) error {
	around := s.shell.around
	if m := ncclLoaded.FindStringSubmatch(l.text); m != nil && around.library == "" {
		around.vendor, around.library = strings.ToLower(m[1]), m[2]
	}
	around.sets(l.text)
	in.counts.Log++
	return nil
}

// shell is a process's data outside of tables.
type shell struct {
	configurations
	called bool // a command without its test so far
	around *around
}

// around is the data from commands and logs for one test.
type around struct {
	test            *test             // nil: for the next one
	environment     map[string]string // variables of the library
	vendor, library string            // nccl or rccl, and its version
}

func newAround(text string) *around {
	a := &around{environment: map[string]string{}}
	a.sets(text)
	return a
}

// sets records the library variables that a line sets; earlier values win.
func (a *around) sets(text string) {
	for _, m := range libraryVariable.FindAllStringSubmatch(text, -1) {
		if _, known := a.environment[m[1]]; !known {
			a.environment[m[1]] = m[2]
		}
	}
}

// of returns the data around a test that begins.
func (s *shell) of(t *test) *around {
	if s.around.test != nil {
		s.around = newAround("")
	}
	s.around.test, s.called = t, false
	return s.around
}

// benchmarkCall matches a benchmark call behind a prompt, as `set -x` prints it, or behind a launcher.
var benchmarkCall = regexp.MustCompile(
	`^(?:[$+] |(?:.*[\s/])?(?:mpirun(?:_rsh)?|mpiexec(?:\.hydra)?|[sp]run|orterun)\s)` +
		`(?:.*[\s/])?(?:\w+_perf(?:_mpi)?|osu_\w+|IMB-[\w-]+)(?:\s|$)`,
)

// take reads the variables from a line that looks like a command with a benchmark.
func (s *shell) take(l line) bool {
	called := benchmarkCall.MatchString(strings.TrimSpace(l.text))
	if called {
		s.called, s.around = true, newAround(l.text)
	}
	return called
}
