package main

import (
	"fmt"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
)

// steps heads the table of training steps of one library in one world.
func (s *screen) steps(w *stepSession) {
	s.section, s.stepped = "", 0
	s.paths = append(s.paths, w.sheet.w.Path())
	if !s.on {
		return
	}
	s.markSteps(w)
	r, m := &w.run, w.p.step.model
	s.bar.total(r.Sweep.Points)
	s.wrapped("# ", fmt.Sprintf("%s: training steps of %s on %s, world %d = %s x %d", r.Tool, m.Name, r.Backend.Library,
		r.World, units.Count(r.Nodes, "node"), r.RanksPerNode))
	s.note("%s, %s", clip(r.Machine.Host+" "+r.Device, 58), units.Count(r.Sweep.Points, "point"))
	if r.Rehearse {
		s.note("SIMULATED: no device is measured; these values are not about hardware")
	}
	s.wrapped("# ", fmt.Sprintf("%s; computed by %s", modelLine(m), r.Step.Computing))
	if m.About != "" {
		s.wrapped("# ", m.About)
	}
	if n := w.p.sweep.Iterations; n > 0 {
		s.note("%s of four steps a point", units.Count(n, "round"))
	} else {
		s.note("budget %s a point, precision %.3g %%", w.p.sweep.Budget, 100*w.p.sweep.Precision)
	}
	for _, text := range w.same {
		s.wrapped("# ", text)
	}
	s.before(r, &notice.List{})
}

// beginStep says which point is in hand.
func (s *screen) beginStep(w *stepSession, round int, p step.Point) {
	if s.on {
		s.bar.show(s.stepped, w.run.Sweep.Points, -1, fmt.Sprintf("round %d: %s", round, p))
	}
}

// The heads of the table of steps.
const stepColumns = `#                                 sequen-   over-             over-  speed-
# bucket  ops  compute     comm     tial  lapped  exposed      lap      up
#               (ms)      (ms)     (ms)    (ms)     (ms)       (%)         #
`

// stepRow adds a point to the table. The last column is the number of wrong elements: - where nothing was checked.
func (s *screen) stepRow(r *result.StepRecord) {
	s.counts[r.Status]++
	s.stepped++
	if !s.on {
		return
	}
	if section := r.GroupString(); section != s.section {
		s.section = section
		section += modelled(r.Point)
		fmt.Fprintf(s.out, "#\n# %s\n%s", section, stepColumns)
	}
	left := fmt.Sprintf("%8s ", r.Bucket)
	if !r.Timed() {
		s.stepNotMeasured(left, r)
		return
	}
	f := r.Figures
	checked := map[string]string{"ok": "0", "off": "-"}[r.Check.Result]
	fmt.Fprintf(s.out, "%s%4d %8s %8s %8s %7s %8s %8s %7s %s\n", left, len(r.Ops), milliseconds(f.Compute.Value),
		milliseconds(f.Comm.Value),
		milliseconds(f.Sequential.Value), milliseconds(f.Overlapped.Value), milliseconds(f.Exposed.Value), percent(f.Overlap),
		times(f.SpeedUp), checked)
	s.notes.addStep(r)
}

// stepNotMeasured writes the row of a point without figures.
func (s *screen) stepNotMeasured(left string, r *result.StepRecord) {
	if text := string(r.Status) + ": " + r.Reason; len(left)+len(text) <= 80 {
		fmt.Fprintln(s.out, left+text)
		return
	}
	fmt.Fprintln(s.out, left+string(r.Status))
	s.reason(r.Why)
}

// milliseconds writes a time in seconds as milliseconds in seven columns.
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
