package analysis

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/title"
)

// MostFastest is the maximum number of contenders whose peak bus bandwidth is reported.
const MostFastest = 3

// Answer is what a contender reaches in its largest world: the headlines that come first.
type Answer struct {
	Peak     notice.BestBandwidth
	Curve    *Curve               // of the peak
	Smallest *notice.SmallMessage // nil where no message is smaller than that of the peak
}

// Answers are those of the fastest contenders, the fastest first. A contender is judged by its first collective, mostly
// all_reduce.
func Answers(curves []*Curve, ceiling func(*Curve) Ceiling) (all []Answer) {
	best := map[string]*Curve{}
	var order []string
	curves = judged(curves)
	for _, c := range curves {
		if c.Mode != coll.Throughput || c.Collective.BusFactor(c.World) == 0 {
			continue
		}
		old := best[c.Who]
		if old == nil {
			order = append(order, c.Who)
		}
		if old == nil || c.Collective == old.Collective &&
			(c.World > old.World || c.World == old.World && peakOf(c) > peakOf(old)) {
			best[c.Who] = c
		}
	}
	units.SortBy(order, func(who string) float64 { return -peakOf(best[who]) })
	for i, who := range order[:min(len(order), MostFastest)] {
		a := Answer{Curve: best[who], Peak: peakFact(best[who], ceiling), Smallest: smallestOf(curves, best[who])}
		if i == MostFastest-1 {
			a.Peak.Lower = len(order) - MostFastest
		}
		all = append(all, a)
	}
	return all
}

// Headlines are the bandwidths of all answers, then their latencies; or that the curves have one rank each.
func Headlines(all []Answer, curves []*Curve) (facts []notice.Fact) {
	if len(curves) > 0 && !slices.ContainsFunc(curves, func(c *Curve) bool { return c.World != 1 }) {
		return []notice.Fact{notice.OneRankRun{}}
	}
	for _, a := range all {
		facts = append(facts, a.Peak)
	}
	for _, a := range all {
		if a.Smallest != nil {
			facts = append(facts, *a.Smallest)
		}
	}
	return facts
}

// peakOf is the largest bus bandwidth, in bytes per second.
func peakOf(c *Curve) float64 { return c.BusBW(c.best()) }

// peakFact is the largest bus bandwidth, with its share of the peak of the hardware.
func peakFact(c *Curve, ceiling func(*Curve) Ceiling) notice.BestBandwidth {
	at := c.best()
	best := notice.BestBandwidth{
		Who: c.Who, Operation: operationOf(c), World: ShapeOf(c.Condition).Named(),
		BusBW: units.Bandwidth(c.BusBW(at)),
		At:    units.Bytes(c.Points[at].SizeBytes), Placement: title.KnownPlacement(c.Placement),
		Interval: rangeOf(c, at),
	}
	if ceiling == nil {
		return best
	}
	switch peak := ceiling(c); {
	case peak.Known():
		best.Share, best.Limit = units.Share(peak.Share(c.BusBW(at))), units.LinkRate(peak.BusBW)
		best.Peak = notice.Kept{Fact: peak.Fact}
		if by := peak.Exceeded(); by != nil {
			best.Exceeded = notice.Kept{Fact: by}
		}
	case peak.Fact != nil:
		best.Unknown = notice.Kept{Fact: peak.Fact}
	}
	return best
}

// operationOf is the operation with its data type.
func operationOf(c *Curve) string {
	return title.Table{Collective: c.Collective, Type: c.Type, Op: c.Op, Imbalance: c.Imbalance,
		Groups: c.Groups}.String()
}

// smallestOf is the smallest message of the contender of a curve, in the same world and collective. Latency mode goes
// before throughput mode, and the curve's own placement before the other.
func smallestOf(curves []*Curve, like *Curve) *notice.SmallMessage {
	var smallest *Curve
	rank := func(c *Curve) (n int64) {
		n = 4 * c.Points[0].SizeBytes
		if c.Mode != coll.Latency {
			n += 2
		}
		if c.Placement != like.Placement {
			n++
		}
		return n
	}
	for _, c := range curves {
		if c.Who == like.Who && ShapeOf(c.Condition) == ShapeOf(like.Condition) && c.Collective == like.Collective &&
			c.Imbalance == like.Imbalance && c.Groups == like.Groups && (smallest == nil || rank(c) < rank(smallest)) {
			smallest = c
		}
	}
	first := smallest.Points[0]
	if first.SizeBytes >= like.Points[like.best()].SizeBytes {
		return nil
	}
	return &notice.SmallMessage{
		Who: smallest.Who, Operation: operationOf(smallest), World: ShapeOf(smallest.Condition).Named(),
		Latency: units.Seconds(first.Time.Value), At: units.Bytes(first.SizeBytes),
		Placement: title.KnownPlacement(smallest.Placement), Mode: smallest.Mode.String(),
	}
}

// rangeOf is the uncertainty of the bus bandwidth of a point.
func rangeOf(c *Curve, i int) (r notice.BandwidthRange) {
	p, k := c.Points[i], c.Case(i)
	if p.Time.Lo > 0 {
		r = notice.BandwidthRange{
			Lo: units.Bandwidth(k.BusBW(p.Time.Hi)), Hi: units.Bandwidth(k.BusBW(p.Time.Lo)),
			Basis: rangeBases[p.Basis],
		}
	}
	return r
}

var rangeBases = map[stats.Basis]notice.RangeBasis{
	stats.WithinLaunch: notice.WithinLaunch, stats.LaunchSpread: notice.LaunchesRange,
	stats.AcrossLaunches: notice.OverLaunches,
}
