package compare

import (
	"maps"
	"reflect"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/step"
	"busbar/internal/units"
)

// sideComparison is one side compared with the first.
type sideComparison struct {
	*kind
	limits   Limits
	a, b     *side
	standard stats.Standard
	units    launchUnits
	stats.Comparison
	points   pointList
	findings []finding
	missing  []missing
	notices  []notice.Notice // but for those of single points
}

// pointList is the points of a comparison, table by table.
type pointList []judged

// judged is one point that both sides have a time of.
type judged struct {
	of       point
	a, b     launchTimes
	verdict  stats.Compared
	exceeded bool
	notes    notice.List
}

// launchTimes is the times of one side over its launches, in seconds, as they are in the JSON.
type launchTimes struct {
	Launches int     `json:"launches"`
	Time     float64 `json:"time_s"` // the median; of a training step the overlapped one
	Min      float64 `json:"min_s"`
	Max      float64 `json:"max_s"`
	comm     float64 // medians too, of a training step
	exposed  float64
}

// finding is a point that did not come out alike on both sides, apart from its time, as it is in the JSON.
type finding struct {
	of       point
	Outcome  notice.Outcome `json:"finding"`
	A        notice.Result  `json:"a"`
	B        notice.Result  `json:"b"`
	Exceeded bool           `json:"exceeded"` // the point counts for --fail-above
}

// missing is a point that one side has no record of.
type missing struct {
	of   point
	side *side // that has it
}

// count is the number of points with a verdict.
func (l pointList) count(v stats.Verdict) (n int) {
	for _, p := range l {
		if p.verdict.Verdict == v {
			n++
		}
	}
	return n
}

// exceeded counts what --fail-above is for: points that are worse by more, and points that fail now.
func (d *sideComparison) exceeded() (worse, fail int) {
	for _, p := range d.points {
		if p.exceeded {
			worse++
		}
	}
	for _, f := range d.findings {
		if f.Exceeded {
			fail++
		}
	}
	return worse, fail
}

// alpha is the family-wise false-positive rate.
func (o *Options) alpha() float64 {
	if o.Strict {
		return stats.StrictAlpha
	}
	return stats.DefaultAlpha
}

// judge compares one side with the first.
func (c *comparedSides) judge(g *gathered, a, b *side, o *Options) *sideComparison {
	alpha := o.alpha()
	d := &sideComparison{kind: c.kind, limits: o.Limits, a: a, b: b, units: unitsOf(a, b, alpha)}
	d.standard = stats.Standard{Alpha: alpha, Paired: d.units.paired, Seed: o.Seed}
	var trials []stats.Trial
	for _, p := range g.points {
		ofA, ofB := a.entries[p], b.entries[p]
		switch {
		case len(ofA) == 0 && len(ofB) == 0:
			continue
		case len(ofA) == 0:
			d.missing = append(d.missing, missing{p, b})
			continue
		case len(ofB) == 0:
			d.missing = append(d.missing, missing{p, a})
			continue
		}
		if o := outcomeOf(ofA, ofB); o != "" {
			exceeded := d.limits.FailAbove > 0 && (o == notice.FailsNow || o == notice.PartlyFailed)
			d.findings = append(d.findings, finding{p, o, resultOf(ofA), resultOf(ofB), exceeded})
		}
		timesA, timesB := medians(ofA, seconds), medians(ofB, seconds)
		if len(timesA) == 0 || len(timesB) == 0 {
			continue
		}
		j := judged{of: p, a: timesOf(timesA, ofA), b: timesOf(timesB, ofB)}
		for _, s := range []*side{a, b} {
			if why := s.crowd[p.shape()]; why != nil && !slices.ContainsFunc(j.notes, func(k notice.Kept) bool {
				return reflect.DeepEqual(k.Fact, why)
			}) {
				j.notes.Add(why)
			}
		}
		d.points = append(d.points, j)
		trials = append(trials, stats.Trial{
			A: spread(d.units.a, timesA), B: spread(d.units.b, timesB), Margin: d.limits.Margin,
		})
	}
	d.Comparison = stats.Compare(trials, d.standard)
	for i := range d.points {
		d.points[i].conclude(d, d.Comparison.Points[i])
	}
	d.conclude()
	return d
}

// conclude sets the verdict of a point, with its notices.
func (p *judged) conclude(d *sideComparison, verdict stats.Compared) {
	p.verdict = verdict
	if d.a.sameRuns(d.b) {
		p.verdict.More = 0 // no number of launches would decide it
	}
	if verdict.Ratio.N == 0 {
		p.notes.Add(notice.NoPair{Held: d.units.held})
	}
	over := d.limits.FailAbove > 0 && verdict.Ratio.Value > 1+d.limits.FailAbove
	if p.exceeded = over && verdict.Verdict == stats.Worse; p.exceeded {
		p.notes.Add(notice.LimitExceeded{Limit: notice.Share(d.limits.FailAbove)})
	}
}

