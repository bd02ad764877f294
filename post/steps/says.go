package steps

import (
	"fmt"
	"strings"

	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/post/say"
)

// Sentence is something that a run tells.
type Sentence struct {
	Kind Kind   `json:"kind"`
	Loud bool   `json:"loud"` // it costs time that could be had back
	Says string `json:"says"`
}

// Kind is what a sentence is about, in a word or two.
type Kind string

// The kinds.
const (
	BestBucket   Kind = "best bucket"
	Exposed      Kind = "exposed communication"
	Interference Kind = "interference"
	Gain         Kind = "gain"
	Progress     Kind = "progress"
	Variant      Kind = "variant"
	Computing    Kind = "computing"
	Unreached    Kind = "not reached"
)

// interferes is from which slowdown on interference is told: less is within what a loaded host does to any two measurements.
const interferes = 1.05

// Says is what a group tells, in the order of importance.
func (g *Group) Says() (all []Sentence) {
	if g.Best == nil {
		return []Sentence{{BestBucket, true, "No bucket has figures."}}
	}
	all = append(all, Sentence{BestBucket, false, g.best()}, g.exposed())
	for _, text := range g.interference() {
		all = append(all, Sentence{Interference, true, text})
	}
	if text := g.gain(); text != "" {
		all = append(all, Sentence{Gain, false, text})
	}
	return all
}

// best tells which bucket is the best, and how the others stand to it.
func (g *Group) best() string {
	var same, slower, few, apart []string
	needed := 0
	for _, p := range g.Points {
		if p == g.Best || !p.Timed() {
			continue
		}
		name := Bucket(p.Bucket)
		switch s := g.Compared(p); s.Verdict {
		case step.NoDifference:
			same = append(same, name)
		case step.Slower:
			slower = append(slower, fmt.Sprintf("%s by %s (%s to %s)", name, Percent(s.Slower.Value), Percent(s.Slower.Lo), Percent(s.Slower.Hi)))
		case step.TooFewRounds:
			few, needed = append(few, name), max(needed, s.Needed)
		default:
			apart = append(apart, name)
		}
	}
	bucket, takes := Bucket(g.Best.Bucket), times(g.Best.Figures.Overlapped.Figure)
	var says string
	switch {
	case len(same)+len(slower)+len(few)+len(apart) == 0:
		says = fmt.Sprintf("One bucket was measured: %s, with which a step takes %s.", bucket, takes)
	case len(slower)+len(few)+len(apart) == 0:
		return fmt.Sprintf("No difference between the buckets can be told in this launch. The least median is that of %s: a step takes %s.", bucket, takes)
	case len(slower)+len(same) == 0:
		says = fmt.Sprintf("The least median is that of %s: a step takes %s.", bucket, takes)
	default:
		says = fmt.Sprintf("Best bucket in this launch: %s, with which a step takes %s.", bucket, takes)
	}
	if len(same) > 0 {
		says += " No difference from it can be told for " + list(same) + "."
	}
	if len(slower) > 0 {
		says += " Slower: " + list(slower) + "."
	}
	if len(few) > 0 {
		says += fmt.Sprintf(" %s are too few to tell it from %s: it takes %d.", say.Count(g.Best.Figures.Rounds, "round"), list(few), needed)
	}
	if len(apart) > 0 {
		says += " Measured in another launch, and not compared: " + list(apart) + "."
	}
	return says
}

// exposed tells what the best bucket leaves exposed, and what could be hidden.
func (g *Group) exposed() Sentence {
	f, at := g.Best.Figures, Bucket(g.Best.Bucket)
	if f.Overlap == nil {
		return Sentence{Exposed, false, "Nothing is communicated, so nothing can be exposed."}
	}
	share := Share(f)
	says := fmt.Sprintf("With %s, %s of communication are exposed, %s of the step.", at, times(f.Exposed), Percent(share))
	if has(f.Exposed) && f.Exposed.Lo <= 0 || f.Exposed.Value <= 0 {
		says = fmt.Sprintf("With %s, no exposed communication can be told: %s.", at, times(f.Exposed))
		share = 0
	}
	says += fmt.Sprintf(" Alone, communication takes %s, of which %s is hidden by the wall clock", Duration(f.Comm.Value), Percent(f.Overlap.Value))
	if f.ByInterval != nil {
		says += fmt.Sprintf(" and %s by intervals", Percent(f.ByInterval.Value))
		if g.Point.Progress == step.NoCalls {
			says += ", which take an operation for running until a call of the library sees its end"
		}
	}
	if f.Bound != nil {
		says += fmt.Sprintf("; at most %s could be", Percent(f.Bound.Value))
		if f.Bound.Value < 0.995 {
			says += ", since communication takes longer than computing"
		}
	}
	return Sentence{Exposed, share >= 0.05, says + "."}
}

