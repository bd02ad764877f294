package bench

import (
	"errors"

	"busbar/internal/result"
)

// OperationError is a failed operation that leaves every rank alive: its point is lost, and the sweep continues.
type OperationError struct {
	// Status is the point's status: result.Failed, result.OOM or result.Unsupported; empty on a rank that stopped only
	// because another one failed.
	Status result.Status
	Err    error
}

func (e *OperationError) Error() string { return e.Err.Error() }

func (e *OperationError) Unwrap() error { return e.Err }

// Recoverer is implemented by backends whose Run may return an *OperationError. Such a backend sees to it that the
// other ranks come out of their Run as well.
type Recoverer interface {
	// Recover makes the backend ready for the next case, after operations are closed. It is collective.
	Recover() error
}

// errLost ends the measurement of a point that an *OperationError took; the record is filled.
var errLost = errors.New("the point is lost")

// runOperation is Run with the outcome compared over the ranks, where the backend can go on after a failure.
func (m *measurement) runOperation(op Operation, batches, n int) (Stamps, error) {
	s, err := op.Run(batches, n)
	if m.recoverer == nil {
		return s, err
	}
	v, err := m.w.Ran(err)
	if err != nil || !v.Over() {
		return s, err
	}
	m.record = NotMeasured(*m.record, v.Status, v.Cause)
	m.record.Time = nil
	return s, errLost
}

// recover makes the backend ready for the next case.
func (m *measurement) recover() error {
	m.phase("recover", 0)
	if err := m.recoverer.Recover(); err != nil {
		return &Fatal{"recover", err}
	}
	return nil
}
