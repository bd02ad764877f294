package step

import (
	"math"

	"busbar/internal/stats"
)

// Figure is a value with the 95 % CI of its median over rounds, from stats.MinForInterval rounds on.
type Figure struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"lo,omitempty"`
	Hi    float64 `json:"hi,omitempty"`
}

// Time is how long one mode takes, in seconds: the median over rounds, its 95 % interval, and the spread.
type Time struct {
	Figure
	Min float64 `json:"min"`
	P99 float64 `json:"p99,omitempty"` // 0 where rounds are too few to claim it
	Max float64 `json:"max"`
}

// Figures are the metrics of the rounds of a point. Each is computed per round, from modes that were measured next to
// each other, and is the median over rounds. docs/step.md has the formulas and their sources. A ratio is nil where its
// divisor is 0, and a share of communication where communication is negligible, as in a world of one.
type Figures struct {
	Rounds     int  `json:"rounds"`
	Compute    Time `json:"compute_s"`
	Comm       Time `json:"comm_s"`
	Sequential Time `json:"sequential_s"`
	Overlapped Time `json:"overlapped_s"`

	Exposed Figure  `json:"exposed_s"`         // overlapped - compute, s
	Overlap *Figure `json:"overlap,omitempty"` // by the wall clock: (compute + comm - overlapped) / comm
	// of the time with an operation on its way, the share in which a segment ran
	ByInterval *Figure `json:"overlap_intervals,omitempty"`
	Bound      *Figure `json:"overlap_bound,omitempty"` // min(compute, comm) / comm: no step could hide more
	// time inside segments, overlapped by alone: 1 is no interference
	SlowerComp *Figure `json:"compute_slowdown,omitempty"`
	SlowerComm *Figure `json:"comm_slowdown,omitempty"` // time with an operation on its way, overlapped by alone
	SpeedUp    *Figure `json:"speed_up,omitempty"`      // sequential / overlapped
	// compute / overlapped: the share of a rank's own speed that it keeps in this world
	Efficiency *Figure `json:"weak_scaling,omitempty"`
}

// HasIntervals reports whether the rounds are enough for the 95 % CI of a median. If not, Lo and Hi of all metrics are
// 0.
func (f *Figures) HasIntervals() bool { return f.Rounds >= stats.MinForInterval }

// FiguresOf are the figures of one point; without a round all are 0 or nil.
func FiguresOf(rounds []Round) Figures {
	f := Figures{
		Rounds:     len(rounds),
		Compute:    timeOf(rounds, compute),
		Comm:       timeOf(rounds, comm),
		Sequential: timeOf(rounds, sequential),
		Overlapped: timeOf(rounds, overlapped),

		SlowerComp: ratioOf(rounds, func(r *Round) float64 { return share(r.ComputeBusy, r.ComputeAlone) }),
		SpeedUp:    ratioOf(rounds, func(r *Round) float64 { return share(r.Sequential, r.Overlapped) }),
		Efficiency: ratioOf(rounds, func(r *Round) float64 { return stats.WeakScaling(r.Compute, r.Overlapped) }),
	}
	if len(rounds) > 0 {
		f.Exposed = figureOf(each(rounds, func(r *Round) float64 { return r.Overlapped - r.Compute }))
	}
	if f.Comm.Value >= negligible*f.Overlapped.Value {
		f.Overlap = ratioOf(rounds, ofComm(func(r *Round) float64 {
			return stats.WallClockOverlap(r.Compute, r.Comm, r.Overlapped)
		}))
		f.ByInterval = ratioOf(rounds, func(r *Round) float64 { return share(r.Hidden, r.CommBusy) })
		f.Bound = ratioOf(rounds, ofComm(func(r *Round) float64 { return share(min(r.Compute, r.Comm), r.Comm) }))
		f.SlowerComm = ratioOf(rounds, func(r *Round) float64 { return share(r.CommBusy, r.CommAlone) })
	}
	return f
}

// ofComm makes a ratio NaN where no operation was on its way to another rank: what comm mode takes in a world of one is
// no communication.
func ofComm(ratio func(*Round) float64) func(*Round) float64 {
	return func(r *Round) float64 {
		if !(r.CommAlone > 0) {
			return math.NaN()
		}
		return ratio(r)
	}
}

// share is NaN if the divisor is 0.
func share(part, whole float64) float64 {
	if !(whole > 0) {
		return math.NaN()
	}
	return part / whole
}

func each(rounds []Round, of func(*Round) float64) []float64 {
	x := make([]float64, len(rounds))
	for i := range rounds {
		x[i] = of(&rounds[i])
	}
	return x
}

// figureOf is the median of at least one finite value.
func figureOf(x []float64) Figure {
	s := stats.Summarise(x)
	return Figure{Value: s.Median, Lo: s.Lo, Hi: s.Hi}
}

// ratioOf is nil unless every round has the ratio: the median of the others would be one of other rounds than those of
// the rest.
func ratioOf(rounds []Round, of func(*Round) float64) *Figure {
	x := each(rounds, of)
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	}
	if len(x) == 0 {
		return nil
	}
	f := figureOf(x)
	return &f
}

func timeOf(rounds []Round, of func(*Round) float64) Time {
	s := stats.Summarise(each(rounds, of))
	return Time{Figure: Figure{Value: s.Median, Lo: s.Lo, Hi: s.Hi}, Min: s.Min, P99: s.P99, Max: s.Max}
}
