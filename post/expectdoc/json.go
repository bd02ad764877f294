package expectdoc

import (
	"busbar/internal/units"
	"busbar/post/expect"
)

// The JSON of post expect; docs/expect.md describes the fields.
type (
	documentJSON struct {
		Verdict expect.Verdict `json:"verdict"` // of the worst curve
		Sources []sourceJSON   `json:"sources"` // of that verdict
		Curves  []curveJSON    `json:"curves"`
	}
	sourceJSON struct {
		Source  string      `json:"source"`
		URL     string      `json:"url,omitempty"`
		System  string      `json:"system,omitempty"`
		Kind    expect.Kind `json:"kind"`
		Size    int64       `json:"size_bytes,omitempty"`
		BusBW   float64     `json:"busbw_GBps"`
		Date    string      `json:"date,omitempty"`
		Checked string      `json:"checked,omitempty"`
	}
	curveJSON struct {
		Title   string         `json:"title"`
		GPU     string         `json:"gpu"`
		PerNode int            `json:"ranks_per_node"`
		Nodes   int            `json:"nodes"`
		Fabric  string         `json:"fabric"`
		Verdict expect.Verdict `json:"verdict"`
		Points  []pointJSON    `json:"points"`
		Limits  []sourceJSON   `json:"limits"`
	}
	pointJSON struct {
		Size    units.Bytes    `json:"size_bytes"`
		BusBW   float64        `json:"busbw_GBps"`
		Lowest  float64        `json:"lowest_GBps"`
		Highest float64        `json:"highest_GBps"`
		Median  float64        `json:"median_GBps"`
		Peak    float64        `json:"peak_share,omitempty"` // of 1
		Verdict expect.Verdict `json:"verdict"`
		Sources []sourceJSON   `json:"sources"`
	}
)

func (e *Expected) data() *documentJSON {
	d := &documentJSON{Verdict: e.answers[0].Verdict()}
	if p := e.answers[0].Decisive(); p != nil {
		d.Sources = sourcesJSON(p.Sources)
	}
	for _, a := range e.answers {
		s := a.Shape
		c := curveJSON{Title: a.Curve.Title(), GPU: s.GPU, PerNode: s.PerNode, Nodes: s.Nodes, Fabric: s.Fabric,
			Verdict: a.Verdict(), Limits: sourcesJSON(a.Limits)}
		ceiling := e.ceilings.OfCurve(a.Curve)
		for _, p := range a.Points {
			c.Points = append(c.Points, pointJSON{Size: p.Size, BusBW: float64(p.BusBW) / 1e9, Lowest: p.Lowest() / 1e9,
				Highest: p.Highest() / 1e9, Median: p.Median / 1e9, Peak: ceiling.Share(float64(p.BusBW)),
				Verdict: p.Verdict, Sources: sourcesJSON(p.Sources)})
		}
		d.Curves = append(d.Curves, c)
	}
	return d
}

func sourcesJSON(rows []expect.Row) (all []sourceJSON) {
	for _, r := range rows {
		all = append(all, sourceJSON{Source: r.Source, URL: r.URL(), System: r.System, Kind: r.Kind, Size: r.Size,
			BusBW: r.BusBW / 1e9, Date: r.Date, Checked: r.Checked})
	}
	return all
}
