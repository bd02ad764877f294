package sidebyside

import (
	"math"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// faster compares each pair of contenders, world by world and size by size.
func (a *analyst) faster(family analysis.Condition) (facts []notice.Fact) {
	for i, first := range a.times.Contenders {
		for _, other := range a.times.Contenders[i+1:] {
			for _, s := range a.times.Shapes(first, family) {
				facts = append(facts, a.ratios(first, other, family, s)...)
			}
		}
	}
	return facts
}

// ratios compares two contenders in one world.
func (a *analyst) ratios(
	first, other analysis.Contender, family analysis.Condition, s analysis.Shape,
) (facts []notice.Fact) {
	for _, under := range a.times.In(first, family, s) {
		b := a.times.Cells[other][under]
		if b == nil {
			continue
		}
		if why := a.times.Crowded(s, first, other); why != nil {
			both := []string{a.who(first), a.who(other)}
			return []notice.Fact{notice.NotCompared{Contenders: both, World: s.Named(), Cause: notice.Kept{Fact: why}}}
		}
		facts = append(facts, a.ratio(first, other, under, analysis.Ratio(b, a.times.Cells[first][under])))
	}
	return facts
}

// ratio is one comparison; r is the ratio of other's time to that of first.
func (a *analyst) ratio(first, other analysis.Contender, under analysis.Condition, r stats.Ratio) notice.TimeRatio {
	slow, fast := a.who(other), a.who(first)
	if r.Value < 1 {
		slow, fast, r = fast, slow, r.Inverse()
	}
	fact := notice.TimeRatio{
		World: analysis.ShapeOf(under).Named(), At: units.Bytes(under.SizeBytes), Slower: slow, Faster: fast,
		Factor: units.Factor(r.Value), Interval: analysis.IntervalOf(r),
	}
	switch {
	case r.Basis == stats.LaunchSpread || r.Basis == stats.NoBounds:
		fact.Verdict = notice.TooFewLaunches
	case !r.Differs():
		fact.Verdict = notice.NotSignificant
	}
	return fact
}

// nearLargest is the share of the largest bandwidth from which on it counts as reached.
const nearLargest = 0.9

// saturates is where the bus bandwidth of one world ends to grow; false: it has fewer than three sizes, or no
// bandwidth.
func (a *analyst) saturates(
	who analysis.Contender, family analysis.Condition, s analysis.Shape,
) (fact notice.Saturation, ok bool) {
	all := a.times.In(who, family, s)
	bandwidths := make([]float64, len(all))
	most := 0
	for i, under := range all {
		t, _ := a.times.Cells[who][under].Over()
		if bandwidths[i] = under.BusBW(t.Value); bandwidths[i] > bandwidths[most] {
			most = i
		}
	}
	if len(all) < 3 || bandwidths[most] <= 0 {
		return fact, false
	}
	largest, at, last := bandwidths[most], all[most], all[len(all)-1]
	fact = notice.Saturation{
		Who: a.who(who), World: s.Named(), BusBW: units.Bandwidth(largest), At: units.Bytes(at.SizeBytes),
	}
	if bandwidths[len(all)-1] < nearLargest*largest {
		r := analysis.Ratio(a.times.Cells[who][at], a.times.Cells[who][last])
		bytes := float64(last.SizeBytes) / float64(at.SizeBytes)
		r.Value, r.Lo, r.Hi = r.Value*bytes, r.Lo*bytes, r.Hi*bytes
		fact.Last, fact.Share = units.Bytes(last.SizeBytes), units.Factor(r.Value)
		fact.Interval = analysis.IntervalOf(r)
		if r.Basis == stats.NoBounds || r.Hi >= nearLargest {
			fact.Verdict = notice.Inconclusive
		}
		return fact, true
	}
	from := len(all) - 1
	for from > 0 && bandwidths[from-1] >= nearLargest*largest {
		from--
	}
	if from == len(all)-1 {
		fact.Verdict = notice.StillRising
	} else {
		fact.From = units.Bytes(all[from].SizeBytes)
	}
	return fact, true
}

func (a *analyst) saturation(family analysis.Condition) (facts []notice.Fact) {
	for _, who := range a.times.Contenders {
		for _, s := range a.uncrowded(who, family) {
			if fact, ok := a.saturates(who, family, s); ok {
				facts = append(facts, fact)
			}
		}
	}
	return facts
}

// growth is how time grows from the smallest to the largest size that has data.
func (a *analyst) growth(family analysis.Condition) (facts []notice.Fact) {
	for _, who := range a.times.Contenders {
		for _, s := range a.uncrowded(who, family) {
			empty := func(c analysis.Condition) bool { return c.SizeBytes == 0 }
			all := slices.DeleteFunc(a.times.In(who, family, s), empty)
			if len(all) < 2 {
				continue
			}
			least, most := all[0], all[len(all)-1]
			r := analysis.Ratio(a.times.Cells[who][most], a.times.Cells[who][least])
			if r.Value <= 0 {
				continue
			}
			step := float64(most.SizeBytes) / float64(least.SizeBytes)
			exponent := func(ratio float64) float64 { return math.Log(ratio) / math.Log(step) }
			slope := notice.Slope{Value: exponent(r.Value)}
			if r.Basis != stats.NoBounds {
				slope.Lo, slope.Hi = exponent(r.Lo), exponent(r.Hi)
			}
			facts = append(facts, notice.TimeGrowth{
				Who: a.who(who), World: s.Named(), From: units.Bytes(least.SizeBytes), To: units.Bytes(most.SizeBytes),
				Data: units.Factor(step), Factor: units.Factor(r.Value), Interval: analysis.IntervalOf(r), Slope: slope,
			})
		}
	}
	return facts
}

// scaling is how time grows from the smallest world to each larger one, at every size that both have.
func (a *analyst) scaling(family analysis.Condition) (facts []notice.Fact) {
	for _, who := range a.times.Contenders {
		worlds := a.uncrowded(who, family)
		if len(worlds) < 2 {
			continue
		}
		for _, under := range a.times.In(who, family, worlds[0]) {
			for _, s := range worlds[1:] {
				if fact, ok := a.wider(who, under, s); ok {
					facts = append(facts, fact)
				}
			}
		}
	}
	return facts
}

// uncrowded are the worlds of a contender whose ranks had cores of their own.
func (a *analyst) uncrowded(who analysis.Contender, family analysis.Condition) (found []analysis.Shape) {
	for _, s := range a.times.Shapes(who, family) {
		if a.times.Crowded(s, who) == nil {
			found = append(found, s)
		}
	}
	return found
}

// wider compares one size in a larger world with the same in a smaller one; false where it was not measured there.
func (a *analyst) wider(
	who analysis.Contender, under analysis.Condition, s analysis.Shape,
) (fact notice.WorldGrowth, ok bool) {
	larger := under
	larger.World, larger.Nodes, larger.PerNode = s.World, s.Nodes, s.PerNode
	larger = a.sameSize(who, larger)
	c := a.times.Cells[who][larger]
	if c == nil {
		return fact, false
	}
	r := analysis.Ratio(c, a.times.Cells[who][under])
	fact = notice.WorldGrowth{
		Who: a.who(who), At: units.Bytes(under.SizeBytes), Smaller: analysis.ShapeOf(under).Named(), Larger: s.Named(),
		Factor: units.Factor(r.Value), Interval: analysis.IntervalOf(r),
	}
	from, to := under.Collective.BusFactor(under.World), larger.Collective.BusFactor(larger.World)
	if from > 0 && to > 0 {
		fact.Equal = units.Factor(to / from)
	}
	return fact, r.Value > 0
}

// sameSize finds the condition of a larger world with the size of another: where ranks share the data, it is trimmed
// differently in each world.
func (a *analyst) sameSize(who analysis.Contender, wanted analysis.Condition) analysis.Condition {
	for _, under := range a.times.In(who, analysis.FamilyOf(wanted), analysis.ShapeOf(wanted)) {
		if ratio := float64(under.SizeBytes) / float64(wanted.SizeBytes); ratio > 0.97 && ratio < 1.03 {
			return under
		}
	}
	return wanted
}
