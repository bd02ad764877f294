package pattern

import (
	"math"

	"busbar/internal/notice"
	"busbar/internal/stats"
)

// Notices are the verdict, a notice for each finding. hosts are the names of the nodes by index.
func (v *Verdict) Notices(hosts []string) (all []notice.Notice) {
	add := func(f notice.Fact) { all = append(all, notice.New(f)) }
	if v.Nodes == 2 {
		add(notice.OnePair{Nodes: hosts})
		return all
	}
	for _, s := range v.Found() {
		add(s.fact(v.Kind, hosts))
	}
	if v.Pairs.Apart && len(all) > 1 {
		add(notice.SlowPath{})
	}
	if n := v.Pairs.Uneven; n > 0 {
		add(notice.UnevenPairs{Pairs: n})
	}
	if v.Halves.Unclear {
		add(notice.UnclearHalves{Spread: notice.Within(v.Halves.Spread)})
	}
	if len(all) == 0 {
		add(v.nothing(hosts))
	}
	if v.Missing > 0 {
		add(notice.GroupsMissing{Groups: v.Missing})
	}
	return all
}

// nothing is that no node is slow, and how far apart the nodes are.
func (v *Verdict) nothing(hosts []string) notice.Fact {
	f := notice.NoSlowNode{}
	if v.Kind == Pairs {
		if v.Pairs.PairSpread == 0 {
			return notice.NothingToCompare{}
		}
		f = notice.NoSlowNode{
			What: true, Nodes: notice.Within(v.Pairs.Spread), Pairs: notice.Within(v.Pairs.PairSpread),
		}
	} else {
		if v.Halves.Spread == 0 {
			return notice.NothingToCompare{}
		}
		f.Halves = notice.Within(v.Halves.Spread)
	}
	if v.noise > 0.05 {
		f.Noise, f.Unseen = notice.Within(math.Exp(2*v.noise)), notice.Within(math.Exp(3*v.noise))
	}
	for _, s := range v.Suspects {
		c := notice.Cleared{Nodes: s.nodes(hosts), Times: times(s.Together)}
		if s.Again {
			c.Alone = times(s.Alone)
			if s.Twice {
				c.Repeated = times(s.Repeated)
			}
		}
		f.Suspects = append(f.Suspects, c)
	}
	return f
}

// nodes are the suspect's node, or the two of its link.
func (s *Suspect) nodes(hosts []string) (nodes notice.NodeOrLink) {
	for _, i := range s.Nodes {
		nodes = append(nodes, hosts[i])
	}
	return nodes
}

func (s *Suspect) fact(kind string, hosts []string) notice.Fact {
	nodes := s.nodes(hosts)
	part := notice.SlowPart{Link: s.isLink(), Halves: kind == Halves, Times: times(s.Together), Slow: s.Slow, Of: s.Of}
	switch s.Standing {
	case stats.Slow:
		return notice.SlowNode{Nodes: nodes, Part: part, Alone: times(s.Alone)}
	case stats.SlowTogether:
		return notice.SlowTogether{Nodes: nodes, Part: part, Repeated: times(s.Repeated), Alone: times(s.Alone)}
	case stats.SlowOnce:
		return notice.SlowOnce{Nodes: nodes, Part: part, Alone: times(s.Alone)}
	}
	return notice.SlowNode{Nodes: nodes, Part: part, NotYet: true}
}

// times is a natural logarithm as a factor.
func times(log float64) notice.Multiple { return notice.Multiple(math.Exp(log)) }

// Relative are the pairs' times in the rounds, by both nodes, as multiples of the median healthy pair, or 0.
func (v *Verdict) Relative() [][]float64 {
	table := make([][]float64, v.Nodes)
	for a := range table {
		table[a] = make([]float64, v.Nodes)
	}
	if v.Pairs.Base <= 0 {
		return table
	}
	for a := range v.Nodes {
		for b := a + 1; b < v.Nodes; b++ {
			x := v.of([]int{a, b}, inRounds) / v.Pairs.Base
			table[a][b], table[b][a] = x, x
		}
	}
	return table
}
