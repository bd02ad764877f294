package result

import (
	"cmp"

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

	// stamp fills in what the file decides: kind, run and, when empty, time; and n for a number of the file's.
	stamp(n int, run, at string)
	// withoutValues makes the record that of a point whose values cannot be written.
	withoutValues()
}

// AllRanks are the times of every rank of a large world, in seconds, by rank. They belong into the sidecar file; a
// record has quantiles and the slowest ranks.
type AllRanks struct{ Median, Late []float64 }

// State implements Entry.
func (r *Record) State() Status { return r.Status }

// Abort implements Entry.
func (r *Record) Abort(s Status, why Why) { r.Status, r.Why, r.Check.Result = s, why, "none" }

// SamePoint implements Entry: several groups measure a case at the same time.
func (r *Record) SamePoint(other Entry) bool {
	o, ok := other.(*Record)
	return ok && o.Group.String() == r.Group.String() && o.Groups == r.Groups
}

func (r *Record) stamp(n int, run, at string) {
	r.Kind, r.N, r.Run, r.At = KindCase, n, run, cmp.Or(r.At, at)
}

func (r *Record) withoutValues() {
	*r = Record{Kind: r.Kind, N: r.N, Run: r.Run, At: r.At, Case: r.Case, Cycle: r.Cycle, Group: r.Group,
		Nodes: r.Nodes, RanksPerNode: r.RanksPerNode}
	r.Abort(Failed, Because(notice.ValueNotFinite{}))
}

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
func (r *StepRecord) stamp(_ int, run, at string) {
	r.Kind, r.Run, r.At = KindStep, run, cmp.Or(r.At, at)
}

func (r *StepRecord) withoutValues() {
	*r = StepRecord{Kind: r.Kind, N: r.N, Run: r.Run, At: r.At, Point: r.Point}
	r.Abort(Failed, Because(notice.ValueNotFinite{}))
}
