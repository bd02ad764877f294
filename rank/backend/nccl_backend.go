package backend

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"busbar/cudart"
	"busbar/cudart/nccl"
	"busbar/internal/result"
	"busbar/rank/launch"
)

// ncclBackend measures NCCL's collectives in one world, on buffers in the memory of this rank's GPU.
type ncclBackend struct {
	Layout
	ncclBuffers
	w         *World
	aggregate int

	barrier *launch.Barrier // MPI's: brings the ranks together before a batch
	stream  *cudart.Stream
	comm    ncclComm

	graph int            // operations of a CUDA graph; 0: no graphs
	paths *nccl.Profiler // nil unless NCCL reports its paths on every rank

	prepared []result.Setup     // what making it ready took
	held     []result.Throttled // ranks whose GPU held back its clocks at the end; rank 0 only
	computes *gpuComputing      // nil where no training steps are measured
	profile  profilerRange      // of the training steps (--profile-range)

	unsupported refusals // what the library has refused
	refused     bool     // the last operation was refused before anything was issued, as on all ranks
}

// ncclComm is a communicator with its number for interrupts.
type ncclComm struct {
	*nccl.Comm
	number int
}

// guard makes the communicator the one that other ranks can interrupt on this one.
func (c ncclComm) guard(h *Host) { h.Interrupts.guard(c.number, c.Interrupt) }

// rehearsalChunk is the mover's chunk where the device's memory is the host's.
const rehearsalChunk = 4 << 20

func (l *ncclLibrary) Open(w *World, m Method) (Backend, error) {
	b := &ncclBackend{Layout: m.Layout, ncclBuffers: ncclBuffers{l: l}, w: w, aggregate: max(1, m.Aggregate),
		graph: l.Graph(m.Iterations), unsupported: refusals{}}
	// Windows are of one size on all ranks, and copy engines write at the root's own offset in another rank's.
	b.alike = l.h.Options.GPU.Register == "window"
	var err error
	if b.barrier, err = NewBarrier(w.Group); err != nil {
		return nil, err
	}
	chunk := int64(0)
	if l.Simulated() {
		chunk = rehearsalChunk
	}
	l.h.Watch.Phase("prepare the GPU", 0)
	if b.stream, err = l.gpu.NewStream(); err != nil {
		return nil, err
	}
	begun := time.Now()
	if b.mover, err = l.gpu.NewMover(chunk); err != nil {
		return nil, err
	}
	took := []float64{time.Since(begun).Seconds(), l.loading.Seconds()}
	if err := w.Max(took); err != nil {
		return nil, err
	}
	b.prepared = append(b.prepared, result.Setup{What: "driver", Seconds: took[1]},
		result.Setup{What: "checks", Seconds: took[0]})
	how := "data is filled and compared by kernels on the GPU"
	if used, why := b.mover.Kernels(); !used {
		how = "data is filled and compared through pinned host memory: " + why
	}
	if !slices.Contains(l.notes, how) {
		l.notes = append(l.notes, how)
	}
	if err := b.connect(); err != nil {
		return nil, err
	}
	return b, b.agreeOnPaths()
}

// communicatorStart is what rank 0 sends to all ranks of a world: the id of the communicator to create.
type communicatorStart struct {
	Begins bool // false: rank 0 failed to create NCCL's unique id
	Number int64
	ID     nccl.ID
}

// connect makes the communicator of the world: rank 0's id goes out by MPI. Collective.
func (b *ncclBackend) connect() error {
	b.l.h.Watch.Phase("NCCL init", 0)
	var start communicatorStart
	var failed error
	if b.Rank == 0 {
		id, err := b.l.nccl.NewID()
		if failed = err; err == nil {
			start = communicatorStart{Begins: true, Number: int64(b.l.h.nextCommunicator()), ID: id}
		}
	}
	if err := launch.Broadcast(b.w.Group, &start); err != nil {
		return err
	}
	if !start.Begins {
		if failed == nil {
			failed = errors.New("rank 0 failed to create NCCL's unique id")
		}
		return failed
	}
	started := time.Now()
	comm, err := b.l.nccl.Init(b.w.Size, b.Rank, start.ID, b.l.config)
	if err != nil {
		return err
	}
	b.comm = ncclComm{comm, int(start.Number)}
	if err := b.l.onOwnGPU(comm); err != nil {
		return err
	}
	b.comm.guard(b.l.h)
	took := []float64{time.Since(started).Seconds()}
	if err := b.w.Max(took); err != nil {
		return err
	}
	if b.area == 0 { // the first one: the header is still to be written
		b.prepared = append(b.prepared, result.Setup{What: "communicator", Seconds: took[0]})
	}
	return nil
}

// Recover implements bench.Recoverer: after an operation that failed on some rank the communicator is given up on all
// ranks, and a new one made. Where all ranks refused the operation it stays.
func (b *ncclBackend) Recover() error {
	broken, number := float64(b2i(!b.refused)), 0.0
	b.refused = false
	if b.w.Rank == 0 {
		number = float64(b.l.h.nextCommunicator())
	}
	all := []float64{broken, number}
	if err := b.w.Max(all); err != nil {
		return err
	}
	if all[0] > 0 {
		if err := b.reconnect(); err != nil {
			return err
		}
	} else {
		// A watchdog may have seen the failure and made all ranks leave the operation. The communicator is intact; it
		// gets another number, so that this does not end the next operation.
		b.comm.number = int(all[1])
		b.comm.guard(b.l.h)
		b.comm.Resume()
	}
	over := b.l.nccl.LastError()
	b.l.stale.Store(&over)
	return nil
}

// abort ends the communicator and its operations, unless that was done before.
func (b *ncclBackend) abort() error {
	b.l.h.Interrupts.guard(b.l.h.Interrupts.current(), nil)
	b.l.h.Watch.Phase("NCCL abort", 0)
	if err := b.comm.Abort(); err != nil && !errors.Is(err, nccl.ErrClosed) {
		return fmt.Errorf("aborting the communicator: %w", err)
	}
	return nil
}

func (b *ncclBackend) reconnect() error {
	if err := b.abort(); err != nil {
		return err
	}
	if err := errors.Join(b.stream.Synchronize(), b.computes.end()); err != nil {
		return fmt.Errorf("after aborting the communicator: %w", err)
	}
	b.registered = nccl.Registration{} // gone with the communicator
	if err := b.connect(); err != nil {
		return err
	}
	return b.register(b.comm.Comm)
}

// Close implements backend.
func (b *ncclBackend) Close() error {
	b.l.h.Watch.Phase("inspect the GPUs", 0)
	var err error
	if b.held, err = b.l.throttled(b.w); err != nil {
		return err
	}
	b.l.h.Watch.Phase("NCCL destroy", 0)
	b.l.h.Interrupts.guard(b.l.h.Interrupts.current(), nil)
	// Graphs may have made NCCL register the buffers by itself: they go after the communicator.
	err = errors.Join(b.profile.end(b.l), b.registered.Close(), b.comm.Close())
	return errors.Join(err, b.release(), b.mover.Close(), b.stream.Close(), b.barrier.Close())
}
