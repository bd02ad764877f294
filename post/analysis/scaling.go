package analysis

import (
	"cmp"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

const (
	// minLoss is the minimum relative loss of bus bandwidth in a larger world to report.
	minLoss = 0.15
	// bandwidthFrom is the share of its largest bus bandwidth from which on a size is one of bandwidth: under it
	// latency counts, which grows with the world by nature.
	bandwidthFrom = 0.5
)

// poorScaling finds worlds whose bus bandwidth lies well below that of a smaller one, at the sizes where bandwidth
// counts. Worlds on one node are compared with the smallest of them, and those on several nodes with the smallest of
// those.
func poorScaling(curves []*Curve, _ Options) (found []Finding) {
	type line struct {
		who    Contender
		tool   string
		family Condition
		nodes  bool // several
	}
	several := units.Where(judged(curves), func(c *Curve) bool { return c.World > 1 && c.Mode == coll.Throughput })
	for _, of := range units.GroupBy(several, func(c *Curve) line {
		return line{c.Contender, c.Tool, FamilyOf(c.Condition), c.Nodes > 1}
	}) {
		slices.SortFunc(of, func(a, b *Curve) int { return cmp.Or(a.World-b.World, a.Nodes-b.Nodes) })
		found = append(found, scalingOf(of)...)
	}
	return found
}

// loss is what a larger world loses against a smaller one.
type loss struct {
	curve    *Curve
	from, to int64
	share    float64 // of the bus bandwidth, the median over sizes
	r        stats.Ratio
	at       int // place of the size that r is of
}

// scalingOf is the finding of the world that loses most; the others are its evidence.
func scalingOf(of []*Curve) []Finding {
	var losses []loss
	for _, c := range of[1:] {
		if l, lost := lossOf(of[0], c); lost &&
			c.World > of[0].World { // as many ranks on more nodes are no larger world
			losses = append(losses, l)
		}
	}
	if losses == nil {
		return nil
	}
	most := slices.MaxFunc(losses, func(a, b loss) int { return cmp.Compare(a.share, b.share) })
	size := most.curve.Points[most.at].SizeBytes
	fact := notice.PoorScaling{
		Loss:     units.Share(most.share),
		Smaller:  ShapeOf(of[0].Condition).Words(),
		At:       units.Bytes(size),
		BusBW:    units.Bandwidth(most.curve.BusBW(most.at)),
		Against:  units.Bandwidth(busBWAt(of[0], size)),
		Factor:   units.Factor(most.r.Value),
		Interval: IntervalOf(most.r),
		OneNode:  of[0].Nodes <= 1,
	}
	for _, l := range losses {
		if l.curve != most.curve {
			world := ShapeOf(l.curve.Condition).Words()
			fact.Others = append(fact.Others, notice.WorldLoss{World: world, Loss: units.Share(l.share)})
		}
	}
	return []Finding{most.curve.finding(fact, severityIn(most.r, most.share), most.share, most.from, most.to)}
}

// lossOf compares two worlds at the bandwidth sizes of the smaller one. It reports a loss if most sizes have one within
// their bounds.
func lossOf(small, large *Curve) (l loss, lost bool) {
	largest := small.BusBW(small.best())
	type size struct {
		at    int
		share float64
		r     stats.Ratio
	}
	var all []size
	short := 0
	for i, j := range Shared(small, large) {
		if small.BusBW(i) < bandwidthFrom*largest || small.BusBW(i) <= 0 || large.BusBW(j) <= 0 {
			continue
		}
		r := Ratio(large, j, small, i)
		share := 1 - large.BusBW(j)/small.BusBW(i)
		// The ratio of bus bandwidths has the bounds of that of times, moved by the ratio of both factors.
		moved := (1 - share) * r.Value
		if share >= minLoss && (r.Basis == stats.NoBounds || r.Lo > moved) {
			short++
		}
		all = append(all, size{j, share, r})
	}
	if len(all) == 0 || 2*short <= len(all) {
		return l, false
	}
	l = loss{curve: large, from: large.Points[all[0].at].SizeBytes, to: large.Points[all[len(all)-1].at].SizeBytes}
	units.SortBy(all, func(s size) float64 { return s.share })
	middle := all[len(all)/2]
	l.share, l.r, l.at = middle.share, middle.r, middle.at
	return l, l.share >= minLoss
}

func busBWAt(c *Curve, bytes int64) float64 {
	if i, found := c.sameSize(bytes); found {
		return c.BusBW(i)
	}
	return 0
}
