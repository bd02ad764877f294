package result

import (
	"fmt"

	"busbar/internal/notice"
)

// AppendRound writes one round of a point (Kind is filled in) and returns when the disk has it. Errors are those of
// Append.
func (w *Writer) AppendRound(r *StepRound) error {
	return w.locked(func() error {
		r.Kind = KindRound
		line, odd, err := encodeLine(r)
		if err == nil && odd {
			err = fmt.Errorf("a time is infinite or not a number")
		}
		if err != nil {
			return fmt.Errorf("round %d of point %d: %w", r.Number, r.N, err)
		}
		w.text.change(func(v *textView) { v.steps.addRound(r) })
		return w.keep(line, 1)
	})
}

// AppendStep writes the record of a point, whose N the caller sets (Kind, Run and, when empty, At are filled in), and
// returns when the disk has it. Errors are those of Append.
func (w *Writer) AppendStep(r *StepRecord) error {
	return w.locked(func() error {
		r.Kind, r.Run = KindStep, w.run.ID
		if r.At == "" {
			r.At = stamp()
		}
		line, odd, err := encodeLine(r)
		if err == nil && odd {
			r.Warnings.Add(notice.ValueNotFinite{})
			line, _, err = encodeLine(r)
		}
		if err != nil {
			return fmt.Errorf("the record of point %d: %w", r.N, err)
		}
		w.points[r.Status]++
		w.text.change(func(v *textView) { v.addStep(r) })
		return w.keep(line, 1)
	})
}

// TraceFolder is the path of the folder for trace files of ranks, which lies beside the file. It is not made here.
func (w *Writer) TraceFolder() string { return beside(w.Path(), "_trace") }
