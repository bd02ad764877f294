package pattern

import (
	"fmt"
	"math"
	"slices"

	"busbar/internal/stats"
)

// Time is the time of one group of nodes or GPUs for an operation, in seconds.
type Time struct {
	Nodes   []int // by index, ascending
	Alone   bool  // all others idle
	Again   bool  // in a round that was measured once more
	AtOnce  bool  // on all rails
	Seconds float64
	Unsure  float64 // standard error of its logarithm, from its own samples
}

// Suspect is a node, or a link between two, that took longer in the rounds.
type Suspect struct {
	Nodes []int // one, or two for a link; a GPU, rail or node if groups are of GPUs
	stats.Evidence
	Slow, Of int // of a node: pairs or rounds in which it is slow
	Standing stats.Standing

	on      when    // inRounds, or atOnce if it was not slow before
	seconds float64 // the median of its pairs then
}

func (s *Suspect) isLink() bool { return len(s.Nodes) == 2 }

// key is {node, -1}, or {a, b} of a link.
func (s *Suspect) key() [2]int { return [2]int(append(slices.Clone(s.Nodes), -1)) }

// Verdict is the result for the nodes from the times of one point.
type Verdict struct {
	Shape
	Suspects []Suspect // the slowest first, nodes before links
	Pairs    stats.WeakPairs
	AtOnce   stats.WeakPairs // of all rails, without the suspects of single rails
	Halves   stats.WeakHalves
	Missing  int // groups of the schedule without a value

	times []Time
	noise float64 // the median of their uncertainties
	known map[string][]float64
	index map[[2]int]int                // of Suspects, by key
	rate  func(seconds float64) float64 // bus bandwidth in bytes per second; nil in latency mode
}

// Judge compares the groups of one point.
func (s Shape) Judge(times []Time) Verdict {
	v := Verdict{Shape: s, times: times, known: map[string][]float64{}, index: map[[2]int]int{}}
	for _, t := range times {
		if key := fmt.Sprint(t.when(), t.Nodes); t.Seconds > 0 {
			v.known[key] = append(v.known[key], t.Seconds)
		}
	}
	rounds, err := s.Rounds()
	if err != nil {
		return v
	}
	if len(times) > 0 {
		all := make([]float64, len(times))
		for i, t := range times {
			all[i] = t.Unsure
		}
		v.noise = stats.Median(all)
	}
	if s.Kind == Halves {
		v.judgeHalves(rounds)
	} else {
		v.judgePairs(rounds)
	}
	few := map[string]bool{Pairs: s.Nodes < 4, Rails: s.Nodes < 9, GPUs: s.Each < 6}[s.Kind]
	noise := make([]float64, len(v.Suspects))
	for _, t := range times { // a link has only one time in the rounds, which may be noisier than others
		if i, is := v.index[[2]int(append(slices.Clone(t.Nodes), -1))]; is {
			noise[i] = max(noise[i], t.Unsure)
		}
	}
	for i := range v.Suspects {
		s := &v.Suspects[i]
		s.Single, s.Noise = s.isLink() || few, max(v.noise, noise[i])
		if s.Standing = s.Evidence.Standing(); s.Standing == stats.SlowOnce && !s.beside(rounds) {
			s.Standing = stats.Cleared // of three nodes none measures beside a pair: one time was noise
		}
	}
	return v
}

// beside reports whether other groups measured in the rounds of a suspect.
func (s *Suspect) beside(rounds []Round) bool {
	return len(rounds[0]) > 1 || s.on == atOnce && len(rounds[len(rounds)-1]) > 1
}

// Found are the suspects that are not cleared.
func (v *Verdict) Found() []Suspect {
	return slices.DeleteFunc(slices.Clone(v.Suspects), func(s Suspect) bool { return s.Standing == stats.Cleared })
}

// when is on which occasion a group was measured.
type when int

const (
	inRounds   when = iota
	onceMore        // in a round that was repeated
	atOnce          // in a round of all rails
	atOnceMore      // in one that was repeated
	alone
)

func (t Time) when() (on when) {
	if t.Alone {
		return alone
	}
	if t.AtOnce {
		on = atOnce
	}
	if t.Again {
		on++
	}
	return on
}

// of is the median time of a group on an occasion, or 0.
func (v *Verdict) of(nodes []int, on when) float64 {
	x := v.known[fmt.Sprint(on, nodes)]
	if len(x) == 0 {
		return 0
	}
	return stats.Median(x)
}

func (v *Verdict) judgePairs(rounds []Round) {
	usual := v.usual()
	pairs := map[when][]stats.PairTime{}
	for i, r := range rounds {
		for _, g := range r {
			on := v.occasion(i)
			if s := v.of(g, on); s > 0 {
				pairs[on] = append(pairs[on], stats.PairTime{A: g[0], B: g[1], Seconds: s / usual(g)})
			} else {
				v.Missing++
			}
		}
	}
	if v.Pairs = v.weak(inRounds, pairs[inRounds]); v.Kind == Rails {
		v.AtOnce = v.weak(atOnce, slices.DeleteFunc(pairs[atOnce], func(p stats.PairTime) bool {
			return len(v.suspected([]int{p.A, p.B})) > 0
		}))
	}
	for on, repeated := range map[when]when{inRounds: onceMore, atOnce: atOnceMore} {
		alones, again := v.excesses(alone, usual), v.excesses(repeated, usual)
		first, _ := v.divided(on, func([]int) float64 { return 1 })
		for i := range v.Suspects {
			if s := &v.Suspects[i]; s.on == on {
				s.Alone, s.Again = alones(i)
				s.Repeated, s.Twice = again(i)
				if len(first[i]) > 0 {
					s.seconds = math.Exp(stats.Median(first[i]))
				}
			}
		}
	}
}

