package pattern

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"busbar/internal/result"
	"busbar/internal/stats"
)

// mostPartners is the number of nodes that each node meets on a rail.
const mostPartners = 4

// OfGPUs reports whether groups are two GPUs: GPU i of the launch is local rank i mod Each of node i / Each. Suspects
// then are GPUs, links between two, or parts (see levels).
func (s Shape) OfGPUs() bool { return s.Kind == Rails || s.Kind == GPUs }

// gpuRounds are the pairs of GPUs of a node, on all nodes at the same time.
func (s Shape) gpuRounds() (rounds []Round) {
	for _, local := range pairs(s.Each) {
		var all Round
		for node := range s.Nodes {
			for _, p := range local {
				all = append(all, []int{node*s.Each + p[0], node*s.Each + p[1]})
			}
		}
		rounds = append(rounds, all)
	}
	return rounds
}

// railRounds pair each node with a few others, near and far, on each rail alone and then on all rails at once.
func (s Shape) railRounds() (rounds []Round) {
	n := s.partners()
	together := make([]Round, n)
	for rail := range s.Each {
		for k := range n {
			var round Round
			for _, p := range pairsOf(s.Nodes, k*(s.Nodes+s.Nodes%2-1)/n) {
				round = append(round, []int{p[0]*s.Each + rail, p[1]*s.Each + rail})
			}
			rounds, together[k] = append(rounds, round), append(together[k], round...)
		}
	}
	if s.Each == 1 {
		return rounds
	}
	return append(rounds, together...)
}

func (s Shape) partners() int { return min(mostPartners, s.Nodes+s.Nodes%2-1) }

// occasion is that of round i of the schedule, from 0.
func (s Shape) occasion(i int) when {
	if s.Kind == Rails && i >= s.Each*s.partners() {
		return atOnce
	}
	return inRounds
}

// levels are the parts of rails and nodes that GPUs belong to. Nodes have the numbers after those of GPUs, rails the
// numbers after nodes.
func (s Shape) levels() []stats.Level {
	all := s.Nodes * s.Each
	rail := func(gpu int) int { return all + s.Nodes + gpu%s.Each }
	node := func(gpu int) int { return all + gpu/s.Each }
	gpu := func(gpu int) int { return gpu }
	if s.Kind == Rails {
		return []stats.Level{rail, node, gpu}
	}
	return []stats.Level{node, gpu}
}

// parts are what a group has to do with, as Suspect.Nodes has it.
func (s Shape) parts(group []int) []int {
	if !s.OfGPUs() {
		return group
	}
	var all []int
	for _, level := range s.levels() {
		for _, gpu := range group {
			all = append(all, level(gpu))
		}
	}
	return all
}

// name is the name of a node, or of a part: "rail 3 of node7"; short is "node7:3".
func (s Shape) name(part int, hosts []string, short bool) string {
	all := s.Nodes * s.Each
	switch {
	case !s.OfGPUs():
		return hosts[part]
	case part >= all+s.Nodes:
		return fmt.Sprint("rail ", part-all-s.Nodes)
	case part >= all:
		return hosts[part-all]
	}
	host, local := hosts[part/s.Each], part%s.Each
	if short {
		return fmt.Sprint(host, ":", local)
	}
	return fmt.Sprint(map[string]string{Rails: "rail ", GPUs: "GPU "}[s.Kind], local, " of ", host)
}

// GroupOf is a group of a pattern in a record, without the number of ranks per node of pairs and halves.
func GroupOf(of *result.Pattern, round int, group []int) *result.Group {
	g := &result.Group{Round: round}
	s := ShapeOf(of)
	for _, i := range group {
		if s.OfGPUs() {
			g.LocalRanks = append(g.LocalRanks, i%s.Each)
			i /= s.Each
		}
		g.Hosts = append(g.Hosts, of.Hosts[i])
	}
	if s.OfGPUs() {
		g.Hosts, g.LocalRanks = slices.Compact(g.Hosts), slices.Compact(g.LocalRanks)
		g.RanksPerNode = len(g.LocalRanks)
	}
	return g
}

// usual are the typical times of links as multiples of each other: GPUs of a node are near or far. What is not
// significant is 1; else the multiples' own error is noise, in the rounds and alone.
func (v *Verdict) usual() func(pair []int) float64 {
	const (
		least   = 4    // nodes to compare
		sigmas  = 5    // of a median
		inflate = 1.78 // from the median distance of a time to the standard deviation of its multiple
	)
	place := func(pair []int) int { return pair[0]%v.Each*v.Each + pair[1]%v.Each }
	typical, at, all, off := map[int]float64{}, map[int][]float64{}, []float64(nil), []float64(nil)
	if v.Kind != GPUs || v.Nodes < least {
		return func([]int) float64 { return 1 }
	}
	for _, t := range v.times {
		if t.when() == inRounds && t.Seconds > 0 {
			at[place(t.Nodes)], all = append(at[place(t.Nodes)], t.Seconds), append(all, t.Seconds)
		}
	}
	base := stats.Median(all)
	for p, seconds := range at {
		slices.Sort(seconds) // of the middle two, the lower: a GPU may be slow on each of two nodes
		typical[p] = seconds[(len(seconds)-1)/2] / base
		for _, s := range seconds {
			off = append(off, math.Abs(math.Log(s/base/typical[p])))
		}
	}
	scatter := inflate * stats.Median(off)
	for p, x := range typical {
		if math.Abs(math.Log(x)) > sigmas*scatter/math.Sqrt(float64(v.Nodes)) {
			v.noise = max(v.noise, scatter)
		} else {
			delete(typical, p)
		}
	}
	return func(pair []int) float64 { return cmp.Or(typical[place(pair)], 1) }
}
