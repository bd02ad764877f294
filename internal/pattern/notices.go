package pattern

import (
	"math"

	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// Notices are the verdict, a notice for each finding. hosts are the names of the nodes by index.
func (v *Verdict) Notices(hosts []string) (all []notice.Notice) {
	add := func(f notice.Fact) { all = append(all, notice.New(f)) }
	if rounds, err := v.Rounds(); err == nil && v.Kind != Halves && len(rounds)*len(rounds[0]) == 1 {
		add(notice.OnePair{Nodes: v.nodes(&Suspect{Nodes: rounds[0][0]}, hosts)})
		return all
	}
	for _, s := range v.Found() {
		add(v.fact(&s, hosts))
	}
	if t := v.AtOnce.Base / v.Pairs.Base; v.Pairs.Base > 0 && math.Log(t) >= max(sharing, 3*v.noise) {
		add(notice.RailsShare{Times: notice.Multiple(t), Rate: v.reached(v.AtOnce.Base, v.Pairs.Base)})
	}
	if v.Pairs.Apart && len(all) > 1 {
		add(notice.SlowPath{})
	}
	if n := max(v.Pairs.Uneven, v.AtOnce.Uneven); n > 0 {
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
	switch {
	case max(v.Pairs.PairSpread, v.Halves.Spread) == 0 && len(v.Suspects) == 0:
		return notice.NothingToCompare{}
	case v.Kind == Halves:
		f.Halves = notice.Within(v.Halves.Spread)
	default:
		f.What, f.Pairs = true, notice.Within(v.Pairs.PairSpread)
		if f.Nodes = notice.Within(v.Pairs.Spread); v.OfGPUs() {
			f.Nodes, f.GPUs = 0, f.Nodes
		}
	}
	if v.noise > 0.05 {
		f.Noise, f.Unseen = notice.Within(math.Exp(2*v.noise)), notice.Within(math.Exp(3*v.noise))
	}
	for _, s := range v.Suspects {
		c := notice.Cleared{Nodes: v.nodes(&s, hosts), Times: times(s.Together)}
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

// sharing is the minimum excess of all rails at once over each alone: 25 %.
const sharing = 0.22

// nodes are the suspect's node, or the two of its link.
func (v *Verdict) nodes(s *Suspect, hosts []string) (nodes notice.NodeOrLink) {
	for _, i := range s.Nodes {
		nodes = append(nodes, v.name(i, hosts, s.isLink()))
	}
	return nodes
}

// reached are bus bandwidths by the times of pairs, nil for latencies.
func (v *Verdict) reached(seconds, usual float64) *notice.Rate {
	if v.rate == nil {
		return nil
	}
	return &notice.Rate{BusBW: units.Bandwidth(v.rate(seconds)), Usual: units.Bandwidth(v.rate(usual))}
}

func (v *Verdict) fact(s *Suspect, hosts []string) notice.Fact {
	nodes := v.nodes(s, hosts)
	part := notice.SlowPart{Link: s.isLink(), Halves: v.Kind == Halves, Times: times(s.Together), Slow: s.Slow,
		Of: s.Of}
	if v.OfGPUs() && s.seconds > 0 {
		part.Rate = v.reached(s.seconds, s.seconds/math.Exp(s.Together))
	}
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
