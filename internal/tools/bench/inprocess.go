package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/mpi"
)

// asRanks are what the ranks do that parts start of this program, by the word after -ranks.
var asRanks = map[string]func(c config) error{
	"loop":     compareLoops,
	"nccl":     compareRehearsed,
	"gloo":     compareGloo,
	"watchdog": compareWatched,
}

// selves starts ranks of this program, which print what they find.
func (c config) selves(n int, what string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	run, err := c.mpirun(n, self, "-ranks", what, "-top", c.top, "-budget", c.budget.String(), "-max", fmt.Sprint(c.max))
	if err != nil {
		return err
	}
	_, err = c.out.Write(run.stdout)
	return err
}

// joinMPI makes this process a rank of the world.
func (c config) joinMPI() (*mpi.MPI, error) {
	library, err := mpi.Load(mpi.Options{Dirs: []string{filepath.Join(c.top, "lib")}})
	if err != nil {
		return nil, err
	}
	_, err = library.Init()
	return library, err
}

const (
	loopColumns = "mode | busbar | bare C | ratio | 95 % interval | pairs | on target |"
	loopLine    = "---|---:|---:|---:|---|---:|---|"
)

// loopRow prints the columns of loopColumns.
func (c config) loopRow(mode coll.Mode, r ratio, clock float64) {
	limit, slack := 1.02, 0.0
	if mode == coll.Latency {
		limit, slack = 1.05, clock
	}
	fmt.Fprintf(c.out, "%s | %s | %s | %.3f | %.3f – %.3f | %d | %s |\n", mode, seconds(r.ours), seconds(r.bare),
		r.median, r.lo, r.hi,
		r.pairs, r.within(limit, slack))
}

// loopPart starts two ranks of this program that compare the loops.
func loopPart(c config) error {
	fmt.Fprintln(c.out, "np 2, all_reduce of float32, out of place; batches of both loops take turns on the same "+
		"buffers. Ratio: median of")
	fmt.Fprintln(c.out, "paired batches with its 95 % interval. Targets: upper end at most 1.02 back to back, 1.05 and "+
		"a clock reading in latency mode.")
	fmt.Fprintln(c.out)
	return c.selves(2, "loop")
}

// compareLoops is what each of the two ranks does; rank 0 prints the table.
func compareLoops(c config) (err error) {
	library, err := c.joinMPI()
	if err != nil {
		return err
	}
	world := library.World()
	clock := clockCost()
	if world.Rank() == 0 {
		fmt.Fprintf(c.out, "%s. One clock reading: %.0f ns.\n\n", library.Info().Library, clock*1e9)
		fmt.Fprintf(c.out, "| size | %s\n|---:|%s\n", loopColumns, loopLine)
	}
	for _, mode := range []coll.Mode{coll.Throughput, coll.Latency} {
		for size := int64(8); size <= c.max; size *= 2 {
			r, err := compareSize(world, filepath.Join(c.top, "lib", "busbar-bare.so"), mode, size, c.budget)
			if err != nil {
				return err
			}
			if world.Rank() == 0 {
				fmt.Fprintf(c.out, "| %s | ", coll.FormatSize(size, true))
				c.loopRow(mode, r, clock)
			}
		}
	}
	return library.Finalize()
}

// buffers are memory for the two sides of a message, already touched.
func buffers(size int64) (send, recv unsafe.Pointer, free func(), err error) {
	a, err1 := loop.AllocBuffer(size)
	b, err2 := loop.AllocBuffer(size)
	free = func() { _ = first(a.Free(), b.Free()) }
	if err := first(err1, err2); err != nil {
		free()
		return nil, nil, nil, err
	}
	clear(a.Bytes())
	clear(b.Bytes())
	return a.Pointer(), b.Pointer(), free, nil
}

func compareSize(world *mpi.Comm, bare string, mode coll.Mode, size int64, budget time.Duration) (r ratio, err error) {
	send, recv, free, err := buffers(size)
	if err != nil {
		return r, err
	}
	defer free()
	op, err := world.Prepare(mpi.OpSpec{Kind: mpi.AllReduce, Type: mpi.Float32, Op: mpi.Sum,
		Send: send, Recv: recv, Count: size / 4})
	if err != nil {
		return r, err
	}
	defer op.Close()
	p, err := newPair(world, op.Steps(), bare, "busbar_bare", unsafe.Sizeof(bareBatch{}))
	if err != nil {
		return r, err
	}
	defer p.close()
	p.batch.send, p.batch.recv, p.batch.count = uintptr(send), uintptr(recv), size/4
	return p.alternate(mode, budget)
}
