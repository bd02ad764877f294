package backend

import (
	"errors"
	"fmt"
	"strings"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/operation"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/mpi"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// mpiLibrary is the MPI that connects the ranks, measured itself.
type mpiLibrary struct{ h *Host }

// openMPI refuses a launch that something else connects.
func openMPI(h *Host, _ []int) (Library, error) {
	if h.MPI == nil {
		return nil, h.elsewhere(exit.Usagef("--backend mpi requires MPI, but TCP connects these ranks: " +
			"start them with mpirun or srun --mpi=pmix, or use --backend gloo or nccl"))
	}
	return mpiLibrary{h}, nil
}

func (l mpiLibrary) Name() string { return "mpi" }

func (l mpiLibrary) Facts() result.Backend {
	i := l.h.MPI.Info()
	return result.Backend{Name: l.Name(), Library: i.Name, Version: i.Name[strings.LastIndexByte(i.Name, ' ')+1:],
		Path: i.LibMPIPath, BuildID: i.BuildID}
}

func (l mpiLibrary) Device() string { return l.h.device() }

func (l mpiLibrary) Unfit(world int) string { return l.h.tooLarge(world) }

func (l mpiLibrary) Open(w *World, m Method) (Backend, error) {
	comm := launch.MPIComm(w.Group)
	if comm == nil {
		return nil, errors.New("MPI does not connect these ranks")
	}
	b := &mpiBackend{hostBackend: newHostBackend(l.h, w, m, "MPI")}
	b.hostBackend.bind = func(spec operation.Host) (hostCall, error) {
		op, err := comm.Prepare(spec)
		return mpiCall{op}, unsupported(err)
	}
	return b, nil
}

// mpiBackend measures MPI's own collectives on buffers in host memory, allocated once for a world.
type mpiBackend struct {
	hostBackend
	barrier *launch.Barrier // before a training step; nil where none was bound
}

// MPIPlaces are the placements of MPI: a broadcast has one buffer, and an alltoallv in place would have to send to a
// rank what it receives from it.
func MPIPlaces(c coll.Collective) []coll.Placement {
	switch c {
	case coll.Broadcast:
		return []coll.Placement{coll.InPlace}
	case coll.AllToAllV:
		return []coll.Placement{coll.OutOfPlace}
	}
	return []coll.Placement{coll.OutOfPlace, coll.InPlace}
}

// Close implements Backend: the buffers are the world's.
func (b *mpiBackend) Close() error { return b.barrier.Close() }

// mpiCall is an operation of MPI.
type mpiCall struct{ *mpi.Operation }

func (c mpiCall) failed(step *loop.StepError) error { return c.Error(step.Code) }

// Async implements hostCall.
func (c mpiCall) Async() (loop.Async, error) {
	a, err := c.Operation.Async()
	return a, unsupported(err)
}

var _ Trainer = (*mpiBackend)(nil)

// Progress implements Trainer; only a step with a second thread checks MPI's thread level.
func (b *mpiBackend) Progress() []step.Progress { return step.Ways() }

// Train implements Trainer.
//
// All operations of a step are on the communicator of the world, from whichever thread: MPI forbids that two threads
// are in collectives of one communicator at the same time, and here no two are. The barrier is over on this rank
// before the step gives the second thread its first operation, the step ends when the second thread is done with its
// last one, and ranks exchange messages only between steps. So every rank begins the same collectives in the
// same order, and one of them calls MPI at a time.
func (b *mpiBackend) Train(c Computing, p *step.Plan) (_ Training, err error) {
	if level := b.h.MPI.Info().ThreadLevel; p.Point.Progress == step.Thread && level < mpi.ThreadSerialized {
		return nil, &bench.UnsupportedError{Cause: notice.ProgressUnsupported{
			Library: b.h.MPI.Info().Name, Progress: "thread", Why: fmt.Sprintf("its thread level is %s", level),
		}}
	}
	if b.barrier == nil {
		if b.barrier, err = NewBarrier(b.w.Group); err != nil {
			return nil, err
		}
	}
	return b.bindPlan(c.(*hostComputing), p, b.barrier)
}
