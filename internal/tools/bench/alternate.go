package main

import (
	"slices"
	"time"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/dl"
	"busbar/internal/loop"
	"busbar/internal/stats"
	"busbar/mpi"
)

// bareBatch is the struct bare_batch that bare loops begin with (mpi/bare/bare.c, cudart/rehearsal/bare/bare.c).
type bareBatch struct {
	send, recv                 uintptr
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

	memory [3]*loop.Buffer // outside Go's heap: the batch, the stamps
}

// newPair sets the steps of an operation beside the bare loop of a shared object, whose batch takes that many bytes
// and is to be filled in.
func newPair(comm *mpi.Comm, ours loop.Steps, object, function string, batch uintptr) (p *pair, err error) {
	p = &pair{comm: comm}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	for i, bytes := range []int64{int64(batch), 8 * maxSamples, 8 * maxSamples} {
		if p.memory[i], err = loop.AllocBuffer(bytes); err != nil {
			return nil, err
		}
		clear(p.memory[i].Bytes()) // touched, so that no page fault falls into a batch
	}
	for i := range p.stamps {
		p.stamps[i] = unsafe.Slice((*int64)(p.memory[1+i].Pointer()), maxSamples)
	}
	p.batch = (*bareBatch)(p.memory[0].Pointer())
	p.batch.start, p.batch.end = p.memory[1].Pointer(), p.memory[2].Pointer()
	library, err := dl.Open(dl.Spec{Name: "the bare loop", Candidates: []string{object}})
	if err != nil {
		return nil, err
	}
	step, err := library.Symbol(function)
	if err != nil {
		return nil, err
	}
	if p.ours, err = loop.New(ours, maxSamples); err != nil {
		return nil, err
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

// alternate lets batches of both loops take turns, the order changing from pair to pair, until the interval is narrow
// or the budget is used up. Every time is the largest over the ranks, so all ranks decide alike.
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
