package compare

import (
	"fmt"
	"math"
	"slices"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/atomicfile"
	"busbar/post/plot"
)

// The maximum number of nodes in the table and in the chart.
const mostRows, mostCurves = 20, 6

// Document is the fleet as it is shown. kept removes notices that are not reported.
func (f *Fleet) Document(kept func([]notice.Notice) []notice.Notice) *document.Document {
	var data struct {
		Curves []object `json:"curves"`
	}
	for _, r := range f.results {
		data.Curves = append(data.Curves, object{r, r.at.place()})
	}
	d := &document.Document{Kind: "fleet", Title: "Fleet"}
	t := document.NewTable("node~", "verdict", "size>", "ratio>", "since>", "curve>")
	var titles document.Footnotes
	for _, same := range units.GroupBy(f.nodes, func(r fleetResult) notice.FleetVerdict { return r.Verdict }) {
		r := same[0]
		n := notice.New(notice.FleetNodes{Nodes: len(same), Of: len(f.judged), Verdict: r.Verdict, Name: r.Node,
			Ratio: notice.SideRatio(r.Ratio), Where: r.at.title() + ", " + r.at.name(), Since: r.Since})
		if r.Verdict == notice.WithinFleet {
			n.Severity = notice.Info
		}
		d.Report(n)
	}
	for _, r := range f.nodes[:min(len(f.nodes), mostRows)] {
		titles = units.AddOnce(titles, r.at.title())
		t.Row(r.Node, string(r.Verdict), r.at.name(), ratioWord(stats.Ratio{Value: r.Ratio, N: len(r.levels)}),
			r.Since, fmt.Sprintf("[%d]", slices.Index(titles, r.at.title())+1))
	}
	for _, s := range f.nights[len(f.nights)-1] {
		for _, why := range s.crowd {
			d.Report(notice.New(why))
		}
		if s.rehearsed {
			d.Report(notice.New(notice.SimulatedRuns{}))
		}
	}
	d.Report(notice.New(notice.FleetBasis{Alpha: notice.Share(f.alpha()), Tests: f.tests, Nights: len(f.nights) - 1}))
	d.Notices, d.Data = kept(d.Notices), data
	d.Add(document.Findings(slices.Clone(d.Notices)), t, titles)
	return d
}

// Charts are the files of the history of the worst nodes. There are none without a ratio.
func (f *Fleet) Charts() []atomicfile.Named {
	figure := plot.Figure{Page: plot.Page{Title: "Slowest nodes", Rehearsed: f.nights[len(f.nights)-1][0].rehearsed},
		X: plot.Axis{Label: "night (the last is tonight)", Unit: plot.Linear},
		Y: plot.Axis{Label: "bandwidth / fleet's median", Unit: plot.Times}}
	for _, r := range f.nodes {
		if r.Ratio == 0 || len(figure.Curves) == mostCurves {
			continue
		}
		c := plot.Curve{Label: r.Node, Style: len(figure.Curves)}
		for i, night := range r.levels {
			if v, known := night[r.Node]; known {
				y := math.Exp(-v)
				c.Points = append(c.Points, plot.XY{X: float64(i + 1), Y: y, Lo: y, Hi: y})
			}
		}
		figure.Curves = append(figure.Curves, c)
	}
	if figure.Curves == nil {
		return nil
	}
	return []atomicfile.Named{{Name: "fleet.png", Write: figure.WritePNG}}
}
