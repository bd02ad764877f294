package bench

import (
	"sort"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// timerShare is the maximum share of a time that reading the clock may take without a notice (Hoefler & Belli, SC'15).
const timerShare = 0.05

// rankTimes is the summary of one rank, in seconds, as ranks exchange it.
type rankTimes struct{ median, late, mean float64 }

// summarise turns samples into the record's figures and gathers every rank's own summary on rank 0.
func (t *timings) summarise(record *result.Record) error {
	mine := rankTimes{median: stats.Median(t.own), mean: t.total / float64(max(1, t.ops*t.o.Aggregate))}
	if len(t.late) > 0 {
		mine.late = stats.Median(t.late)
	}
	all, err := gather(t.w, mine)
	if err != nil {
		return &Fatal{"summarise", err}
	}
	if t.w.Rank != 0 {
		return nil
	}
	median, late := make([]float64, t.w.Size), make([]float64, t.w.Size)
	mean := 0.0
	for r, x := range all {
		median[r], late[r] = x.median, x.late
		mean += x.mean / float64(t.w.Size)
	}
	t.timeFigures(record, mean)
	record.Ranks = t.rankSummary(median, late)
	return nil
}

func (t *timings) timeFigures(record *result.Record, mean float64) {
	s := stats.Summarise(t.samples)
	f := record.Time
	f.Seconds, f.Min, f.Max, f.Mean = s.Median, s.Min, s.Max, mean
	if s.HasInterval {
		f.Lo, f.Hi = s.Lo, s.Hi
	}
	f.P90, f.P99 = s.P90, s.P99
	f.Samples, f.Iterations, f.Outliers, f.AutoCorr = s.N, t.ops*t.o.Aggregate, s.Outliers, s.AutoCorr
	f.Sync, f.Elapsed = result.SyncBarrier, t.elapsed
	warn := func(w notice.Fact) { record.Warnings.Add(w) }
	if t.c.Mode == coll.Throughput {
		f.Batch = t.k * t.o.Aggregate
		f.Summary = t.o.Average.String() + result.MedianOfBatches
	} else if t.untilLast() {
		f.Summary = result.MedianToLastEnd
	} else {
		f.Summary = result.MedianOfSlowest
	}
	operations := float64(max(1, f.Batch))
	if t.c.Mode == coll.Latency {
		operations = float64(t.o.Aggregate)
	}
	interval := f.Seconds * operations
	if cost := t.o.Clock.Cost; interval > 0 && cost > timerShare*interval {
		warn(notice.TimerCost{Reading: units.Nanoseconds(cost), Share: units.Share(cost / interval)})
	}
	if r := t.o.Clock.Resolution; r > 0 && interval < 10*r {
		f.P90, f.P99 = 0, 0
		warn(notice.TimerResolution{Step: units.Nanoseconds(r)})
	}
	if t.c.Mode == coll.Latency && t.c.Collective.Rooted() && !t.o.Clock.Common && t.w.Size > 1 {
		warn(notice.NoCommonClock{})
	}
	if u := t.clocks.uncertainty; t.c.Mode == coll.Latency && t.untilLast() && t.w.Size > 1 &&
		u > timerShare*f.Seconds &&
		t.o.Compare != nil {
		warn(notice.ClockUncertainty{Uncertainty: units.Seconds(u), Share: units.Share(u / f.Seconds)})
	}
	for _, w := range s.Warnings {
		// A fixed number of operations in one batch is asked for, not an accident.
		if w.Kind == stats.TooFewSamples && t.o.Iterations > 0 && t.c.Mode == coll.Throughput {
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

// rankSummary names the slowest and the latest rank.
func (t *timings) rankSummary(median, late []float64) *result.Ranks {
	slowest, latest := argmax(median), argmax(late)
	ranks := &result.Ranks{
		Slowest:     t.w.Name(slowest),
		SlowestHost: t.w.host(slowest),
		SlowestS:    median[slowest],
		Latest:      -1,
		Uncertainty: t.clocks.uncertainty,
	}
	if t.w.Size > 1 && t.o.Clock.Common && late[latest] > t.clocks.uncertainty {
		ranks.Latest, ranks.LatestHost, ranks.Lateness = t.w.Name(latest), t.w.host(latest), late[latest]
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
