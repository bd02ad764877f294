package fleet

import (
	"math"
	"time"

	"busbar/internal/stats"
	"busbar/post/atomicfile"
	"busbar/post/plot"
)

// mostCurves is the maximum number of nodes in the chart.
const mostCurves = 6

// Charts are the files of the history of the slowest nodes. There are none without a verdict.
func (f *Fleet) Charts() []atomicfile.Named {
	var nodes []plot.Curve
	var first *trial
	for _, of := range f.byNode() {
		x := of[0].trial
		if x.verdict == NoVerdict || len(nodes) == mostCurves {
			break
		}
		if first == nil {
			first = &x
		}
		c := plot.Curve{Label: x.node, Style: len(nodes)}
		h := x.of.past[cell{x.size, "", x.node}]
		for i, night := range h.nights {
			c.Points = append(c.Points, f.at(night, h.levels[i:i+1]))
		}
		c.Points = append(c.Points, f.at(tonight, []float64{x.level}))
		nodes = append(nodes, c)
	}
	if first == nil {
		return nil
	}
	fleet := plot.Curve{Label: "fleet, 5 to 95 %", Style: 7}
	for _, same := range first.of.groups {
		if same[0].size == first.size {
			var levels []float64
			for _, at := range same {
				levels = append(levels, first.of.level[at])
			}
			fleet.Points = append(fleet.Points, f.at(same[0].night, levels))
		}
	}
	figure := plot.Figure{Page: plot.Page{Title: "Slowest nodes by night", Rehearsed: first.of.Rehearsed,
		Caption: []string{"Each node: its slowest curve.", "Fleet: " + first.of.title + "."}},
		X: plot.Axis{Label: "night (UTC)", Unit: plot.Days}, Y: plot.Axis{Label: "bandwidth / fleet's median", Unit: plot.Times},
		Curves: append([]plot.Curve{fleet}, nodes...)}
	return []atomicfile.Named{{Name: "fleet.png", Write: figure.WritePNG}, {Name: "fleet.svg", Write: figure.WriteSVG}}
}

// at is the relative bandwidth of levels in a night: the median, and 5 % to 95 % of them.
func (f *Fleet) at(night string, levels []float64) plot.XY {
	if night == tonight {
		night = f.last
	}
	day, _ := time.Parse(time.DateOnly, night) // made by Format
	of := func(q float64) float64 { return math.Exp(-stats.Quantile(levels, q)) }
	return plot.XY{X: float64(day.Unix()) / 86400, Y: of(0.5), Lo: of(0.95), Hi: of(0.05)}
}
