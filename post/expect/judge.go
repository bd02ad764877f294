package expect

import (
	"cmp"
	"math"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// Verdict is how a bandwidth compares with the published ones.
type Verdict string

// The verdicts.
const (
	Below       Verdict = "below"
	Within      Verdict = "within"
	Above       Verdict = "above"
	NoReference Verdict = "no-reference"
)

const (
	// enoughSources is how many independent sources a verdict needs.
	enoughSources = 3
	// tolerance is how far outside the range of published values a value is still normal. With it the leave-one-out
	// test passes (TestLeaveOneOut).
	tolerance = 0.15
	// sameSize is the ratio up to which sizes count as equal: powers of two and of ten.
	sameSize = 1.1
)

// Point is the verdict on one size.
type Point struct {
	notice.Value
	Verdict Verdict
	Sources []Row   // one of each source, lowest first
	Median  float64 // bytes per second, of the sources
}

// Lowest is the lowest value of the sources, in bytes per second.
func (p Point) Lowest() float64 { return p.Sources[0].BusBW }

// Highest is the highest value of the sources, in bytes per second.
func (p Point) Highest() float64 { return p.Sources[len(p.Sources)-1].BusBW }

// near reports whether sizes are within a factor of two.
func near(a, b int64) bool { return a <= 2*b && b <= 2*a }

// judge compares one value with the measured rows of its shape, of each source the one of the nearest size. Where
// enough sources have that size, only these count.
func (all Reference) judge(s Shape, v notice.Value) Point {
	size := int64(v.Size)
	distance := func(r Row) float64 { return math.Abs(math.Log2(float64(r.Size) / float64(size))) }
	by := map[string][]Row{}
	for _, r := range all {
		if r.Kind == Measured && near(r.Size, size) && r.Comparable(s) {
			by[r.origin()] = append(by[r.origin()], r)
		}
	}
	p := Point{Value: v, Verdict: NoReference}
	lowest := func(a, b Row) int { return cmp.Compare(a.BusBW, b.BusBW) }
	for _, rows := range by {
		slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(distance(a), distance(b)), lowest(a, b)) })
		n := 1
		for n < len(rows) && distance(rows[n]) == distance(rows[0]) {
			n++
		}
		p.Sources = append(p.Sources, rows[n/2])
	}
	if same := slices.DeleteFunc(slices.Clone(p.Sources), func(r Row) bool {
		return distance(r) > math.Log2(sameSize)
	}); len(same) >= enoughSources {
		p.Sources = same
	}
	slices.SortFunc(p.Sources, func(a, b Row) int { return cmp.Or(lowest(a, b), cmp.Compare(a.Source, b.Source)) })
	if len(p.Sources) < enoughSources || !surrounded(p.Sources, size) {
		return p
	}
	var values []float64
	for _, r := range p.Sources {
		values = append(values, r.BusBW)
	}
	p.Median = stats.Median(values)
	switch busBW := float64(v.BusBW); {
	case busBW < p.Lowest()*(1-tolerance):
		p.Verdict = Below
	case busBW > p.Highest()*(1+tolerance):
		p.Verdict = Above
	default:
		p.Verdict = Within
	}
	return p
}

// surrounded reports whether a size is not beyond those of the sources: small messages of half the size have half the
// bandwidth.
func surrounded(rows []Row, size int64) bool {
	smaller := func(r Row) bool { return float64(r.Size) <= sameSize*float64(size) }
	larger := func(r Row) bool { return sameSize*float64(r.Size) >= float64(size) }
	return slices.ContainsFunc(rows, smaller) && slices.ContainsFunc(rows, larger)
}

// Answer is the verdict on a curve: that of its largest size with enough sources.
type Answer struct {
	Curve  *analysis.Curve
	Shape  Shape
	Points []Point // of sizes with enough sources, ascending
	Omit   int     // sizes without
	Limits []Row   // thresholds and claims about the shape
	Notice notice.Notice
}