// interference tells of computing and communication that slow each other down by more than 5 %.
func (g *Group) interference() (all []string) {
	f := g.Best.Figures
	for _, one := range []struct {
		what, beside string
		slower       *step.Figure
	}{{"Computing", "communication", f.SlowerComp}, {"Communication", "computing", f.SlowerComm}} {
		s := one.slower
		if s == nil || s.Value <= interferes || has(*s) && s.Lo <= 1 {
			continue
		}
		called := one.what == "Computing" || g.Point.Progress == 0 || g.Point.Progress == step.Thread // whenever there is something to do
		if !called && g.Point.Progress == step.NoCalls {
			continue // it waits for the end of computing, which is no interference
		}
		says := fmt.Sprintf("%s takes %s longer beside %s than alone", one.what, Percent(s.Value-1), one.beside)
		if has(*s) {
			says += fmt.Sprintf(" (%s to %s)", Percent(s.Lo-1), Percent(s.Hi-1))
		}
		if !called {
			says += ", of which some is waiting for the next call of the library"
		}
		all = append(all, says+".")
	}
	return all
}

// gain tells what overlapping is worth.
func (g *Group) gain() string {
	f := g.Best.Figures
	if f.Overlap == nil || f.SpeedUp == nil || f.Efficiency == nil {
		return ""
	}
	return fmt.Sprintf("The step is %.2f times as fast as computing and communication one after the other. Of a rank's speed alone, %s is left (weak scaling).", f.SpeedUp.Value, Percent(f.Efficiency.Value))
}

// Says is what the groups of a run tell together.
func (r *Run) Says() (all []Sentence) {
	all = append(all, r.progress()...)
	for _, text := range r.variants() {
		all = append(all, Sentence{Variant, false, text})
	}
	if text := r.computing(); text != "" {
		all = append(all, Sentence{Computing, false, text})
	}
	if text := r.unreached(); text != "" {
		all = append(all, Sentence{Unreached, true, text})
	}
	return all
}

// mostHidden is the point of a group that hides the largest share of its communication; nil where none has that figure.
func (g *Group) mostHidden() (most *Point) {
	for _, p := range g.Points {
		if p.Timed() && p.Figures.Overlap != nil && (most == nil || p.Figures.Overlap.Value > most.Figures.Overlap.Value) {
			most = p
		}
	}
	return most
}

// progress tells whether communication goes on without a call of the library.
func (r *Run) progress() (all []Sentence) {
	for _, g := range r.Groups {
		if g.Point.Progress != step.NoCalls {
			continue
		}
		p := g.mostHidden()
		if p == nil {
			continue
		}
		s := Sentence{Kind: Progress}
		hidden, bound := p.Figures.Overlap, 1.0
		if p.Figures.Bound != nil {
			bound = p.Figures.Bound.Value
		}
		switch share := hidden.Value / bound; {
		case share < 0.15:
			s.Says, s.Loud = "Communication hardly goes on without calls of the library", true
		case share < 0.6:
			s.Says, s.Loud = "Communication goes on in part without calls of the library", true
		default:
			s.Says = "Communication goes on without calls of the library"
		}
		s.Says += fmt.Sprintf(": at most %s of it is hidden (%s, bucket %s)", Percent(hidden.Value), g.withoutProgress(), Bucket(p.Bucket))
		for _, other := range r.Groups {
			like := other.Point
			if like.Progress = g.Point.Progress; like != g.Point || other == g {
				continue
			}
			if q := other.mostHidden(); q != nil {
				s.Says += fmt.Sprintf("; with %s, %s (bucket %s)", map[step.Progress]string{step.Poll: "polling", step.Thread: "a second thread"}[other.Point.Progress], Percent(q.Figures.Overlap.Value), Bucket(q.Bucket))
			}
		}
		s.Says += "."
		all = append(all, s)
	}
	return all
}

// withoutProgress is the title of a group without its way of progress.
func (g *Group) withoutProgress() string {
	like := Group{Point: g.Point}
	like.Point.Progress = 0
	return like.Title()
}

