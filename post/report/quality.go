package report

import (
	"cmp"
	"slices"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// quality collects what is known of the quality of values.
type quality struct {
	checks   map[string]int
	misses   tallies // points without a valid value
	warnings tallies
	warned   int // points with warnings
	wrong    notice.WrongData
	wrongIn  place // of the first
}

// tally is how often something occurred, with the first of its kind.
type tally struct {
	place
	status result.Status // of points without a valid value
	fact   notice.Fact
}

// tallies are tallies by status and kind, in the order of their first.
type tallies struct {
	all     []*tally
	numbers units.Numbers[tallyKey]
}

type tallyKey struct {
	status result.Status
	kind   any
}

func (t *tallies) at(status result.Status, kind any, fact notice.Fact) *tally {
	n, added := t.numbers.Of(tallyKey{status, kind})
	if added {
		t.all = append(t.all, &tally{status: status, fact: fact})
	}
	return t.all[n]
}

// add counts a point of a run.
func (q *quality) add(number int, operation string, r *result.Record) {
	if r.Status == result.OK || r.Status == result.Wrong || r.Status == result.Unfinished {
		q.checks[cmp.Or(r.Check.Result, "none")]++
	}
	if r.Status != result.OK {
		why := missReason(r)
		q.misses.at(r.Status, notice.Kept{Fact: why}.Kind(), why).add(number, operation, r.SizeBytes)
	}
	if r.Status == result.Wrong {
		q.addWrong(number, operation, r)
	}
	if len(r.Warnings) > 0 {
		q.warned++
	}
	for _, k := range r.Warnings {
		q.warnings.at("", k.Kind(), k.Fact).add(number, operation, r.SizeBytes)
	}
}

func (q *quality) addWrong(number int, operation string, r *result.Record) {
	w := &q.wrong
	if w.Points++; w.Points > 1 {
		return
	}
	q.wrongIn.add(number, operation, r.SizeBytes)
	if first := r.Check.First; first != nil {
		w.First = wrongElement(first)
	} else {
		w.Cause.Fact = r.Why.Fact()
	}
}

// missReason is why a point has no valid value.
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

// qualityOf is what the report has of the quality of values.
type qualityOf struct {
	Notices []notice.Notice // on all values of some runs
	Checks  document.List   // outcomes of the check of the data
	Misses  []*tally
	OfRuns  []*tally // warnings of whole runs
	Of      []*tally // warnings of points
	Warned  int      // points with warnings
	Files   document.List
}

// checkTexts are the outcomes of the check, the worst first.
var checkTexts = [][2]string{
	{"wrong", "WRONG DATA"}, {"ok", "checked, correct"}, {"off", "not checked (off)"}, {"none", "not checked"},
	{"unknown", "check not recorded"},
}

// statusOrder puts first what is worst.
var statusOrder = []result.Status{
	result.Wrong, result.Timeout, result.Failed, result.OOM, result.Unfinished, result.Skipped, result.Unsupported,
}

func (b *builder) addQuality(r *Report, f analysed) {
	q, to := &b.quality, &r.Quality
	for _, text := range checkTexts {
		if n := q.checks[text[0]]; n > 0 {
			to.Checks = append(to.Checks, text[1]+": "+units.Count(n, "point"))
		}
	}
	to.Misses, to.Of, to.Warned = q.misses.all, q.warnings.all, q.warned
	units.SortBy(to.Misses, func(t *tally) int { return slices.Index(statusOrder, t.status) })
	var ofRuns tallies
	for _, g := range b.runs {
		for _, k := range g.run.Warnings {
			ofRuns.at("", k.Kind(), k.Fact).add(g.number, "", -1)
		}
	}
	to.OfRuns = ofRuns.all
	for _, list := range [][]*tally{to.Of, to.OfRuns} {
		units.SortBy(list, func(t *tally) int { return -t.n })
	}
	to.Notices = b.caveats()
	if points := r.Totals.Points; points < b.ok {
		to.Notices = append(to.Notices, notice.New(notice.RecordsCombined{Records: b.ok, Points: points}))
	}
	to.Files = append(to.Files, units.Map(f.Notes, notice.Notice.Full)...)
}

// caveats hold for all values of some runs; the banners have those that invalidate them.
func (b *builder) caveats() (all []notice.Notice) {
	var imported []int
	var tools []string
	for _, g := range b.runs {
		if s := g.run.Imported; s != nil {
			imported, tools = append(imported, g.number), units.AddOnce(tools, s.Tool)
		}
	}
	if imported != nil {
		all = append(all, notice.New(notice.ImportedRuns{Runs: b.runs.some(imported), Tools: tools}))
	}
	return append(all, b.lacking.Notices()...)
}
