package report

import "slices"

// NoHeadline is what a report says where nothing can be said in a sentence.
const NoHeadline = "There is nothing to say in a sentence: see the tables below."

// NoFinding is what a report says where there are no findings: that none is looked for in times that say nothing about speed is something else than that
// none was found.
func (r *Report) NoFinding() string {
	looked := slices.ContainsFunc(r.Curves, func(c Curve) bool { return !c.Rehearsed && c.Crowded == "" })
	if len(r.Curves) > 0 && !looked {
		return "Nothing was looked for: all of it was simulated or oversubscribed."
	}
	return "Nothing stood out."
}
