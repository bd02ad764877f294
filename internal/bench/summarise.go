package bench

import (
	"sort"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// timerShare is the share of an interval that reading the clock may take before it is said (Hoefler & Belli, SC'15).
const timerShare = 0.05

// summarise turns samples into the record's figures and gathers every rank's own summary on rank 0.
func (m *measurement) summarise() error {
	mine := []float64{stats.Median(m.own), 0, m.total / float64(max(1, m.ops*m.o.Aggregate))}
	if len(m.late) > 0 {
		mine[1] = stats.Median(m.late)
	}
	all, err := m.w.Gather(mine)
	if err != nil {
		return &Fatal{"summarise", err}
	}
	if m.w.Rank != 0 {
		return nil
	}
	median, late := make([]float64, m.w.Size), make([]float64, m.w.Size)
	mean := 0.0
	for r := range m.w.Size {
		median[r], late[r] = all[3*r], all[3*r+1]
		mean += all[3*r+2] / float64(m.w.Size)
	}
	m.timeFigures(mean)
	m.record.Ranks = m.rankSummary(median, late)
	return nil
}

func (m *measurement) timeFigures(mean float64) {
	s := stats.Summarise(m.samples)
	t := m.record.Time
	t.Seconds, t.Min, t.Max, t.Mean = s.Median, s.Min, s.Max, mean
	if s.HasInterval {
		t.Lo, t.Hi = s.Lo, s.Hi
	}
	t.P90, t.P99 = s.P90, s.P99
	t.Samples, t.Iterations, t.Outliers, t.AutoCorr = s.N, m.ops*m.o.Aggregate, s.Outliers, s.AutoCorr
	t.Sync, t.Elapsed = result.SyncBarrier, m.elapsed
	warn := func(f notice.Fact) { m.record.Warnings.Add(f) }
	if m.c.Mode == coll.Throughput {
		t.Batch = m.k * m.o.Aggregate
		t.Summary = result.MedianOfBatches + m.o.Average.String()
	} else if m.untilLast() {
		t.Summary = result.MedianToLastEnd
	} else {
		t.Summary = result.MedianOfSlowest
	}
	operations := float64(max(1, t.Batch))
	if m.c.Mode == coll.Latency {
		operations = float64(m.o.Aggregate)
	}
	interval := t.Seconds * operations
	if cost := m.o.Clock.Cost; interval > 0 && cost > timerShare*interval {
		warn(notice.TimerCost{Reading: units.Nanoseconds(cost), Share: units.Share(cost / interval)})
	}
	if r := m.o.Clock.Resolution; r > 0 && interval < 10*r {
		t.P90, t.P99 = 0, 0
		warn(notice.TimerResolution{Step: units.Nanoseconds(r)})
	}
	if m.c.Mode == coll.Latency && m.c.Collective.Rooted() && !m.o.Clock.Common && m.w.Size > 1 {
		warn(notice.NoCommonClock{})
	}
	if u := m.clocks.uncertainty; m.c.Mode == coll.Latency && m.untilLast() && m.w.Size > 1 &&
		u > timerShare*t.Seconds &&
		m.o.Compare != nil {
		warn(notice.ClockUncertainty{Uncertainty: units.Seconds(u), Share: units.Share(u / t.Seconds)})
	}
	if len(m.events) > 0 {
		t.Event = eventFigures(m.events)
		if step, timed := m.o.Clock.EventStep, t.Event.Seconds*operations; step > timerShare*timed {
			warn(
				notice.EventResolution{
					Step:     units.Nanoseconds(step),
					Share:    timerShare,
					Interval: units.Seconds(timed),
				},
			)
		}
	}
	for _, w := range s.Warnings {
		// A fixed number of operations in one batch is asked for, not an accident.
		if w.Kind == stats.TooFewSamples && m.o.Iterations > 0 && m.c.Mode == coll.Throughput {
			continue
		}
		warn(factOf(w))
	}
}

// factOf is a warning of the statistics as a notice.
func factOf(w stats.Warning) notice.Fact {
	switch w.Kind {
	case stats.Correlated:
		return notice.Autocorrelated{Samples: w.N, Needed: w.Wanted}
	case stats.Drift:
		return notice.Drift{Change: notice.Change(w.Change)}
	case stats.Bimodal:
		lower, upper := w.Modes[0], w.Modes[1]
		return notice.Bimodal{Lower: units.Seconds(lower.At), LowerShare: units.Share(lower.Share),
			Upper: units.Seconds(upper.At), UpperShare: units.Share(upper.Share)}
	case stats.NotFinite:
		return notice.SamplesNotFinite{Samples: w.N}
	}
	return notice.TooFewSamples{Samples: w.N, Needed: stats.MinForInterval}
}

// eventFigures summarise the device's times.
func eventFigures(x []float64) *result.Event {
	s := stats.Summarise(x)
	e := &result.Event{Seconds: s.Median, Min: s.Min, Max: s.Max}
	if s.HasInterval {
		e.Lo, e.Hi = s.Lo, s.Hi
	}
	return e
}

// rankSummary names the slowest and the latest rank.
func (m *measurement) rankSummary(median, late []float64) *result.Ranks {
	slowest, latest := argmax(median), argmax(late)
	ranks := &result.Ranks{
		Slowest:     m.w.Name(slowest),
		SlowestHost: m.w.host(slowest),
		SlowestS:    median[slowest],
		Latest:      -1,
		Uncertainty: m.clocks.uncertainty,
	}
	if m.w.Size > 1 && m.o.Clock.Common && late[latest] > m.clocks.uncertainty {
		ranks.Latest, ranks.LatestHost, ranks.Lateness = m.w.Name(latest), m.w.host(latest), late[latest]
	}
	ranks.Median, ranks.Late = median, late // the writer shortens them for large worlds
	return ranks
}

func argmax(x []float64) int {
	best := 0
	for i := range x {
		if x[i] > x[best] {
			best = i
		}
	}
	return best
}

// Shorten replaces the lists by rank of a large world by quantiles and the eight slowest ranks, and returns the full
// lists for the sidecar file; for worlds of up to result.MaxInlineRanks it changes nothing and returns no lists.
func Shorten(r *result.Ranks, w World) (all result.AllRanks) {
	if r == nil || len(r.Median) <= result.MaxInlineRanks {
		return all
	}
	median, late := r.Median, r.Late
	r.Median, r.Late = nil, nil
	order := make([]int, len(median))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return median[order[i]] > median[order[j]] })
	at := func(q float64) float64 { return median[order[int((1-q)*float64(len(order)-1)+0.5)]] }
	r.Spread = []float64{at(0), at(0.25), at(0.5), at(0.75), at(1)}
	for _, i := range order[:8] {
		r.Worst = append(r.Worst, result.RankS{Rank: w.Name(i), Host: w.host(i), S: median[i], Late: late[i]})
	}
	return result.AllRanks{Median: median, Late: late}
}
