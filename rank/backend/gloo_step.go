package backend

import (
	"unsafe"

	"busbar/gloo"
	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/step"
)

var _ Trainer = (*glooBackend)(nil)

// Progress implements Trainer: Gloo's operations block.
func (b *glooBackend) Progress() []step.Progress { return []step.Progress{step.Thread} }

// Train implements Trainer. The operations run in the second thread, and MPI's barrier in the calling one; a context
// of Gloo does not mind which thread runs its operations, as long as it is one at a time.
func (b *glooBackend) Train(c Computing, p *step.Plan) (Training, error) {
	return b.bindPlan(c.(*hostComputing), p, b.barrier, func(c coll.Case, at unsafe.Pointer) (stepCall, error) {
		if err := glooWords.lacks(c); err != nil {
			return nil, err
		}
		call, err := b.bind(gloo.OpSpec{Kind: glooKinds[c.Collective], Type: glooWords.types[c.Type],
			Op:        glooWords.ops[c.Op],
			Algorithm: b.l.algorithm,
			InPlace:   true, Recv: at, Count: c.Count})
		if err != nil {
			return nil, err
		}
		return call.(glooCall), nil
	})
}

// Async implements stepCall.
func (c glooCall) Async() (loop.Async, error) {
	return loop.Async{}, &bench.UnsupportedError{Cause: notice.ProgressUnsupported{
		Library: "Gloo", Has: []string{step.Thread.String()}, Why: "its operations block",
	}}
}
