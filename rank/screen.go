package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/rank/exit"
)

// screen is what rank 0 shows: a table in the manner of nccl-tests on stdout, a progress line on a terminal, and all
// else on stderr. On other ranks, and with --quiet, it shows nothing. All its lines fit 80 columns.
type screen struct {
	on       bool
	out, err io.Writer
	bar      *meter // nil without a terminal
	plan     *plan

	pace    *pace
	several bool        // backends
	section string      // of the rows before: a collective, or what a group of steps shares
	stepped int         // training steps that have a record
	marks   []string    // what has to be said of all training steps
	cause   notice.Fact // of the last row without figures
	notes   notes
	counts  map[result.Status]int
	paths   []string
}

func newScreen(j *job, p *plan) *screen {
	s := &screen{
		on:     j.rank == 0 && !j.cfg.quiet,
		out:    j.stdout,
		err:    j.stderr,
		plan:   p,
		counts: map[result.Status]int{},
	}
	if s.on {
		s.bar = newMeter(j.launch, j.stderr)
		s.out = s.bar.above(s.out)
	}
	return s
}

// note is a line for people that is no result.
func (s *screen) note(format string, a ...any) {
	if s != nil && s.on {
		fmt.Fprintf(s.out, "# "+format+"\n", a...)
	}
}

// world heads the table of one world.
func (s *screen) world(w *subworld) {
	s.pace, s.section, s.several = w.pace, "", len(w.sessions) > 1
	for _, l := range w.sessions {
		s.paths = append(s.paths, l.sheet.w.Path())
	}
	if !s.on {
		return
	}
	s.bar.total(w.pace.planned)
	r := w.sessions[0].run
	for _, l := range w.sessions {
		s.head(&l.run, fmt.Sprintf("world %d = %s x %d", r.World, units.Count(r.Nodes, "node"), r.RanksPerNode))
	}
	if s.several {
		s.note("interleaved: each case is measured with %s in turn", strings.Join(r.Interleaved, ", "))
	}
	s.note(
		"clock: a reading costs %.0f ns; budget %s a case, precision %.3g %%",
		r.Method.ClockCost*1e9,
		w.p.sweep.Budget,
		100*w.p.sweep.Precision,
	)
	var said notice.List
	for _, l := range w.sessions {
		s.before(&l.run, &said)
	}
}

// head says what is measured into a file, where and by which groups of ranks.
func (s *screen) head(r *result.Run, ranks string) {
	s.note("%s: %s on %s, %s", r.Tool, r.Sweep.Name, r.Backend.Library, ranks)
	s.note("%s, %s", clip(r.Machine.Host+" "+r.Device, 58), units.Count(r.Sweep.Points, "point"))
	if r.Rehearse {
		s.note("SIMULATED: no device is measured; these values are not about hardware")
	}
}

// before says what a file continues, and its warnings but for those that were said of another.
func (s *screen) before(r *result.Run, said *notice.List) {
	for _, id := range r.Resumes {
		s.wrapped("# ", "continues run "+id+": what is ok there is not measured again")
	}
	for _, k := range r.Warnings {
		if slices.ContainsFunc(*said, func(o notice.Kept) bool { return reflect.DeepEqual(o, k) }) {
			continue
		}
		s.wrapped("# warning: ", k.Sentences())
		*said = append(*said, k)
	}
}

// skippedWorld says that a world cannot be measured; backend says by which, where there are several.
func (s *screen) skippedWorld(library string, n int, why string, points int, path string) {
	s.paths = append(s.paths, path)
	s.counts[result.Skipped] += points
	s.wrapped("# ", fmt.Sprintf("%sworld %d: skipped: it %s", library, n, why))
}

// wrapped writes a long line for people in pieces of 80 columns.
func (s *screen) wrapped(prefix, text string) {
	if !s.on {
		return
	}
	for i, line := range wrap(text, 80-len(prefix)) {
		if i > 0 {
			prefix = "#" + strings.Repeat(" ", len(prefix)-1)
		}
		fmt.Fprintln(s.out, prefix+line)
	}
}

// begin says which case is in hand, and of which backend where there are several.
func (s *screen) begin(library string, c coll.Case) {
	if !s.on {
		return
	}
	name := c.String()
	if s.several {
		name = library + " " + name
	}
	s.bar.show(s.pace.done, s.pace.planned, s.pace.eta(), name)
}

// The heads of the table. With several backends the count, which follows from size and type, gives its place to their
// names.
const (
	columnNames        = "#      size       count     type   op  rt  in how      time    ±  algbw  busbw"
	columnUnits        = "#       (B)  (elements)                               (us)  (%) (GB/s) (GB/s) #"
	severalColumnNames = "#     size backend            type   op  rt  in how    time    ±  algbw  busbw"
	severalColumnUnits = "#      (B)                                            (us)  (%) (GB/s) (GB/s) #"
)

