package sidebyside

import (
	"cmp"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// Headliner compares the contenders of an all_reduce for the headlines of a report.
type Headliner struct {
	compares   bool
	times      *analysis.Collector
	contenders []analysis.Contender // in order of appearance
}

const (
	mostContenders = 8 // of more, a comparison of two is no headline
	mostHeadlines  = 2
)

// NewHeadliner makes one for the contenders of runs. It keeps no rows where there is no pair, or too many.
func NewHeadliner(runs []*result.Run) *Headliner {
	all := map[analysis.Contender]bool{}
	for _, run := range runs {
		all[analysis.ContenderOf(run)] = true
	}
	return &Headliner{times: analysis.NewCollector(), compares: len(all) > 1 && len(all) <= mostContenders}
}

// Add takes a row that headlines can be of.
func (h *Headliner) Add(row result.Row) {
	if !h.compares || row.Record.Collective != coll.AllReduce || !h.times.Add(row) {
		return
	}
	if who := analysis.ContenderOf(row.Run); !slices.Contains(h.contenders, who) {
		h.contenders = append(h.contenders, who)
	}
}

// Headlines compare each pair of contenders in the largest world that both have and in which ranks had cores of their
// own: in throughput mode, or else in the first table.
func (h *Headliner) Headlines() (facts []notice.Fact) {
	curves := h.times.Curves()
	if len(curves) == 0 {
		return nil
	}
	family := analysis.FamilyOf(curves[max(0, slices.IndexFunc(curves, func(c *analysis.Curve) bool {
		return c.Mode == coll.Throughput
	}))].Condition)
	name := names(h.contenders)
	for i, first := range h.contenders {
		for _, other := range h.contenders[i+1:] {
			for _, a := range slices.Backward(curves) { // of one contender the largest world comes first
				if a.Contender != first || analysis.FamilyOf(a.Condition) != family {
					continue
				}
				b := curveOf(curves, other, a.Condition)
				if b == nil || a.Crowded != nil || b.Crowded != nil || first.Rehearsed != other.Rehearsed {
					continue
				}
				if fact := winner(a, b, name); fact != nil && len(facts) < mostHeadlines {
					facts = append(facts, fact)
					break
				}
			}
		}
	}
	return facts
}

// curveOf is a contender's curve for the same condition; nil if it has none.
func curveOf(curves []*analysis.Curve, who analysis.Contender, under analysis.Condition) *analysis.Curve {
	i := slices.IndexFunc(curves, func(c *analysis.Curve) bool { return c.Contender == who && c.Condition == under })
	if i < 0 {
		return nil
	}
	return curves[i]
}

// winner is which of two is faster in one world, at which sizes, by how much; nil where a ratio has no confidence
// interval.
func winner(first, other *analysis.Curve, name map[analysis.Contender]string) notice.Fact {
	ahead := map[analysis.Contender][]notice.SizeRatio{}
	var same []units.Bytes
	var bases []stats.Ratio
	for i, j := range analysis.Shared(first, other) {
		r, at := analysis.Ratio(other, j, first, i), units.Bytes(first.Points[i].SizeBytes)
		if r.Basis != stats.WithinLaunch && r.Basis != stats.AcrossLaunches {
			return nil
		}
		bases = append(bases, r)
		switch {
		case !r.Differs():
			same = append(same, at)
		case r.Value > 1:
			ahead[first.Contender] = append(ahead[first.Contender], sizeRatio(at, r))
		default:
			ahead[other.Contender] = append(ahead[other.Contender], sizeRatio(at, r.Inverse()))
		}
	}
	world := analysis.ShapeOf(first.Condition).Named()
	operation, scope := first.Collective.String(), scope(bases)
	var leads []notice.Lead
	for i, who := range []*analysis.Curve{first, other} {
		if won := ahead[who.Contender]; won != nil {
			lead := leadOf(won, len(bases))
			lead.Who, lead.Than = name[who.Contender], name[[]*analysis.Curve{other, first}[i].Contender]
			leads = append(leads, lead)
		}
	}
	switch {
	case leads != nil:
		return notice.FasterContender{Operation: operation, World: world, Leads: leads, Same: same, Scope: scope}
	case same != nil:
		return notice.SameSpeed{Operation: operation, World: world, First: name[first.Contender],
			Second: name[other.Contender], Sizes: same, Scope: scope}
	}
	return nil
}

func sizeRatio(at units.Bytes, r stats.Ratio) notice.SizeRatio {
	return notice.SizeRatio{At: at, Factor: units.Factor(r.Value), Interval: analysis.IntervalOf(r)}
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
		All: len(won) == all && all > 1,
		Min: slices.MinFunc(won, byFactor), Max: slices.MaxFunc(won, byFactor),
	}
	for _, one := range won {
		lead.Sizes = append(lead.Sizes, one.At)
	}
	return lead
}
