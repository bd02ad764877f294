package screen

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// page prints what surrounds the tables of all kinds of runs: notes, headers and the paths of results.
type page struct {
	on    bool
	out   io.Writer
	cause notice.Fact // of the last row without values
	paths []string    // of the files of results
}

// Note prints a comment line.
func (p *page) Note(format string, a ...any) {
	if p.on {
		fmt.Fprintf(p.out, "# "+format+"\n", a...)
	}
}

// Wrapped prints a comment, wrapped at 80 columns.
func (p *page) Wrapped(prefix, text string) {
	if !p.on {
		return
	}
	for i, line := range Wrap(text, 80-len(prefix)) {
		if i > 0 {
			prefix = "#" + strings.Repeat(" ", len(prefix)-1)
		}
		fmt.Fprintln(p.out, prefix+line)
	}
}

// head prints what a file holds, and which ranks measure it.
func (p *page) head(f File, what, ranks string) {
	r := f.Run
	p.paths = append(p.paths, f.Path)
	p.Wrapped("# ", fmt.Sprintf("%s: %s on %s, %s", r.Tool, what, r.Backend.Library, ranks))
	p.Note("%s, %s", Clip(r.Machine.Host+" "+r.Device, 58), units.Count(r.Sweep.Points, "point"))
	if r.Rehearse {
		p.Note("SIMULATED: no hardware is measured")
	}
}

// before prints the runs that a file continues, and its warnings that are not in shown.
func (p *page) before(r *result.Run, shown *notice.List) {
	for _, id := range r.Resumes {
		p.Wrapped("# ", "continues run "+id+" and skips its points that are ok")
	}
	for _, k := range r.Warnings {
		if slices.ContainsFunc(*shown, func(o notice.Kept) bool { return reflect.DeepEqual(o, k) }) {
			continue
		}
		p.Wrapped("# warning: ", k.Sentences())
		*shown = append(*shown, k)
	}
}

// notMeasured prints the row of a point without values: its status and the reason, which goes below if it is long.
func (p *page) notMeasured(left string, status result.Status, why result.Why) {
	if text := string(status) + ": " + why.Reason; len(left)+len(text) <= 80 {
		fmt.Fprintln(p.out, left+text)
		return
	}
	fmt.Fprintln(p.out, left+string(status))
	p.reason(why)
}

// reason prints why a point has no values, once for consecutive points with the same cause.
func (p *page) reason(why result.Why) {
	if cause := why.Fact(); !reflect.DeepEqual(cause, p.cause) {
		p.Wrapped("#   ", why.Reason)
		p.cause = cause
	}
}

// results prints the paths of the files, never wrapped.
func (p *page) results() {
	for _, path := range p.paths {
		p.Note("results: %s", path)
	}
}

// Clip shortens a text to n bytes; a shortened text ends with three dots.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-3] + "..."
}

// Wrap breaks text into lines of at most width columns, at spaces if possible.
func Wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		for len(line) > width {
			at := strings.LastIndexByte(line[:width+1], ' ')
			if at <= 0 {
				at = width
			}
			lines = append(lines, line[:at])
			line = strings.TrimLeft(line[at:], " ")
		}
		lines = append(lines, line)
	}
	return lines
}
