package report

import "slices"

// NoHeadline is what a report says where nothing can be said in a sentence.
const NoHeadline = "No headline: see the tables below."

// NoFinding is what a report says where there are no findings: that none is looked for in times that say nothing about speed is something else than that
// none was found.
func (r *Report) NoFinding() string {
	looked := slices.ContainsFunc(r.Curves, func(c Curve) bool { return !c.Rehearsed && c.Crowded == "" })
	if len(r.Curves) > 0 && !looked {
		return "Not analysed: all results are simulated or oversubscribed."
	}
	return "No findings."
}
