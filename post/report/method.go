package report

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
)

// ways counts how records were taken, by mode.
type ways map[coll.Mode]*way

// way is how the records of one mode were taken.
type way struct {
	records, ours             int // ours: rank measured them
	intervals, events         int
	syncs, summaries, stops   words
	checks                    words
	batchLeast, batchMost     int
	samplesLeast, samplesMost int
}

// words count texts, of which there are few.
type words map[string]*place

func (w words) add(text string, number int) {
	if text == "" {
		return
	}
	if w[text] == nil {
		if len(w) >= maxValues {
			text = "other"
		}
		if w[text] == nil {
			w[text] = newPlace()
		}
	}
	w[text].inRun(number)
}

func (w ways) add(g *gathered, r *result.Record) {
	t := r.Time
	if t == nil || r.Mode == 0 {
		return
	}
	one := w[r.Mode]
	if one == nil {
		one = &way{syncs: words{}, summaries: words{}, stops: words{}, checks: words{}}
		w[r.Mode] = one
	}
	if one.records++; r.Imported == nil {
		one.ours++
	}
	one.syncs.add(t.Sync, g.number)
	one.summaries.add(t.Summary, g.number)
	one.stops.add(t.Stop, g.number)
	one.checks.add(r.Check.Way, g.number)
	one.batchLeast, one.batchMost = span(one.batchLeast, one.batchMost, t.Batch)
	one.samplesLeast, one.samplesMost = span(one.samplesLeast, one.samplesMost, t.Samples)
	if t.Lo > 0 {
		one.intervals++
	}
	if t.Event != nil {
		one.events++
	}
}

// span widens a range of positive numbers; 0 is none.
func span(least, most, n int) (int, int) {
	if n <= 0 {
		return least, most
	}
	if least == 0 {
		return n, n
	}
	return min(least, n), max(most, n)
}

// stopWords explain what ended the measuring of a point.
var stopWords = map[string]string{
	"precision": "the 95 % CI reached the target",
	"settled":   "more samples no longer narrowed the 95 % CI, or would have taken over twice the time for one case",
	"budget":    "the time for one case was used up",
	"maximum":   "the largest number of samples was reached",
	"fixed":     "the number of iterations was given",
}

// method says how every figure was taken: of each mode as its records say, then of the runs.
func (b *builder) method() []Fact {
	all := []Fact{}
	for _, mode := range []coll.Mode{coll.Throughput, coll.Latency} {
		if w := b.ways[mode]; w != nil {
			all = append(all, w.facts(mode, len(b.runs))...)
		}
	}
	f := &facts{}
	for _, g := range b.runs {
		methodFacts(f, g)
	}
	return append(all, f.facts(len(b.runs))...)
}

func (w *way) facts(mode coll.Mode, runs int) (all []Fact) {
	topic := strings.ToUpper(mode.String()[:1]) + mode.String()[1:] + " mode"
	add := func(name string, of words, explain func(text string, n int) string) {
		if len(of) == 0 {
			return
		}
		f := Fact{Topic: topic, Name: name}
		for _, text := range of.byCount() {
			f.Values = append(f.Values, Value{explain(text, of[text].n), runsIn(of[text].runs, runs)})
		}
		all = append(all, f)
	}
	if w.ours > 0 {
		all = append(all, Fact{topic, "what is timed", []Value{{Text: meaning[mode]}}})
	}
	if n := w.records - w.ours; n > 0 {
		all = append(all, Fact{topic, "other tools", []Value{{Text: fmt.Sprintf("%s measured by another tool, possibly in another way", units.Count(n, "point"))}}})
	}
	plain := func(text string, _ int) string { return text }
	add("aggregation of times", w.summaries, plain)
	add("synchronisation of ranks", w.syncs, plain)
	add("measurement ended because", w.stops, func(text string, n int) string {
		if why := stopWords[text]; why != "" {
			text += ": " + why
		}
		return fmt.Sprintf("%s (%s)", text, units.Count(n, "point"))
	})
	if w.samplesMost > 0 {
		all = append(all, Fact{topic, "samples per point", []Value{{Text: between(w.samplesLeast, w.samplesMost)}}})
	}
	if w.batchMost > 0 {
		all = append(all, Fact{topic, "operations per batch", []Value{{Text: between(w.batchLeast, w.batchMost)}}})
	}
	all = append(all, Fact{topic, "95 % CI", []Value{{Text: fmt.Sprintf("%d of %s have one; it is the uncertainty of the median of that launch, not the spread between launches", w.intervals, units.Count(w.records, "point"))}}})
	if w.events > 0 {
		all = append(all, Fact{topic, "device events", []Value{{Text: fmt.Sprintf("taken beside the clock at %d of %s", w.events, units.Count(w.records, "point"))}}})
	}
	add("verification of data", w.checks, plain)
	return all
}

