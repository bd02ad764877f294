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

// page is what the tables of all kinds of runs have around them: lines for people, what files hold and where they are.
type page struct {
	on    bool
	out   io.Writer
	cause notice.Fact // of the last row without figures
	paths []string    // of the files of results
}

// Note is a line for people that is no result.
func (p *page) Note(format string, a ...any) {
	if p.on {
		fmt.Fprintf(p.out, "# "+format+"\n", a...)
	}
}

// Wrapped writes a long line for people in pieces of 80 columns.
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

// head shows what is measured into a file, and by which ranks.
func (p *page) head(f File, what, ranks string) {
	r := f.Run
	p.paths = append(p.paths, f.Path)
	p.Wrapped("# ", fmt.Sprintf("%s: %s on %s, %s", r.Tool, what, r.Backend.Library, ranks))
	p.Note("%s, %s", Clip(r.Machine.Host+" "+r.Device, 58), units.Count(r.Sweep.Points, "point"))
	if r.Rehearse {
		p.Note("SIMULATED: no device is measured; these values are not about hardware")
	}
}

// before says what a file continues, and its warnings but for those that were said of another.
func (p *page) before(r *result.Run, said *notice.List) {
	for _, id := range r.Resumes {
		p.Wrapped("# ", "continues run "+id+": what is ok there is not measured again")
	}
	for _, k := range r.Warnings {
		if slices.ContainsFunc(*said, func(o notice.Kept) bool { return reflect.DeepEqual(o, k) }) {
			continue
		}
		p.Wrapped("# warning: ", k.Sentences())
		*said = append(*said, k)
	}
}

// notMeasured writes the row of a point without figures: its status and, under it where it is long, the reason.
func (p *page) notMeasured(left string, status result.Status, why result.Why) {
	if text := string(status) + ": " + why.Reason; len(left)+len(text) <= 80 {
		fmt.Fprintln(p.out, left+text)
		return
	}
	fmt.Fprintln(p.out, left+string(status))
	p.reason(why)
}

// reason says why a point has no figures, once in a run of points with one cause.
func (p *page) reason(why result.Why) {
	if cause := why.Fact(); !reflect.DeepEqual(cause, p.cause) {
		p.Wrapped("#   ", why.Reason)
		p.cause = cause
	}
}

// results shows where the files are. Paths are never broken, so that they can be copied.
func (p *page) results() {
	for _, path := range p.paths {
		p.Note("results: %s", path)
	}
}

// Clip shortens a text to n bytes; a text that is cut ends in dots.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-3] + "..."
}

// Wrap breaks text into lines of at most width columns, at spaces where there are any.
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
