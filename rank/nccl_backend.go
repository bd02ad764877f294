package main

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
	layout
	l         *ncclLibrary
	s         *session
	aggregate int

	barrier *barrier // MPI's: brings the ranks together before a batch
	stream  *cudart.Stream
	mover   *cudart.Mover
	comm    *nccl.Comm
	area    cudart.Pointer // the input and, from a page of its own, the output of the case in hand
	bytes   int64

	registered nccl.Registration
	graph      int            // operations of a CUDA graph; 0: no graphs
	paths      *nccl.Profiler // nil unless NCCL tells of its ways on every rank

	computes *gpuComputing // nil where no training steps are measured
	profiled bool          // the driver's profiler range has begun (--profile-range)

	unsupported map[reduction]string // what the library has refused, with its reason
	refused     bool                 // the last operation was refused before anything was issued, as on all ranks
}

// rehearsalChunk is the mover's chunk where the device's memory is the host's.
const rehearsalChunk = 4 << 20

func (l *ncclLibrary) open(s *session) (backend, error) {
	b := &ncclBackend{layout: s.layout(), l: l, s: s, aggregate: max(1, s.p.sweep.Aggregate),
		graph: l.graph(s.p.sweep.Iterations)}
	// Windows are of one size on all ranks, and copy engines write at the root's own offset in another rank's.
	b.alike = l.j.cfg.gpu.register == "window"
	var err error
	if b.barrier, err = newBarrier(launch.MPIComm(s.comm)); err != nil {
		return nil, err
	}
	chunk := int64(0)
	if l.simulated() {
		chunk = rehearsalChunk
	}
	l.j.watch.Phase("prepare the GPU", 0)
	if b.stream, err = l.gpu.NewStream(); err != nil {
		return nil, err
	}
	if l.j.cfg.gpu.events {
		if l.eventTick, err = l.gpu.EventStep(b.stream); err != nil {
			return nil, err
		}
	}
	begun := time.Now()
	if b.mover, err = l.gpu.NewMover(chunk); err != nil {
		return nil, err
	}
	took := []float64{time.Since(begun).Seconds(), l.loading.Seconds()}
	if err := s.world.Max(took); err != nil {
		return nil, err
	}
	s.setup = append(s.setup, result.Setup{What: "driver", Seconds: took[1]},
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

// connect makes the communicator of the world: rank 0's id goes out by MPI. Collective.
func (b *ncclBackend) connect() error {
	b.l.j.watch.Phase("NCCL init", 0)
	mine := make([]byte, 1+8+nccl.IDBytes)
	var failed error
	if b.rank == 0 {
		id, err := b.l.nccl.NewID()
		if failed = err; err == nil {
			mine[0] = 1
			putInt(mine[1:9], b.l.j.nextCommunicator())
			copy(mine[9:], id[:])
		}
	}
	if err := b.s.comm.Bcast(mine, 0); err != nil {
		return err
	}
	if mine[0] == 0 {
		if failed == nil {
			failed = errors.New("rank 0 could not make an id")
		}
		return failed
	}
	started := time.Now()
	comm, err := b.l.nccl.Init(b.s.world.Size, b.rank, nccl.ID(mine[9:]), b.l.config)
	if err != nil {
		return err
	}
	b.comm = comm
	if err := b.l.onOwnGPU(comm); err != nil {
		return err
	}
	b.l.j.leaver.guard(getInt(mine[1:9]), comm.Interrupt)
	took := []float64{time.Since(started).Seconds()}
	if err := b.s.world.Max(took); err != nil {
		return err
	}
	if b.area == 0 { // the first one: the header is still to be written
		b.s.setup = append(b.s.setup, result.Setup{What: "communicator", Seconds: took[0]})
	}
	return nil
}

// Recover implements bench.Recoverer: after an operation that failed on some rank the communicator is given up on all
// ranks, and a new one made. Where all ranks refused the operation it stays.
func (b *ncclBackend) Recover() error {
	broken, number := float64(b2i(!b.refused)), 0.0
	b.refused = false
	if b.s.world.Rank == 0 {
		number = float64(b.l.j.nextCommunicator())
	}
	all := []float64{broken, number}
	if err := b.s.world.Max(all); err != nil {
		return err
	}
	if all[0] > 0 {
		if err := b.reconnect(); err != nil {
			return err
		}
	} else {
		// A watchdog may have seen the failure and made all ranks leave the operation. The communicator is intact; it gets
		// another number, so that this does not end the next operation.
		b.l.j.leaver.guard(int(all[1]), b.comm.Interrupt)
		b.comm.Resume()
	}
	over := b.l.nccl.LastError()
	b.l.stale.Store(&over)
	return nil
}

func (b *ncclBackend) reconnect() error {
	b.l.j.leaver.guard(b.l.j.leaver.current(), nil)
	b.l.j.watch.Phase("NCCL abort", 0)
	if err := b.comm.Abort(); err != nil && !errors.Is(err, nccl.ErrClosed) {
		return fmt.Errorf("giving up the communicator: %w", err)
	}
	if err := errors.Join(b.stream.Synchronize(), b.computes.end()); err != nil {
		return fmt.Errorf("after giving up the communicator: %w", err)
	}
	b.registered = nccl.Registration{} // gone with the communicator
	if err := b.connect(); err != nil {
		return err
	}
	return b.register()
}

// close implements backend.
func (b *ncclBackend) close() error {
	b.l.j.watch.Phase("look at the GPUs", 0)
	var err error
	if b.s.throttled, err = b.throttled(); err != nil {
		return err
	}
	b.l.j.watch.Phase("NCCL destroy", 0)
	b.l.j.leaver.guard(b.l.j.leaver.current(), nil)
	// Graphs may have made NCCL register the buffers by itself: they go after the communicator.
	err = errors.Join(b.endProfile(), b.registered.Close(), b.comm.Close())
	return errors.Join(err, b.release(), b.mover.Close(), b.stream.Close(), b.barrier.close())
}

// shared says whether ranks of this world share a GPU.
func (b *ncclBackend) shared() bool {
	return slices.ContainsFunc(b.s.members, func(r int) bool { return b.l.ranks[r].Shared })
}
