package main

import (
	"fmt"
	"path/filepath"
	"time"
	"unsafe"

	"busbar/cudart"
	"busbar/cudart/nccl"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/mpi"
)

// ncclSizes are the messages of the part nccl in bytes.
var ncclSizes = []int64{8, 64, 512, 4 << 10, 64 << 10}

// ncclPart starts ranks of this program over the stand-ins of CUDA and NCCL, whose operations take no more time than
// they need: what is left of a small one is calls.
func ncclPart(c config) error {
	fmt.Fprintln(c.out, "The simulation without a time model, all_reduce of float32, out of place; the bare loop calls "+
		"the same simulation with")
	fmt.Fprintln(c.out, "the same communicator, stream, buffers and barrier, and waits by cuStreamQuery and sched_yield "+
		"as nccl-tests does, without its")
	fmt.Fprintln(c.out,
		"question to the communicator in every round: that is cheap in NCCL and a system call in the simulation.")
	fmt.Fprintln(c.out, "Targets: upper end at most 1.02 back to back, 1.05 and a clock reading in latency mode.")
	fmt.Fprintf(c.out, "\n| np | size | %s\n|---:|---:|%s\n", loopColumns, loopLine)
	for _, n := range []int{1, 2} {
		if err := c.selves(n, "nccl"); err != nil {
			return err
		}
	}
	return watchdogTable(c)
}

// bareNCCL is struct bare_batch of cudart/rehearsal/bare/bare.c.
type bareNCCL struct {
	bareBatch
	comm, stream unsafe.Pointer
	sync         loop.Step
	syncContext  unsafe.Pointer
}

// rehearsed is one rank with the stand-ins, set up as rank does it.
type rehearsed struct {
	mpi     *mpi.MPI
	world   *mpi.Comm
	barrier loop.Steps
	bare    string
	driver  *cudart.Driver
	gpu     *cudart.Context
	stream  *cudart.Stream
	comm    *nccl.Comm
}

func (c config) rehearse() (r *rehearsed, err error) {
	stand := filepath.Join(c.top, "lib", "rehearsal")
	r = &rehearsed{bare: filepath.Join(c.top, "lib", "busbar-bare-nccl.so")}
	if r.mpi, err = c.joinMPI(); err != nil {
		return nil, err
	}
	r.world = r.mpi.World()
	if r.barrier, err = barrier(r.world); err != nil {
		return nil, err
	}
	if r.driver, err = cudart.Load(cudart.Options{Path: stand}); err != nil {
		return nil, err
	}
	if r.gpu, err = r.driver.Open(r.world.Rank()); err != nil {
		return nil, err
	}
	if r.stream, err = r.gpu.NewStream(); err != nil {
		return nil, err
	}
	library, err := nccl.Load(nccl.Options{Path: stand})
	if err != nil {
		return nil, err
	}
	id := nccl.ID{}
	if r.world.Rank() == 0 {
		if id, err = library.NewID(); err != nil {
			return nil, err
		}
	}
	if err := r.world.Bcast(id[:], 0); err != nil {
		return nil, err
	}
	r.comm, err = library.Init(r.world.Size(), r.world.Rank(), id, nccl.Config{})
	return r, err
}

// barrier is the steps of an operation that brings the ranks together.
func barrier(world *mpi.Comm) (loop.Steps, error) {
	one, err := loop.AllocBuffer(8)
	if err != nil {
		return loop.Steps{}, err
	}
	op, err := world.Prepare(mpi.OpSpec{Kind: mpi.AllReduce, Type: mpi.Float32, Op: mpi.Sum, InPlace: true,
		Recv: one.Pointer(), Count: 1})
	if err != nil {
		return loop.Steps{}, err
	}
	return op.Steps(), nil
}

func (r *rehearsed) end() error { return first(r.comm.Close(), r.mpi.Finalize()) }

// pair prepares both loops over an all_reduce of that size; give takes everything back.
func (r *rehearsed) pair(size int64) (p *pair, give func(), err error) {
	area, err := r.gpu.Alloc(2 * max(size, 4096)) // send and recv on pages of their own
	if err != nil {
		return nil, nil, err
	}
	send, recv := uint64(area), uint64(area)+uint64(max(size, 4096))
	op, err := r.comm.Prepare(nccl.OpSpec{Kind: nccl.AllReduce, Type: nccl.Float32, Op: nccl.Sum, Send: send, Recv: recv,
		Count:  size / 4,
		Stream: r.stream.Pointer(), Cuda: r.driver.Table(), Sync: r.barrier.Sync, SyncContext: r.barrier.Context})
	if err != nil {
		return nil, nil, err
	}
	if p, err = newPair(r.world, op.Steps(), r.bare, "busbar_bare_nccl", unsafe.Sizeof(bareNCCL{})); err != nil {
		return nil, nil, err
	}
	b := (*bareNCCL)(unsafe.Pointer(p.batch))
	b.send, b.recv, b.count = uintptr(send), uintptr(recv), size/4
	b.comm, b.stream, b.sync, b.syncContext = r.comm.Pointer(), r.stream.Pointer(), r.barrier.Sync, r.barrier.Context
	return p, func() { p.close(); _ = first(op.Close(), r.gpu.Free(area)) }, nil
}

// compareRehearsed is what each rank does; rank 0 prints the rows.
func compareRehearsed(c config) error {
	r, err := c.rehearse()
	if err != nil {
		return err
	}
	clock := clockCost()
	for _, mode := range []coll.Mode{coll.Throughput, coll.Latency} {
		for _, size := range ncclSizes {
			if size > c.max {
				continue
			}
			found, err := r.compareSize(mode, size, c.budget)
			if err != nil {
				return err
			}
			if r.world.Rank() == 0 {
				fmt.Fprintf(c.out, "| %d | %s | ", r.world.Size(), coll.FormatSize(size, true))
				c.loopRow(mode, found, clock)
			}
		}
	}
	return r.end()
}

func (r *rehearsed) compareSize(mode coll.Mode, size int64, budget time.Duration) (ratio, error) {
	p, give, err := r.pair(size)
	if err != nil {
		return ratio{}, err
	}
	defer give()
	return p.alternate(mode, budget)
}
