package pattern

import (
	"math"
	"slices"

	"busbar/internal/stats"
)

// Time is the time of one group of nodes for an operation, in seconds.
type Time struct {
	Nodes   []int // by index, ascending
	Alone   bool  // all others idle
	Again   bool  // in a round that was measured once more
	Seconds float64
	Unsure  float64 // standard error of its logarithm, from its own samples
}

// Suspect is a node, or a link between two, that took longer in the rounds.
type Suspect struct {
	Nodes []int // one, or two for a link
	stats.Evidence
	Slow, Of int // of a node: pairs or rounds in which it is slow
	Standing stats.Standing
}

func (s *Suspect) isLink() bool { return len(s.Nodes) == 2 }

// Verdict is the result for the nodes from the times of one point.
type Verdict struct {
	Kind     string
	Nodes    int
	Suspects []Suspect // the slowest first, nodes before links
	Pairs    stats.WeakPairs
	Halves   stats.WeakHalves
	Missing  int // groups of the schedule without a value

	times []Time
	noise float64 // the median of their uncertainties
}

// Judge compares the groups of one point.
func Judge(kind string, n int, times []Time) Verdict {
	v := Verdict{Kind: kind, Nodes: n, times: times}
	rounds, err := Rounds(kind, n)
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
	if kind == Pairs {
		v.judgePairs(rounds)
	} else {
		v.judgeHalves(rounds)
	}
	for i := range v.Suspects {
		s := &v.Suspects[i]
		s.Single, s.Noise = s.isLink() || n < 4, v.noiseOf(s)
		if s.Standing = s.Evidence.Standing(); s.Standing == stats.SlowOnce && len(rounds[0]) == 1 {
			s.Standing = stats.Cleared // of three nodes none measures beside a pair: one time was noise
		}
	}
	return v
}

// noiseOf is the noise of a suspect's times: a link has only one time in the rounds, which may be noisier than others.
func (v *Verdict) noiseOf(s *Suspect) float64 {
	noise := v.noise
	for _, t := range v.times {
		if s.isLink() && slices.Equal(t.Nodes, s.Nodes) {
			noise = max(noise, t.Unsure)
		}
	}
	return noise
}

// Found are the suspects that are not cleared.
func (v *Verdict) Found() []Suspect {
	return slices.DeleteFunc(slices.Clone(v.Suspects), func(s Suspect) bool { return s.Standing == stats.Cleared })
}

// when is on which occasion a group was measured.
type when int

const (
	inRounds when = iota
	onceMore      // in a round that was repeated
	alone
)

func (t Time) when() when {
	switch {
	case t.Alone:
		return alone
	case t.Again:
		return onceMore
	}
	return inRounds
}

// of is the median time of a group on an occasion, or 0.
func (v *Verdict) of(nodes []int, on when) float64 {
	var x []float64
	for _, t := range v.times {
		if t.when() == on && t.Seconds > 0 && slices.Equal(t.Nodes, nodes) {
			x = append(x, t.Seconds)
		}
	}
	if len(x) == 0 {
		return 0
	}
	return stats.Median(x)
}

func (v *Verdict) judgePairs(rounds []Round) {
	var pairs []stats.PairTime
	for _, r := range rounds {
		for _, g := range r {
			if s := v.of(g, inRounds); s > 0 {
				pairs = append(pairs, stats.PairTime{A: g[0], B: g[1], Seconds: s})
			} else {
				v.Missing++
			}
		}
	}
	if len(pairs) == 0 {
		return
	}
	v.Pairs = stats.FindWeakPairs(v.Nodes, pairs, v.noise)
	for _, w := range v.Pairs.Nodes {
		v.Suspects = append(v.Suspects, Suspect{Nodes: []int{w.Node}, Evidence: stats.Evidence{Together: w.Excess},
			Slow: w.Slow, Of: w.Of})
	}
	for _, l := range v.Pairs.Links {
		v.Suspects = append(v.Suspects, Suspect{Nodes: []int{l.A, l.B}, Evidence: stats.Evidence{Together: l.Excess}})
	}
	for i := range v.Suspects {
		s := &v.Suspects[i]
		s.Alone, s.Again = v.pairsExcess(s, alone)
		s.Repeated, s.Twice = v.pairsExcess(s, onceMore)
	}
}

// pairsExcess compares a suspect's pairs on an occasion with those of nodes that are not suspects; ok reports that both
// exist.
func (v *Verdict) pairsExcess(s *Suspect, on when) (excess float64, ok bool) {
	var mine, others []float64
	for _, t := range v.times {
		if t.when() != on || t.Seconds <= 0 || len(t.Nodes) != 2 {
			continue
		}
		switch x := math.Log(t.Seconds); {
		case s.in(Pairs, t.Nodes, v):
			mine = append(mine, x)
		case v.suspected(t.Nodes) == 0:
			others = append(others, x)
		}
	}
	if len(mine) == 0 || len(others) == 0 {
		return 0, false
	}
	return stats.Median(mine) - stats.Median(others), true
}

// suspected counts the suspects that a pair has to do with.
func (v *Verdict) suspected(pair []int) (n int) {
	for _, s := range v.Suspects {
		if !s.isLink() && slices.Contains(pair, s.Nodes[0]) || slices.Equal(pair, s.Nodes) {
			n++
		}
	}
	return n
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
	v.Suspects = []Suspect{s}
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
