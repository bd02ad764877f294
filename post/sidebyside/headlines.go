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
	compares bool
	times    *analysis.Measurements
	name     map[analysis.Contender]string
	lacks    analysis.Incomparable
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
	return &Headliner{times: analysis.NewMeasurements(), compares: len(all) > 1 && len(all) <= mostContenders}
}

// Add takes a row that headlines can be of.
func (h *Headliner) Add(row result.Row) {
	if h.compares && row.Record.Collective == coll.AllReduce && !h.lacks.Add(row) {
		h.times.Add(row.Run, row.Record)
	}
}

// Headlines compare each pair of contenders in the largest world that both have and in which ranks had cores of their
// own: in throughput mode, or else in the first table.
func (h *Headliner) Headlines() (facts []notice.Fact) {
	families := h.times.Families()
	if len(families) == 0 {
		return nil
	}
	family := families[max(0, slices.IndexFunc(families, func(c analysis.Condition) bool {
		return c.Mode == coll.Throughput
	}))]
	h.name = names(h.times.Contenders)
	for i, first := range h.times.Contenders {
		worlds := h.times.Shapes(first, family)
		slices.Reverse(worlds)
		for _, other := range h.times.Contenders[i+1:] {
			for _, s := range worlds {
				if fact := h.winner(first, other, family, s); fact != nil && len(facts) < mostHeadlines {
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
func (h *Headliner) winner(first, other analysis.Contender, family analysis.Condition, s analysis.Shape) notice.Fact {
	if h.times.Crowded(s, first, other) != nil || first.Rehearsed != other.Rehearsed {
		return nil
	}
	ahead := map[analysis.Contender][]notice.SizeRatio{}
	var same []units.Bytes
	var bases []stats.Ratio
	for _, under := range h.times.In(first, family, s) {
		b := h.times.Cells[other][under]
		if b == nil {
			continue
		}
		r := analysis.Ratio(b, h.times.Cells[first][under])
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
			lead.Who, lead.Than = h.name[who], h.name[[]analysis.Contender{other, first}[i]]
			leads = append(leads, lead)
		}
	}
	switch {
	case leads != nil:
		return notice.FasterContender{Operation: operation, World: world, Leads: leads, Same: same, Scope: scope}
	case same != nil:
		return notice.SameSpeed{
			Operation: operation, World: world, First: h.name[first], Second: h.name[other], Sizes: same, Scope: scope,
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
