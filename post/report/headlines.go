package report

import (
	"cmp"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/say"
)

// How many headlines of one kind there are.
const (
	maxFastest  = 3
	maxRepeated = 4
)

// addBanners puts first what invalidates values.
func (b *builder) addBanners(r *Report) {
	add := func(fact notice.Fact) { r.Banners = append(r.Banners, notice.New(fact)) }
	var simulated, crowded []int
	var cause notice.Fact
	verdicts := map[notice.CrowdedVerdict]bool{}
	for _, g := range b.runs {
		if g.run.Rehearse {
			simulated = append(simulated, g.number)
		}
		if why := g.run.Crowded(); why != nil {
			cause, crowded = cmp.Or(cause, why), append(crowded, g.number)
			verdicts[verdictOf(g.run)] = true
		}
	}
	if wrong := b.quality.wrong; wrong.Points > 0 {
		wrong.Where = b.quality.wrongIn.words(len(b.runs))
		add(wrong)
	}
	if simulated != nil {
		add(notice.SimulatedRuns{Runs: b.runs.some(simulated)})
	}
	if crowded != nil {
		effect := verdictOf(b.runs[crowded[0]-1].run)
		if len(verdicts) > 1 {
			effect = notice.NoSpeedOrSteps
		}
		add(notice.OversubscribedRuns{Runs: b.runs.some(crowded), Cause: notice.Kept{Fact: cause}, Effect: effect})
	}
}

// verdictOf is what times of an oversubscribed run are good for: of training steps, the best bucket is reported anyway.
func verdictOf(r *result.Run) notice.CrowdedVerdict {
	if r.Step != nil {
		return notice.ThisHostAlone
	}
	return notice.NoSpeed
}

// addHeadlines adds what one would say first: how fast, what stands out, what is missing.
func (b *builder) addHeadlines(r *Report, f analysed) {
	add := func(facts []notice.Fact) {
		for _, fact := range facts {
			r.Headlines = append(r.Headlines, Headline{Notice: notice.New(fact)})
		}
	}
	add(fastest(f))
	r.addStepHeadlines(b.steps)
	add(f.Headlines)
	reminded := 0
	for _, one := range r.Findings {
		if one.Severity > notice.Info && reminded < maxRepeated {
			reminded++
			r.Headlines = append(r.Headlines, Headline{one.Notice, one.Number})
		}
	}
	if b.ok+b.stepped == 0 {
		add([]notice.Fact{notice.NoValues{}})
	}
	add(b.runs.urgent(r.Plan.Left))
}

// fastest is what the largest world of each contender reaches in its first collective, mostly all_reduce.
func fastest(f analysed) (facts []notice.Fact) {
	best := map[string]*analysis.Curve{}
	var order []string
	for _, c := range f.Curves {
		if _, trusted := c.Trusted(); !trusted || c.Mode != coll.Throughput || c.Collective.BusFactor(c.World) == 0 {
			continue
		}
		key := c.Who
		old := best[key]
		if old == nil {
			order = append(order, key)
		}
		if old == nil ||
			c.Collective == old.Collective && (c.World > old.World || c.World == old.World && peakOf(c) > peakOf(old)) {
			best[key] = c
		}
	}
	slices.SortStableFunc(order, func(x, y string) int { return cmp.Compare(peakOf(best[y]), peakOf(best[x])) })
	for i, key := range order[:min(len(order), maxFastest)] {
		fact := fastestOf(best[key], f)
		if i == maxFastest-1 {
			fact.Lower = len(order) - maxFastest
		}
		facts = append(facts, fact)
	}
	return facts
}

// peakOf is the largest bus bandwidth of a curve, in bytes per second.
func peakOf(c *analysis.Curve) float64 {
	most := 0.0
	for i := range c.Points {
		most = max(most, c.BusBW(i))
	}
	return most
}

func fastestOf(c *analysis.Curve, f analysed) notice.BestBandwidth {
	at := 0
	for i := range c.Points {
		if c.BusBW(i) > c.BusBW(at) {
			at = i
		}
	}
	best := notice.BestBandwidth{
		Who: c.Who, Operation: say.Table{Collective: c.Collective, Type: c.Type, Op: c.Op}.String(),
		World: notice.World{Ranks: c.World, Nodes: c.Nodes}, BusBW: units.Bandwidth(c.BusBW(at)),
		At: units.Bytes(c.Points[at].SizeBytes), Interval: rangeOf(c, at),
	}
	if c.Placement != 0 { // another tool's file may not record it
		best.Placement = say.Placement(c.Placement)
	}
	if f.Ceilings == nil {
		return best
	}
	switch peak := f.Ceilings(c); {
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

// rangeOf is the uncertainty of a point's bus bandwidth.
func rangeOf(c *analysis.Curve, i int) (r notice.BandwidthRange) {
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