// row adds a record to the table. The last column is the number of wrong elements: - where nothing was checked.
func (s *screen) row(library string, r *result.Record) {
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
		s.notMeasured(left, r)
		return
	}
	t := r.Time
	checked := map[string]string{"ok": "0", "off": "-"}[r.Check.Result]
	fmt.Fprintf(s.out, "%s%*s %4s %6s %6s %s\n", left, width, digits(t.Seconds*1e6, width), halfWidth(t),
		digits(r.AlgBW(t.Seconds)/1e9, 6), digits(r.BusBW(t.Seconds)/1e9, 6), checked)
	s.notes.add(r)
}

// notMeasured writes the row of a point without figures: its status and, under it where it is long, the reason.
func (s *screen) notMeasured(left string, r *result.Record) {
	if reason := string(r.Status) + ": " + r.Reason; len(left)+len(reason) <= 80 {
		fmt.Fprintln(s.out, left+reason)
		return
	}
	fmt.Fprintln(s.out, left+string(r.Status))
	s.reason(r.Why)
}

// reason says why a point has no figures, once in a run of points with one cause.
func (s *screen) reason(why result.Why) {
	if cause := why.Fact(); !reflect.DeepEqual(cause, s.cause) {
		s.wrapped("#   ", why.Reason)
		s.cause = cause
	}
}

// farewell says what the run left behind and what to do next.
func (s *screen) farewell(p *plan, code int) {
	s.bar.end()
	if !s.on {
		return
	}
	fmt.Fprintln(s.out, "#")
	s.notes.write(s)
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
	s.note("points: %s", strings.Join(parts, ", "))
	s.results()
	switch {
	case code == exit.Wrong:
		s.note("WRONG DATA was found: the rows above say where; exit code %d", code)
	case code == exit.Points:
		s.note("some points failed; exit code %d; --resume measures them again", code)
	case code > exit.Interrupted:
		s.note("ended early as asked; --resume continues; exit code %d", code)
	}
	switch {
	case s.plan != nil && s.plan.step != nil:
		s.stepFarewell()
	case s.plan != nil && s.plan.pattern != nil:
		s.note("next: post show")
	default:
		s.note("next: post merge && post plot")
	}
}

// results says where the files are: each in a line, or, where that is too long, their folder and then their names.
// Names are never broken, so that they can be copied; a folder that has no room in a line makes it longer.
func (s *screen) results() {
	const head = "# results: "
	if !slices.ContainsFunc(s.paths, func(path string) bool { return len(head)+len(path) > 80 }) {
		for _, path := range s.paths {
			s.note("results: %s", path)
		}
		return
	}
	folder := ""
	for _, path := range s.paths {
		if dir := filepath.Dir(path); dir != folder {
			folder = dir
			s.note("results: %s", near(dir))
		}
		s.note("  %s", filepath.Base(path))
	}
}

// near is a folder as seen from the working folder, where that is shorter.
func near(dir string) string {
	here, err := os.Getwd()
	if err != nil {
		return dir
	}
	if rel, err := filepath.Rel(here, dir); err == nil && len(rel) < len(dir) && filepath.IsAbs(dir) {
		return rel
	}
	return dir
}

// notes collects warnings of records; each code is printed once at the end, with how many points have it.
type notes struct {
	order []notice.Kind
	count map[notice.Kind]int
	first map[notice.Kind]string
}

func (n *notes) add(r *result.Record) { n.addAll(r.Case.String(), r.Warnings) }

func (n *notes) addStep(r *result.StepRecord) { n.addAll(r.Point.String(), r.Warnings) }

// addAll takes the warnings of a point by its name.
func (n *notes) addAll(point string, warnings notice.List) {
	for _, w := range warnings {
		group := w.Kind()
		if n.count == nil {
			n.count, n.first = map[notice.Kind]int{}, map[notice.Kind]string{}
		}
		if n.count[group] == 0 {
			n.order = append(n.order, group)
			n.first[group] = point + ": " + notice.Message(w.Fact)
		}
		n.count[group]++
	}
}

func (n *notes) write(s *screen) {
	for _, group := range n.order {
		text := n.first[group]
		if more := n.count[group] - 1; more > 0 {
			text += fmt.Sprintf(" (and %s like it)", units.Count(more, "point"))
		}
		s.wrapped("# warning: ", text)
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

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-3] + "..."
}

// wrap breaks text into lines of at most width columns, at spaces where there are any.
func wrap(text string, width int) []string {
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

// clock writes a duration as minutes and seconds.
func clock(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
