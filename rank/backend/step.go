package backend

import (
	"busbar/internal/bench"
	"busbar/internal/program"
	"busbar/internal/step"
)

// Trainer is a backend that can run training steps.
type Trainer interface {
	Backend
	// Progress are the ways in which its communication can go on beside computing; none where a device does it.
	Progress() []step.Progress
	// Computing makes ready what computes on this rank, as fast as it does on all ranks at once. Collective.
	Computing() (Computing, error)
	// Train binds a plan to the memory that reserve has made; c is this backend's own. It is not collective; ranks
	// compare notes afterwards. The error is an *UnsupportedError (of bench) when the library does not have what the
	// plan asks for.
	Train(c Computing, p *step.Plan) (Training, error)
}

// Computing is what computes on this rank.
type Computing interface {
	// String is what it is, for people: "1 thread of FMA", "FMA kernels".
	String() string
	Close() error
}

// Calibrated is computing that was measured on a device's clock: seconds of a unit, and of a start beside its units.
type Calibrated interface {
	Calibration() (unit, start float64)
}

// Training is one bound plan on this rank.
type Training interface {
	// Run is collective: the ranks are brought together, then one step in that mode. The stamps are nanoseconds of this
	// host's clock (package loop): after the ranks were brought together, and when all was done.
	Run(m program.Mode) (start, end int64, err error)
	// Position is what is in hand, from any goroutine while it runs: part counts the segments and operations that this
	// run has begun, so that of two ranks the one with the smaller number is behind, and doing names them: "computing
	// backward layer4.2.conv3, bucket 3 in flight", "waiting for bucket 3"; "" between runs. It does not wait.
	Position() (part uint64, doing string)
	// Spans are those of the last run.
	Spans() program.Spans
	// Buffers are where operation op of the plan has its input and its output, to fill and to check.
	Buffers(op int) bench.Buffers
	Notes() []string
	Close() error
}