// meaning is what a time of each mode is of.
var meaning = map[coll.Mode]string{
	coll.Throughput: "operations are issued back to back with one wait at the end; the time of one is the total divided by their number",
	coll.Latency:    "a barrier, then one operation alone; the time of an iteration is the maximum over ranks, for rooted collectives from the first rank's start to the last rank's end",
}

// byCount are the texts, the most frequent first.
func (w words) byCount() []string {
	texts := make([]string, 0, len(w))
	for text := range w {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int {
		if d := w[b].n - w[a].n; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return texts
}

func between(least, most int) string {
	if least == most {
		return fmt.Sprint(most)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

func methodFacts(f *facts, g *gathered) {
	m := &g.run.Method
	if g.run.Imported != nil || *m == (result.Method{}) {
		return
	}
	const topic = "Runs"
	f.add(g.number, topic, "clock", m.Clock)
	if m.Clock != "" {
		f.add(g.number, topic, "time of one clock reading", units.Duration(m.ClockCost))
		f.add(g.number, topic, "time of an empty iteration", nanoseconds(m.EmptyIteration))
	}
	if m.Precision > 0 {
		f.add(g.number, topic, "target half-width of the 95 % CI", fmt.Sprintf("%.3g %% of the median", 100*m.Precision))
	}
	if m.Budget > 0 {
		f.add(g.number, topic, "time for one case", units.Duration(m.Budget))
	}
	if m.Iterations > 0 {
		f.add(g.number, topic, "iterations, as given", fmt.Sprint(m.Iterations))
	}
	f.add(g.number, topic, "warm-up before each point", units.Count(m.Warmup, "iteration"))
	if m.Cycle > 1 {
		f.add(g.number, topic, "cycles", fmt.Sprint(m.Cycle))
	}
	f.add(g.number, topic, "aggregation over ranks (throughput)", m.Average)
	switch m.CheckRounds {
	case 0:
		f.add(g.number, topic, "verification of data", "off")
	default:
		f.add(g.number, topic, "verification of data", units.Count(m.CheckRounds, "round")+" over every element")
	}
	caches := "one set, warm caches"
	if m.Rotate > 0 {
		caches = "rotate over " + size(m.Rotate)
	}
	f.add(g.number, topic, "buffers", caches)
	if m.Aggregate > 1 {
		f.add(g.number, topic, "operations per launch", fmt.Sprint(m.Aggregate))
	}
	if m.EventStep > 0 {
		f.add(g.number, topic, "resolution of device events", nanoseconds(m.EventStep))
	}
	f.add(g.number, topic, "non-default settings", m.Settings().String())
	if m.Deadline > 0 {
		f.add(g.number, topic, "deadline of a point", units.Duration(m.Deadline))
	}
	for _, s := range g.run.Setup {
		f.add(g.number, topic, "before the first point: "+s.What, units.Duration(s.Seconds))
	}
}

// nanoseconds writes times too short for microseconds.
func nanoseconds(s float64) string { return fmt.Sprintf("%.3g ns", 1e9*s) }
