package main

import (
	"cmp"
	"unsafe"

	"busbar/cudart"
	"busbar/cudart/nccl"
	"busbar/internal/coll"
	"busbar/internal/loop"
	opspec "busbar/internal/operation"
	"busbar/mpi"
)

// joinMPI makes this process a rank of the world that compares over MPI.
func joinMPI(c config) (*library, error) {
	m, err := mpi.Load(mpi.Options{Dirs: []string{c.lib("")}})
	if err != nil {
		return nil, err
	}
	if _, err := m.Init(); err != nil {
		return nil, err
	}
	l := &library{mpi: m, world: m.World(), note: m.Info().Library + ".", object: c.lib("busbar-bare.so"),
		function: "busbar_bare", batch: unsafe.Sizeof(bareBatch{}), end: func() error { return nil }}
	l.prepare = func(size int64) (o operation, err error) {
		send, recv, free, err := buffers(size)
		if err != nil {
			return o, err
		}
		op, err := l.world.Prepare(opspec.Host{Spec: allReduce(size / 4), Send: send, Recv: recv})
		if err != nil {
			return o, err
		}
		return operation{op.Steps(), filled(send, recv, size), func() { _ = op.Close(); free() }}, nil
	}
	return l, nil
}

// allReduce is an all_reduce of so many numbers.
func allReduce(count int64) opspec.Spec {
	return opspec.Spec{Case: coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Count: count}}
}

// filled sets the buffers of an operation in a bare loop.
func filled(send, recv unsafe.Pointer, size int64) func(*bareBatch) {
	return func(b *bareBatch) { b.send, b.recv, b.count = uintptr(send), uintptr(recv), size/4 }
}

// buffers are memory for the two sides of a message, already touched.
func buffers(size int64) (send, recv unsafe.Pointer, free func(), err error) {
	area, err := loop.AllocBuffer(2 * max(size, 4096)) // on pages of their own
	if err != nil {
		return nil, nil, nil, err
	}
	clear(area.Bytes())
	return area.Pointer(), unsafe.Add(area.Pointer(), max(size, 4096)), func() { _ = area.Free() }, nil
}

// barrier is the steps of an operation that brings the ranks together.
func barrier(world *mpi.Comm) (loop.Steps, error) {
	one, err := loop.AllocBuffer(8)
	if err != nil {
		return loop.Steps{}, err
	}
	inPlace := allReduce(1)
	inPlace.Placement = coll.InPlace
	op, err := world.Prepare(opspec.Host{Spec: inPlace, Recv: one.Pointer()})
	if err != nil {
		return loop.Steps{}, err
	}
	return op.Steps(), nil
}

// bareNCCL is struct bare_batch of cudart/rehearsal/bare/bare.c.
type bareNCCL struct {
	bareBatch
	comm, stream unsafe.Pointer
	sync         loop.Step
	syncContext  unsafe.Pointer
}

// joinNCCL makes this process a rank that compares over the simulation of CUDA and NCCL, set up as in rank. The
// simulation has no time model: a small operation costs only its calls. The bare loop waits by cuStreamQuery and
// sched_yield like nccl-tests. It leaves out the query of the communicator in every round, which is cheap in NCCL and a
// system call in the simulation.
func joinNCCL(c config) (*library, error) {
	l, err := joinMPI(c)
	if err != nil {
		return nil, err
	}
	sync, err := barrier(l.world)
	if err != nil {
		return nil, err
	}
	driver, err := cudart.Load(cudart.Options{Path: c.lib("rehearsal")})
	if err != nil {
		return nil, err
	}
	gpu, err := driver.Open(l.world.Rank())
	if err != nil {
		return nil, err
	}
	stream, err := gpu.NewStream()
	if err != nil {
		return nil, err
	}
	comm, err := ncclComm(c, l.world)
	if err != nil {
		return nil, err
	}
	l.object, l.function, l.batch = c.lib("busbar-bare-nccl.so"), "busbar_bare_nccl", unsafe.Sizeof(bareNCCL{})
	l.end = comm.Close
	l.prepare = func(size int64) (o operation, err error) {
		area, err := gpu.Alloc(2 * max(size, 4096)) // send and recv on pages of their own
		if err != nil {
			return o, err
		}
		send, recv := uint64(area), uint64(area)+uint64(max(size, 4096))
		op, err := comm.Prepare(nccl.OpSpec{Spec: allReduce(size / 4), Send: send, Recv: recv, Stream: stream.Pointer(),
			Cuda: driver.Table(), Sync: sync.Sync, SyncContext: sync.Context})
		if err != nil {
			return o, err
		}
		fill := func(batch *bareBatch) {
			b := (*bareNCCL)(unsafe.Pointer(batch))
			b.send, b.recv, b.count = uintptr(send), uintptr(recv), size/4
			b.comm, b.stream, b.sync, b.syncContext = comm.Pointer(), stream.Pointer(), sync.Sync, sync.Context
		}
		return operation{op.Steps(), fill, func() { _ = cmp.Or(op.Close(), gpu.Free(area)) }}, nil
	}
	return l, nil
}

func ncclComm(c config, world *mpi.Comm) (*nccl.Comm, error) {
	library, err := nccl.Load(nccl.Options{Path: c.lib("rehearsal")})
	if err != nil {
		return nil, err
	}
	id := nccl.ID{}
	if world.Rank() == 0 {
		if id, err = library.NewID(); err != nil {
			return nil, err
		}
	}
	if err := world.Bcast(id[:], 0); err != nil {
		return nil, err
	}
	return library.Init(world.Size(), world.Rank(), id, nccl.Config{})
}
