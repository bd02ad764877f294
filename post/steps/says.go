package steps

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/result"
	"busbar/internal/step"
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

// wording is how post writes buckets and times.
var wording = step.Wording{Bucket: Bucket, Time: Duration}

// Says is what a group tells, in the order of importance.
func (g *Group) Says() (all []Sentence) {
	if g.Best == nil {
		return []Sentence{{BestBucket, true, "No bucket has figures."}}
	}
	f, p := g.Best.Figures, g.Best.Point
	exposed := f.Overlap != nil && f.ExposedTold() && f.Share() >= costly
	all = append(all, Sentence{BestBucket, false, g.best()}, Sentence{Exposed, exposed, wording.ExposedSays(p, f)})
	if text := step.InterferenceSays(p, f); text != "" {
		all = append(all, Sentence{Interference, f.HasIntervals(), text})
	}
	if text := step.GainSays(f); text != "" {
		all = append(all, Sentence{Gain, false, text})
	}
	return all
}

// costly is the share of a step from which exposed communication is said loudly.
const costly = 0.05

// best tells which bucket is the best, and how the others stand to it.
func (g *Group) best() string {
	var points []step.Point
	var standings []step.Standing
	best := 0
	for _, p := range g.Points {
		if !p.Timed() {
			continue
		}
		if p == g.Best {
			best = len(points)
		}
		points, standings = append(points, p.Point), append(standings, g.Compared(p))
	}
	return wording.BucketSays(points, standings, best, g.Best.Figures)
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

// progress tells whether communication goes on without a call of the library.
func (r *Run) progress() (all []Sentence) {
	_, points, rounds := r.measured()
	for _, p := range step.Progresses(points, rounds) {
		if p.Poll == nil && r.continues() {
			continue // it may have been, in the run that this one continues
		}
		all = append(all, Sentence{Progress, p.Poll != nil && p.Told && p.NoCalls.Hi < p.Poll.Lo, p.String() + "."})
	}
	return all
}

// continues says whether the run is the rest of one that was not read.
func (r *Run) continues() bool {
	for _, f := range r.Files {
		for _, id := range f.Run.Resumes {
			if !slices.ContainsFunc(r.Files, func(other *result.StepFile) bool { return other.Run.ID == id }) {
				return true
			}
		}
	}
	return false
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
			with += fmt.Sprintf(": %s less (%s to %s).", step.Percent(1-c.Ratio.Value), step.Percent(1-c.Ratio.Hi), step.Percent(1-c.Ratio.Lo))
		case c.Ratio.Lo > 1:
			with += fmt.Sprintf(": %s more (%s to %s).", step.Percent(c.Ratio.Value-1), step.Percent(c.Ratio.Lo-1), step.Percent(c.Ratio.Hi-1))
		default:
			with += fmt.Sprintf("; no difference can be told (%s to %s).", step.Percent(c.Ratio.Lo-1), step.Percent(c.Ratio.Hi-1))
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
	if r.Left > 0 && r.continues() {
		words = append(words, fmt.Sprintf("%d not here, of which the run that this one continues may have some", r.Left))
	} else if r.Left > 0 {
		words = append(words, fmt.Sprintf("%d not reached", r.Left))
	}
	if words == nil {
		return ""
	}
	says := loud + fmt.Sprintf("Of %d planned points: %s.", r.planned(), strings.Join(words, ", "))
	if counts[result.Unfinished] > 0 {
		says += " Figures of unfinished points are those of the rounds that there are."
	}
	return says
}
