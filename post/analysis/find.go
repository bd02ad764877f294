package analysis

import (
	"cmp"
	"slices"
)

// finders each search all curves for one kind of finding.
var finders = []func(curves []*Curve, o Options) []Finding{
	trends, placementGaps, poorScaling, lateRanks, slowRanks, warnedPoints, variations, belowCeilings,
}

// Find returns the findings on curves, the most severe first, and how many it leaves out. Simulated and oversubscribed
// curves have no findings about speed.
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
	for i := range found {
		found[i].Number = i + 1
	}
	return found, left
}
