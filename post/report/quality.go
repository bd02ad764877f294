package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// quality collects what is known of how good figures are.
type quality struct {
	checks   map[string]int
	misses   tallies[missKey]
	warnings tallies[string]
	passed   tallies[string] // imported ones that lack something, by what
	groups   int             // measured by single groups of nodes
}

// missKey is what points without a figure share that are told as one.
type missKey struct {
	status result.Status
	reason string // without its numbers
}

// mostTallies is how many are told apart; the rest is one.
const mostTallies = 200

// tallies count by some key, with the text of the first.
type tallies[K comparable] struct {
	of    map[K]*tallied
	order []K
	more  int // of keys that are too many
}

type tallied struct {
	*place
	text string
}

// at is the tally of a key, whose text is made once; nil where there are too many.
func (t *tallies[K]) at(key K, text func() string) *tallied {
	if t.of == nil {
		t.of = map[K]*tallied{}
	}
	one := t.of[key]
	if one == nil {
		if len(t.of) == mostTallies {
			t.more++
			return nil
		}
		one = &tallied{newPlace(), text()}
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
	if r.Status != result.OK {
		key := missKey{r.Status, withoutNumbers(missReason(r))}
		if one := q.misses.at(key, func() string { return missReason(r) }); one != nil {
			one.add(g.number, r)
		}
	}
	for _, k := range r.Warnings {
		if one := q.warnings.at(k.Group(), func() string { return notice.Message(k.Fact) }); one != nil {
			one.add(g.number, r)
		}
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
	count := func(t *tallied) {
		if t == nil {
			return
		}
		if t.inRun(number); !slices.Contains(t.operations, ofSteps) {
			t.operations = append(t.operations, ofSteps)
		}
	}
	if r.Status != result.OK {
		why := missReason(&result.Record{Reason: r.Reason, Needed: r.Needed, Check: r.Check})
		count(q.misses.at(missKey{r.Status, withoutNumbers(why)}, func() string { return why }))
	}
	for _, k := range r.Warnings {
		count(q.warnings.at(k.Group(), func() string { return notice.Message(k.Fact) }))
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
	case why != "":
		if one := q.passed.at(why, func() string { return why }); one != nil {
			one.add(g.number, r)
		}
	}
}

// missReason is why a point has no figure that holds.
func missReason(r *result.Record) string {
	switch first := r.Check.First; {
	case first != nil:
		return fmt.Sprintf("rank %d (%s), element %d: %s, not %s", first.Rank, first.Host, first.Index, first.Got, first.Want)
	case r.Reason != "":
		return r.Reason
	case r.Needed > 0:
		return "needs " + size(r.Needed) + " a rank"
	}
	return ""
}

// withoutNumbers is a text by which those are found that differ in figures alone.
func withoutNumbers(text string) string {
	var b strings.Builder
	inside := false
	for _, c := range text {
		digit := c >= '0' && c <= '9' || inside && (c == '.' || c == '%')
		if !digit {
			b.WriteRune(c)
		} else if !inside {
			b.WriteByte('#')
		}
		inside = digit
	}
	return b.String()
}

// checkWords explain what became of the check.
var checkWords = map[string]string{
	"ok":      "checked and right",
	"wrong":   "WRONG DATA",
	"off":     "not checked: it was not asked for",
	"none":    "not checked",
	"unknown": "not known whether it was checked",
}

func (b *Builder) addQuality(r *Report, f Found) {
	q, to := &b.quality, &r.Quality
	for _, word := range []string{"wrong", "ok", "off", "none", "unknown"} {
		if n := q.checks[word]; n > 0 {
			to.Checks = append(to.Checks, Count{checkWords[word], n})
		}
	}
	for _, key := range q.misses.order {
		one := q.misses.of[key]
		to.Misses = append(to.Misses, Miss{string(key.status), one.text, one.n, one.words(len(b.runs))})
	}
	slices.SortStableFunc(to.Misses, func(x, y Miss) int { return cmp.Compare(statusRank(x.Status), statusRank(y.Status)) })
	if n := q.misses.more; n > 0 {
		to.Misses = append(to.Misses, Miss{"other", "reasons that are too many to be listed: merged.csv has them (post merge)", n, ""})
	}
	to.Warnings = append(b.runWarnings(), q.warnings.tallies("point", len(b.runs))...)
	to.Says = b.caveats()
	if points := r.Totals.Points; points < b.ok {
		to.Says = append(to.Says, fmt.Sprintf("%d records with a time stand as %s of curves: those of one size, from several launches, cycles or rows of a table, are one point.", b.ok, units.Count(points, "point")))
	}
	for _, p := range f.Notes {
		to.Files = append(to.Files, p.String())
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
		all = append(all, Tally{one.text, one.n, of, one.words(runs)})
	}
	slices.SortStableFunc(all, func(x, y Tally) int { return cmp.Compare(y.N, x.N) })
	if t.more > 0 {
		all = append(all, Tally{"other warnings, too many to be listed: merged.csv has them (post merge)", t.more, of, ""})
	}
	return all
}

// runWarnings are those of whole runs.
func (b *Builder) runWarnings() []Tally {
	var all tallies[string]
	for _, g := range b.runs {
		for _, k := range g.run.Warnings {
			if one := all.at(k.Group(), func() string { return notice.Message(k.Fact) }); one != nil {
				one.inRun(g.number)
			}
		}
	}
	return all.tallies("run", len(b.runs))
}

// caveats are what holds for all figures of some runs.
func (b *Builder) caveats() []string {
	var rehearsed, imported []int
	crowded := map[notice.Code][]int{}
	var order []notice.Code
	var tools []string
	for _, g := range b.runs {
		if g.run.Rehearse {
			rehearsed = append(rehearsed, g.number)
		}
		if s := g.run.Imported; s != nil {
			imported = append(imported, g.number)
			if !slices.Contains(tools, s.Tool) {
				tools = append(tools, s.Tool)
			}
		}
		if why := g.run.Crowded(); why != nil {
			if crowded[why.Code()] == nil {
				order = append(order, why.Code())
			}
			crowded[why.Code()] = append(crowded[why.Code()], g.number)
		}
	}
	var says []string
	if len(rehearsed) > 0 {
		says = append(says, of(rehearsed, len(b.runs))+" rehearsed: stand-ins took the place of devices, and the figures say nothing about hardware. No ceiling is set against them and nothing is found in them.")
	}
	for _, why := range order {
		var runs []*result.Run
		for _, n := range crowded[why] {
			runs = append(runs, b.runs[n-1].run)
		}
		says = append(says, fmt.Sprintf("%s slowed by sharing (%s): %s.", of(crowded[why], len(b.runs)), notice.Reason(runs[0].Crowded()), crowdedTimes(runs)))
	}
	if len(imported) > 0 {
		says = append(says, fmt.Sprintf("%s imported from %s: what that tool does not tell is missing, such as intervals, the times of single ranks, and how ranks were synchronised.", of(imported, len(b.runs)), units.Some(tools)))
	}
	for _, key := range b.quality.passed.order {
		one := b.quality.passed.of[key]
		says = append(says, fmt.Sprintf("%s not drawn: %s (%s).", units.Count(one.n, "point"), one.text, one.words(len(b.runs))))
	}
	if n := b.quality.groups; n > 0 {
		says = append(says, units.Count(n, "point")+" of single groups of nodes (rank --pattern) not drawn; post show judges them.")
	}
	return says
}

// of is "All runs were", "Run 3 was", "Runs 1 to 4 were".
func of(numbers []int, all int) string {
	switch {
	case all == 1:
		return "The run was"
	case len(numbers) == all:
		return "All runs were"
	case len(numbers) == 1:
		return fmt.Sprintf("Run %d was", numbers[0])
	}
	return "R" + runsIn(numbers, all)[1:] + " were"
}
