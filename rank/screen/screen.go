// Package screen is what rank 0 shows while a run measures: a table of results, and a progress line on a terminal.
package screen

import (
	"fmt"
	"io"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/sweeps"
)

// Screen is what rank 0 shows: a table in the manner of nccl-tests on stdout, a progress line on a terminal, and all
// else on stderr. On other ranks, and with --quiet, it shows nothing. All its lines fit 80 columns.
type Screen struct {
	page
	next   string // command of post
	rounds int    // of a pattern

	several bool   // backends
	section string // of the rows before: a collective, or what a group of steps shares
	notes   notes
	counts  map[result.Status]int
}

// File is an open file of results.
type File struct {
	Run  *result.Run
	Path string
}

// New is a screen that shows results on stdout, or nothing unless it is on.
func New(on bool, stdout io.Writer) *Screen {
	return &Screen{page: page{on: on, out: stdout}, next: "merge && post plot", counts: map[result.Status]int{}}
}

// Ranks is the world of a run.
func Ranks(r *result.Run) string {
	return fmt.Sprintf("world %d = %s x %d", r.World, units.Count(r.Nodes, "node"), r.RanksPerNode)
}

// Head heads the table of one world or pattern, with a file of each library; ranks are those that measure.
func (s *Screen) Head(files []File, ranks string, o sweeps.Options) {
	s.section, s.several = "", len(files) > 1
	for _, f := range files {
		s.head(f, f.Run.Sweep.Name, ranks)
	}
	r := files[0].Run
	if s.several {
		s.Note("interleaved: each case is measured with %s in turn", strings.Join(r.Interleaved, ", "))
	}
	s.Note("clock: a reading costs %.0f ns; budget %s a case, precision %.3g %%", r.Method.ClockCost*1e9, o.Budget,
		100*o.Precision)
	var shown notice.List
	for _, f := range files {
		s.before(f.Run, &shown)
	}
}

// The heads of the table. With several backends the count, which follows from size and type, gives its place to their
// names.
const (
	columnNames        = "#      size       count     type   op  rt  in how      time    ±  algbw  busbw"
	columnUnits        = "#       (B)  (elements)                               (us)  (%) (GB/s) (GB/s) #"
	severalColumnNames = "#     size backend            type   op  rt  in how    time    ±  algbw  busbw"
	severalColumnUnits = "#      (B)                                            (us)  (%) (GB/s) (GB/s) #"
)

// Row adds a record to the table. The last column is the number of wrong elements: - where nothing was checked.
func (s *Screen) Row(library string, r *result.Record) {
	s.counts[r.Status]++
	if !s.on {
		return
	}
	if section := r.Collective.String(); section != s.section {
		s.section = section
		names, units := columnNames, columnUnits
		if s.several {
			names, units = severalColumnNames, severalColumnUnits
		}
		fmt.Fprintf(s.out, "#\n# %s\n%s\n%s\n", section, names, units)
	}
	root, op := "-", "-"
	if r.Root >= 0 {
		root = fmt.Sprint(r.Root)
	}
	if r.Op != 0 {
		op = r.Op.String()
	}
	left, width := fmt.Sprintf("%11d %11d", r.SizeBytes, r.Count), 9
	if s.several {
		left, width = fmt.Sprintf("%10d %-14s", r.SizeBytes, library), 7
	}
	left += fmt.Sprintf(" %8s %4s %3s %3s %.3s ", r.Type, op, root, r.Placement, r.Mode)
	if r.Status != result.OK {
		s.notMeasured(left, r.Status, r.Why)
		return
	}
	t := r.Time
	fmt.Fprintf(s.out, "%s%*s %4s %6s %6s %s\n", left, width, digits(t.Seconds*1e6, width), halfWidth(t),
		digits(r.AlgBW(t.Seconds)/1e9, 6), digits(r.BusBW(t.Seconds)/1e9, 6), wrongElements(r.Check))
	s.notes.add(r.Case, r.Warnings)
}

// wrongElements is the last column of a row with values: - where nothing was checked.
func wrongElements(c result.Check) string { return map[string]string{"ok": "0", "off": "-"}[c.Result] }

// Farewell says what the run left behind and what to do next.
func (s *Screen) Farewell(code int) {
	if !s.on {
		return
	}
	fmt.Fprintln(s.out, "#")
	s.notes.write(&s.page)
	var parts []string
	for _, status := range []result.Status{result.OK, result.Skipped, result.Unsupported, result.OOM, result.Timeout,
		result.Wrong, result.Failed} {
		if n := s.counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing left to measure"}
	}
	s.Note("points: %s", strings.Join(parts, ", "))
	s.results()
	switch {
	case code == exit.Wrong:
		s.Note("WRONG DATA was found: the rows above say where; exit code %d", code)
	case code == exit.Points:
		s.Note("some points failed; exit code %d; --resume measures them again", code)
	case code > exit.Interrupted:
		s.Note("ended early as asked; --resume continues; exit code %d", code)
	}
	s.Note("next: post %s", s.next)
}

// notes collects warnings of records; each code is printed once at the end, with how many points have it.
type notes struct {
	order []notice.Kind
	count map[notice.Kind]int
	first map[notice.Kind]string
}

// add takes the warnings of a point.
func (n *notes) add(point fmt.Stringer, warnings notice.List) {
	for _, w := range warnings {
		group := w.Kind()
		if n.count == nil {
			n.count, n.first = map[notice.Kind]int{}, map[notice.Kind]string{}
		}
		if n.count[group] == 0 {
			n.order = append(n.order, group)
			n.first[group] = point.String() + ": " + notice.Message(w.Fact)
		}
		n.count[group]++
	}
}

func (n *notes) write(p *page) {
	for _, group := range n.order {
		text := n.first[group]
		if more := n.count[group] - 1; more > 0 {
			text += fmt.Sprintf(" (and %s like it)", units.Count(more, "point"))
		}
		p.Wrapped("# warning: ", text)
	}
}

// digits writes x with as many decimals as fit width, at most three; one where three digits stand before the point.
func digits(x float64, width int) string {
	most := min(3, width-3)
	if x >= 100 {
		most = 1
	}
	for decimals := most; decimals >= 0; decimals-- {
		if s := fmt.Sprintf("%.*f", decimals, x); len(s) <= width {
			return s
		}
	}
	return fmt.Sprintf("%.*e", max(0, width-6), x)
}
