package bench

import (
	"math"
	"runtime/debug"
	"time"

	"busbar/internal/coll"
	"busbar/internal/stats"
)

const (
	batchTime    = 1e-3 // s, that a batch of throughput mode lasts at least
	batchAtLeast = 20   // operations in it, as nccl-tests' -n …
	batchAtMost  = 0.25 // s, … unless that takes longer, …
	batchShare   = 8    // … or more than this part of the budget: then fewer, so that there are batches to compare
	sliceTime    = 0.25 // s, that a batch of latency mode lasts at most
)

// warm runs the warm-up in the mode that will be measured, and learns how long an operation takes.
func (m *measurement) warm() error {
	spent := 0.0 // equal on all ranks, as the estimate is
	for done, n := 0, 1; done < m.o.Warmup; n *= 2 {
		if limit := m.o.WarmupTime.Seconds(); limit > 0 && spent > limit {
			break
		}
		n = min(n, m.o.Warmup-done, MaxSamples)
		m.phase("warm-up", n)
		s, err := m.op.Run(m.c.Mode, n)
		if err != nil {
			return &Fatal{"warm-up", err}
		}
		each := []float64{seconds(s.End[len(s.End)-1]-s.Start[0]) / float64(n*m.o.Aggregate)}
		if err := m.w.Max(each); err != nil {
			return &Fatal{"warm-up", err}
		}
		m.estimate = each[0]
		spent += each[0] * float64(n*m.o.Aggregate)
		done += n
	}
	return nil
}

// batch is the number of operations in one batch of throughput mode.
func (m *measurement) batch() int {
	if m.o.Iterations > 0 {
		return m.o.Iterations
	}
	if m.estimate <= 0 {
		return batchAtLeast
	}
	issue := m.estimate * float64(m.o.Aggregate)
	most := min(batchAtMost, m.o.Budget.Seconds()/batchShare)
	k := max(batchAtLeast, int(math.Ceil(batchTime/issue)))
	return max(1, min(k, int(most/issue)))
}

// measure runs batches until rank 0 says that it is enough.
func (m *measurement) measure() error {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no collection while something is timed
	m.k = m.batch()
	stopper := stats.NewStopper(m.rule(m.k))
	started := time.Now()
	for {
		// [0]: samples to take, 0 to stop; [1]: operations a batch. Decided by rank 0, outside the timed part.
		plan := []float64{0, float64(m.k)}
		if m.w.Rank == 0 {
			// What deciding and reducing cost counts: it would be paid again for each sample to come.
			m.elapsed = max(m.elapsed, time.Since(started).Seconds())
			more, reason := m.next(stopper)
			plan[0] = float64(more)
			if more == 0 {
				m.record.Time.Stop = reason
			}
		}
		if err := m.w.Bcast(plan); err != nil {
			return &Fatal{"measure", err}
		}
		more := int(plan[0])
		m.k = int(plan[1])
		if more == 0 {
			return nil
		}
		var err error
		if m.c.Mode == coll.Throughput {
			err = m.throughput(more, m.k)
		} else {
			err = m.latency(min(more, m.slice()))
		}
		if err != nil {
			return &Fatal{"measure", err}
		}
		if len(m.samples) == 1 { // one whole batch says more than the warm-up did
			m.k = m.batch()
		}
	}
}

// rule says when a figure is sure enough. A latency's distribution is looked at as well as its median, so its samples
// are many where they are cheap; where an operation takes long, an interval is had from as few as there can be.
func (m *measurement) rule(k int) stats.Rule {
	r := stats.Rule{Precision: m.o.Precision, Budget: m.o.Budget.Seconds(), MinSamples: 30, MaxSamples: 1000}
	within, each := 0.5, m.estimate*float64(k*m.o.Aggregate)
	if m.c.Mode == coll.Latency {
		within, each = 0.1, m.estimate*float64(m.o.Aggregate)
		r.MinSamples, r.MaxSamples = 500, 20000
	}
	if each > 0 {
		r.MinSamples = max(stats.MinForInterval, min(r.MinSamples, int(within/each)))
	}
	return r
}

// slice is how many operations of latency mode are run between two decisions.
func (m *measurement) slice() int {
	if m.estimate <= 0 {
		return 64
	}
	return min(MaxSamples, max(1, int(sliceTime/(m.estimate*float64(m.o.Aggregate)))))
}

