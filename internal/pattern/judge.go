package pattern

import (
	"cmp"
	"math"
	"slices"

	"busbar/internal/stats"
)

// Time is what one group of nodes took for an operation, in seconds.
type Time struct {
	Nodes   []int // by index, ascending
	Alone   bool  // all others rested
	Seconds float64
	Unsure  float64 // standard error of its logarithm, as far as its own samples tell
}

// Suspect is a node, or a link between two, that took longer in the rounds.
type Suspect struct {
	Nodes    []int   // one, or two for a link
	Together float64 // natural logarithm of how many times as long as the others, in the rounds
	Alone    float64 // the same when measured again alone
	Again    bool    // it was measured alone, with others to compare with
	Slow, Of int     // of a node: pairs or rounds in which it is slow
	Standing stats.Standing
}

func (s *Suspect) isLink() bool { return len(s.Nodes) == 2 }

// Verdict is what the times of one point say about the nodes.
type Verdict struct {
	Kind     string
	Nodes    int
	Suspects []Suspect // the slowest first, nodes before links
	Pairs    stats.WeakPairs
	Halves   stats.WeakHalves
	Missing  int // groups of the schedule without a figure

	times []Time
	noise float64 // the median of what is unsure of them
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
		s.Standing = stats.Stand(s.Together, s.Alone, s.Again, s.isLink() || n < 4, v.noiseOf(s))
	}
	return v
}

// noiseOf is how far the times of a suspect lie off by chance: a link has a single one in the rounds, which may be worse than others.
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