// variants compares groups that differ by one choice from the first that is like them: its strategy, its type or its compression.
func (r *Run) variants() (all []string) {
	for i, g := range r.Groups {
		if g.Best == nil {
			continue
		}
		for _, base := range r.Groups[:i] {
			if base.Best == nil || base.Point.Progress != g.Point.Progress || base.Point.Compression != (step.Compression{}) {
				continue
			}
			if what := differs(base.Point, g.Point); what != "" {
				all = append(all, versus(what, base, g))
				break
			}
		}
	}
	return all
}

// differs names the one choice in which b differs from a; "" where they differ in several.
func differs(a, b step.Point) string {
	var what []string
	if a.Strategy != b.Strategy {
		what = append(what, fmt.Sprintf("%s instead of %s", b.Strategy, a.Strategy))
	}
	if a.Type != b.Type {
		what = append(what, fmt.Sprintf("%s instead of %s", b.Type, a.Type))
	}
	if a.Compression != b.Compression {
		what = append(what, fmt.Sprintf("compression %s (modelled)", b.Compression))
	}
	if len(what) != 1 {
		return ""
	}
	return what[0]
}

// versus compares the best steps of two groups, which were measured one group after the other.
func versus(what string, base, g *Group) string {
	a, b := base.Best.Figures.Overlapped.Figure, g.Best.Figures.Overlapped.Figure
	shared := []string{}
	for _, w := range base.words() {
		for _, v := range g.words() {
			if w == v {
				shared = append(shared, w)
			}
		}
	}
	with := fmt.Sprintf("With %s (%s), a step takes %s with its best bucket, %s, against %s with %s", what, strings.Join(shared, ", "), Duration(b.Value), Bucket(g.Best.Bucket), Duration(a.Value), Bucket(base.Best.Bucket))
	switch {
	case !has(a) || !has(b):
		return with + "; there are too few rounds for intervals."
	case b.Hi < a.Lo:
		return with + fmt.Sprintf(", %s less; the intervals lie apart.", Percent(1-b.Value/a.Value))
	case a.Hi < b.Lo:
		return with + fmt.Sprintf(", %s more; the intervals lie apart.", Percent(b.Value/a.Value-1))
	}
	return with + "; the intervals meet, so that no difference can be told."
}

// computing tells what was asked for of computing, and what it took: the range over points without modelled compression.
func (r *Run) computing() string {
	asked := r.Step().Forward + r.Step().Backward + r.Step().Optimizer
	least, most := 0.0, 0.0
	for _, g := range r.Groups {
		for _, p := range g.Points {
			if !p.Timed() || p.Modelled > 0 {
				continue
			}
			v := p.Figures.Compute.Value
			if least == 0 || v < least {
				least = v
			}
			most = max(most, v)
		}
	}
	if asked <= 0 || most == 0 {
		return ""
	}
	took := Duration(most)
	if least < most {
		took = Duration(least) + " to " + Duration(most)
	}
	return fmt.Sprintf("Computing was to take %s a step and took %s, by %s.", Duration(asked), took, r.Step().Computing)
}

// planned is how many points were to be measured.
func (r *Run) planned() (n int) {
	for _, g := range r.Groups {
		n += len(g.Points)
	}
	return n + r.Left
}

// unreached tells of points that were planned and have no figures, or not all rounds.
func (r *Run) unreached() string {
	counts := map[result.Status]int{}
	var order []result.Status
	for _, g := range r.Groups {
		for _, p := range g.Points {
			if p.Status == result.OK {
				continue
			}
			if counts[p.Status]++; counts[p.Status] == 1 {
				order = append(order, p.Status)
			}
		}
	}
	var words []string
	loud := ""
	if counts[result.Wrong] > 0 {
		loud = "WRONG DATA: what ranks received was not what was sent. "
	}
	for _, s := range order {
		words = append(words, fmt.Sprintf("%d %s", counts[s], s))
	}
	if r.Left > 0 {
		words = append(words, fmt.Sprintf("%d not reached", r.Left))
	}
	if words == nil {
		return ""
	}
	says := loud + fmt.Sprintf("Of %d planned points: %s.", r.planned(), list(words))
	if counts[result.Unfinished] > 0 {
		says += " Figures of unfinished points are those of the rounds that there are."
	}
	return says
}
