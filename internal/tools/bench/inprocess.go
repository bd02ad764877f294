package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/dl"
	"busbar/internal/loop"
	"busbar/internal/stats"
	"busbar/mpi"
)

// loopPart starts two ranks of this program that compare the loops.
func loopPart(c config) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintln(c.out, "np 2, all_reduce of float32, out of place; batches of both loops take turns on the same buffers. Ratio: median of")
	fmt.Fprintln(c.out, "paired batches with its 95 % interval. Targets: upper end at most 1.02 back to back, 1.05 and a clock reading in latency mode.")
	fmt.Fprintln(c.out)
	run, err := c.mpirun(2, self, "-ranks", "-top", c.top, "-budget", c.budget.String(), "-max", fmt.Sprint(c.max))
	if err != nil {
		return err
	}
	_, err = c.out.Write(run.stdout)
	return err
}

// bareBatch is struct bare_batch of mpi/bare/bare.c. It lies in memory outside Go's heap.
type bareBatch struct {
	send, recv                 unsafe.Pointer
	count, operations, latency int64
	start, end                 unsafe.Pointer
}

const maxSamples = 4096

// pair holds the two loops over the same buffers, on one rank.
type pair struct {
	comm   *mpi.Comm
	ours   *loop.Loop // over the binding's operation, as in rank
	bare   *loop.Loop // calls a whole bare batch as its one operation
	batch  *bareBatch
	stamps [2][]int64 // of the bare loop: start, end
}

// compareLoops is what each of the two ranks does; rank 0 prints the table.
func compareLoops(c config) (err error) {
	library, err := mpi.Load(mpi.Options{Dirs: []string{filepath.Join(c.top, "lib")}})
	if err != nil {
		return err
	}
	if _, err := library.Init(); err != nil {
		return err
	}
	world := library.World()
	clock := clockCost()
	if world.Rank() == 0 {
		fmt.Fprintf(c.out, "%s. One clock reading: %.0f ns.\n\n", library.Info().Library, clock*1e9)
		fmt.Fprintln(c.out, "| size | mode | busbar | bare C | ratio | 95 % interval | pairs | on target |\n|---:|---|---:|---:|---:|---|---:|---|")
	}
	for _, mode := range []coll.Mode{coll.Throughput, coll.Latency} {
		for size := int64(8); size <= c.max; size *= 2 {
			r, err := compareSize(world, filepath.Join(c.top, "lib", "busbar-bare.so"), mode, size, c.budget)
			if err != nil {
				return err
			}
			limit, slack := 1.02, 0.0
			if mode == coll.Latency {
				limit, slack = 1.05, clock
			}
			if world.Rank() == 0 {
				fmt.Fprintf(c.out, "| %s | %s | %s | %s | %.3f | %.3f – %.3f | %d | %s |\n", coll.FormatSize(size, true), mode,
					seconds(r.ours), seconds(r.bare), r.median, r.lo, r.hi, r.pairs, r.within(limit, slack))
			}
		}
	}
	return library.Finalize()
}

