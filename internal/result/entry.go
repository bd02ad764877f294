package result

import (
	"fmt"

	"busbar/internal/notice"
)

// Entry is the record of one point: of a collective (*Record) or of a training step (*StepRecord).
type Entry interface {
	// State returns what became of the point.
	State() Status
	// Abort makes the record that of a point that was given up.
	Abort(Status, Why)
	// SamePoint reports whether two records that are in hand at the same time are of one point.
	SamePoint(Entry) bool

	// stamp fills in what the file decides: kind, number, run and, when empty, time.
	stamp(w *Writer, at string)
	warn(notice.Fact)
	// keepRanks writes the times of all ranks of a large world into the sidecar.
	keepRanks(w *Writer, all AllRanks)
	// count counts the record as written, and returns how the text view shows it.
	count(w *Writer) func(*textView)
	name() string
}

// AllRanks are the times of every rank of a large world, in seconds, by rank. They belong into the sidecar file; a
// record has quantiles and the slowest ranks.
type AllRanks struct{ Median, Late []float64 }

// State implements Entry.
func (r *Record) State() Status { return r.Status }

// Abort implements Entry.
func (r *Record) Abort(s Status, why Why) { r.Status, r.Why, r.Check.Result = s, why, "none" }

// SamePoint implements Entry: several groups of nodes measure a case at the same time.
func (r *Record) SamePoint(other Entry) bool {
	o, ok := other.(*Record)
	return ok && o.Group.String() == r.Group.String()
}

func (r *Record) stamp(w *Writer, at string) {
	r.Kind, r.N, r.Run = KindCase, w.last+1, w.run.ID
	if r.At == "" {
		r.At = at
	}
}

func (r *Record) warn(f notice.Fact) { r.Warnings.Add(f) }

func (r *Record) count(w *Writer) func(*textView) {
	w.last++
	return func(v *textView) { v.add(r) }
}

func (r *Record) name() string { return fmt.Sprintf("record %d (%s)", r.N, r.Case) }

// State implements Entry.
func (r *StepRecord) State() Status { return r.Status }

// Abort implements Entry.
func (r *StepRecord) Abort(s Status, why Why) { r.Status, r.Why, r.Check.Result = s, why, "none" }

// SamePoint implements Entry: one step is in hand at a time.
func (r *StepRecord) SamePoint(other Entry) bool {
	_, ok := other.(*StepRecord)
	return ok
}

// stamp leaves N, which the caller sets.
func (r *StepRecord) stamp(w *Writer, at string) {
	r.Kind, r.Run = KindStep, w.run.ID
	if r.At == "" {
		r.At = at
	}
}

func (r *StepRecord) warn(f notice.Fact) { r.Warnings.Add(f) }

func (r *StepRecord) keepRanks(*Writer, AllRanks) {}

func (r *StepRecord) count(*Writer) func(*textView) { return func(v *textView) { v.addStep(r) } }

func (r *StepRecord) name() string { return fmt.Sprintf("the record of point %d", r.N) }
