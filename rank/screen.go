package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// screen is what rank 0 shows: a table in the manner of nccl-tests on stdout, a progress line on a terminal, and all
// else on stderr. On other ranks, and with --quiet, it shows nothing. All its lines fit 80 columns.
type screen struct {
	on       bool
	out, err io.Writer
	bar      *meter // nil without a terminal
	plan     *plan

	pace    *pace
	section string // collective and mode of the rows before
	notes   notes
	counts  map[result.Status]int
	paths   []string
}

func newScreen(j *job, p *plan) *screen {
	s := &screen{on: j.rank == 0 && !j.cfg.quiet, out: j.stdout, err: j.stderr, plan: p, counts: map[result.Status]int{}}
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
func (s *screen) world(w *session, path string) {
	s.paths = append(s.paths, path)
	s.pace, s.section = w.pace, ""
	if !s.on {
		return
	}
	r := w.run
	s.bar.total(w.run.Sweep.Points)
	s.note("%s: %s on %s, world %d = %s x %d", r.Tool, r.Sweep.Name, r.Backend.Library, r.World, plural(r.Nodes, "node"), r.RanksPerNode)
	s.note("%s, %s", clip(r.Machine.Host+" "+r.Device, 58), plural(r.Sweep.Points, "point"))
	s.note("clock: a reading costs %.0f ns; budget %s a case, precision %.3g %%", r.Method.ClockCost*1e9, w.p.sweep.Budget, 100*w.p.sweep.Precision)
	for _, id := range r.Resumes {
		s.note("continues run %s: what is ok there is not measured again", id)
	}
	for _, warning := range r.Warnings {
		s.wrapped("# warning: ", warning)
	}
}

// wrapped writes a long line in pieces of 80 columns.
func (s *screen) wrapped(prefix, text string) {
	for i, line := range wrap(text, 80-len(prefix)) {
		if i > 0 {
			prefix = "#" + strings.Repeat(" ", len(prefix)-1)
		}
		fmt.Fprintln(s.out, prefix+line)
	}
}

// begin says which case is in hand.
func (s *screen) begin(c coll.Case) {
	if s.on {
		s.bar.show(s.pace, c)
	}
}

const columns = "#      size       count     type   op root  in       time     ±   algbw   busbw  #"

// row adds a record to the table.
func (s *screen) row(r *result.Record) {
	s.counts[r.Status]++
	if !s.on {
		return
	}
	if section := r.Collective.String() + " " + r.Mode.String(); section != s.section {
		s.section = section
		fmt.Fprintf(s.out, "#\n# %s\n%s\n", section, columns)
		fmt.Fprintln(s.out, "#       (B)  (elements)                              (us)   (%)  (GB/s)  (GB/s)")
	}
	root := "-"
	if r.Root >= 0 {
		root = fmt.Sprint(r.Root)
	}
	op := "-"
	if r.Op != 0 {
		op = r.Op.String()
	}
	left := fmt.Sprintf("%11d %11d %8s %4s %4s %3s ", r.SizeBytes, r.Count, r.Type, op, root, r.Placement)
	if r.Status != result.OK {
		reason := string(r.Status) + ": " + r.Reason
		lines := wrap(reason, 80-len(left))
		if len(lines) > 1 { // the whole story goes under the row
			fmt.Fprintln(s.out, left+string(r.Status))
			s.wrapped("#   ", r.Reason)
			return
		}
		fmt.Fprintln(s.out, left+reason)
		return
	}
	t := r.Time
	half := "-"
	if t.Hi > 0 && t.Seconds > 0 {
		half = digits(50*(t.Hi-t.Lo)/t.Seconds, 5)
	}
	wrong := map[string]string{"ok": "0", "off": "-"}[r.Check.Result]
	fmt.Fprintf(s.out, "%s%10s %5s %7s %7s %2s\n", left, digits(t.Seconds*1e6, 10), half, digits(r.AlgBW(t.Seconds)/1e9, 7), digits(r.BusBW(t.Seconds)/1e9, 7), wrong)
	s.notes.add(r)
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
	for _, status := range []result.Status{result.OK, result.Skipped, result.Unsupported, result.OOM, result.Timeout, result.Wrong, result.Failed} {
		if n := s.counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing left to measure"}
	}
	s.note("points: %s", strings.Join(parts, ", "))
	for _, path := range s.paths {
		s.note("results: %s", path)
	}
	switch {
	case code == exitWrong:
		s.note("WRONG DATA was found: the rows above say where; exit code %d", code)
	case code == exitPoints:
		s.note("some points failed; exit code %d; --resume measures them again", code)
	case code > exitInterrupted:
		s.note("ended early as asked; --resume continues; exit code %d", code)
	}
	s.note("next: post merge && post plot")
}

// notes collects warnings of records, said once at the end with how many points have each.
type notes struct {
	order []string
	count map[string]int
	first map[string]string
}

func (n *notes) add(r *result.Record) {
	for _, w := range r.Warnings {
		kind, _, _ := strings.Cut(w, ":")
		if len(kind) > 40 {
			kind = kind[:40]
		}
		if n.count == nil {
			n.count, n.first = map[string]int{}, map[string]string{}
		}
		if n.count[kind] == 0 {
			n.order = append(n.order, kind)
			n.first[kind] = r.Case.String() + ": " + w
		}
		n.count[kind]++
	}
}

func (n *notes) write(s *screen) {
	for _, kind := range n.order {
		text := n.first[kind]
		if more := n.count[kind] - 1; more > 0 {
			text += fmt.Sprintf(" (and %s like it)", plural(more, "point"))
		}
		s.wrapped("# warning: ", text)
	}
}

// digits writes x with as many decimals as fit width, at most three.
func digits(x float64, width int) string {
	for decimals := 3; decimals >= 0; decimals-- {
		if s := fmt.Sprintf("%.*f", decimals, x); len(s) <= width {
			// Three significant digits are enough where a number is large.
			if decimals == 0 || x < 100 || decimals <= 2 {
				return s
			}
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
