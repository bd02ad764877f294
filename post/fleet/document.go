package fleet

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// Result is the worst size of a curve on a node, as it is in the JSON. Ratios are of times; p is adjusted for all tests.
type Result struct {
	Node     string   `json:"node"`
	Verdict  Verdict  `json:"verdict"`
	Curve    string   `json:"curve"`
	Size     int64    `json:"size_bytes"`
	Time     float64  `json:"time_s"`
	Fleet    *float64 `json:"fleet_time_s"` // the median
	Ratio    *float64 `json:"ratio"`
	P        *float64 `json:"p"`
	History  *float64 `json:"history_ratio"`
	HistoryP *float64 `json:"history_p"`
	Nights   int      `json:"nights"`          // of the history
	Since    string   `json:"since,omitempty"` // of what is below or slower
	Exceeded bool     `json:"exceeded"`
	trial    trial
}

func (f *Fleet) result(x trial) Result {
	r := Result{Node: x.node, Verdict: x.verdict, Curve: x.of.title, Size: x.size, trial: x,
		Time: stats.Median(x.of.seconds[x.cell])}
	if x.verdict == NoVerdict {
		return r
	}
	known := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	tests := float64(f.tests)
	r.Fleet, r.Nights = known(x.of.median[cell{x.size, tonight, ""}]), len(x.of.past[cell{x.size, "", x.node}].nights)
	r.Ratio, r.P = known(math.Exp(x.level)), known(min(1, x.p*tests))
	r.History, r.HistoryP = known(math.Exp(x.change)), known(min(1, x.pChange*tests))
	if x.verdict != Within {
		r.Since = x.since()
		r.Exceeded = f.Limits.FailAbove > 0 && x.excess() > math.Log1p(f.Limits.FailAbove)
	}
	return r
}

// byNode are the results of each node, the slowest first.
func (f *Fleet) byNode() [][]Result {
	return units.GroupBy(f.results, func(r Result) string { return r.Node })
}

// notices are on all nodes; those that are not reported are left out.
func (f *Fleet) notices(kept func([]notice.Notice) []notice.Notice) []notice.Notice {
	var all document.Document
	add := func(is bool, facts ...notice.Fact) {
		for _, fact := range facts {
			if is && fact != nil {
				all.Report(notice.New(fact))
			}
		}
	}
	nodes, lent := len(f.nodes[tonight]), map[string]bool{}
	slow := map[Verdict]*notice.SlowNodes{Below: {Against: notice.OtherNodes}, Slower: {Against: notice.OwnHistory}}
	unjudged, undated := notice.NoFleetVerdict{Of: nodes, Against: notice.OtherNodes},
		notice.NoFleetVerdict{Of: nodes, Against: notice.OwnHistory}
	for _, of := range f.byNode() {
		r := of[0]
		if s := slow[r.Verdict]; s != nil {
			if s.Nodes++; s.Nodes == 1 {
				s.Of, s.Name, s.Since = nodes, r.Node, r.Since
				s.Ratio, s.Where = notice.SideRatio(math.Exp(r.trial.excess())), r.Curve+", "+units.Bytes(r.Size).String()
			}
		}
		if r.Verdict == NoVerdict {
			unjudged.Nodes++
		}
		if !slices.ContainsFunc(of, func(r Result) bool { return r.History != nil }) {
			undated.Nodes++
		}
	}
	points := 0
	for _, n := range f.fails {
		points += n
	}
	for _, t := range f.curves {
		maps.Copy(lent, t.lent)
	}
	failed, missing := slices.Sorted(maps.Keys(f.fails)), f.missing()
	add(points > 0, notice.NodesFailed{Points: points, Names: failed})
	add(slow[Below].Nodes > 0, *slow[Below])
	add(slow[Slower].Nodes > 0, *slow[Slower])
	add(true, f.facts...)
	add(f.unnamed > 0, notice.UnnamedRuns{Runs: f.unnamed})
	add(unjudged.Nodes > 0, unjudged)
	add(undated.Nodes > 0, undated)
	add(missing != nil, notice.NodesMissing{Names: missing})
	add(f.tests > 0, notice.FleetBasis{Alpha: notice.Share(f.alpha()), Tests: f.tests, Nodes: nodes,
		Nights: len(f.nodes) - 1, Borrowed: len(lent)})
	return kept(all.Notices)
}

// mostRows is the maximum number of nodes in a table, and fewRows how many it has without slow ones.
const mostRows, fewRows = 20, 5

// Document is the fleet as it is shown. kept removes notices that are not reported.
func (f *Fleet) Document(kept func([]notice.Notice) []notice.Notice) *document.Document {
	type fails struct {
		Node   string `json:"node"`
		Points int    `json:"points"`
	}
	data := struct {
		Alpha   float64         `json:"alpha"`
		Tests   int             `json:"tests"`
		Night   string          `json:"night"`
		Nights  int             `json:"nights"`
		Counts  map[Verdict]int `json:"counts"` // nodes
		Curves  []Result        `json:"curves"`
		Failed  []fails         `json:"failed"`
		Missing []string        `json:"missing"`
	}{f.alpha(), f.tests, f.last, len(f.nodes) - 1, map[Verdict]int{}, f.results, nil, f.missing()}
	for _, node := range slices.Sorted(maps.Keys(f.fails)) {
		data.Failed = append(data.Failed, fails{node, f.fails[node]})
	}
	d := &document.Document{Kind: "fleet", Title: "Fleet, " + f.last, Notices: f.notices(kept)}
	t := &document.Table{Columns: document.NumericColumns("size", "time", "ratio", "history", "since", "curve")}
	t.Columns = append([]document.Column{{Name: "node", Narrow: true}, {Name: "verdict"}}, t.Columns...)
	var titles document.Footnotes
	for _, of := range f.byNode() {
		r := of[0]
		if data.Counts[r.Verdict]++; len(t.Rows) >= mostRows || len(t.Rows) >= fewRows && r.Since == "" {
			continue
		}
		titles = units.AddOnce(titles, r.Curve)
		t.Row(r.Node, string(r.Verdict), units.Bytes(r.Size).String(), units.Duration(r.Time), ratio(r.Ratio),
			ratio(r.History), r.Since, fmt.Sprintf("[%d]", slices.Index(titles, r.Curve)+1))
	}
	var tally []string
	for _, v := range verdicts {
		tally = append(tally, fmt.Sprintf("%d %s", data.Counts[v], v))
	}
	d.Data = data
	if len(d.Notices) > 0 {
		d.Add(document.Findings(slices.Clone(d.Notices)))
	}
	d.Add(document.Paragraph(units.Count(len(f.nodes[tonight]), "node")+": "+strings.Join(tally, ", ")+"."), t, titles)
	return d
}

func ratio(v *float64) string {
	if v == nil {
		return "-"
	}
	return notice.SideRatio(*v).String()
}