// Judge compares a curve. fabric is the network between several nodes; "": that of the record.
func (all Reference) Judge(c *analysis.Curve, fabric string) Answer {
	a := Answer{Curve: c}
	shape, gap := shapeOf(c, fabric)
	a.Shape = shape
	most := 0
	for i := range c.Points {
		if gap != nil {
			break
		}
		v := notice.Value{Size: units.Bytes(c.Points[i].SizeBytes), BusBW: units.Bandwidth(c.BusBW(i)),
			Time: units.Seconds(c.Points[i].Time.Value)}
		p := all.judge(shape, v)
		most = max(most, len(p.Sources))
		if p.Verdict != NoReference {
			a.Points = append(a.Points, p)
		}
	}
	a.Omit = len(c.Points) - len(a.Points)
	if gap == nil && len(a.Points) == 0 {
		gap = &notice.NoPublished{Reason: notice.TooFewSources, Of: shape.String(), Sources: most}
	}
	for _, r := range all {
		if r.Kind != Measured && r.covers(shape, a.size()) {
			a.Limits = append(a.Limits, r)
		}
	}
	a.Notice = notice.New(a.fact(gap))
	a.Notice.At.Subject = c.Title()
	return a
}

// Decisive is the point whose verdict is that of the curve; nil: there is none.
func (a Answer) Decisive() *Point {
	if len(a.Points) == 0 {
		return nil
	}
	return &a.Points[len(a.Points)-1]
}

// size is that of the decisive point, else the largest.
func (a Answer) size() int64 {
	if p := a.Decisive(); p != nil {
		return int64(p.Size)
	}
	return a.Curve.Points[len(a.Curve.Points)-1].SizeBytes
}

// Verdict is that of the curve.
func (a Answer) Verdict() Verdict {
	if p := a.Decisive(); p != nil {
		return p.Verdict
	}
	return NoReference
}

func (a Answer) fact(gap *notice.NoPublished) notice.Fact {
	p := a.Decisive()
	if p == nil {
		return *gap
	}
	is := notice.Published{At: p.Value, Lowest: units.Bandwidth(p.Lowest()), Highest: units.Bandwidth(p.Highest()),
		Sources: len(p.Sources)}
	switch p.Verdict {
	case Below:
		return notice.BelowPublished{Published: is}
	case Above:
		return notice.AbovePublished{Published: is}
	}
	return notice.WithinPublished{Published: is}
}

// severity orders verdicts, the worst first.
var severity = []Verdict{Below, Within, Above, NoReference}

// Worst orders answers: the worst verdict first.
func Worst(a, b Answer) int {
	return cmp.Compare(slices.Index(severity, a.Verdict()), slices.Index(severity, b.Verdict()))
}

// Headline is the worst verdict on curves of which the record has the shape, for documents on other matters; nil where
// there is none.
func Headline(curves []*analysis.Curve) *notice.Notice {
	var worst *Answer
	var table Reference
	for _, c := range curves {
		if _, gap := shapeOf(c, ""); gap != nil {
			continue
		}
		if table == nil {
			table = Published()
		}
		if a := table.Judge(c, ""); a.Decisive() != nil && (worst == nil || Worst(a, *worst) < 0) {
			worst = &a
		}
	}
	if worst == nil {
		return nil
	}
	return &worst.Notice
}

// Rows are the values of a curve as rows of a table, with the launches as source; nil where its shape is not known.
func (a Answer) Rows() (rows []Row) {
	switch n, none := a.Notice.Fact.(notice.NoPublished); {
	case none && n.Reason != notice.TooFewSources:
		return nil
	}
	run := a.Curve.Runs[0]
	date := ""
	if !run.Start.IsZero() {
		date = run.Start.UTC().Format("2006-01-02")
	}
	for i, p := range a.Curve.Points {
		rows = append(rows, Row{Shape: a.Shape, Size: p.SizeBytes, BusBW: a.Curve.BusBW(i), Kind: Measured,
			System: run.Machine.Host, Source: "launch " + run.Launch, Date: date})
	}
	return rows
}
