package bench

import (
	"errors"
	"math"
	"runtime/debug"
	"time"

	"busbar/internal/coll"
	"busbar/internal/stats"
)

const (
	batchTime    = 1e-3 // s, that a batch of throughput mode lasts at least
	batchAtLeast = 20   // operations in it, as nccl-tests' -n …
	batchAtMost  = 0.05 // s, … unless that takes longer, …
	batchShare   = 8    // … or more than this part of the budget: then fewer, so that there are batches to compare
	sliceTime    = 0.25 // s, that batches run at most between two decisions
)

// warm runs the warm-up in the mode that will be measured, and learns how long an operation takes.
func (m *measurement) warm() error {
	spent := 0.0 // equal on all ranks, as the estimate is
	for done, n := 0, 1; done < m.o.Warmup; n *= 2 {
		if limit := m.o.WarmupTime.Seconds(); limit > 0 && spent > limit {
			break
		}
		n = min(n, m.o.Warmup-done, MaxBatches)
		m.phase("warm-up", n*m.o.Aggregate)
		batches, k := 1, n
		if m.c.Mode == coll.Latency {
			batches, k = n, 1
		}
		s, err := m.runOperation(m.op, batches, k)
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

// batch is the number of operations in one batch: one in latency mode.
func (m *measurement) batch() int {
	if m.c.Mode == coll.Latency {
		return 1
	}
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

// order is what rank 0 decides between batches, outside the timed part.
type order struct {
	batches    float64 // to run next; 0: stop
	operations float64 // in each
}

// measure runs batches until rank 0 decides that they are enough.
func (m *measurement) measure() error {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no collection while something is timed
	m.k = m.batch()
	t := m.o.Together
	if t != nil {
		if err := fatal("start together", t.Start()); err != nil {
			return err
		}
	}
	stopper := stats.NewStopper(m.rule(m.k))
	started := time.Now()
	for {
		next := order{operations: float64(m.k)}
		if m.w.Rank == 0 {
			// What deciding and reducing cost counts: it would be paid again for each sample to come.
			m.elapsed = max(m.elapsed, time.Since(started).Seconds())
			more, reason := m.next(stopper)
			next.batches = float64(min(more, m.slice()))
			if more == 0 {
				m.record.Time.Stop = reason
			}
		}
		if err := m.w.Bcast(floats(&next)); err != nil {
			return &Fatal{"measure", err}
		}
		m.k = int(next.operations)
		if next.batches == 0 {
			if t == nil {
				return nil
			}
			return fatal("measure", t.Finish(func() error {
				m.phase("keep busy for other groups", m.k*m.o.Aggregate)
				_, err := m.runOperation(m.op, 1, m.k)
				return err
			}))
		}
		if err := m.round(int(next.batches), m.k); err != nil {
			return &Fatal{"measure", err}
		}
		if len(m.samples) == 1 { // one whole batch is a better estimate than the warm-up
			m.k = m.batch()
		}
	}
}

// fatal wraps an error, unless only the point is lost.
func fatal(phase string, err error) error {
	if err == nil || errors.Is(err, errLost) {
		return err
	}
	return &Fatal{phase, err}
}

// rule is when a value is precise enough. Latency needs its distribution, not only its median, so cheap operations take
// many samples; slow operations take as few as a CI needs.
func (m *measurement) rule(k int) stats.Rule {
	r := stats.Rule{Precision: m.o.Precision, Budget: m.o.Budget.Seconds(), MinSamples: 30, MaxSamples: 1000}
	within, each := 0.5, m.estimate*float64(k*m.o.Aggregate)
	if m.c.Mode == coll.Latency {
		within = 0.1
		r.MinSamples, r.MaxSamples = 500, 20000
	}
	if each > 0 {
		r.MinSamples = max(stats.MinForInterval, min(r.MinSamples, int(within/each)))
	}
	return r
}

// slice is how many batches are run between two decisions at most.
func (m *measurement) slice() int {
	if m.estimate <= 0 {
		return 64
	}
	return min(MaxBatches, max(1, int(sliceTime/(m.estimate*float64(m.k*m.o.Aggregate)))))
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

// round runs batches of k operations in one call of the loop, so that nothing of this program comes between them, and
// takes their times over the ranks.
func (m *measurement) round(batches, k int) error {
	m.phase("measure", batches*k*m.o.Aggregate)
	latency := m.c.Mode == coll.Latency
	if !latency || m.o.Compare != nil {
		if err := m.compareClocks(m.clocks.after.at); err != nil {
			return err
		}
	}
	s, err := m.runOperation(m.op, batches, k)
	if err != nil {
		return err
	}
	first, last := s.Start[0], s.End[batches-1]
	m.clocks.after.at = first
	if latency {
		if err := m.compareClocks(last); err != nil {
			return err
		}
	} else {
		m.drifted(first, last)
	}
	x := make([]float64, batches)
	each := float64(k * m.o.Aggregate)
	for i := range x {
		took := seconds(s.End[i] - s.Start[i])
		m.total += took
		x[i] = took / each
	}
	m.own = append(m.own, x...)
	switch {
	case !latency:
		err = m.average(x)
	case m.untilLast():
		err = m.firstToLast(s, x)
	default:
		err = m.w.Max(x)
	}
	if err != nil {
		return err
	}
	if err := m.lateness(s.Issued); err != nil {
		return err
	}
	m.samples = append(m.samples, x...)
	m.ops += batches * k
	m.elapsed += seconds(last - first)
	m.estimate = max(stats.Median(x), 1e-9)
	return nil
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