// next decides on rank 0 how many samples come next, and why no more.
func (m *measurement) next(stopper *stats.Stopper) (more int, reason string) {
	if fixed := m.o.Iterations; fixed > 0 {
		left := fixed - m.ops
		if m.c.Mode == coll.Throughput {
			left = min(1, left) // one batch of them all
		}
		return max(0, left), stats.Fixed.String()
	}
	more, why := stopper.Next(m.samples, m.elapsed)
	return more, why.String()
}

// throughput runs a number of batches of k operations.
func (m *measurement) throughput(batches, k int) error {
	if err := m.compareClocks(0); err != nil {
		return err
	}
	for i := range batches {
		m.phase("measure", k)
		s, err := m.op.Run(coll.Throughput, k)
		if err != nil {
			return err
		}
		took := seconds(s.End[0] - s.Start[0])
		own := took / float64(k*m.o.Aggregate)
		x := []float64{own}
		switch m.o.Average {
		case Rank0:
			err = m.w.Bcast(x)
		case Mean:
			err = m.w.Sum(x)
			x[0] /= float64(m.w.Size)
		case Min:
			x[0] = -own
			err = m.w.Max(x)
			x[0] = -x[0]
		case Max:
			err = m.w.Max(x)
		}
		if err != nil {
			return err
		}
		if i == 0 {
			m.clocks.after.at = s.Start[0]
		}
		m.drifted(m.clocks.after.at, s.End[0])
		if err := m.lateness(s.Issued); err != nil {
			return err
		}
		m.samples, m.own = append(m.samples, x[0]), append(m.own, own)
		m.ops += k
		m.total += took
		m.elapsed += took
		m.estimate = max(x[0], 1e-9)
	}
	return nil
}

// latency runs one batch of n operations, each timed alone.
func (m *measurement) latency(n int) error {
	m.phase("measure", n)
	if m.o.Compare != nil {
		if err := m.compareClocks(m.clocks.after.at); err != nil {
			return err
		}
	}
	s, err := m.op.Run(coll.Latency, n)
	if err != nil {
		return err
	}
	m.clocks.after.at = s.Start[0]
	if err := m.compareClocks(s.End[n-1]); err != nil {
		return err
	}
	x := make([]float64, n)
	agg := float64(m.o.Aggregate)
	for i := range n {
		x[i] = seconds(s.End[i]-s.Start[i]) / agg
	}
	m.own = append(m.own, x...)
	for _, t := range x {
		m.total += t * agg
	}
	if m.untilLast() {
		err = m.firstToLast(s, x)
	} else {
		err = m.w.Max(x)
	}
	if err != nil {
		return err
	}
	if err := m.lateness(s.Issued); err != nil {
		return err
	}
	m.samples = append(m.samples, x...)
	m.ops += n
	m.elapsed += seconds(s.End[n-1] - s.Start[0])
	estimate := []float64{stats.Median(x)}
	if err := m.w.Bcast(estimate); err != nil {
		return err
	}
	m.estimate = max(estimate[0], 1e-9)
	return nil
}

// untilLast says whether an iteration lasts from the first rank's start to the last rank's end on the common clock.
// The root of a rooted collective may be gone long before the others have their data, and a leaf before the root.
func (m *measurement) untilLast() bool { return m.c.Collective.Rooted() && m.o.Clock.Common }

// firstToLast replaces x by the time from the first rank's start to the last rank's end of each operation.
func (m *measurement) firstToLast(s Stamps, x []float64) error {
	n := len(x)
	if err := m.reference(s.Start[0]); err != nil {
		return err
	}
	both := make([]float64, 2*n)
	for i := range n {
		both[i] = -m.common(s.Start[i])
		both[n+i] = m.common(s.End[i])
	}
	if err := m.w.Max(both); err != nil {
		return err
	}
	for i := range n {
		x[i] = (both[n+i] + both[i]) / float64(m.o.Aggregate)
	}
	return nil
}

// lateness adds this rank's delays to the first rank that issued the same operation.
func (m *measurement) lateness(issued []int64) error {
	if !m.o.Clock.Common || m.w.Size == 1 {
		return nil
	}
	if err := m.reference(issued[0]); err != nil {
		return err
	}
	first := make([]float64, len(issued))
	for i := range issued {
		first[i] = -m.common(issued[i])
	}
	if err := m.w.Max(first); err != nil {
		return err
	}
	for i := range issued {
		m.late = append(m.late, m.common(issued[i])+first[i])
	}
	return nil
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
