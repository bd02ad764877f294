package launch

import (
	"busbar/internal/loop"
	"busbar/internal/result"
	"busbar/mpi"
	"cmp"
	"time"
	"unsafe"
)

// Launch is a program whose ranks were started together and are connected.
type Launch interface {
	// World returns the group of all ranks.
	World() Comm
	// Library is what connects the ranks.
	Library() Library
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

// Library is what connects the ranks of a launch.
type Library struct {
	Name    string     // short: "Open MPI 4.1.4"
	Version string     // all that it reports of itself: it must be equal on all ranks
	Facts   result.MPI // for the first line of a results file, but for the launcher
}

// LoopBarrier is a Comm with a barrier that the timed loop can call, which is in C.
type LoopBarrier interface {
	NewBarrier() (*Barrier, error)
}

// Barrier is a barrier as a step of the timed loop.
type Barrier struct {
	Step    loop.Step
	Context unsafe.Pointer
	Failed  func(code int) error // the error of a step that returned that code

	close func() error
}

// Close gives up the barrier; of a nil one it does nothing.
func (b *Barrier) Close() error {
	if b == nil {
		return nil
	}
	return b.close()
}

// Started is what the launcher's variables state about this process before the ranks connect. A number is -1 if
// unknown.
type Started struct {
	Launcher  string // for people: "mpirun of Open MPI"; "" if no launcher is detected
	Rank      int
	Size      int
	LocalRank int
	LocalSize int  // also -1 where hosts differ in it
	NoMPI     bool // the variables are not those of an MPI launcher, which combines exit codes
}

// ReadStarted reads the launcher's variables. Those of MPI's launchers go before RANK and WORLD_SIZE.
func ReadStarted(getenv func(string) string) Started {
	l := mpi.Launcher(getenv)
	if !mpi.HasPMI(getenv) {
		if m, err := readMeeting(getenv); err == nil && m != nil {
			return m.Started()
		}
	}
	return Started{l.Name, l.Rank, l.Size, l.LocalRank, l.LocalSize, false}
}

// Name is the name of the launcher; "none" where the program was started by itself.
func (s Started) Name() string { return cmp.Or(s.Launcher, "none") }
