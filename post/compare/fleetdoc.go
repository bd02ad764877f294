package compare

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
		Counts map[notice.FleetVerdict]int `json:"counts"` // nodes
		Curves []object                    `json:"curves"`
	}{Alpha: f.alpha(), Tests: f.tests, Counts: map[notice.FleetVerdict]int{}}
	for _, r := range f.results {
		if r.at != nil {
			data.Curves = append(data.Curves, object{r, r.at.place()})
		}
	}
	d := &document.Document{Kind: "fleet", Title: "Fleet"}
	t := &document.Table{Columns: document.NumericColumns(collectives.column, "ratio", "history", "since", "curve")}
	t.Columns = append([]document.Column{{Name: "node", Narrow: true}, {Name: "verdict"}}, t.Columns...)
	var titles document.Footnotes
	var tally document.Fields
	for _, same := range units.GroupBy(f.byNode(), func(r fleetResult) notice.FleetVerdict { return r.Verdict }) {
		first := same[0]
		data.Counts[first.Verdict] = len(same)
		tally = append(tally, document.Field{Name: string(first.Verdict), Value: units.Count(len(same), "node")})
		size, where := first.where()
		if first.Verdict != notice.WithinFleet {
			n := notice.New(notice.FleetNodes{Nodes: len(same), Of: len(f.judged), Verdict: first.Verdict,
				Name: first.Node, Ratio: notice.SideRatio(first.excess()), Size: size, Where: where, Since: first.Since})
			if first.Verdict == notice.FailedTonight {
				n.Severity = notice.Error
			}
			d.Report(n)
		}
		for _, r := range same {
			if n := len(t.Rows); n < fewRows || n < mostRows && r.Verdict.Rank() < notice.WithinFleet.Rank() {
				size, where := r.where()
				titles = units.AddOnce(titles, where)
				t.Row(r.Node, string(r.Verdict), size, sideRatio(r.Ratio), sideRatio(r.History), r.Since,
					fmt.Sprintf("[%d]", slices.Index(titles, where)+1))
			}
		}
	}
	d.Report(notice.New(notice.FleetBasis{Alpha: notice.Share(f.alpha()), Tests: f.tests, Nights: len(f.nights) - 1}))
	for _, s := range f.nights[len(f.nights)-1] {
		for _, why := range s.crowd {
			d.Report(notice.New(why))
		}
		if s.rehearsed {
			d.Report(notice.New(notice.SimulatedRuns{}))
		}
	}
	d.Notices, d.Data = kept(d.Notices), data
	d.Add(document.Findings(slices.Clone(d.Notices)), t, titles, tally)
	return d
}

// where is the point and its table.
func (r fleetResult) where() (size, table string) {
	if r.at == nil {
		return "", ""
	}
	return r.at.name(), r.at.title()
}

func sideRatio(v float64) string {
	if v == 0 {
		return "-"
	}
	return notice.SideRatio(v).String()
}

// Charts are the files of the history of the worst nodes. There are none without a ratio.
func (f *Fleet) Charts() []atomicfile.Named {
	figure := plot.Figure{Page: plot.Page{Title: "Slowest nodes by night", Caption: []string{"0 is tonight."}},
		X: plot.Axis{Label: "night", Unit: plot.Nights},
		Y: plot.Axis{Label: "bandwidth / fleet's median", Unit: plot.Times}}
	last := f.nights[len(f.nights)-1][0].runs[0].Start.Truncate(24 * time.Hour)
	for _, r := range f.byNode() {
		if r.Ratio == 0 || len(figure.Curves) == mostCurves {
			continue
		}
		c := plot.Curve{Label: r.Node, Style: len(figure.Curves)}
		add := func(night time.Time, level float64) {
			y := math.Exp(-level)
			c.Points = append(c.Points, plot.XY{X: night.Sub(last).Hours() / 24, Y: y, Lo: y, Hi: y})
		}
		for i, level := range r.past.levels {
			night, _ := time.Parse(time.DateOnly, r.past.nights[i]) // made by Format
			add(night, level)
		}
		add(last, math.Log(r.Ratio))
		figure.Curves = append(figure.Curves, c)
	}
	if figure.Curves == nil {
		return nil
	}
	return []atomicfile.Named{{Name: "fleet.png", Write: figure.WritePNG}, {Name: "fleet.svg", Write: figure.WriteSVG}}
}
