package analysis

import (
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/title"
)

// minGap is the minimum relative gap between placements to report.
const minGap = 0.10

// placementGaps compares what was measured in place with the same out of place.
func placementGaps(curves []*Curve, _ Options) (found []Finding) {
	for _, both := range alikeBut(curves, func(c *Condition) { c.Placement = 0 }) {
		in := slices.IndexFunc(both, func(c *Curve) bool { return c.Placement == coll.InPlace })
		out := slices.IndexFunc(both, func(c *Curve) bool { return c.Placement == coll.OutOfPlace })
		if in >= 0 && out >= 0 {
			found = append(found, placementGap(both[in], both[out])...)
		}
	}
	return found
}

// alikeBut groups the curves that may be judged and differ at most in what erase makes equal.
func alikeBut(curves []*Curve, erase func(*Condition)) [][]*Curve {
	type alike struct {
		who   Contender
		tool  string
		under Condition
	}
	return units.GroupBy(judged(curves), func(c *Curve) alike {
		under := c.Condition
		erase(&under)
		return alike{c.Contender, c.Tool, under}
	})
}

// gap is one size in both placements; the ratio is that of the slower to the faster time.
type gap struct {
	at int // in the slower curve
	r  stats.Ratio
}

// placementGap finds ranges of sizes in which one placement is slower than the other.
func placementGap(in, out *Curve) (found []Finding) {
	least := 1 + minGap
	chance := 3 * gapNoise(in, out)
	var run []gap
	slower, faster := in, out
	flush := func() {
		// Without an interval over launches, the gap must occur at consecutive sizes, so that chance alone does not
		// cause it.
		if sure(run, math.Exp(2*chance)) || len(run) >= 3 {
			found = append(found, gapFinding(slower, faster, run))
		}
		run = nil
	}
	for i := range in.Points {
		j, both := out.sameSize(in.Points[i].SizeBytes)
		if !both || in.Points[i].SizeBytes <= 0 {
			flush()
			continue
		}
		r, a, b, at := Ratio(in, i, out, j), in, out, i
		if r.Value < 1 {
			r, a, b, at = r.Inverse(), out, in, j
		}
		// An interval of one launch does not include disturbances of single cases, and extremes have no interval. Both
		// must also exceed the scatter of the gap.
		enough := r.Value >= least && (r.Basis == stats.AcrossLaunches || r.Value >= math.Exp(chance)) &&
			(r.Basis == stats.NoBounds || beyond(r))
		if !enough || a != slower {
			flush()
			slower, faster = a, b
		}
		if enough {
			run = append(run, gap{at, r})
		}
	}
	flush()
	return found
}

// gapNoise is the standard deviation of the logarithm of the ratio of both placements, from how much neighbouring sizes
// differ in it.
func gapNoise(in, out *Curve) float64 {
	var steps []float64
	last := math.NaN()
	for i, j := range Shared(in, out) {
		gap := math.Log(in.Points[i].Time.Value / out.Points[j].Time.Value)
		if !math.IsNaN(last) {
			steps = append(steps, math.Abs(gap-last))
		}
		last = gap
	}
	if steps == nil {
		return 0
	}
	return medianDeviation * stats.Median(steps) / math.Sqrt2 // a difference of two has twice the variance
}

// medianDeviation is the standard deviation of normal values over the median of their distances.
const medianDeviation = 1.4826

// sure reports whether a run of gaps is significant: it has intervals over launches, or each gap exceeds chance.
func sure(run []gap, chance float64) bool {
	for _, g := range run {
		if g.r.Basis == stats.NoBounds || g.r.Basis != stats.AcrossLaunches && g.r.Value < chance {
			return false
		}
	}
	return len(run) >= 2 || len(run) == 1 && run[0].r.Value >= 1+2*minGap
}

func gapFinding(slower, faster *Curve, run []gap) Finding {
	most := run[0]
	var shares []float64
	for _, g := range run {
		if g.r.Value > most.r.Value {
			most = g
		}
		shares = append(shares, 1-1/g.r.Value)
	}
	loss := stats.Median(shares)
	fact := notice.PlacementGap{
		Slower:   title.Placement(slower.Placement),
		Faster:   title.Placement(faster.Placement),
		Factor:   units.Factor(most.r.Value),
		At:       units.Bytes(slower.Points[most.at].SizeBytes),
		Interval: IntervalOf(most.r),
		Sizes:    len(run),
		Loss:     units.Share(loss),
	}
	return slower.finding(fact, severityIn(most.r, loss), loss,
		slower.Points[run[0].at].SizeBytes, slower.Points[run[len(run)-1].at].SizeBytes)
}

// IntervalOf is the uncertainty of a ratio.
func IntervalOf(r stats.Ratio) notice.Interval {
	if r.Basis == stats.NoBounds {
		return notice.Interval{}
	}
	return notice.Interval{
		Lo:       r.Lo,
		Hi:       r.Hi,
		Launches: max(1, r.N),
		Range:    r.Basis == stats.LaunchSpread,
		Paired:   r.Paired,
		Samples:  r.Basis == stats.WithinLaunch,
	}
}