func seconds(e *entry) float64 { return e.seconds }

// medians are the values of a point by launch: the median over the cycles of a soak. Launches without a record that is
// ok have none.
func medians(records []entry, of func(*entry) float64) map[int]float64 {
	cycles := map[int][]float64{}
	for e := range units.Each(records) {
		if e.status == result.OK {
			cycles[e.launch] = append(cycles[e.launch], of(e))
		}
	}
	values := map[int]float64{}
	for launch, all := range cycles {
		values[launch] = stats.Median(all)
	}
	return values
}

// timesOf are the times of a side by launch, and of a training step what is shown beside them.
func timesOf(times map[int]float64, records []entry) launchTimes {
	all := slices.Sorted(maps.Values(times))
	t := launchTimes{Launches: len(all), Time: stats.Median(all), Min: all[0], Max: all[len(all)-1]}
	overLaunches := func(of func(*step.Figures) float64) float64 {
		return stats.Median(slices.Collect(maps.Values(medians(records, func(e *entry) float64 { return of(e.step) }))))
	}
	if slices.ContainsFunc(records, func(e entry) bool { return e.step != nil }) {
		t.comm = overLaunches(func(f *step.Figures) float64 { return f.Comm.Value })
		t.exposed = overLaunches(func(f *step.Figures) float64 { return f.Exposed.Value })
	}
	return t
}

// launchUnits are what is compared with what: launches, or pairs of them.
type launchUnits struct {
	paired bool        // both sides were measured in the same launches or blocks, and in enough of them
	a, b   []int       // the launches of a side, by column; of pairs both have as many
	held   notice.Held // what pairs are: launch or block
	fewest int         // launches a side, or pairs, that a verdict takes
}

// spread puts times by launch into columns; 0 is none.
func spread(columns []int, times map[int]float64) (row []float64) {
	for _, launch := range columns {
		row = append(row, times[launch])
	}
	return row
}

// unitsOf pairs launches where both sides were measured in the same ones, or in the same blocks of a campaign, and
// where such pairs are enough for a verdict, or both sides are the same runs. Fewer pairs are treated as unpaired: a
// significant difference is then less likely, never more, as long as what the launches share affects both sides alike.
func unitsOf(a, b *side, alpha float64) launchUnits {
	u := launchUnits{fewest: stats.FewestLaunches(alpha, true), held: "launch"}
	if slices.ContainsFunc(a.runs, func(r *result.Run) bool { return r.Block != "" }) {
		u.held = "block"
	}
	for i, launch := range a.launches {
		if n, shared := b.number[launch]; shared {
			u.a, u.b = append(u.a, i), append(u.b, n)
		}
	}
	if u.paired = len(u.a) >= u.fewest || a.sameRuns(b); u.paired {
		return u
	}
	u.fewest, u.a, u.b = stats.FewestLaunches(alpha, false), nil, nil
	for i := range a.launches {
		u.a = append(u.a, i)
	}
	for i := range b.launches {
		u.b = append(u.b, i)
	}
	return u
}

// failed reports whether a status is one of something that went wrong.
func failed(s result.Status) bool {
	return s == result.OOM || s == result.Timeout || s == result.Wrong || s == result.Failed
}

// shares are the share of launches in which a point failed, and whether any has a time.
func shares(records []entry) (fails float64, timed bool) {
	launches, bad := map[int]bool{}, map[int]bool{}
	for _, e := range records {
		launches[e.launch] = true
		if failed(e.status) {
			bad[e.launch] = true
		}
		timed = timed || e.status == result.OK
	}
	return float64(len(bad)) / float64(len(launches)), timed
}

// outcomeOf is how the statuses of a point differ; "" where all launches of both sides have a time, or none has.
func outcomeOf(a, b []entry) notice.Outcome {
	failA, timedA := shares(a)
	failB, timedB := shares(b)
	switch {
	case failA == 0 && failB > 0:
		return notice.FailsNow
	case failA > 0 && failB == 0:
		return notice.WorksNow
	case failB > failA:
		return notice.PartlyFailed
	case failA > 0:
		return notice.FailsInBoth
	case timedA && !timedB:
		return notice.NotMeasured
	case !timedA && timedB:
		return notice.MeasuredNow
	}
	return ""
}

// resultOf is in how many launches a point had which status, with the first reason.
func resultOf(records []entry) (r notice.Result) {
	for _, same := range units.GroupBy(records, func(e entry) result.Status { return e.status }) {
		launches := map[int]bool{}
		for _, e := range same {
			launches[e.launch] = true
		}
		r.Launches = append(r.Launches, notice.StatusCount{Status: string(same[0].status), Launches: len(launches)})
	}
	for _, e := range records {
		if r.Cause.Fact == nil {
			r.Cause.Fact, r.Reason = e.cause, notice.Reason(e.cause)
		}
	}
	return r
}
