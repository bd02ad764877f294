package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/dl"
	"busbar/internal/loop"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/mpi"
)

// library is one library on one rank, with the bare loop that is compared with rank's over it.
type library struct {
	mpi      *mpi.MPI
	world    *mpi.Comm
	note     string  // for the head of the table
	object   string  // shared object of the bare loop
	function string  // that runs a batch
	batch    uintptr // bytes of its struct, which begins with bareBatch
	// prepare makes an all_reduce of float32 of that many bytes; fill passes it to the bare loop.
	prepare func(size int64) (o operation, err error)
	end     func() error
}

// operation is an operation of a library.
type operation struct {
	steps loop.Steps
	fill  func(*bareBatch)
	close func()
}

// loops starts ranks of this program that compare the loops over a library, for each world size.
func (c config) loops(name string, worlds []int) error {
	fmt.Fprintln(c.out, "all_reduce of float32, out of place; batches of both loops take turns on the same buffers. "+
		"Ratio: median of paired batches\nwith its 95 % CI. Targets: upper end at most 1.02 back to back; "+
		"1.05 and a clock reading in latency mode.")
	for _, n := range worlds {
		table, err := c.mpirun(n, "-ranks", name, "-top", c.top, "-budget", c.budget.String(), "-max",
			fmt.Sprint(c.max))
		if err != nil {
			return err
		}
		fmt.Fprintf(c.out, "\nnp %d. %s", n, table)
	}
	return nil
}

// rank is what each rank of a part does; rank 0 prints the table.
func (c config) rank(join func(config) (*library, error)) error {
	l, err := join(c)
	if err != nil {
		return err
	}
	clock := clockCost()
	prints := l.world.Rank() == 0
	if prints {
		fmt.Fprintf(c.out,
			"%s One clock reading: %.0f ns.\n\n| size | mode | busbar | bare | ratio | 95 %% CI | pairs | "+
				"on target |\n|---:|---|---:|---:|---:|---|---:|---|\n", l.note, clock*1e9)
	}
	for _, mode := range []coll.Mode{coll.Throughput, coll.Latency} {
		limit, slack := 1.02, 0.0
		if mode == coll.Latency {
			limit, slack = 1.05, clock
		}
		for size := int64(8); size <= c.max; size *= 8 {
			r, err := l.compare(mode, size, c.budget)
			if err != nil {
				return err
			}
			if prints {
				fmt.Fprintf(
					c.out,
					"| %s | %s | %s | %s | %.3f | %.3f – %.3f | %d | %s |\n",
					coll.FormatSize(size, true),
					mode,
					units.Duration(r.ours),
					units.Duration(r.bare),
					r.median,
					r.lo,
					r.hi,
					r.pairs,
					r.within(limit, slack),
				)
			}
		}
	}
	return cmp.Or(l.end(), l.mpi.Finalize())
}

// compare compares both loops over one size.
func (l *library) compare(mode coll.Mode, size int64, budget time.Duration) (r ratio, err error) {
	o, err := l.prepare(size)
	if err != nil {
		return r, err
	}
	defer o.close()
	p, err := newPair(l, o.steps)
	defer p.close()
	if err != nil {
		return r, err
	}
	o.fill(p.batch)
	return p.alternate(mode, budget)
}

// bareBatch is the struct bare_batch that bare loops begin with (mpi/bare/bare.c, cudart/rehearsal/bare/bare.c).
type bareBatch struct {
	send, recv                 uintptr
	count, operations, latency int64
	start, end                 unsafe.Pointer
}

const maxSamples = 4096

// pair is the two loops over the same buffers, on one rank.
type pair struct {
	comm   *mpi.Comm
	ours   *loop.Loop // over the binding's operation, as in rank
	bare   *loop.Loop // calls a whole bare batch as its one operation
	batch  *bareBatch
	stamps [2][]int64 // of the bare loop: start, end

	memory [3]*loop.Buffer // outside Go's heap: the batch, the stamps
}

// newPair makes both loops. The caller closes it, also after an error.
func newPair(l *library, ours loop.Steps) (p *pair, err error) {
	p = &pair{comm: l.world}
	for i, bytes := range []int64{int64(l.batch), 8 * maxSamples, 8 * maxSamples} {
		if p.memory[i], err = loop.AllocBuffer(bytes); err != nil {
			return p, err
		}
		clear(p.memory[i].Bytes()) // touched, so that no page fault falls into a batch
	}
	for i := range p.stamps {
		p.stamps[i] = unsafe.Slice((*int64)(p.memory[1+i].Pointer()), maxSamples)
	}
	p.batch = (*bareBatch)(p.memory[0].Pointer())
	p.batch.start, p.batch.end = p.memory[1].Pointer(), p.memory[2].Pointer()
	object, err := dl.Open(dl.Spec{Name: "the bare loop", Candidates: []string{l.object}})
	if err != nil {
		return p, err
	}
	step, err := object.Symbol(l.function)
	if err != nil {
		return p, err
	}
	if p.ours, err = loop.New(ours, maxSamples); err != nil {
		return p, err
	}
	p.bare, err = loop.New(loop.Steps{Issue: loop.Step(step), Context: p.memory[0].Pointer()}, 1)
	return p, err
}

func (p *pair) close() {
	for _, l := range []*loop.Loop{p.ours, p.bare} {
		if l != nil {
			l.Close()
		}
	}
	for _, b := range p.memory {
		if b != nil {
			b.Free() //nolint:errcheck // nothing depends on it
		}
	}
}

// alternate lets batches of both loops take turns, the order changing from pair to pair, until the CI is narrow or the
// budget is spent. Every time is the largest over the ranks, so all ranks decide alike.
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
	for spent := 0.0; len(times[0]) < 20 || spent < budget.Seconds() && len(times[0]) < 4000 && !r.sure(); {
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
	err := p.comm.Max(t)
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

// lib is the path of a file in lib.
func (c config) lib(name string) string { return filepath.Join(c.top, "lib", name) }
