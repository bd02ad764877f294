package screen

import (
	"fmt"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/sweeps"
)

// Steps prints the header of the training steps of a model by one library in one world; same explains skipped points.
func (s *Screen) Steps(f File, m *step.Model, o sweeps.Options, same []string) {
	s.section = ""
	s.head(f, "training steps of "+m.Name, Ranks(f.Run))
	s.Wrapped("# ", fmt.Sprintf("%s; computed by %s", ModelLine(m), f.Run.Step.Computing))
	if m.About != "" {
		s.Wrapped("# ", m.About)
	}
	if n := o.Iterations; n > 0 {
		s.Note("%s of four steps per point", units.Count(n, "round"))
	} else {
		s.Note("budget %s per point, precision %.3g %%", o.Budget, 100*o.Precision)
	}
	for _, text := range same {
		s.Wrapped("# ", text)
	}
	s.before(f.Run, &notice.List{})
}

// The header of the table of steps.
const stepColumns = `#                                 sequen-   over-             over-  speed-
# bucket  ops  compute     comm     tial  lapped  exposed      lap      up
#               (ms)      (ms)     (ms)    (ms)     (ms)       (%)         #
`

// StepRow prints a point. The last column is the number of wrong elements, or - without a check.
func (s *Screen) StepRow(r *result.StepRecord) {
	s.counts[r.Status]++
	if !s.on {
		return
	}
	if section := r.GroupString(); section != s.section {
		s.section = section
		fmt.Fprintf(s.out, "#\n# %s\n%s", section, stepColumns)
	}
	left := fmt.Sprintf("%8s ", r.Bucket)
	if !r.Timed() {
		s.notMeasured(left, r.Status, r.Why)
		return
	}
	f := r.Figures
	fmt.Fprintf(s.out, "%s%4d %8s %8s %8s %7s %8s %8s %7s %s\n", left, len(r.Ops), milliseconds(f.Compute.Value),
		milliseconds(f.Comm.Value),
		milliseconds(f.Sequential.Value), milliseconds(f.Overlapped.Value), milliseconds(f.Exposed.Value),
		percent(f.Overlap),
		times(f.SpeedUp), wrongElements(r.Check))
	s.notes.add(r.Point, r.Warnings)
}

// milliseconds formats seconds as milliseconds in seven columns.
func milliseconds(s float64) string { return digits(1e3*s, 7) }

func percent(f *step.Figure) string {
	if f == nil {
		return "-"
	}
	return digits(100*f.Value, 5)
}

func times(f *step.Figure) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%.2fx", f.Value)
}

// ModelLine describes a model in a line.
func ModelLine(m *step.Model) string {
	params := fmt.Sprint(m.Params())
	if m.Params() >= 1e6 {
		params = fmt.Sprintf("%.4g M", float64(m.Params())/1e6)
	}
	text := fmt.Sprintf("%s: %s parameters in %s; forward %s, backward %s", m.Name, params,
		units.Count(len(m.Layers), "layer"),
		units.Duration(m.Forward()), units.Duration(m.Backward()))
	if m.Optimizer > 0 {
		text += fmt.Sprintf(", optimizer %s", units.Duration(m.Optimizer))
	}
	return text
}

// ReportGroup prints the best bucket size of a group of points, and its exposed communication.
func (s *Screen) ReportGroup(points []step.Point, rounds [][]step.Round) {
	if !s.on {
		return
	}
	best := step.LeastMedian(rounds)
	if best < 0 {
		return
	}
	figures := step.FiguresOf(rounds[best])
	if len(points) > 1 {
		s.report(step.FindBucket(points, step.Standings(points, rounds), best, &figures))
	}
	s.report(step.FindPoint(points[best], &figures)...)
}

// report prints notices with details.
func (s *Screen) report(all ...notice.Notice) {
	for _, n := range all {
		s.Wrapped("# ", notice.Paragraph(n.Fact))
	}
}
