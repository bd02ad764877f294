package main

import (
	"busbar/internal/bench"
	"busbar/internal/program"
	"busbar/internal/step"
)

// trainer is a backend that can run training steps.
type trainer interface {
	backend
	// progress are the ways in which its communication can go on beside computing; none where a device does it.
	progress() []step.Progress
	// computing makes ready what computes on this rank, as fast as it does on all ranks at once. Collective.
	computing() (computing, error)
	// train binds a plan to the memory that reserve has made; c is this backend's own. It is not collective; ranks compare
	// notes afterwards. The error is an *UnsupportedError (of bench) when the library does not have what the plan asks for.
	train(c computing, p *step.Plan) (training, error)
}

// computing is what computes on this rank.
type computing interface {
	// String is what it is, for people: "1 thread of FMA", "FMA kernels".
	String() string
	// copyRate is how fast memory is copied, in bytes per second, reading and writing counted once: what modelled compression is priced by;
	// 0 where nothing is.
	copyRate() float64
	close() error
}

// calibrated is computing that was measured on a device's clock: seconds of a unit, and of a start beside its units.
type calibrated interface {
	calibration() (unit, start float64)
}

// training is one bound plan on this rank.
type training interface {
	// run is collective: the ranks are brought together, then one step in that mode. The stamps are nanoseconds of this host's
	// clock (package loop): after the ranks were brought together, and when all was done.
	run(m program.Mode) (start, end int64, err error)
	// Position is what is in hand, from any goroutine while it runs: part counts the segments and operations that this run has
	// begun, so that of two ranks the one with the smaller number is behind, and doing names them: "computing backward
	// layer4.2.conv3, bucket 3 on its way", "waiting for bucket 3"; "" between runs. It does not wait.
	Position() (part uint64, doing string)
	// spans are those of the last run.
	spans() program.Spans
	// buffers are where operation op of the plan has its input and its output, to fill and to check.
	buffers(op int) bench.Buffers
	notes() []string
	close() error
}
