package result

import (
	"bufio"
	"fmt"
	"slices"

	"busbar/internal/step"
	"busbar/internal/units"
)

// stepView is what the text view of training steps needs.
type stepView struct {
	about   *Step
	records []*StepRecord
	marks   [][]int // footnotes of each record
}

func newStepView(about *Step) *stepView {
	n := len(about.Points)
	return &stepView{about: about, records: make([]*StepRecord, n), marks: make([][]int, n)}
}

// addStep takes the record of a point, and what is to stand at the foot of it.
func (v *textView) addStep(r *StepRecord) {
	if v.steps == nil || r.N < 1 || r.N > len(v.steps.records) {
		return
	}
	kept := *r
	v.steps.records[r.N-1] = &kept
	v.steps.marks[r.N-1] = v.footnotes(r.Notes, r.Warnings)
	if r.Timed() {
		v.count(r.Check)
	}
}

// draw writes what the model is and a table for each group of points that differ by their bucket alone.
func (s *stepView) draw(w *bufio.Writer) {
	m := s.about
	fmt.Fprintf(w, "Training step: %s, %s parameters, %d layers\n", m.Model, units.Grouped(m.Params), m.Layers)
	if m.About != "" {
		fmt.Fprintf(w, "  %s\n", m.About)
	}
	fmt.Fprintf(w, "Computing: %s ms forward, %s ms backward", digits(m.Forward*1e3, 3), digits(m.Backward*1e3, 3))
	if m.Optimizer > 0 {
		fmt.Fprintf(w, ", %s ms optimizer", digits(m.Optimizer*1e3, 3))
	}
	fmt.Fprintf(w, "; %s\n", m.Computing)
	for _, group := range step.Groups(m.Points) {
		s.table(w, group)
	}
}

var stepHeads = []string{"Bucket", "Ops", "Compute", "Comm", "Sequential", "Overlapped", "Exposed", "Overlap",
	"Speed-up"}

func (s *stepView) table(w *bufio.Writer, group []int) {
	measured := slices.DeleteFunc(group, func(i int) bool { return s.records[i] == nil })
	if len(measured) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s (times in ms)\n%s\n", s.about.Points[measured[0]].GroupString(), stepRow(stepHeads))
	for _, i := range measured {
		fmt.Fprintln(w, marked(s.row(s.records[i]), s.marks[i]))
	}
}

func stepRow(cells []string) string {
	line := fmt.Sprintf("  %-9s %5s", cells[0], cells[1])
	for _, c := range cells[2:] {
		line += fmt.Sprintf(" %11s", c)
	}
	return line
}

// row is a point's line.
func (s *stepView) row(r *StepRecord) string {
	bucket := fmt.Sprint(r.Bucket)
	if !r.Timed() {
		return fmt.Sprintf("  %-9s %s", bucket, stepReason(r))
	}
	f, cells := r.Figures, []string{bucket, fmt.Sprint(len(r.Ops))}
	for _, figure := range []step.Figure{f.Compute.Figure, f.Comm.Figure, f.Sequential.Figure, f.Overlapped.Figure,
		f.Exposed} {
		cells = append(cells, digits(figure.Value*1e3, 3))
	}
	return stepRow(append(cells, ratio(f.Overlap, "%.0f %%", 100), ratio(f.SpeedUp, "%.3f", 1)))
}

// ratio is a value times scale, "-" where there is none.
func ratio(f *step.Figure, format string, scale float64) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf(format, scale*f.Value)
}

// stepReason is why a point has no values, for people.
func stepReason(r *StepRecord) string {
	return reason(&Record{Status: r.Status, Why: r.Why, Check: r.Check, Needed: r.Needed})
}
