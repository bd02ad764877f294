package analysis

import (
	"cmp"
	"slices"
)

// finders look for one kind of thing each, in all curves together.
var finders = []func(curves []*Curve, o Options) []Finding{
	trends, placementGaps, poorScaling, lateRanks, slowRanks, warnedPoints, variations, belowCeilings,
}

// Find says what is found on curves, the most serious first, and how many findings are left out of it. Curves that may
// not be judged for speed have none of speed.
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