// of is the median time of a group, 0 where there is none.
func (v *Verdict) of(nodes []int, alone bool) float64 {
	var x []float64
	for _, t := range v.times {
		if t.Alone == alone && t.Seconds > 0 && slices.Equal(t.Nodes, nodes) {
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
			if s := v.of(g, false); s > 0 {
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
		v.Suspects = append(v.Suspects, Suspect{Nodes: []int{w.Node}, Together: w.Excess, Slow: w.Slow, Of: w.Of})
	}
	for _, l := range v.Pairs.Links {
		v.Suspects = append(v.Suspects, Suspect{Nodes: []int{l.A, l.B}, Together: l.Excess})
	}
	for i := range v.Suspects {
		v.pairsAlone(&v.Suspects[i])
	}
}

// pairsAlone compares a suspect's pairs that were measured alone with those of nodes that are no suspects.
func (v *Verdict) pairsAlone(s *Suspect) {
	var mine, others []float64
	for _, t := range v.times {
		if !t.Alone || t.Seconds <= 0 || len(t.Nodes) != 2 {
			continue
		}
		switch x := math.Log(t.Seconds); {
		case s.isLink() && slices.Equal(t.Nodes, s.Nodes), !s.isLink() && slices.Contains(t.Nodes, s.Nodes[0]) && v.suspected(t.Nodes) == 1:
			mine = append(mine, x)
		case v.suspected(t.Nodes) == 0:
			others = append(others, x)
		}
	}
	if s.Again = len(mine) > 0 && len(others) > 0; s.Again {
		s.Alone = stats.Median(mine) - stats.Median(others)
	}
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
	both := func(alone bool) (found []stats.HalfTimes) {
		for _, r := range rounds {
			a, b := v.of(r[0], alone), v.of(r[1], alone)
			if a > 0 && b > 0 {
				found = append(found, stats.HalfTimes{First: r[0], Second: r[1], FirstSeconds: a, SecondSeconds: b})
			} else if !alone {
				v.Missing += 2 - b2i(a > 0) - b2i(b > 0)
			}
		}
		return found
	}
	if v.Halves = stats.FindWeakHalf(v.Nodes, both(false), v.noise); v.Halves.Node < 0 {
		return
	}
	s := Suspect{Nodes: []int{v.Halves.Node}, Together: v.Halves.Excess, Slow: v.Halves.Slow, Of: v.Halves.Of}
	var alone []float64
	for _, h := range both(true) {
		switch node := s.Nodes[0]; {
		case slices.Contains(h.First, node):
			alone = append(alone, h.Excess())
		case slices.Contains(h.Second, node):
			alone = append(alone, -h.Excess())
		}
	}
	if s.Again = len(alone) > 0; s.Again {
		s.Alone = stats.Median(alone)
	}
	v.Suspects = []Suspect{s}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

const (
	// mostNodes and mostLinks are how many suspects are measured again alone, those of the largest excess.
	mostNodes = 4
	mostLinks = 4
	// eachAlone is how many pairs of a suspect, and how many of nodes that are none, are measured alone.
	eachAlone = 3
	// halvesAlone is how many rounds of halves are measured again.
	halvesAlone = 2
)

// Alone are the groups to measure again alone, in that order: those of the suspects of all points, and others to compare them with. The
// verdicts are of points with the same nodes.
func Alone(kind string, n int, verdicts []Verdict) [][]int {
	nodes, links := worst(verdicts)
	if len(nodes)+len(links) == 0 {
		return nil
	}
	if kind == Halves {
		return halvesOf(n, nodes, verdicts)
	}
	var sound []int
	for i := range n {
		if !slices.ContainsFunc(verdicts, func(v Verdict) bool {
			return slices.ContainsFunc(v.Suspects, func(s Suspect) bool { return !s.isLink() && s.Nodes[0] == i })
		}) {
			sound = append(sound, i)
		}
	}
	suspectLink := func(a, b int) bool {
		return slices.ContainsFunc(verdicts, func(v Verdict) bool {
			return slices.ContainsFunc(v.Suspects, func(s Suspect) bool { return slices.Equal(s.Nodes, []int{min(a, b), max(a, b)}) })
		})
	}
	var groups [][]int
	for k, i := range nodes {
		for taken, j := 0, 0; j < len(sound) && taken < eachAlone; j++ {
			if other := sound[(j+k)%len(sound)]; !suspectLink(i, other) {
				groups = append(groups, []int{min(i, other), max(i, other)})
				taken++
			}
		}
	}
	groups = append(groups, links...)
	return append(groups, controls(sound, suspectLink)...)
}

// controls are pairs of sound nodes: first those of neighbours, so that many nodes take part.
func controls(sound []int, suspectLink func(a, b int) bool) (groups [][]int) {
	for apart := 1; apart < len(sound) && len(groups) < eachAlone; apart++ {
		for i := 0; i+apart < len(sound) && len(groups) < eachAlone; i++ {
			if a, b := sound[i], sound[i+apart]; !suspectLink(a, b) {
				groups = append(groups, []int{a, b})
			}
		}
	}
	return groups
}

// worst are the suspects of the largest excess in any point.
func worst(verdicts []Verdict) (nodes []int, links [][]int) {
	excess := map[[2]int]float64{}
	for _, v := range verdicts {
		for _, s := range v.Suspects {
			key := [2]int{s.Nodes[0], -1}
			if s.isLink() {
				key[1] = s.Nodes[1]
			}
			excess[key] = max(excess[key], s.Together)
		}
	}
	var keys [][2]int
	for k := range excess {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(excess[b], excess[a]), cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	for _, k := range keys {
		if k[1] < 0 && len(nodes) < mostNodes {
			nodes = append(nodes, k[0])
		} else if k[1] >= 0 && len(links) < mostLinks {
			links = append(links, k[:])
		}
	}
	return nodes, links
}

// halvesOf are both halves of the rounds in which a suspect's half stood out most.
func halvesOf(n int, suspects []int, verdicts []Verdict) (groups [][]int) {
	rounds, err := Rounds(Halves, n)
	if err != nil {
		return nil
	}
	difference := func(r Round) (most float64) {
		for _, v := range verdicts {
			if a, b := v.of(r[0], false), v.of(r[1], false); a > 0 && b > 0 {
				most = max(most, math.Abs(math.Log(a/b)))
			}
		}
		return most
	}
	rounds = slices.Clone(rounds)
	slices.SortStableFunc(rounds, func(a, b Round) int { return cmp.Compare(difference(b), difference(a)) })
	have := map[int]bool{}
	for _, node := range suspects {
		taken := 0
		for i, r := range rounds {
			if taken < halvesAlone && (slices.Contains(r[0], node) || slices.Contains(r[1], node)) {
				if taken++; !have[i] {
					have[i] = true
					groups = append(groups, r[0], r[1])
				}
			}
		}
	}
	return groups
}

// MostAlone is the largest number of groups that Alone asks for.
func MostAlone(kind string) int {
	if kind == Halves {
		return mostNodes * 2 * halvesAlone
	}
	return mostNodes*eachAlone + mostLinks + eachAlone
}
