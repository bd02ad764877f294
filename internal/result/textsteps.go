package result

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/step"
	"busbar/internal/units"
)

// stepView is what the text view of training steps needs: all rounds, of which there are some hundred a point.
type stepView struct {
	about   *Step
	rounds  [][]step.Round
	records []*StepRecord
	marks   [][]int // footnotes of each record
}

func newStepView(about *Step) *stepView {
	n := len(about.Points)
	return &stepView{about: about, rounds: make([][]step.Round, n), records: make([]*StepRecord, n),
		marks: make([][]int, n)}
}

func (s *stepView) has(n int) bool { return s != nil && n >= 1 && n <= len(s.records) }

func (s *stepView) addRound(r *StepRound) {
	if s.has(r.N) {
		s.rounds[r.N-1] = append(s.rounds[r.N-1], r.Round)
	}
}

// addStep takes the record of a point, and what is to stand at the foot of it.
func (v *textView) addStep(r *StepRecord) {
	if !v.steps.has(r.N) {
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
	standings := step.Standings(m.Points, s.compared())
	for _, group := range step.Groups(m.Points) {
		if s.begun(group) {
			s.table(w, group, standings)
		}
	}
}

// compared are the rounds, but for those of points whose figures do not hold.
func (s *stepView) compared() [][]step.Round {
	rounds := slices.Clone(s.rounds)
	for i, r := range s.records {
		if r != nil && !r.Timed() {
			rounds[i] = nil
		}
	}
	return rounds
}

// begun reports whether there is anything of a group.
func (s *stepView) begun(group []int) bool {
	for _, i := range group {
		if len(s.rounds[i]) > 0 || s.records[i] != nil {
			return true
		}
	}
	return false
}

var stepHeads = []string{"Bucket", "Ops", "Compute", "Comm", "Sequential", "Overlapped", "Exposed", "Overlap",
	"Speed-up"}

func (s *stepView) table(w *bufio.Writer, group []int, standings []step.Standing) {
	p := s.about.Points[group[0]]
	fmt.Fprintf(w, "\n%s (times in ms)\n", p.GroupString())
	fmt.Fprintln(w, stepRow(stepHeads))
	for _, i := range group {
		if line := s.row(i, &standings[i]); line != "" {
			fmt.Fprintln(w, marked(line, s.marks[i]))
		}
	}
}

func stepRow(cells []string) string {
	line := fmt.Sprintf("  %-9s %5s", cells[0], cells[1])
	for _, c := range cells[2:] {
		line += fmt.Sprintf(" %11s", c)
	}
	return line
}

// row is a point's line; "" where there is nothing of it yet.
func (s *stepView) row(i int, standing *step.Standing) string {
	r, rounds, bucket := s.records[i], s.rounds[i], fmt.Sprint(s.about.Points[i].Bucket)
	var f *step.Figures
	switch {
	case r != nil && !r.Timed():
		return fmt.Sprintf("  %-9s %s", bucket, stepReason(r))
	case r != nil:
		f = r.Figures
	case len(rounds) > 0:
		now := step.FiguresOf(rounds)
		f = &now
	default:
		return ""
	}
	ms := func(seconds float64) string { return digits(seconds*1e3, 3) }
	ops := "-"
	if r != nil && len(r.Ops) > 0 {
		ops = fmt.Sprint(len(r.Ops))
	}
	exposed := ms(f.Exposed.Value)
	line := stepRow([]string{bucket, ops, ms(f.Compute.Value), ms(f.Comm.Value), ms(f.Sequential.Value),
		ms(f.Overlapped.Value),
		exposed, ratio(f.Overlap, "%.0f %%", 100), ratio(f.SpeedUp, "%.3f", 1)})
	var words []string
	if text := standing.String(); text != "" {
		words = append(words, text)
	}
	if r == nil || r.Status == Unfinished {
		words = append(words, fmt.Sprintf("not finished: %s", units.Count(f.Rounds, "round")))
	}
	if len(words) > 0 {
		line += "  " + strings.Join(words, "; ")
	}
	return line
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
