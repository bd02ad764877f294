package result

import (
	"bufio"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// textView is what the text view needs of a run: little enough to be kept for a soak of days.
type textView struct {
	run     *Run
	hosts   string
	points  map[pointOfText]*textPoint
	marks   map[string]int // number of each footnote
	notes   []string       // footnotes in the order of their numbers
	ok      int            // records
	checked int            // of them
	base    coll.Case      // type, op and root that lines do not repeat
	end     *End
}

// pointOfText identifies a point of a text view.
type pointOfText struct {
	coll.Case
	group string
}

// textPoint is the last record of a point, and the times of all its cycles.
type textPoint struct {
	pointOfText
	last   *Record
	marks  []int
	cycles []float64
}

func newTextView(run *Run, ranks []Rank) *textView {
	return &textView{run: run, hosts: hostsLine(ranks), points: map[pointOfText]*textPoint{}, marks: map[string]int{}}
}

func (v *textView) add(r *Record) {
	key := pointOfText{r.Case, r.Group.String()}
	p := v.points[key]
	if p == nil {
		p = &textPoint{pointOfText: key}
		v.points[key] = p
		v.rebase(r.Case)
	}
	last := *r
	last.Ranks, last.Network = nil, nil
	p.last, p.marks = &last, v.footnotes(r.Notes, r.Warnings)
	if !r.Timed() {
		return
	}
	if r.Cycle > 0 {
		p.cycles = append(p.cycles, r.Time.Seconds)
	}
	v.count(r.Check)
}

func (v *textView) count(c Check) {
	v.ok++
	if c.Result == "ok" {
		v.checked++
	}
}

// rebase keeps the plainest type, operation and root of the run: float32, sum and 0 if there are any.
func (v *textView) rebase(c coll.Case) {
	if v.base.Type == 0 || c.Type == coll.Float32 {
		v.base.Type = c.Type
	}
	if c.Collective.Reduces() && (v.base.Op == 0 || c.Op == coll.Sum) {
		v.base.Op = c.Op
	}
	if c.Collective.Rooted() && (v.base.Collective == 0 || c.Root == 0) {
		v.base.Collective, v.base.Root = c.Collective, c.Root
	}
}

// footnotes are the numbers of the notes and warnings of a record.
func (v *textView) footnotes(notes []string, warnings notice.List) (marks []int) {
	for _, text := range slices.Concat(notes, warnings.Texts()) {
		if v.marks[text] == 0 {
			v.notes = append(v.notes, text)
			v.marks[text] = len(v.notes)
		}
		marks = append(marks, v.marks[text])
	}
	return marks
}

// marked adds the numbers of footnotes to a line.
func marked(line string, marks []int) string {
	for _, m := range marks {
		line += fmt.Sprintf(" [%d]", m)
	}
	return line
}

// draw cannot fail: a bufio.Writer keeps its error until it is flushed.
func (v *textView) draw(w *bufio.Writer) {
	rule := strings.Repeat("=", 80)
	fmt.Fprintf(w, "%s\nConfiguration: World Size=%d\nBackend: %s\n", rule, v.run.World, backendLine(&v.run.Backend))
	if v.run.Rehearse {
		fmt.Fprintln(w, "SIMULATED: no value here is about hardware")
	}
	fmt.Fprintln(w, rule)
	if m := v.run.Step; m != nil {
		fmt.Fprintf(w, "Training step: %s, %s parameters, %d layers (post show prints its points)\n", m.Model,
			units.Grouped(m.Params), m.Layers)
	}
	for _, b := range v.blocks() {
		fmt.Fprintf(w, "\nTensor Size: %s elements (%s)\n", units.Grouped(b[0].Count),
			tensorSize(tensorBytes(b[0].Case)))
		v.block(w, b)
	}
	v.foot(w)
}

func tensorBytes(c coll.Case) int64 { return c.Count * int64(c.Type.Size()) }

// blocks are the points by the tensor of one rank, the smallest first.
func (v *textView) blocks() [][]*textPoint {
	all := make([]*textPoint, 0, len(v.points))
	for _, p := range v.points {
		all = append(all, p)
	}
	size := func(a, b *textPoint) int {
		return cmp.Or(cmp.Compare(tensorBytes(a.Case), tensorBytes(b.Case)), cmp.Compare(a.Count, b.Count))
	}
	slices.SortFunc(all, func(a, b *textPoint) int {
		return cmp.Or(size(a, b), compareCases(a.Case, b.Case), cmp.Compare(a.group, b.group))
	})
	var blocks [][]*textPoint
	for i, p := range all {
		if i == 0 || size(all[i-1], p) != 0 {
			blocks = append(blocks, nil)
		}
		blocks[len(blocks)-1] = append(blocks[len(blocks)-1], p)
	}
	return blocks
}

func compareCases(a, b coll.Case) int {
	return cmp.Or(cmp.Compare(a.Collective, b.Collective), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Op, b.Op),
		cmp.Compare(a.Root, b.Root), cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Placement, b.Placement),
		cmp.Compare(a.SizeBytes, b.SizeBytes), cmp.Compare(a.World, b.World), cmp.Compare(a.Imbalance, b.Imbalance),
		a.Groups.Compare(b.Groups))
}

