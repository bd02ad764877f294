package launch

import "time"

// Launch is a program whose ranks were started together and are connected.
type Launch interface {
	// World returns the group of all ranks.
	World() Comm
	// Connected reports whether the ranks are connected and not yet disconnected.
	Connected() bool
	// Abort ends all ranks with an exit code, from any goroutine. It may not return.
	Abort(code int)
	// Finalize disconnects the ranks in good order. Collective.
	Finalize() error
}

// Comm is a group of ranks that exchange data outside of what is timed. All methods but Rank, Size and ClockOffset are
// collective.
type Comm interface {
	Rank() int
	Size() int
	// Bcast replaces data by the root's on every rank; all pass slices of one length.
	Bcast(data []byte, root int) error
	// Gather returns the data of all ranks on the root, by rank, and nil elsewhere; all pass slices of one length.
	Gather(data []byte, root int) ([][]byte, error)
	// Gatherv is Gather for slices of different lengths.
	Gatherv(data []byte, root int) ([][]byte, error)
	// Sum and Max replace x by the sum or maximum over the ranks, element by element.
	Sum(x []float64) error
	Max(x []float64) error
	// Barrier returns when all ranks have come. Ranks that wait may spin.
	Barrier() error
	// BarrierSleeping is a barrier in which this rank looks every pause and sleeps in between. It does not match
	// Barrier.
	BarrierSleeping(pause time.Duration) error
	// Split returns the group of the ranks that pass the same color, ordered by key; nil for a negative color.
	Split(color, key int) (Comm, error)
	// ClockOffset returns how far the peer's clock is ahead of this rank's, in seconds, from that many rounds of
	// ping-pong of which the fastest counts. Only the two ranks call it.
	ClockOffset(peer, rounds int) (offset, uncertainty float64, err error)
	// Free ends a group that Split returned.
	Free() error
}
