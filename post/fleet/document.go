package fleet

import (
	"fmt"
	"math"
	"slices"
	"time"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/atomicfile"
	"busbar/post/plot"
)

// The maximum number of nodes in the table and in the chart, and how many the table has without slow ones.
const mostRows, mostCurves, fewRows = 20, 6, 5

// Document is the fleet as it is shown. kept removes notices that are not reported.
func (f *Fleet) Document(kept func([]notice.Notice) []notice.Notice) *document.Document {
	data := struct {
		Alpha  float64                     `json:"alpha"`
		Tests  int                         `json:"tests"`
		Night  string                      `json:"night"`
		Counts map[notice.FleetVerdict]int `json:"counts"` // nodes
		Curves []Result                    `json:"curves"`
	}{f.alpha(), f.tests, f.last, map[notice.FleetVerdict]int{}, f.results}
	d := &document.Document{Kind: "fleet", Title: "Fleet, " + f.last}
	t := &document.Table{Columns: document.NumericColumns("size", "time", "ratio", "history", "since", "curve")}
	t.Columns = append([]document.Column{{Name: "node", Narrow: true}, {Name: "verdict"}}, t.Columns...)
	var titles document.Footnotes
	for _, same := range units.GroupBy(f.byNode(), func(r Result) notice.FleetVerdict { return r.Verdict }) {
		r := same[0]
		data.Counts[r.Verdict] = len(same)
		if r.Verdict != notice.WithinFleet {
			n := notice.New(notice.FleetNodes{Nodes: len(same), Of: len(f.nodes), Verdict: r.Verdict, Name: r.Node,
				Ratio: notice.SideRatio(r.excess()), Where: r.Curve + ", " + units.Bytes(r.Size).String(), Since: r.Since})
			if r.Verdict == notice.FailedTonight {
				n.Severity = notice.Error
			}
			d.Report(n)
		}
		for _, r := range same {
			if n := len(t.Rows); n < fewRows || n < mostRows && r.Verdict.Rank() < notice.WithinFleet.Rank() {
				titles = units.AddOnce(titles, r.Curve)
				t.Row(r.Node, string(r.Verdict), units.Bytes(r.Size).String(), units.Duration(r.Time), ratio(r.Ratio),
					ratio(r.History), r.Since, fmt.Sprintf("[%d]", slices.Index(titles, r.Curve)+1))
			}
		}
	}
	for _, fact := range f.facts {
		if fact != nil {
			d.Report(notice.New(fact))
		}
	}
	d.Report(notice.New(notice.FleetBasis{Alpha: notice.Share(f.alpha()), Tests: f.tests, Nights: len(f.nights),
		Dated: len(units.GroupBy(slices.DeleteFunc(slices.Clone(f.results), func(r Result) bool { return r.History == 0 }),
			func(r Result) string { return r.Node }))}))
	d.Notices, d.Data = kept(d.Notices), data
	var tally document.Fields
	for _, v := range notice.FleetVerdicts {
		tally = append(tally, document.Field{Name: string(v), Value: units.Count(data.Counts[v], "node")})
	}
	d.Add(document.Findings(slices.Clone(d.Notices)), t, titles, tally)
	return d
}

func ratio(v float64) string {
	if v == 0 {
		return "-"
	}
	return notice.SideRatio(v).String()
}

// Charts are the files of the history of the worst nodes. There are none without a ratio.
func (f *Fleet) Charts() []atomicfile.Named {
	figure := plot.Figure{Page: plot.Page{Title: "Slowest nodes by night",
		Caption: []string{"Each node: its slowest curve.", "0 is " + f.last + "."}},
		X: plot.Axis{Label: "night", Unit: plot.Nights}, Y: plot.Axis{Label: "bandwidth / fleet's median", Unit: plot.Times}}
	last, _ := time.Parse(time.DateOnly, f.last) // made by Format
	for _, r := range f.byNode() {
		if r.Ratio == 0 || len(figure.Curves) == mostCurves {
			continue
		}
		c := plot.Curve{Label: r.Node, Style: len(figure.Curves)}
		for _, v := range r.past {
			night, _ := time.Parse(time.DateOnly, v.night)
			c.Points = append(c.Points, point(night.Sub(last), math.Exp(v.v)))
		}
		c.Points = append(c.Points, point(0, r.Ratio))
		figure.Curves = append(figure.Curves, c)
	}
	if figure.Curves == nil {
		return nil
	}
	return []atomicfile.Named{{Name: "fleet.png", Write: figure.WritePNG}, {Name: "fleet.svg", Write: figure.WriteSVG}}
}

func point(since time.Duration, ratio float64) plot.XY {
	return plot.XY{X: since.Hours() / 24, Y: 1 / ratio, Lo: 1 / ratio, Hi: 1 / ratio}
}