// compareSize lets batches of both loops take turns, the order changing from pair to pair, until the interval is
// narrow or the budget is used up. Every time is the largest over the ranks, so all ranks decide alike.
func compareSize(world *mpi.Comm, bare string, mode coll.Mode, size int64, budget time.Duration) (r ratio, err error) {
	var buffers [5]*loop.Buffer // send, recv, the batch, the bare loop's stamps
	for i, bytes := range []int64{size, size, int64(unsafe.Sizeof(bareBatch{})), 8 * maxSamples, 8 * maxSamples} {
		if buffers[i], err = loop.AllocBuffer(bytes); err != nil {
			return r, err
		}
		clear(buffers[i].Bytes()) // touched, so that no page fault falls into a batch
		defer buffers[i].Free()   //nolint:errcheck // nothing depends on it
	}
	p := &pair{comm: world, batch: (*bareBatch)(buffers[2].Pointer())}
	for i := range p.stamps {
		p.stamps[i] = unsafe.Slice((*int64)(buffers[3+i].Pointer()), maxSamples)
	}
	*p.batch = bareBatch{buffers[0].Pointer(), buffers[1].Pointer(), size / 4, 0, 0, buffers[3].Pointer(), buffers[4].Pointer()}
	op, err := world.Prepare(mpi.OpSpec{Kind: mpi.AllReduce, Type: mpi.Float32, Op: mpi.Sum,
		Send: buffers[0].Pointer(), Recv: buffers[1].Pointer(), Count: size / 4})
	if err != nil {
		return r, err
	}
	defer op.Close()
	library, err := dl.Open(dl.Spec{Name: "the bare loop", Candidates: []string{bare}})
	if err != nil {
		return r, err
	}
	step, err := library.Symbol("busbar_bare")
	if err != nil {
		return r, err
	}
	if p.ours, err = loop.New(op.Steps(), maxSamples); err != nil {
		return r, err
	}
	defer p.ours.Close()
	if p.bare, err = loop.New(loop.Steps{Issue: loop.Step(step), Context: buffers[2].Pointer()}, 1); err != nil {
		return r, err
	}
	defer p.bare.Close()
	return p.alternate(mode, budget)
}

func (p *pair) alternate(mode coll.Mode, budget time.Duration) (r ratio, err error) {
	run := []func(coll.Mode, int) (float64, error){p.runOurs, p.runBare}
	var times [2][]float64
	n := 4
	for range 3 { // warms both up, and finds how many operations make a batch
		for _, f := range run {
			t, err := f(mode, n)
			if err != nil {
				return r, err
			}
			n = operations(t, maxSamples)
		}
	}
	for spent := 0.0; len(times[0]) < 20 || spent < budget.Seconds() && len(times[0]) < 1000 && !r.sure(); {
		first := len(times[0]) % 2
		for i := range run {
			which := first ^ i
			t, err := run[which](mode, n)
			if err != nil {
				return r, err
			}
			times[which] = append(times[which], t)
			spent += t * float64(n)
		}
		r = compare(times[0], times[1])
	}
	return r, nil
}

func (p *pair) runOurs(mode coll.Mode, n int) (float64, error) {
	batches := 1
	if mode == coll.Latency {
		batches, n = n, 1
	}
	s, err := p.ours.Run(batches, n)
	if err != nil {
		return 0, err
	}
	return p.time(mode, n, s.Start, s.End)
}

func (p *pair) runBare(mode coll.Mode, n int) (float64, error) {
	samples := 1
	if p.batch.operations, p.batch.latency = int64(n), 0; mode == coll.Latency {
		p.batch.latency, samples = 1, n
	}
	if _, err := p.bare.Run(1, 1); err != nil {
		return 0, err
	}
	return p.time(mode, n, p.stamps[0][:samples], p.stamps[1][:samples])
}

// time is the time of one operation of a batch in seconds: the largest over the ranks, in latency mode the median of
// those of each operation.
func (p *pair) time(mode coll.Mode, n int, start, end []int64) (float64, error) {
	t := make([]float64, len(start))
	for i := range t {
		t[i] = float64(end[i]-start[i]) / 1e9
	}
	if mode == coll.Throughput {
		t[0] /= float64(n)
	}
	err := p.comm.Allreduce(t, mpi.Max)
	return stats.Median(t), err
}

// clockCost is the time of one reading of the loop's clock, by a loop around nothing, in seconds.
func clockCost() float64 {
	l, err := loop.New(loop.Steps{Issue: loop.Nothing()}, maxSamples)
	if err != nil {
		return 0
	}
	defer l.Close()
	s, err := l.Run(maxSamples, 1)
	if err != nil {
		return 0
	}
	t := make([]int64, len(s.Start))
	for i := range t {
		t[i] = s.End[i] - s.Start[i]
	}
	slices.Sort(t)
	return float64(t[len(t)/2]) / 1e9
}
