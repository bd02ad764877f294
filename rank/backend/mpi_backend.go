package backend

import (
	"errors"
	"strings"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/mpi"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// mpiLibrary is the MPI that connects the ranks, measured itself.
type mpiLibrary struct{ h *Host }

// openMPI refuses a launch that something else connects.
func openMPI(h *Host, _ []int) (Library, error) {
	if h.MPI == nil {
		return nil, h.elsewhere(exit.Usagef("--backend mpi measures the MPI that connects the ranks, and here it does " +
			"not: start them with mpirun, or srun with PMI, or choose another backend"))
	}
	return mpiLibrary{h}, nil
}

func (l mpiLibrary) Name() string { return "mpi" }

func (l mpiLibrary) Facts() result.Backend {
	i := l.h.MPI.Info()
	return result.Backend{Name: l.Name(), Library: i.Name, Version: versionOf(i.Name), Path: i.LibMPIPath,
		BuildID: i.BuildID}
}

func (l mpiLibrary) Device() string { return "cpu (" + l.h.CPU + ")" }

func (l mpiLibrary) Unfit(world int) string { return l.h.tooLarge(world) }

func (l mpiLibrary) Open(w *World, m Method) (Backend, error) {
	return &mpiBackend{hostBackend: newHostBackend(l.h, w, m)}, nil
}

// mpiBackend measures MPI's own collectives on buffers in host memory, allocated once for a world.
type mpiBackend struct {
	hostBackend
	barrier *launch.Barrier // before a training step; nil where none was bound
}

// MPIPlaces says which placements MPI has: a broadcast has one buffer.
func MPIPlaces(c coll.Collective) []coll.Placement {
	if c == coll.Broadcast {
		return []coll.Placement{coll.InPlace}
	}
	return []coll.Placement{coll.OutOfPlace, coll.InPlace}
}

// MPIScratch is what MPI libraries allocate beside the buffers, as a share of them: Open MPI's all_reduce takes a
// vector of the message's size for one of its algorithms.
const MPIScratch = 0.5

var mpiKinds = map[coll.Collective]mpi.Kind{
	coll.AllReduce: mpi.AllReduce, coll.AllGather: mpi.AllGather, coll.ReduceScatter: mpi.ReduceScatter,
	coll.Broadcast: mpi.Broadcast, coll.Reduce: mpi.Reduce, coll.AllToAll: mpi.AllToAll, coll.Gather: mpi.Gather,
	coll.Scatter: mpi.Scatter, coll.SendRecv: mpi.SendRecv,
}

var mpiWords = wordsOf("MPI", mpi.Int8, mpi.Float64, mpi.Sum, mpi.Avg)

// Close implements Backend: the buffers are the world's.
func (b *mpiBackend) Close() error { return b.barrier.Close() }

// Room implements backend.
func (b *mpiBackend) Room() (most float64, limit notice.MemoryLimit, err error) {
	return b.w.Memory.HostRoom(MPIScratch)
}

// Prepare implements bench.Backend.
func (b *mpiBackend) Prepare(c coll.Case) (bench.Operation, error) {
	if err := mpiWords.lacks(c); err != nil {
		return nil, err
	}
	p, err := b.place(c)
	if err != nil {
		return nil, err
	}
	return b.prepare(p, func(aggregate int) (hostCall, error) {
		return b.bind(mpi.OpSpec{Kind: mpiKinds[c.Collective], Type: mpiWords.types[c.Type], Op: mpiWords.ops[c.Op],
			Root: max(0, c.Root), InPlace: c.Placement == coll.InPlace, Send: p.send, Recv: p.recv, Count: c.Count,
			Slots: p.slots, SendStride: p.sendStride, RecvStride: p.recvStride, Aggregate: aggregate})
	})
}

// bind makes an operation of MPI.
func (b *mpiBackend) bind(spec mpi.OpSpec) (hostCall, error) {
	comm := launch.MPIComm(b.w.Group)
	if comm == nil {
		return nil, errors.New("MPI does not connect these ranks")
	}
	op, err := comm.Prepare(spec)
	if err != nil {
		return nil, mpiUnsupported(err)
	}
	return mpiCall{op}, nil
}

// mpiCall is an operation of MPI.
type mpiCall struct{ *mpi.Operation }

func (c mpiCall) failed(step *loop.StepError) error { return c.Error(step.Code) }

// mpiUnsupported is an error of package mpi in bench's words.
func mpiUnsupported(err error) error {
	var lacks *mpi.UnsupportedError
	if errors.As(err, &lacks) {
		return &bench.UnsupportedError{Cause: notice.LibraryLacks{Problem: lacks.Reason}}
	}
	return err
}

// versionOf is the version in a library's name: "4.1.4" of "Open MPI 4.1.4".
func versionOf(name string) string {
	words := strings.Fields(name)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
