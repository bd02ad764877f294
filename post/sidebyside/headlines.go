package sidebyside

import (
	"cmp"
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// mostHeadlines is how many headlines there are of one kind.
const mostHeadlines = 2

// headlines are the first facts of the comparison, on all_reduce. Worlds whose ranks shared cores have none, and ratios
// without a confidence interval have none.
func (a *analyst) headlines() (facts []notice.Fact) {
	families := a.analysed()
	i := slices.IndexFunc(families, func(c analysis.Condition) bool { return c.Collective == coll.AllReduce })
	if i < 0 {
		return nil
	}
	family := families[i]
	facts = append(a.winners(family), a.plateaus(family)...)
	if len(facts) <= mostHeadlines {
		facts = append(facts, a.spread(family)...)
	}
	return facts
}

// winners compares each pair of contenders in the largest world that both have.
func (a *analyst) winners(family analysis.Condition) (facts []notice.Fact) {
	for i, first := range a.times.Contenders {
		for _, other := range a.times.Contenders[i+1:] {
			worlds := a.uncrowded(first, family)
			slices.Reverse(worlds)
			for _, s := range worlds {
				if fact := a.winner(first, other, family, s); fact != nil && len(facts) < mostHeadlines {
					facts = append(facts, fact)
					break
				}
			}
		}
	}
	return facts
}

// winner is which of two is faster in one world, at which sizes, by how much; nil where the world's ranks shared cores,
// a ratio has no confidence interval, or one of the two was simulated.
func (a *analyst) winner(first, other analysis.Contender, family analysis.Condition, s analysis.Shape) notice.Fact {
	if a.times.Crowded(s, other) != nil || first.Rehearsed != other.Rehearsed {
		return nil
	}
	ahead := map[analysis.Contender][]notice.SizeRatio{}
	var same []units.Bytes
	var bases []stats.Ratio
	for _, under := range a.times.In(first, family, s) {
		b := a.times.Cells[other][under]
		if b == nil {
			continue
		}
		r := analysis.Ratio(b, a.times.Cells[first][under])
		if r.Basis != stats.WithinLaunch && r.Basis != stats.AcrossLaunches {
			return nil
		}
		bases = append(bases, r)
		switch {
		case !r.Differs():
			same = append(same, units.Bytes(under.SizeBytes))
		case r.Value > 1:
			ahead[first] = append(ahead[first], sizeRatio(under, r))
		default:
			ahead[other] = append(ahead[other], sizeRatio(under, r.Inverse()))
		}
	}
	operation, world, scope := family.Collective.String(), s.Named(), scope(bases)
	var leads []notice.Lead
	for i, who := range []analysis.Contender{first, other} {
		if won := ahead[who]; won != nil {
			lead := leadOf(won, len(bases))
			lead.Who, lead.Than = a.who(who), a.who([]analysis.Contender{other, first}[i])
			leads = append(leads, lead)
		}
	}
	switch {
	case leads != nil:
		return notice.FasterContender{Operation: operation, World: world, Leads: leads, Same: same, Scope: scope}
	case same != nil:
		return notice.SameSpeed{
			Operation: operation, World: world, First: a.who(first), Second: a.who(other), Sizes: same, Scope: scope,
		}
	}
	return nil
}

func sizeRatio(under analysis.Condition, r stats.Ratio) notice.SizeRatio {
	return notice.SizeRatio{
		At: units.Bytes(under.SizeBytes), Factor: units.Factor(r.Value), Interval: analysis.IntervalOf(r),
	}
}

// scope is which launches a headline of these ratios holds for.
func scope(ratios []stats.Ratio) notice.Scope {
	within := slices.ContainsFunc(ratios, func(r stats.Ratio) bool { return r.Basis == stats.WithinLaunch })
	across := slices.ContainsFunc(ratios, func(r stats.Ratio) bool { return r.Basis == stats.AcrossLaunches })
	switch {
	case within && across:
		return notice.SomeLaunches
	case across:
		return notice.AllLaunches
	case slices.ContainsFunc(ratios, func(r stats.Ratio) bool { return !r.Paired }):
		return notice.OneLaunchEach
	}
	return notice.OneLaunch
}

// leadOf is where one was faster, of so many sizes in all.
func leadOf(won []notice.SizeRatio, all int) notice.Lead {
	byFactor := func(a, b notice.SizeRatio) int { return cmp.Compare(a.Factor, b.Factor) }
	lead := notice.Lead{
		All:   len(won) == all && all > 1,
		Least: slices.MinFunc(won, byFactor), Most: slices.MaxFunc(won, byFactor),
	}
	for _, one := range won {
		lead.Sizes = append(lead.Sizes, one.At)
	}
	return lead
}

// plateaus are where bandwidth saturates in the largest world of each contender.
func (a *analyst) plateaus(family analysis.Condition) (facts []notice.Fact) {
	for _, who := range a.times.Contenders {
		worlds := a.uncrowded(who, family)
		if len(worlds) == 0 {
			continue
		}
		if fact, ok := a.saturates(who, family, worlds[len(worlds)-1]); ok {
			facts = append(facts, fact)
		}
	}
	return facts
}

// spread is how time grows from the smallest to the largest world, at the size nearest to the one that is plotted.
func (a *analyst) spread(family analysis.Condition) (facts []notice.Fact) {
	for _, who := range a.times.Contenders {
		worlds := a.uncrowded(who, family)
		if len(worlds) < 2 {
			continue
		}
		under := nearest(a.times.In(who, family, worlds[0]), pictured)
		if fact, ok := a.wider(who, under, worlds[len(worlds)-1]); ok {
			facts = append(facts, fact)
		}
	}
	return facts
}

// nearest is the condition whose size is nearest to a size, by their ratio.
func nearest(all []analysis.Condition, bytes int64) analysis.Condition {
	return slices.MinFunc(all, func(a, b analysis.Condition) int {
		return cmp.Compare(math.Abs(math.Log(float64(a.SizeBytes)/float64(bytes))),
			math.Abs(math.Log(float64(b.SizeBytes)/float64(bytes))))
	})
}
