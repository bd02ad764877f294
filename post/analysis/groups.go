package analysis

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// interference compares groups that measure at the same time with the same groups alone.
func interference(curves []*Curve, _ Options) (found []Finding) {
	divided := units.Where(curves, func(c *Curve) bool {
		return c.Groups.Divided() && !c.Groups.Division.IsDimension()
	})
	for _, all := range alikeBut(divided, func(c *Condition) {
		c.Groups, c.Nodes, c.PerNode = coll.Groups{Division: c.Groups.Division}, 0, 0
	}) {
		if f, measured := interferenceOf(all); measured {
			found = append(found, f)
		}
	}
	return found
}

// besideEachOther compares groups of two kinds at once with the same two alone.
func besideEachOther(curves []*Curve, _ Options) (found []Finding) {
	curves = judged(curves)
	for _, both := range curves {
		if len(both.Groups.Division.Dimensions()) != 2 || both.Groups.Alone {
			continue
		}
		var alone []*Curve
		for k := range 2 {
			of := both.Condition
			of.Case = of.In(k)
			of.Groups.Number, of.Groups.Alone = k+1, true
			alone = append(alone, units.Where(curves, func(c *Curve) bool {
				return c.Condition == of && c.Contender == both.Contender
			})...)
		}
		if len(alone) == 2 {
			found = append(found, besides(both, alone)...)
		}
	}
	return found
}

// besides is the largest ratio over sizes of the time of both to that of the slower one alone, and there the times of
// both at once and in turn.
func besides(both *Curve, alone []*Curve) []Finding {
	fact := notice.DimensionInterference{Groups: string(both.Groups.Division)}
	for i, p := range both.Points {
		j, first := alone[0].sameSize(p.SizeBytes)
		k, second := alone[1].sameSize(both.WithSize(p.SizeBytes).In(1).SizeBytes)
		if !first || !second {
			continue
		}
		fact.Sizes++
		slower, at := alone[0], j
		one, other := alone[0].Points[j].Time.Value, alone[1].Points[k].Time.Value
		if other > one {
			slower, at = alone[1], k
		}
		if r := Ratio(both, i, slower, at); r.Value > float64(fact.Factor) {
			fact.Slower, fact.At = slower.Groups.Name(), units.Bytes(p.SizeBytes)
			fact.Factor, fact.Interval = units.Factor(r.Value), IntervalOf(r)
			fact.Both, fact.InTurn = units.Seconds(p.Time.Value), units.Seconds(one+other)
		}
	}
	if fact.Sizes == 0 {
		return nil
	}
	last := len(both.Points) - 1
	return []Finding{both.finding(fact, notice.Info, max(0, 1-1/float64(fact.Factor)), both.Points[0].SizeBytes,
		both.Points[last].SizeBytes)}
}

// interferenceOf is the largest ratio over groups and sizes. A size counts if all groups have both times.
func interferenceOf(curves []*Curve) (f Finding, measured bool) {
	division := curves[0].Groups.Division
	n := division.N()
	if len(curves) != 2*n { // some are missing, or launches placed the ranks of a group on nodes in different ways
		return f, false
	}
	pairs := make([][2]*Curve, n) // together, alone
	for _, c := range curves {
		i := 0
		if c.Groups.Alone {
			i = 1
		}
		if k := c.Groups.Number - 1; k < n && pairs[k][i] == nil {
			pairs[k][i] = c
			continue
		}
		return f, false
	}
	fact := notice.GroupInterference{Groups: string(division)}
	var most stats.Ratio
	var slowest *Curve
	var from, to int64
	for _, p := range pairs[0][0].Points {
		ratios, sum, apart := ratiosAt(pairs, p.SizeBytes)
		if ratios == nil {
			continue
		}
		if fact.Sizes++; fact.Sizes == 1 {
			from = p.SizeBytes
		}
		to = p.SizeBytes
		values := make([]float64, len(ratios))
		longer := false
		for i, r := range ratios {
			if values[i] = r.Value; r.Value > most.Value {
				most, slowest, longer = r, pairs[i][0], true
			}
		}
		if longer {
			fact.At, fact.Sum, fact.Apart = units.Bytes(p.SizeBytes), units.Bandwidth(sum), units.Bandwidth(apart)
			fact.Median, fact.Least = units.Factor(stats.Median(values)), units.Factor(slices.Min(values))
		}
	}
	if slowest == nil {
		return f, false
	}
	fact.Factor, fact.Interval = units.Factor(most.Value), IntervalOf(most)
	fact.Slowest = slowest.Groups.WithRanks(slowest.World)
	return slowest.finding(fact, notice.Info, max(0, 1-1/most.Value), from, to), true
}

// ratiosAt are the ratios of all groups at one size, and the sums of their bus bandwidths; nil if a time is missing.
func ratiosAt(pairs [][2]*Curve, bytes int64) (ratios []stats.Ratio, sum, apart float64) {
	for _, p := range pairs {
		i, measured := p[0].sameSize(bytes)
		j, reference := p[1].sameSize(bytes)
		if !measured || !reference {
			return nil, 0, 0
		}
		ratios = append(ratios, Ratio(p[0], i, p[1], j))
		sum += p[0].BusBW(i)
		apart += p[1].BusBW(j)
	}
	return ratios, sum, apart
}
