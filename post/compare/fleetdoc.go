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
	curve := func(r fleetResult) any { return [3]any{r.Node, r.at.table(), r.Verdict == notice.FailedTonight} }
	for _, r := range firsts(f.results, curve) {
		data.Curves = append(data.Curves, object{r, r.at.place()})
	}
	d := &document.Document{Kind: "fleet", Title: "Fleet"}
	t := document.NewTable("node~", "verdict", "size>", "ratio>", "since>", "curve>")
	var titles document.Footnotes
	nodes := units.Where(f.nodes, func(r fleetResult) bool { return r.Node != wholeFleet })
	of := func(r fleetResult) [2]any { return [2]any{r.Verdict, r.Node == wholeFleet} }
	for _, same := range units.GroupBy(f.nodes, of) {
		r := same[0]
		ratio, where := notice.SideRatio(r.Ratio), r.at.title()+", "+r.at.name()
		if r.Node == wholeFleet {
			d.Report(notice.New(notice.FleetSlower{Ratio: ratio, Where: where, Since: r.Since}))
			continue
		}
		n := notice.New(notice.FleetNodes{Nodes: len(same), Of: len(nodes), Verdict: r.Verdict, Name: r.Node,
			Ratio: ratio, Where: where, Since: r.Since})
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
	last := f.nights[len(f.nights)-1]
	for _, s := range last {
		for _, why := range s.crowd {
			d.Report(notice.New(why))
		}
	}
	if simulated(last) != nil {
		d.Report(notice.New(notice.SimulatedRuns{}))
	}
	d.Report(notice.New(notice.FleetBasis{Alpha: notice.Share(f.alpha()), Tests: f.tests, Nights: len(f.nights) - 1}))
	d.Notices, d.Data = kept(d.Notices), data
	d.Add(document.Findings(slices.Clone(d.Notices)), t, titles)
	if len(f.nodes) > mostRows {
		d.Add(document.Paragraph(fmt.Sprintf("%d worst of %d rows; the JSON has all", mostRows, len(f.nodes))))
	}
	return d
}

// Charts are the files of the history of the worst nodes. There are none without a ratio.
func (f *Fleet) Charts() []atomicfile.Named {
	made := simulated(f.nights[len(f.nights)-1]) != nil
	figure := plot.Figure{Page: plot.Page{Title: "Slowest nodes", Rehearsed: made},
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
