package main

import (
	"encoding/json"
	"io"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/post/analysis"
)

// The JSON of a comparison; docs/compare.md describes the fields. What is not known is null.
type (
	comparisonJSON struct {
		Kind   string     `json:"kind"`   // "comparison"
		Schema int        `json:"schema"` // of this form
		Sides  []sideJSON `json:"sides"`
		Duels  []duelJSON `json:"comparisons"`
	}
	sideJSON struct {
		Side      string   `json:"side"`
		Name      string   `json:"name"`
		Launches  []string `json:"launches"`
		Runs      int      `json:"runs"`
		First     *string  `json:"first"`
		Last      *string  `json:"last"`
		Rehearsed bool     `json:"rehearsed"`
	}
	duelJSON struct {
		Against    string         `json:"against"`
		Side       string         `json:"side"`
		Alpha      float64        `json:"alpha"`
		Confidence float64        `json:"confidence"`
		Pairs      *string        `json:"pairs"`
		Tested     int            `json:"tested"`
		Labellings int            `json:"labellings"`
		Exact      bool           `json:"exact"`
		Seed       uint64         `json:"seed"`
		Counts     map[string]int `json:"counts"`
		Exceeded   int            `json:"exceeded"`
		Points     []pointJSON    `json:"points"`
		Findings   []findingJSON  `json:"findings"`
		Alone      []aloneJSON    `json:"without_partner"`
		Facts      []factJSON     `json:"differences"`
	}
	placeJSON struct {
		coll.Case
		Nodes     int    `json:"nodes"`
		PerNode   int    `json:"ranks_per_node"`
		Rotate    int64  `json:"rotate_bytes"`
		Aggregate int    `json:"aggregate"`
		Average   string `json:"average"`
		Of        string `json:"of"` // backend, variant and so on, where the sides have several
	}
	pointJSON struct {
		placeJSON
		A        tookJSON `json:"a"`
		B        tookJSON `json:"b"`
		Ratio    *float64 `json:"ratio"`
		Lo       *float64 `json:"lo"`
		Hi       *float64 `json:"hi"`
		Bounds   string   `json:"bounds"`
		P        *float64 `json:"p"`
		Verdict  string   `json:"verdict"`
		More     *int     `json:"more_launches"`
		Margin   float64  `json:"margin"`
		Limit    *float64 `json:"fail_above"`
		Exceeded bool     `json:"exceeded"`
		Notes    []string `json:"notes"`
	}
	tookJSON struct {
		Launches int     `json:"launches"`
		Time     float64 `json:"time_s"`
		Min      float64 `json:"min_s"`
		Max      float64 `json:"max_s"`
		AlgBW    float64 `json:"algbw_GBps"`
		BusBW    float64 `json:"busbw_GBps"`
	}
	findingJSON struct {
		placeJSON
		Kind     string `json:"finding"`
		A        string `json:"a"`
		B        string `json:"b"`
		Exceeded bool   `json:"exceeded"`
	}
	aloneJSON struct {
		placeJSON
		Side string `json:"side"`
	}
	factJSON struct {
		Name string   `json:"name"`
		A    []string `json:"a"`
		B    []string `json:"b"`
	}
)

// writeJSON writes the comparison as one JSON object.
func (c *comparedSides) writeJSON(w io.Writer) error {
	all := comparisonJSON{Kind: "comparison", Schema: 1}
	start := func(r *result.Run) *string {
		if text := when(r, "2006-01-02T15:04:05Z"); text != "" {
			return &text
		}
		return nil
	}
	for _, s := range c.sides {
		all.Sides = append(all.Sides, sideJSON{s.letter, s.name, s.launches, len(s.runs), start(s.runs[0]), start(s.runs[len(s.runs)-1]), s.rehearsed})
	}
	for _, d := range c.duels {
		all.Duels = append(all.Duels, d.json())
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(all)
}

func (d *duel) json() duelJSON {
	worse, fail := d.exceeded()
	o := duelJSON{Against: d.a.letter, Side: d.b.letter, Alpha: d.standard.Alpha, Confidence: 1 - d.standard.Alpha, Tested: d.Tested, Labellings: d.Labellings, Exact: d.Exact,
		Seed: d.standard.Seed, Counts: map[string]int{}, Exceeded: worse + fail, Points: []pointJSON{}, Findings: []findingJSON{}, Alone: []aloneJSON{}, Facts: []factJSON{}}
	if d.units.paired {
		o.Pairs = &d.units.held
	}
	for _, v := range []stats.Verdict{stats.Better, stats.Worse, stats.Same, stats.CannotTell} {
		o.Counts[v.String()] = d.count(v)
	}
	for _, p := range d.points {
		o.Points = append(o.Points, p.json())
	}
	for _, f := range d.findings {
		o.Findings = append(o.Findings, findingJSON{placeOf(f.under, f.who), string(f.kind), f.a, f.b, f.limited})
	}
	for _, f := range d.alone {
		o.Alone = append(o.Alone, aloneJSON{placeOf(f.under, f.who), f.side.letter})
	}
	for _, f := range d.facts {
		o.Facts = append(o.Facts, factJSON{f.name, orEmpty(f.a), orEmpty(f.b)})
	}
	return o
}

func (p *judged) json() pointJSON {
	o := pointJSON{placeJSON: placeOf(p.under, p.who), A: p.a.json(p.under.Case), B: p.b.json(p.under.Case), Bounds: "none",
		Verdict: p.verdict.Verdict.String(), Margin: p.limit.margin, Exceeded: p.exceeded, Notes: orEmpty(p.notes)}
	if p.verdict.Ratio.N > 0 {
		o.Ratio = &p.verdict.Ratio.Value
	}
	switch p.verdict.Ratio.Basis {
	case stats.AcrossLaunches:
		o.Bounds, o.P = "interval", &p.verdict.P
	case stats.LaunchSpread:
		o.Bounds = "extremes"
	}
	if o.Bounds != "none" {
		o.Lo, o.Hi = &p.verdict.Ratio.Lo, &p.verdict.Ratio.Hi
	}
	if p.verdict.Verdict == stats.CannotTell && p.verdict.More < stats.Hopeless {
		o.More = &p.verdict.More
	}
	if p.limit.failAbove > 0 {
		o.Limit = &p.limit.failAbove
	}
	return o
}

func (t took) json(c coll.Case) tookJSON {
	return tookJSON{t.launches, t.median, t.min, t.max, c.AlgBW(t.median) / 1e9, c.BusBW(t.median) / 1e9}
}

func placeOf(c analysis.Condition, who string) placeJSON {
	return placeJSON{c.Case, c.Nodes, c.PerNode, c.Rotate, c.Aggregate, c.Average, trimWho(who)}
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
