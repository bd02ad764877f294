package expect

import (
	"cmp"
	"math"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/analysis"
)

const (
	// enoughSources is how many independent sources a verdict needs.
	enoughSources = 3
	// tolerance is how far outside the range of published values a value is still normal. With it the leave-one-out
	// test passes (TestLeaveOneOut).
	tolerance = 0.15
	// sameSize is up to how many octaves apart sizes count as equal: powers of two and of ten.
	sameSize = 0.14
)

// Point is the verdict on one size.
type Point struct {
	notice.Value
	Verdict notice.PublishedVerdict `json:"verdict"`
	Sources []Row                   `json:"sources"`              // one of each source, lowest first
	Peak    units.Share             `json:"peak_share,omitempty"` // 0: the peak is unknown
}

// Lowest is the lowest value of the sources.
func (p Point) Lowest() units.Bandwidth { return p.Sources[0].BusBW }

// Median is the value in the middle of the sources, the lower of two.
func (p Point) Median() units.Bandwidth { return p.Sources[(len(p.Sources)-1)/2].BusBW }

// Highest is the highest value of the sources.
func (p Point) Highest() units.Bandwidth { return p.Sources[len(p.Sources)-1].BusBW }

// judge compares one value with the measured rows of its shape: of each source the highest of the nearest size. Where
// enough sources have that size, only these count.
func (all Reference) judge(s Shape, v notice.Value) Point {
	octaves := func(r Row) float64 { return math.Log2(float64(r.Size) / float64(v.Size)) }
	apart := func(r Row) float64 { return math.Abs(octaves(r)) }
	p := Point{Value: v, Verdict: notice.NoReference}
	for _, r := range all {
		if r.Kind == Measured && r.Comparable(s) && apart(r) <= 1 {
			p.Sources = append(p.Sources, r)
		}
	}
	slices.SortStableFunc(p.Sources, func(a, b Row) int {
		return cmp.Or(cmp.Compare(apart(a), apart(b)), cmp.Compare(b.BusBW, a.BusBW))
	})
	seen := map[string]bool{}
	same, smaller, larger := 0, false, false // than a source; small messages of half the size have half the bandwidth
	p.Sources = slices.DeleteFunc(p.Sources, func(r Row) bool {
		if seen[r.origin()] {
			return true
		}
		seen[r.origin()] = true
		smaller, larger = smaller || octaves(r) > -sameSize, larger || octaves(r) < sameSize
		if apart(r) < sameSize {
			same++
		}
		return false
	})
	if len(p.Sources) < enoughSources || !smaller || !larger {
		return p
	}
	if same >= enoughSources {
		p.Sources = p.Sources[:same]
	}
	units.SortBy(p.Sources, func(r Row) units.Bandwidth { return r.BusBW })
	switch {
	case v.BusBW < p.Lowest()*(1-tolerance):
		p.Verdict = notice.BelowPublished
	case v.BusBW > p.Highest()*(1+tolerance):
		p.Verdict = notice.AbovePublished
	default:
		p.Verdict = notice.WithinPublished
	}
	return p
}

// Answer is the verdict on a curve: that of its largest size with enough sources.
type Answer struct {
	Title string `json:"title"`
	Shape
	Verdict notice.PublishedVerdict `json:"verdict"`
	Points  []Point                 `json:"points"` // of sizes with enough sources, ascending
	Limits  []Row                   `json:"limits"` // thresholds and claims about the shape
	Notice  notice.Notice           `json:"-"`
	Own     Reference               `json:"-"` // the values as rows of a table; nil: the shape is not known
}

// Judge compares a curve. The fabrics are what the user stated and what the log names; "": that of the record.
func (all Reference) Judge(c *analysis.Curve, stated, logged string, peak analysis.Ceiling) Answer {
	a := Answer{Title: c.Title(), Verdict: notice.NoReference}
	var gap notice.ReferenceGap
	if a.Shape, gap = shapeOf(c, stated, logged); gap != "" {
		a.Notice = notice.New(notice.NoPublished{Reason: gap, Of: c.Device})
		a.Notice.At.Subject = a.Title
		return a
	}
	none := notice.NoPublished{Reason: notice.TooFewSources, Of: a.Shape.String()}
	for i := range c.Points {
		at := c.Points[i]
		times := at.Launches
		if times == nil {
			times = []float64{at.Time.Value}
		}
		for launch, t := range times {
			a.Own = append(a.Own, Row{Shape: a.Shape, Size: at.SizeBytes, BusBW: units.Bandwidth(c.Case(i).BusBW(t)),
				Kind: Measured, System: c.Runs[0].Machine.Host, Source: "launch " + c.Launches[launch]})
		}
		p := all.judge(a.Shape, notice.Value{Size: units.Bytes(at.SizeBytes), BusBW: units.Bandwidth(c.BusBW(i)),
			Time: units.Seconds(at.Time.Value)})
		p.Peak = units.Share(peak.Share(c.BusBW(i)))
		none.Sources = max(none.Sources, len(p.Sources))
		if p.Verdict != notice.NoReference {
			a.Points = append(a.Points, p)
		}
	}
	for _, r := range all {
		if r.Kind != Measured && r.covers(a.Shape) {
			a.Limits = append(a.Limits, r)
		}
	}
	if a.Notice = notice.New(none); len(a.Points) > 0 {
		p := a.Decisive()
		a.Verdict = p.Verdict
		a.Notice = notice.New(notice.Published{Verdict: p.Verdict, At: p.Value, Lowest: p.Lowest(),
			Highest: p.Highest(), Sources: len(p.Sources)})
		if p.Verdict == notice.BelowPublished {
			a.Notice.Severity = notice.Warning
		}
	}
	a.Notice.At.Subject = a.Title
	return a
}

// Decisive is the point whose verdict is that of the curve. There must be one.
func (a Answer) Decisive() Point { return a.Points[len(a.Points)-1] }

// Worst orders answers: the worst verdict first.
func Worst(a, b Answer) int {
	order := func(a Answer) int { return slices.Index(notice.PublishedVerdicts, a.Verdict) }
	return cmp.Compare(order(a), order(b))
}

// Headline is the worst verdict on curves of which the record has the shape, for documents on other matters; nil where
// there is none.
func Headline(curves []*analysis.Curve) *notice.Notice {
	var all []Answer
	for _, c := range curves {
		if _, gap := shapeOf(c, "", ""); gap == "" {
			all = append(all, Published().Judge(c, "", "", analysis.Ceiling{}))
		}
	}
	if slices.SortStableFunc(all, Worst); len(all) == 0 || all[0].Verdict == notice.NoReference {
		return nil
	}
	return &all[0].Notice
}