// block draws the plain rows of one size, which are out-of-place throughput, and under them what else was measured.
func (v *textView) block(w *bufio.Writer, points []*textPoint) {
	var rows, rest []string
	for i, p := range points {
		// In place is the row where there is no out of place, which sorts right before it.
		alone := p.Placement == coll.InPlace && (i == 0 || !sameButPlace(points[i-1].pointOfText, p.pointOfText))
		label, plain := v.label(p.Case, alone)
		if p.group != "" {
			label += ", " + p.group
		}
		line := p.line(label)
		if alone && p.last.Status == OK {
			line += " (in-place)"
		}
		line = marked(line, p.marks)
		if plain {
			rows = append(rows, line)
		} else {
			rest = append(rest, line)
		}
		if len(p.cycles) > 1 {
			rest = append(rest, p.cyclesLine(label))
		}
		if p.last.Status == OK && p.last.Path != nil {
			rest = append(rest, fmt.Sprintf("  %s path: %s", label, p.last.Path))
		}
	}
	for _, line := range append(rows, rest...) {
		fmt.Fprintln(w, line)
	}
}

func sameButPlace(a, b pointOfText) bool {
	a.Placement = b.Placement
	return a == b
}

// label names a point within its block. plain reports whether it is only the collective's name.
func (v *textView) label(c coll.Case, alone bool) (label string, plain bool) {
	label = c.Collective.Title()
	if c.Type != v.base.Type {
		label += " " + c.Type.String()
	}
	if c.Collective.Reduces() && c.Op != v.base.Op {
		label += " " + c.Op.String()
	}
	if c.Collective.Rooted() && c.Root != v.base.Root {
		label += fmt.Sprintf(" root %d", c.Root)
	}
	if c.Imbalance != "" && c.Imbalance != coll.Even {
		label += " " + string(c.Imbalance)
	}
	if c.Groups.Divided() {
		label += " " + c.Groups.String()
	}
	if c.Placement == coll.InPlace && !alone {
		label += " in-place"
	}
	if c.Mode == coll.Latency {
		label += " latency"
	}
	return label, label == c.Collective.Title()
}

func (p *textPoint) line(label string) string {
	label = fmt.Sprintf("  %-14s ", label+":")
	if !p.last.Timed() {
		return label + reason(p.last)
	}
	t := p.last.Time
	if p.Mode == coll.Latency {
		p99 := "n/a"
		if t.P99 > 0 {
			p99 = digits(t.P99*1e6, 2)
		}
		return fmt.Sprintf(
			"%smin %s | median %s | p99 %s us",
			label,
			digits(t.Min*1e6, 2),
			digits(t.Seconds*1e6, 2),
			p99,
		)
	}
	return fmt.Sprintf("%s%s ms | AlgBW: %s GB/s | BusBW: %s GB/s", label, digits(t.Seconds*1e3, 3),
		digits(p.AlgBW(t.Seconds)/1e9, 2), digits(p.BusBW(t.Seconds)/1e9, 2))
}

// cyclesLine sums up the cycles of a soak, of which the line above it shows the last.
func (p *textPoint) cyclesLine(label string) string {
	s := slices.Sorted(slices.Values(p.cycles))
	return fmt.Sprintf("  %s over %d cycles: min %s | median %s | max %s ms", label, len(s),
		digits(s[0]*1e3, 3), digits(stats.Median(s)*1e3, 3), digits(s[len(s)-1]*1e3, 3))
}

// reason is why a point has no values, for people.
func reason(r *Record) string {
	text := string(r.Status)
	if r.Status == Wrong {
		text = "WRONG DATA"
	}
	switch first := r.Check.First; {
	case r.Reason != "":
		return text + ": " + r.Reason
	case first != nil:
		return fmt.Sprintf(
			"%s: rank %d (%s), element %d: %s, not %s",
			text,
			first.Rank,
			first.Host,
			first.Index,
			first.Got,
			first.Want,
		)
	case r.Needed > 0:
		return fmt.Sprintf("%s: needs %s per rank", text, coll.FormatSize(r.Needed, true))
	}
	return text
}

// backendLine is "nccl 2.27.7 (libnccl.so.2)", "mpi Open MPI 4.1.4 (libmpi.so.40)".
func backendLine(b *Backend) string {
	what := b.Library
	if family, _, _ := strings.Cut(b.Name, "-"); b.Version != "" &&
		(what == "" || strings.HasPrefix(strings.ToLower(what), family)) {
		what = b.Version
	}
	line := b.Name
	if what != "" {
		line += " " + what
	}
	if b.Path != "" {
		line += " (" + filepath.Base(b.Path) + ")"
	}
	return line
}

func (v *textView) addEntry(e Entry) {
	switch r := e.(type) {
	case *Record:
		v.add(r)
	case *StepRecord:
		if v.footnotes(r.Notes, r.Warnings); r.Timed() {
			v.count(r.Check)
		}
	}
}
