package compare

import (
	"encoding/json"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// The JSON of a comparison; docs/compare.md describes the fields. What is unknown is null.
type (
	documentJSON struct {
		kindJSON           // of collectives
		Steps    *kindJSON `json:"steps"`
	}
	kindJSON struct {
		Sides       []sideJSON       `json:"sides"`
		Comparisons []comparisonJSON `json:"comparisons"`
	}
	sideJSON struct {
		Side      string   `json:"side"`
		Name      string   `json:"name"`
		Launches  []string `json:"launches"`
		Runs      int      `json:"runs"`
		First     *string  `json:"first"`
		Last      *string  `json:"last"`
		Simulated bool     `json:"simulated"`
	}
	comparisonJSON struct {
		Against    string           `json:"against"`
		Side       string           `json:"side"`
		Alpha      float64          `json:"alpha"`
		Confidence float64          `json:"confidence"`
		Pairs      *notice.Held     `json:"pairs"`
		Tested     int              `json:"tested"`
		Labellings int              `json:"labellings"`
		Exact      bool             `json:"exact"`
		Seed       uint64           `json:"seed"`
		Counts     map[string]int   `json:"counts"`
		Exceeded   int              `json:"exceeded"`
		Points     []object         `json:"points"`
		Findings   []object         `json:"findings"`
		Missing    []object         `json:"without_partner"`
		Facts      []differenceJSON `json:"differences"`
	}
	verdictJSON struct {
		Ratio    *float64       `json:"ratio"`
		Lo       *float64       `json:"lo"`
		Hi       *float64       `json:"hi"`
		Bounds   string         `json:"bounds"`
		P        *float64       `json:"p"`
		Verdict  string         `json:"verdict"` // a code: worse, better, same, inconclusive
		More     *int           `json:"more_launches"`
		Margin   float64        `json:"margin"`
		Limit    *float64       `json:"fail_above"`
		Exceeded bool           `json:"exceeded"`
		Notices  []notice.Brief `json:"notices"`
	}
	differenceJSON struct {
		Name string        `json:"name"`
		A    notice.Values `json:"a"`
		B    notice.Values `json:"b"`
	}
)

// object is one object with the fields of several.
type object []any

// MarshalJSON joins the fields.
func (o object) MarshalJSON() ([]byte, error) {
	all := []byte("{")
	for _, part := range o {
		text, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		if len(all) > 1 {
			all = append(all, ',')
		}
		all = append(all, text[1:len(text)-1]...)
	}
	return append(all, '}'), nil
}

// data is the comparison in JSON, beside its notices.
func (c Comparison) data() *documentJSON {
	all := &documentJSON{kindJSON: kindJSON{[]sideJSON{}, []comparisonJSON{}}}
	for _, one := range c {
		if one.kind == collectives {
			all.kindJSON = one.json()
		} else {
			steps := one.json()
			all.Steps = &steps
		}
	}
	return all
}

func (c *comparedSides) json() (all kindJSON) {
	for _, s := range c.sides {
		all.Sides = append(all.Sides, sideJSON{
			s.letter, s.name, s.launches, len(s.runs), startJSON(s.runs[0]), startJSON(s.runs[len(s.runs)-1]),
			s.rehearsed,
		})
	}
	all.Comparisons = units.Map(c.comparisons, (*sideComparison).json)
	return all
}

func startJSON(r *result.Run) *string {
	if r.Start.IsZero() {
		return nil
	}
	return new(r.Start.UTC().Format(time.RFC3339))
}

func (d *sideComparison) json() comparisonJSON {
	worse, fail := d.exceeded()
	o := comparisonJSON{
		Against: d.a.letter, Side: d.b.letter, Alpha: d.standard.Alpha, Confidence: 1 - d.standard.Alpha,
		Tested: d.Tested, Labellings: d.Labellings, Exact: d.Exact, Seed: d.standard.Seed, Counts: map[string]int{},
		Exceeded: worse + fail, Points: []object{}, Findings: []object{}, Missing: []object{},
		Facts: []differenceJSON{},
	}
	if d.units.paired {
		o.Pairs = &d.units.held
	}
	for _, v := range verdicts {
		o.Counts[v.String()] = d.points.count(v)
	}
	for _, p := range d.points {
		both := map[string]any{"a": p.of.timesJSON(p.a), "b": p.of.timesJSON(p.b)}
		o.Points = append(o.Points, object{p.of.place(), both, p.json(d.limits)})
	}
	for _, f := range d.findings {
		o.Findings = append(o.Findings, object{f.of.place(), f})
	}
	for _, m := range d.missing {
		o.Missing = append(o.Missing, object{m.of.place(), map[string]string{"side": m.side.letter}})
	}
	for _, n := range d.notices {
		if f, is := n.Fact.(notice.SidesDiffer); is {
			o.Facts = append(o.Facts, differenceJSON{f.Property, orEmpty(f.A), orEmpty(f.B)})
		}
	}
	return o
}

func (p *judged) json(l Limits) verdictJSON {
	o := verdictJSON{
		Bounds: "none", Verdict: p.verdict.Verdict.String(), Margin: l.Margin, Exceeded: p.exceeded,
		Notices: p.notes.Briefs(),
	}
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
	if m := p.verdict.More; m > 0 && m < stats.Hopeless {
		o.More = &p.verdict.More
	}
	if l.FailAbove > 0 {
		o.Limit = &l.FailAbove
	}
	return o
}

func orEmpty(v notice.Values) notice.Values {
	if v == nil {
		return notice.Values{}
	}
	return v
}
