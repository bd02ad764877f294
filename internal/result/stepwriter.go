package result

import (
	"fmt"
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

// TraceFolder is the path of the folder for trace files of ranks, which lies beside the file. It is not made here.
func (w *Writer) TraceFolder() string { return beside(w.Path(), "_trace") }
