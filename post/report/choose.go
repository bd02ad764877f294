package report

import (
	"cmp"
	"slices"

	"busbar/internal/notice"
	"busbar/post/analysis"
)

// maxPoints is how many points stand on the page, so that it opens quickly and stays under 3 MB.
const maxPoints = 60_000

// chosen are the curves that stand in the report: all, or where they have too many points, those with the most serious
// findings first, then those of the largest worlds. They stay in their order.
func chosen(r *Report, f analysed) []*analysis.Curve {
	points := pointsOf(f.Curves)
	if points <= maxPoints {
		return f.Curves
	}
	weight := map[*analysis.Curve]int{}
	for _, one := range f.Findings {
		for _, p := range one.Places() {
			weight[p.Curve] = max(weight[p.Curve], 1+int(one.Severity))
		}
	}
	order := slices.Clone(f.Curves)
	slices.SortStableFunc(order, func(x, y *analysis.Curve) int {
		return cmp.Or(cmp.Compare(weight[y], weight[x]), cmp.Compare(y.World, x.World))
	})
	kept, room := map[*analysis.Curve]bool{}, maxPoints
	for _, c := range order {
		if len(c.Points) <= room {
			kept[c] = true
			room -= len(c.Points)
		}
	}
	shown := slices.DeleteFunc(slices.Clone(f.Curves), func(c *analysis.Curve) bool { return !kept[c] })
	r.LeftOut = append(r.LeftOut, notice.ReportLeftOut{
		Shown: len(shown), Of: len(f.Curves), What: notice.LeftCurves, Points: maxPoints - room, OfPoints: points,
	})
	return shown
}

func pointsOf(curves []*analysis.Curve) (points int) {
	for _, c := range curves {
		points += len(c.Points)
	}
	return points
}
