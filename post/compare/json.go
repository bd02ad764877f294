package compare

import (
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/step"
)

// The JSON of a comparison; docs/compare.md describes the fields. What is not known is null.
type (
	// JSON is the data of the document.
	JSON struct {
		sidesJSON[PointJSON, findingJSON, MissingJSON]
		Steps *sidesJSON[stepPointJSON, stepFindingJSON, stepMissingJSON] `json:"steps"`
	}
	sidesJSON[P, F, L any] struct {
		Sides       []sideJSON                    `json:"sides"`
		Comparisons []sideComparisonJSON[P, F, L] `json:"comparisons"`
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
	sideComparisonJSON[P, F, L any] struct {
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
		Points     []P              `json:"points"`
		Findings   []F              `json:"findings"`
		Missing    []L              `json:"without_partner"`
		Facts      []DifferenceJSON `json:"differences"`
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
	// StepPlaceJSON is what a training step is compared under. It has many fields because it is one object of the JSON.
	StepPlaceJSON struct {
		Model  string  `json:"model"`
		Text   *string `json:"model_text"` // digest of the model's YAML
		Params int64   `json:"params"`
		Layers int     `json:"layers"`
		step.Point
		World     int     `json:"world"`
		Nodes     int     `json:"nodes"`
		PerNode   int     `json:"ranks_per_node"`
		Device    string  `json:"device"`
		Computing string  `json:"computing"`
		Forward   float64 `json:"forward_s"`
		Backward  float64 `json:"backward_s"`
		Optimizer float64 `json:"optimizer_s"`
		First     int64   `json:"first_bucket_bytes"`
		Interval  float64 `json:"poll_interval_s"`
		Of        string  `json:"of"`
	}
	// PointJSON is a point of a collective.
	PointJSON struct {
		placeJSON
		A collectiveTimesJSON `json:"a"`
		B collectiveTimesJSON `json:"b"`
		VerdictJSON
	}
	stepPointJSON struct {
		StepPlaceJSON
		A stepTimesJSON `json:"a"`
		B stepTimesJSON `json:"b"`
		VerdictJSON
	}
	// VerdictJSON is what is found of a point.
	VerdictJSON struct {
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
	// TimeJSON is the times of one side.
	TimeJSON struct {
		Launches int     `json:"launches"`
		Time     float64 `json:"time_s"` // of a training step the overlapped one
		Min      float64 `json:"min_s"`
		Max      float64 `json:"max_s"`
	}
	collectiveTimesJSON struct {
		TimeJSON
		AlgBW float64 `json:"algbw_GBps"`
		BusBW float64 `json:"busbw_GBps"`
	}
	stepTimesJSON struct {
		TimeJSON
		Comm    float64 `json:"comm_s"`
		Exposed float64 `json:"exposed_s"`
	}
	findingJSON struct {
		placeJSON
		outcomeJSON
	}
	stepFindingJSON struct {
		StepPlaceJSON
		outcomeJSON
	}
	outcomeJSON struct {
		Outcome  notice.Outcome `json:"finding"`
		A        notice.Result  `json:"a"`
		B        notice.Result  `json:"b"`
		Exceeded bool           `json:"exceeded"`
	}
	// MissingJSON is a point of a collective that one side has no record of.
	MissingJSON struct {
		placeJSON
		Side string `json:"side"`
	}
	stepMissingJSON struct {
		StepPlaceJSON
		Side string `json:"side"`
	}
	// DifferenceJSON is a property of the launches in which the sides differ.
	DifferenceJSON struct {
		Name string   `json:"name"`
		A    []string `json:"a"`
		B    []string `json:"b"`
	}
)

// data is the comparison in JSON, beside its notices.
func (c Comparison) data() *JSON {
	all := &JSON{}
	all.Sides, all.Comparisons = []sideJSON{}, []sideComparisonJSON[PointJSON, findingJSON, MissingJSON]{}
	for _, one := range c {
		switch one.kind {
		case collectives:
			all.sidesJSON = jsonOf(one, jsonOfPoint, jsonOfFinding, jsonOfMissing)
		case trainingSteps:
			steps := jsonOf(one, jsonOfStep, jsonOfStepFinding, jsonOfStepMissing)
			all.Steps = &steps
		}
	}
	return all
}

// jsonOf makes a part of the object; what is written of points depends on what they are of.
func jsonOf[P, F, L any](
	c *comparedSides, point func(*judged) P, found func(*finding) F, without func(*missing) L,
) (all sidesJSON[P, F, L]) {
	for _, s := range c.sides {
		first, last := jsonOfStart(s.runs[0]), jsonOfStart(s.runs[len(s.runs)-1])
		all.Sides = append(all.Sides, sideJSON{s.letter, s.name, s.launches, len(s.runs), first, last, s.rehearsed})
	}
	for _, d := range c.comparisons {
		worse, fail := d.exceeded()
		o := sideComparisonJSON[P, F, L]{
			Against: d.a.letter, Side: d.b.letter, Alpha: d.standard.Alpha, Confidence: 1 - d.standard.Alpha,
			Tested: d.Tested, Labellings: d.Labellings, Exact: d.Exact, Seed: d.standard.Seed, Counts: map[string]int{},
			Exceeded: worse + fail, Points: []P{}, Findings: []F{}, Missing: []L{}, Facts: []DifferenceJSON{},
		}
		if d.units.paired {
			o.Pairs = &d.units.held
		}
		for _, v := range verdicts {
			o.Counts[v.String()] = d.points.count(v)
		}
		for i := range d.points {
			o.Points = append(o.Points, point(&d.points[i]))
		}
		for i := range d.findings {
			o.Findings = append(o.Findings, found(&d.findings[i]))
		}
		for i := range d.missing {
			o.Missing = append(o.Missing, without(&d.missing[i]))
		}
		for _, n := range d.notices {
			if f, is := n.Fact.(notice.SidesDiffer); is {
				o.Facts = append(o.Facts, DifferenceJSON{f.Property, orEmpty(f.A), orEmpty(f.B)})
			}
		}
		all.Comparisons = append(all.Comparisons, o)
	}
	return all
}

func jsonOfStart(r *result.Run) *string {
	if text := when(r, "2006-01-02T15:04:05Z"); text != "" {
		return &text
	}
	return nil
}

func jsonOfPoint(p *judged) PointJSON {
	c := p.of.(collective)
	times := func(t launchTimes) collectiveTimesJSON {
		return collectiveTimesJSON{t.json(), c.AlgBW(t.median) / 1e9, c.BusBW(t.median) / 1e9}
	}
	return PointJSON{c.json(), times(p.a), times(p.b), p.json()}
}

func jsonOfFinding(f *finding) findingJSON { return findingJSON{f.of.(collective).json(), f.json()} }

func jsonOfMissing(f *missing) MissingJSON {
	return MissingJSON{f.of.(collective).json(), f.side.letter}
}

func jsonOfStep(p *judged) stepPointJSON {
	times := func(t launchTimes) stepTimesJSON { return stepTimesJSON{t.json(), t.comm, t.exposed} }
	return stepPointJSON{p.of.(*trainingStep).json(), times(p.a), times(p.b), p.json()}
}

func jsonOfStepFinding(f *finding) stepFindingJSON {
	return stepFindingJSON{f.of.(*trainingStep).json(), f.json()}
}

func jsonOfStepMissing(f *missing) stepMissingJSON {
	return stepMissingJSON{f.of.(*trainingStep).json(), f.side.letter}
}

func (p *judged) json() VerdictJSON {
	o := VerdictJSON{
		Bounds: "none", Verdict: p.verdict.Verdict.String(), Margin: p.limit.Margin, Exceeded: p.exceeded,
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
	if p.limit.FailAbove > 0 {
		o.Limit = &p.limit.FailAbove
	}
	return o
}

func (t launchTimes) json() TimeJSON { return TimeJSON{t.launches, t.median, t.min, t.max} }

func (f *finding) json() outcomeJSON { return outcomeJSON{f.outcome, f.a, f.b, f.limited} }

func (c collective) json() placeJSON {
	return placeJSON{c.Case, c.Nodes, c.PerNode, c.Rotate, c.Aggregate, c.Average, trimWho(c.who)}
}

func (p *trainingStep) json() StepPlaceJSON {
	o := StepPlaceJSON{Model: p.model, Params: p.params, Layers: p.layers, Point: p.Point, World: p.World, Nodes: p.Nodes, PerNode: p.PerNode, Device: p.device,
		Computing: p.computing, Forward: p.forward, Backward: p.backward, Optimizer: p.optimizer, First: p.first, Interval: p.interval, Of: trimWho(p.who)}
	if p.text != "" {
		o.Text = &p.text
	}
	return o
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
