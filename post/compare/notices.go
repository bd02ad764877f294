package compare

import (
	"cmp"
	"reflect"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/stats"
)

// name is what the notices of a comparison of two sides are about.
func (d *sideComparison) name() string { return d.b.letter + " against " + d.a.letter }

// conclude makes the notices but for those of single points: the most severe first, then what is listed below the
// tables.
func (d *sideComparison) conclude() {
	facts := append([]notice.Fact{d.limitChecked()}, d.differences()...)
	if d.a.sameRuns(d.b) {
		facts = append(facts, notice.SameRuns{Runs: len(d.a.ids)})
	} else {
		facts = append(facts, d.inconclusive(), d.tooFew(), d.basis(), launchOrder(d.a, d.b))
	}
	for _, f := range facts {
		if f != nil {
			d.report(notice.New(f))
		}
	}
	for _, f := range d.outcomes() {
		n := notice.New(f)
		n.Severity = f.Outcome.Severity()
		d.report(n)
	}
	slices.SortStableFunc(d.notices, func(a, b notice.Notice) int { return cmp.Compare(b.Severity, a.Severity) })
	for _, f := range d.unmatched() {
		n := notice.New(f)
		if f.OnlyIn == d.b.letter {
			n.Severity = notice.Info // more than there was
		}
		d.report(n)
	}
	for _, f := range propertiesThatDiffer(d.a, d.b) {
		d.report(notice.New(f))
	}
}

func (d *sideComparison) report(n notice.Notice) {
	if c, is := n.Fact.(notice.LimitChecked); is && c.Worse+c.Failed > 0 {
		n.Severity = notice.Error
	}
	n.At.Subject = d.subject()
	d.notices = append(d.notices, n)
}

// subject is the location of the notices.
func (d *sideComparison) subject() string {
	if d.heading == "" {
		return d.name()
	}
	return d.kind.name + ", " + d.name()
}

// extreme is the point with the largest ratio of those with a verdict, or with the smallest, and how many there are.
func (l pointList) extreme(v stats.Verdict, sign int) (n int, ratio notice.SideRatio, where string) {
	for _, p := range l {
		if p.verdict.Verdict != v {
			continue
		}
		if r := notice.SideRatio(p.verdict.Ratio.Value); n == 0 || sign*cmp.Compare(r, ratio) > 0 {
			ratio, where = r, p.of.name()
		}
		n++
	}
	return n, ratio, where
}

// differences are points that are worse, and points that are better.
func (d *sideComparison) differences() (facts []notice.Fact) {
	if n, ratio, where := d.points.extreme(stats.Worse, 1); n > 0 {
		facts = append(facts, notice.Regression{Points: n, Of: len(d.points), Ratio: ratio, Where: where})
	}
	if n, ratio, where := d.points.extreme(stats.Better, -1); n > 0 {
		facts = append(facts, notice.Speedup{Points: n, Of: len(d.points), Ratio: ratio, Where: where})
	}
	return facts
}

func (d *sideComparison) inconclusive() notice.Fact {
	f := notice.InconclusivePoints{Points: d.points.count(stats.Inconclusive), Of: len(d.points)}
	if f.Points == 0 {
		return nil
	}
	for _, p := range d.points {
		switch c := p.verdict; {
		case c.Verdict != stats.Inconclusive:
		case c.More == stats.Hopeless:
			f.Many++
		default:
			f.More = max(f.More, c.More)
		}
	}
	return f
}

func (d *sideComparison) tooFew() notice.Fact {
	few := len(d.points) - d.Tested
	if few == 0 {
		return nil
	}
	what := notice.LaunchesPerSide
	if d.units.paired {
		what = notice.PairsOfLaunches
	}
	ofA, ofB := len(d.a.launches), len(d.b.launches)
	return notice.LaunchesMissing{
		Points: few, Have: []notice.Having{{Side: d.a.letter, Launches: ofA}, {Side: d.b.letter, Launches: ofB}},
		Needed: d.units.fewest, What: what, Extreme: ofA+ofB > 2,
	}
}

func (d *sideComparison) basis() notice.Fact {
	if d.Tested == 0 {
		return nil
	}
	ways := notice.Assignments{N: d.Labellings, Paired: d.units.paired}
	if !d.Exact {
		ways.Drawn, ways.Seed = true, d.standard.Seed
	}
	alpha := notice.Share(d.standard.Alpha)
	return notice.VerdictBasis{Points: d.Tested, Ways: ways, Alpha: alpha, Confidence: 1 - alpha}
}

// launchOrder reports that the launches of two sides were not interleaved: a change of the machine meanwhile then
// affects one side alone.
func launchOrder(a, b *side) notice.Fact {
	for _, order := range [][2]*side{{a, b}, {b, a}} {
		first, second := order[0], order[1]
		if first.runs[0].Start.IsZero() || second.runs[0].Start.IsZero() { // another tool's file has no start
			continue
		}
		last := first.runs[len(first.runs)-1].Start
		if len(first.launches) > 1 && len(second.launches) > 1 && last.Before(second.runs[0].Start) {
			return notice.LaunchOrder{Earlier: first.letter, Later: second.letter}
		}
	}
	return nil
}

// limitChecked is what --fail-above found; nil where it was not asked for.
func (d *sideComparison) limitChecked() notice.Fact {
	if d.limits.FailAbove == 0 {
		return nil
	}
	f := notice.LimitChecked{Inconclusive: d.points.count(stats.Inconclusive)}
	f.Worse, f.Failed = d.exceeded()
	for _, p := range d.missing {
		if p.side == d.a {
			f.Missing++
		}
	}
	return f
}

// outcomes are the findings; points of a table with the same results share one.
func (d *sideComparison) outcomes() (all []notice.OutcomeDiffers) {
	same := func(f, g finding) bool {
		return f.Outcome == g.Outcome && reflect.DeepEqual(f.A, g.A) && reflect.DeepEqual(f.B, g.B) &&
			f.of.table() == g.of.table()
	}
	for i := 0; i < len(d.findings); {
		f := d.findings[i]
		one := notice.OutcomeDiffers{
			Outcome: f.Outcome, Of: f.of.title(), First: d.a.letter, Before: f.A, Second: d.b.letter, After: f.B,
		}
		for ; i < len(d.findings) && same(f, d.findings[i]); i++ {
			one.Points = append(one.Points, d.findings[i].of.name())
		}
		all = append(all, one)
	}
	return all
}

// unmatched are the points without a partner, by table.
func (d *sideComparison) unmatched() (all []notice.MissingPoints) {
	for _, s := range []*side{d.a, d.b} {
		var last point
		for _, f := range d.missing {
			if f.side != s {
				continue
			}
			if last != f.of.table() {
				all = append(all, notice.MissingPoints{OnlyIn: s.letter, Of: f.of.title()})
				last = f.of.table()
			}
			one := &all[len(all)-1]
			one.Points = append(one.Points, f.of.name())
		}
	}
	return all
}

// simulated reports sides of the simulation.
func simulated(sides []*side) []notice.Notice {
	var with []string
	for _, s := range sides {
		if s.rehearsed {
			with = append(with, s.letter)
		}
	}
	if with == nil {
		return nil
	}
	return []notice.Notice{notice.New(notice.SimulatedSides{Simulated: with})}
}
