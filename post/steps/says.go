package steps

import (
	"fmt"
	"slices"
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

// beyond is by how much more than can be hidden may be found by noise.
const beyond = 0.05

// Says is what a group tells, in the order of importance.
func (g *Group) Says() (all []Sentence) {
	if g.Best == nil {
		return []Sentence{{BestBucket, true, "No bucket has figures."}}
	}
	all = append(all, Sentence{BestBucket, false, g.best()}, g.exposed())
	if text := g.interference(); text != "" {
		all = append(all, Sentence{Interference, g.Best.Figures.HasIntervals(), text})
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
		return Sentence{Exposed, false, "Communication takes next to nothing here (less than 0.1 % of a step), so nothing can be exposed."}
	}
	share := Share(f)
	says := fmt.Sprintf("With %s, %s of communication are exposed, %s of the step.", at, times(f.Exposed), Percent(share))
	if has(f.Exposed) && f.Exposed.Lo <= 0 || f.Exposed.Value <= 0 {
		says = fmt.Sprintf("With %s, no exposed communication can be told: %s.", at, times(f.Exposed))
		share = 0
	}
	says += fmt.Sprintf(" Alone, communication takes %s, of which ", Duration(f.Comm.Value))
	if f.Overlap.Value <= 0 {
		says += "none is hidden by the wall clock"
	} else {
		says += Percent(f.Overlap.Value) + " is hidden by the wall clock"
	}
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
		if f.Overlap.Value > f.Bound.Value+beyond {
			says += ". That is less than the wall clock says: something else disturbed the modes, and these figures are not to be trusted"
		}
	}
	return Sentence{Exposed, share >= 0.05, says + "."}
}

// interference tells of computing and communication that slow each other down by more than 5 %.
func (g *Group) interference() string {
	f := g.Best.Figures
	var all []string
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
	return strings.Join(all, " ")
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

// measured are the points of a run with figures, and their rounds, as internal/step compares them.
func (r *Run) measured() (all []*Point, points []step.Point, rounds [][]step.Round) {
	for _, g := range r.Groups {
		for _, p := range g.Points {
			if p.Timed() {
				all, points, rounds = append(all, p), append(points, p.Point), append(rounds, p.Rounds)
			}
		}
	}
	return all, points, rounds
}

// progress tells whether communication goes on without a call of the library: against polling where there is such a group, and else of
// the bucket that hides most.
func (r *Run) progress() (all []Sentence) {
	_, points, rounds := r.measured()
	compared := map[step.Point]bool{}
	for _, p := range step.Progresses(points, rounds) {
		group := p.Point.Group()
		group.Progress = step.NoCalls
		compared[group] = true
		all = append(all, Sentence{Progress, p.Told && p.NoCalls.Hi < p.Poll.Lo, p.String() + "."})
	}
	for _, g := range r.Groups {
		if g.Point.Progress != step.NoCalls || compared[g.Point] {
			continue
		}
		if p := g.mostHidden(); p != nil {
			all = append(all, Sentence{Progress, false, fmt.Sprintf("%v: without calls of the library while computing, %s of the communication is hidden, the most of all buckets; with polling it was not measured.", p.Point, Percent(p.Figures.Overlap.Value))})
		}
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

// variants compares the best points of groups that differ by one choice. Groups are measured one after the other, which is said.
func (r *Run) variants() (all []string) {
	of, points, rounds := r.measured()
	for _, c := range step.Contrasts(points, rounds) {
		a, b := of[c.A], of[c.B]
		if c.What == "progress" && a.Progress == step.NoCalls && b.Progress == step.Poll {
			continue // progress tells it
		}
		with := fmt.Sprintf("With %s (%s) a step takes %s in its best bucket, %s, against %s with %s", choice(c.What, a.Point, b.Point), shared(a.Point, b.Point),
			Duration(b.Figures.Overlapped.Value), Bucket(b.Bucket), Duration(a.Figures.Overlapped.Value), Bucket(a.Bucket))
		switch {
		case !c.Told:
			with += "; rounds are too few to tell the two apart."
		case c.Ratio.Hi < 1:
			with += fmt.Sprintf(": %s less (%s to %s).", Percent(1-c.Ratio.Value), Percent(1-c.Ratio.Hi), Percent(1-c.Ratio.Lo))
		case c.Ratio.Lo > 1:
			with += fmt.Sprintf(": %s more (%s to %s).", Percent(c.Ratio.Value-1), Percent(c.Ratio.Lo-1), Percent(c.Ratio.Hi-1))
		default:
			with += fmt.Sprintf("; no difference can be told (%s to %s).", Percent(c.Ratio.Lo-1), Percent(c.Ratio.Hi-1))
		}
		all = append(all, with)
	}
	if all != nil {
		all[len(all)-1] += " Groups are measured one after the other, so that a machine that changed meanwhile counts as a difference."
	}
	return all
}

// choice names what b has instead of what a has.
func choice(what string, a, b step.Point) string {
	switch what {
	case "strategy":
		return fmt.Sprintf("%s instead of %s", b.Strategy, a.Strategy)
	case "type":
		return fmt.Sprintf("%s instead of %s", b.Type, a.Type)
	case "progress":
		return fmt.Sprintf("progress %s instead of %s", b.Progress, a.Progress)
	}
	return fmt.Sprintf("compression %s (MODELLED) instead of %s", b.Compression, a.Compression)
}

// shared are the words that two groups have in common.
func shared(a, b step.Point) string {
	var both []string
	others := (&Group{Point: b}).words()
	for _, w := range (&Group{Point: a}).words() {
		if slices.Contains(others, w) {
			both = append(both, w)
		}
	}
	return strings.Join(both, ", ")
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
