package analysis

import (
	"busbar/internal/units"
	"cmp"
	"slices"
)

// finders each search all curves for one kind of finding.
var finders = []func(curves []*Curve, o Options) []Finding{
	trends, placementGaps, imbalanceCosts, interference, besideEachOther, poorScaling, lateRanks, slowRanks,
	warnedPoints, variations, belowCeilings,
}

// Find returns the findings on curves, and how many it leaves out. The most severe is first, followed by the others on
// its curve. Simulated and oversubscribed curves have no findings about speed.
func Find(curves []*Curve, o Options) (found []Finding, left int) {
	for _, find := range finders {
		found = append(found, find(curves, o)...)
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Weight, a.Weight))
	})
	found = merged(found)
	if most := cmp.Or(o.Most, MostFindings); len(found) > most {
		found, left = found[:most], len(found)-most
	}
	found = slices.Concat(BySubject(found)...)
	for i := range found {
		found[i].Number = i + 1
	}
	return found, left
}

// BySubject groups findings by curve, or by what a contender measured in one world.
func BySubject(found []Finding) [][]Finding {
	return units.GroupBy(found, func(f Finding) string { return f.At.Subject })
}
