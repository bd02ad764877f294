package backend

import (
	"fmt"
	"io"
	"time"

	"busbar/internal/bench"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/mpi"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// Host is a launch as a library sees it: what is asked of libraries, who takes part, and what the program does for
// them.
type Host struct {
	Options Options
	Ranks   []launch.RankFacts // of the launch
	Rank    int                // this one
	CPU     string             // name of this host's processor
	MPI     *mpi.MPI
	Group   launch.Comm // of all ranks
	// PassOn informs every rank that an operation of the communicator with that number failed, from any goroutine.
	PassOn     func(number int)
	Watch      Watch
	Interrupts *Interrupts
	Stderr     io.Writer
}

// Watch records what this rank does. A phase that outlasts its limit is a hang.
type Watch interface {
	bench.Watch
	// Rest begins a phase without a limit.
	Rest(phase string)
	// Attach shows the watch the iteration of a loop; broken (nil: nothing) is called where its operation fails while
	// it goes on. A nil loop takes the loop away before it is closed.
	Attach(l *loop.Loop, broken func())
	// Listen sets a function that returns the library's last error for reports of a hang, and onPhase, called with
	// each phase (or nil). Neither may wait.
	Listen(lastError func() string, onPhase func(phase string))
}

// World is one world of a launch, as the library sees it that measures there.
type World struct {
	bench.World
	Group  launch.Comm // its ranks
	Area   *HostArea   // buffers in host memory, which the libraries that measure there have in turn
	Memory Memory
}

// Memory plans the memory of the buffers of a world. All methods are collective over it.
type Memory interface {
	// HostRoom returns how many bytes of buffers in host memory every rank may have where a library allocates scratch
	// beside them (as a share of them), and on rank 0 what limits them.
	HostRoom(scratch float64) (most float64, limit notice.MemoryLimit, err error)
	// DeviceRoom is HostRoom of a device of this rank's with that many bytes free.
	DeviceRoom(device string, free int64) (most float64, limit notice.MemoryLimit, err error)
}

// Method is how cases are measured in a world, as far as a library needs to know.
type Method struct {
	Layout     Layout
	Aggregate  int // operations issued together; 0 and 1: each by itself
	Iterations int // timed operations; 0: as many as the precision needs
}

// tooLarge states that a world does not fit the launch, as what follows "it"; "" if it does.
func (h *Host) tooLarge(world int) string {
	if world <= len(h.Ranks) {
		return ""
	}
	return fmt.Sprintf("does not fit this launch of %s", units.Count(len(h.Ranks), "rank"))
}

// device is what ranks compute on without a GPU.
func (h *Host) device() string { return "cpu (" + h.CPU + ")" }

// elsewhere is the error of all ranks as this one returns it: rank 0 reports it.
func (h *Host) elsewhere(err error) error {
	if h.Rank != 0 {
		return exit.ErrElsewhere
	}
	return err
}

// nextCommunicator is a number for a communicator whose first rank this one is; no other in the launch has it, also
// where several worlds measure at the same time.
func (h *Host) nextCommunicator() int { return h.Interrupts.next()*len(h.Ranks) + h.Rank }

// together makes an error on any rank of the launch an error on all. Collective.
func (h *Host) together(err error) error { return launch.Together(h.Group, h.Ranks, err) }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Options are what the command line asks of libraries.
type Options struct {
	Backends []string // names; empty: auto
	NCCL     string   // file or folder of the library; empty: it is looked for
	CUDA     string   // file or folder of the driver; empty: it is looked for
	Simulate bool     // the CUDA driver and NCCL are simulated
	ShareGPU bool     // several ranks may use one GPU
	Profile  bool     // begin and end the driver's profiler range
	Like     string   // tool whose settings of NCCL are measured; empty: none
	GPU      NCCLOptions
	Gloo     GlooOptions
	Compute  ComputeOptions
}

// ComputeOptions are how a training step computes.
type ComputeOptions struct {
	Poll    time.Duration // between two calls that test, where they poll
	Threads int           // that compute, on a host
	Kernel  string        // that computes on a GPU: auto, gemm, fma
}
