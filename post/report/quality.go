package report

import (
	"cmp"
	"fmt"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// quality collects what is known of the quality of values.
type quality struct {
	checks   map[string]int
	misses   tallies[missKey]
	warnings tallies[notice.Kind]
	passed   tallies[notice.Lack] // imported ones that lack something, by what
	groups   int                  // measured by single groups of nodes
	wrong    notice.WrongData
	wrongIn  *place // of the first
}

// missKey is what points without a value share that are counted together.
type missKey struct {
	status result.Status
	reason notice.Kind
}

// mostTallies is how many are counted separately; the rest is one.
const mostTallies = 200

// tallies count by some key, with the fact of the first.
type tallies[K comparable] struct {
	of    map[K]*tallied
	order []K
	more  int // of keys that are too many
}

type tallied struct {
	*place
	fact notice.Fact
}

// at is the tally of a key; nil where there are too many.
func (t *tallies[K]) at(key K, fact notice.Fact) *tallied {
	if t.of == nil {
		t.of = map[K]*tallied{}
	}
	one := t.of[key]
	if one == nil {
		if len(t.of) == mostTallies {
			t.more++
			return nil
		}
		one = &tallied{newPlace(), fact}
		t.of[key] = one
		t.order = append(t.order, key)
	}
	return one
}

func (q *quality) add(g *gathered, r *result.Record) {
	if q.checks == nil {
		q.checks = map[string]int{}
	}
	if r.Status == result.OK || r.Status == result.Wrong {
		q.checks[cmp.Or(r.Check.Result, "none")]++
	}
	q.miss(r, func(one *place) { one.add(g.number, r) })
	if r.Status == result.Wrong {
		q.wrongAt(g.number, r)
	}
	for _, k := range r.Warnings {
		if one := q.warnings.at(k.Kind(), k.Fact); one != nil {
			one.add(g.number, r)
		}
	}
}

// miss counts a point without a valid value.
func (q *quality) miss(r *result.Record, count func(*place)) {
	if r.Status == result.OK {
		return
	}
	why := missReason(r)
	if one := q.misses.at(missKey{r.Status, notice.Kept{Fact: why}.Kind()}, why); one != nil {
		count(one.place)
	}
}

// wrongAt takes a point with wrong data.
func (q *quality) wrongAt(number int, r *result.Record) {
	w := &q.wrong
	if w.Points++; w.Points > 1 {
		return
	}
	q.wrongIn = newPlace()
	q.wrongIn.add(number, r)
	if first := r.Check.First; first != nil {
		w.First = wrongElement(first)
	} else {
		w.Cause.Fact = r.Why.Fact()
	}
}

// addStep takes a point of a training step.
func (q *quality) addStep(number int, r *result.StepRecord) {
	if q.checks == nil {
		q.checks = map[string]int{}
	}
	if r.Status == result.OK || r.Status == result.Wrong || r.Status == result.Unfinished {
		q.checks[cmp.Or(r.Check.Result, "none")]++
	}
	count := func(p *place) {
		if p.inRun(number); !slices.Contains(p.operations, ofSteps) {
			p.operations = append(p.operations, ofSteps)
		}
	}
	q.miss(&result.Record{Status: r.Status, Why: r.Why, Needed: r.Needed, Check: r.Check}, count)
	for _, k := range r.Warnings {
		if one := q.warnings.at(k.Kind(), k.Fact); one != nil {
			count(one.place)
		}
	}
}

// ofSteps stands in the place of an operation.
const ofSteps = "training steps"

// passOver counts a point that has no place on a curve, although it may have a time.
func (q *quality) passOver(g *gathered, r *result.Record) {
	switch why := r.Lacks(); {
	case !r.Timed():
	case r.Group != nil:
		q.groups++
	case why != (notice.Lack{}):
		if one := q.passed.at(why, notice.PointsNotPlotted{Lack: why}); one != nil {
			one.add(g.number, r)
		}
	}
}

// missReason is why a point has no valid value; nil where that is not recorded.
func missReason(r *result.Record) notice.Fact {
	switch first := r.Check.First; {
	case first != nil:
		return notice.WrongValue{WrongElement: wrongElement(first)}
	case r.Why.Fact() != nil:
		return r.Why.Fact()
	case r.Needed > 0:
		return notice.MemoryNeeded{Bytes: units.Bytes(r.Needed)}
	}
	return notice.Recorded{}
}

func wrongElement(w *result.Wrong1) notice.WrongElement {
	return notice.WrongElement{Rank: w.Rank, Host: w.Host, Index: w.Index, Got: w.Got, Want: w.Want}
}

// checkWords explain what became of the check.
var checkWords = map[string]string{
	"ok":      "checked, correct",
	"wrong":   "WRONG DATA",
	"off":     "not checked (off)",
	"none":    "not checked",
	"unknown": "check not recorded",
}

func (b *builder) addQuality(r *Report, f analysed) {
	q, to := &b.quality, &r.Quality
	for _, word := range []string{"wrong", "ok", "off", "none", "unknown"} {
		if n := q.checks[word]; n > 0 {
			to.Checks = append(to.Checks, Count{checkWords[word], n})
		}
	}
	for _, key := range q.misses.order {
		one := q.misses.of[key]
		to.Misses = append(to.Misses, Miss{string(key.status), notice.Message(one.fact), one.n, one.words(len(b.runs))})
	}
	slices.SortStableFunc(to.Misses, func(x, y Miss) int {
		return cmp.Compare(statusRank(x.Status), statusRank(y.Status))
	})
	if n := q.misses.more; n > 0 {
		to.Misses = append(to.Misses, Miss{"other", "not listed", n, inMerged})
	}
	to.Warnings = append(b.runs.warnings(), q.warnings.tallies("point", len(b.runs))...)
	to.Notices = b.caveats()
	if points := r.Totals.Points; points < b.ok {
		to.Notices = append(to.Notices, notice.New(notice.RecordsCombined{Records: b.ok, Points: points}))
	}
	for _, p := range f.Notes {
		to.Files = append(to.Files, p.Full())
	}
	if n := len(to.Files) - mostTallies; n > 0 {
		to.Files = append(to.Files[:mostTallies], fmt.Sprintf("and %s on files", units.Count(n, "more note")))
	}
}

// statusRank puts first what is worst.
func statusRank(s string) int {
	order := []result.Status{result.Wrong, result.Timeout, result.Failed, result.OOM, result.Unfinished, result.Skipped, result.Unsupported}
	if i := slices.Index(order, result.Status(s)); i >= 0 {
		return i
	}
	return len(order)
}

func (t *tallies[K]) tallies(of string, runs int) (all []Tally) {
	for _, key := range t.order {
		one := t.of[key]
		n := notice.New(one.fact)
		all = append(all, Tally{n.Code(), n.Severity, n.Message(), one.n, of, one.words(runs)})
	}
	slices.SortStableFunc(all, func(x, y Tally) int { return cmp.Compare(y.N, x.N) })
	if t.more > 0 {
		all = append(all, Tally{"", notice.Warning, "not listed", t.more, of, inMerged})
	}
	return all
}

// inMerged is where all points are.
const inMerged = "merged.csv (post merge)"

// warnings are those of whole runs.
func (l runList) warnings() []Tally {
	var all tallies[notice.Kind]
	for _, g := range l {
		for _, k := range g.run.Warnings {
			if one := all.at(k.Kind(), k.Fact); one != nil {
				one.inRun(g.number)
			}
		}
	}
	return all.tallies("run", len(l))
}

// caveats hold for all values of some runs; the banners have those that invalidate them.
func (b *builder) caveats() (all []notice.Notice) {
	var imported []int
	var tools []string
	for _, g := range b.runs {
		if s := g.run.Imported; s != nil {
			imported = append(imported, g.number)
			if !slices.Contains(tools, s.Tool) {
				tools = append(tools, s.Tool)
			}
		}
	}
	if imported != nil {
		all = append(all, notice.New(notice.ImportedRuns{Runs: b.runs.some(imported), Tools: tools}))
	}
	for _, key := range b.quality.passed.order {
		one := b.quality.passed.of[key]
		all = append(all, notice.New(notice.PointsNotPlotted{Points: one.n, Lack: key, Where: one.words(len(b.runs))}))
	}
	if n := b.quality.groups; n > 0 {
		all = append(all, notice.New(notice.GroupPoints{Points: n}))
	}
	return all
}
