package bench

import (
	"cmp"
	"errors"
	"fmt"

	"busbar/internal/result"
)

// OperationError says that an operation failed and left every rank alive: its point is lost, and the sweep goes on.
type OperationError struct {
	// Status is what the point becomes: result.Failed, result.OOM or result.Unsupported; empty on a rank that only left
	// off because another one failed.
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

// outcomes are the ends of Run, ordered: the worst rank's counts.
var outcomes = []result.Status{result.OK, "", result.Unsupported, result.Failed, result.OOM}

// runOperation is Run with the outcome compared over the ranks, where the backend can go on after a failure.
func (m *measurement) runOperation(op Operation, batches, n int) (Stamps, error) {
	s, err := op.Run(batches, n)
	var lost *OperationError
	if m.recoverer == nil || err != nil && !errors.As(err, &lost) {
		return s, err
	}
	outcome := 0
	if lost != nil {
		for i, status := range outcomes {
			if status == lost.Status {
				outcome = i
			}
		}
	}
	worst := []float64{float64(outcome)}
	if err := m.w.Max(worst); err != nil {
		return s, err
	}
	if worst[0] == 0 {
		return s, nil
	}
	text := ""
	if lost != nil && float64(outcome) == worst[0] {
		text = lost.Error()
	}
	rank, reason, err := m.firstText(text)
	if err != nil {
		return s, err
	}
	if m.w.Rank != 0 { // rank 0 has the words of all; here there are this rank's, if any
		rank, reason = m.w.Rank, cmp.Or(text, "another rank's operation failed")
	}
	status := outcomes[int(worst[0])]
	switch status {
	case "": // nobody says why
		status = result.Failed
	case result.Unsupported:
	default:
		reason = fmt.Sprintf("rank %d%s: %s", m.w.Name(rank), m.onHost(rank), reason)
	}
	m.record = NotMeasured(*m.record, status, reason)
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
