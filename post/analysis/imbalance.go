package analysis

import (
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// imbalanceCosts compares each uneven alltoallv with the even one of the same volume.
func imbalanceCosts(curves []*Curve, _ Options) (found []Finding) {
	for _, group := range alikeBut(curves, func(c *Condition) { c.Imbalance = "" }) {
		for _, even := range group {
			if even.Imbalance != coll.Even {
				continue
			}
			for _, uneven := range group {
				found = append(found, imbalanceCost(even, uneven)...)
			}
		}
	}
	return found
}

// imbalanceCost is the largest ratio of the times over all sizes with a reference.
func imbalanceCost(even, uneven *Curve) []Finding {
	fact := notice.ImbalanceCost{}
	var from int64
	most := stats.Ratio{}
	for i, p := range uneven.Points {
		j, both := even.sameSize(p.EvenBytes)
		if p.EvenBytes == 0 || !both {
			continue
		}
		r := Ratio(uneven, i, even, j)
		if fact.Sizes++; fact.Sizes == 1 {
			from, fact.Least = p.SizeBytes, units.Factor(r.Value)
		}
		fact.Least = min(fact.Least, units.Factor(r.Value))
		if r.Value > most.Value {
			most = r
			fact.Factor, fact.Interval = units.Factor(r.Value), IntervalOf(r)
			fact.At, fact.Volume = units.Bytes(p.SizeBytes), units.Bytes(p.EvenBytes)
		}
	}
	if fact.Sizes == 0 {
		return nil
	}
	to := uneven.Points[len(uneven.Points)-1].SizeBytes
	return []Finding{uneven.finding(fact, notice.Info, max(0, 1-1/most.Value), from, to)}
}