// weak adds the suspects of pairs.
func (v *Verdict) weak(on when, pairs []stats.PairTime) (w stats.WeakPairs) {
	switch {
	case len(pairs) == 0:
		return w
	case v.OfGPUs():
		w = stats.FindWeakParts(v.levels(), pairs, v.noise)
	default:
		w = stats.FindWeakPairs(v.Nodes, pairs, v.noise)
	}
	for _, n := range w.Nodes {
		v.suspect(Suspect{Nodes: []int{n.Node}, Evidence: stats.Evidence{Together: n.Excess}, Slow: n.Slow, Of: n.Of,
			on: on})
	}
	for _, l := range w.Links {
		v.suspect(Suspect{Nodes: []int{l.A, l.B}, Evidence: stats.Evidence{Together: l.Excess}, on: on})
	}
	return w
}

func (v *Verdict) suspect(s Suspect) {
	v.index[s.key()] = len(v.Suspects)
	v.Suspects = append(v.Suspects, s)
}

// excesses compares each suspect's pairs on an occasion with those of none; the result is by the suspect's index, and
// ok reports that both exist.
func (v *Verdict) excesses(on when, usual func([]int) float64) func(int) (excess float64, ok bool) {
	mine, others := v.divided(on, usual)
	if base := v.Pairs.Base; v.OfGPUs() && len(others) == 0 && on != alone && base > 0 { // a rail was repeated
		others = []float64{math.Log(base)}
	}
	return func(i int) (float64, bool) {
		if len(mine[i]) == 0 || len(others) == 0 {
			return 0, false
		}
		return stats.Median(mine[i]) - stats.Median(others), true
	}
}

// divided are the logarithms of the times of pairs that test a suspect, by its index, and of pairs of none.
func (v *Verdict) divided(on when, usual func([]int) float64) (mine map[int][]float64, others []float64) {
	mine = map[int][]float64{}
	for _, t := range v.times {
		if t.when() != on || t.Seconds <= 0 || len(t.Nodes) != 2 {
			continue
		}
		x := math.Log(t.Seconds / usual(t.Nodes))
		if len(v.suspected(t.Nodes)) == 0 {
			others = append(others, x)
		}
		for _, i := range v.tested(t.Nodes) {
			mine[i] = append(mine[i], x)
		}
	}
	return mine, others
}

// suspected are the suspects, by index, that a group has to do with.
func (v *Verdict) suspected(group []int) (found []int) {
	for _, part := range slices.Compact(v.parts(group)) {
		if i, is := v.index[[2]int{part, -1}]; is {
			found = append(found, i)
		}
	}
	if i, is := v.index[[2]int{group[0], group[1]}]; is && len(group) == 2 {
		found = append(found, i)
	}
	return found
}

// tested are those that a group tests: a node without another suspect, or the link itself. What is slow only on all
// rails at once does not disturb the others.
func (v *Verdict) tested(group []int) []int {
	found := v.suspected(group)
	late := func(i int) bool { return v.Suspects[i].on == atOnce }
	if early := slices.DeleteFunc(slices.Clone(found), late); len(early) == 1 {
		found = early
	}
	if len(found) > 1 {
		found = slices.DeleteFunc(found, func(i int) bool { return !v.Suspects[i].isLink() })
	}
	return found
}

func (v *Verdict) judgeHalves(rounds []Round) {
	for _, r := range rounds {
		for _, half := range r {
			if v.of(half, inRounds) == 0 {
				v.Missing++
			}
		}
	}
	if v.Halves = stats.FindWeakHalf(v.Nodes, v.halves(rounds, inRounds), v.noise); v.Halves.Node < 0 {
		return
	}
	s := Suspect{Nodes: []int{v.Halves.Node}, Evidence: stats.Evidence{Together: v.Halves.Excess}, Slow: v.Halves.Slow,
		Of: v.Halves.Of}
	s.Alone, s.Again = halfExcess(s.Nodes[0], v.halves(rounds, alone))
	s.Repeated, s.Twice = halfExcess(s.Nodes[0], v.halves(rounds, onceMore))
	v.suspect(s)
}

// halves are the rounds of which both halves were measured on an occasion.
func (v *Verdict) halves(rounds []Round, on when) (found []stats.HalfTimes) {
	for _, r := range rounds {
		if a, b := v.of(r[0], on), v.of(r[1], on); a > 0 && b > 0 {
			found = append(found, stats.HalfTimes{First: r[0], Second: r[1], FirstSeconds: a, SecondSeconds: b})
		}
	}
	return found
}

// halfExcess compares the halves that contain a node with the others; ok reports that both exist.
func halfExcess(node int, rounds []stats.HalfTimes) (excess float64, ok bool) {
	var x []float64
	for _, h := range rounds {
		switch {
		case slices.Contains(h.First, node):
			x = append(x, h.Excess())
		case slices.Contains(h.Second, node):
			x = append(x, -h.Excess())
		}
	}
	if len(x) == 0 {
		return 0, false
	}
	return stats.Median(x), true
}
