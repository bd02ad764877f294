package result

import (
	"fmt"
	"strings"
)

// Pattern in the header is that a launch was measured in groups of its nodes, many at a time, to find a weak node or
// link.
type Pattern struct {
	Kind         string   `json:"kind"`                     // pairs, halves, rails, gpus
	Rounds       int      `json:"rounds"`                   // in which every node or pair of nodes is measured
	Hosts        []string `json:"hosts"`                    // the nodes, in the order of their lowest ranks
	RanksPerNode int      `json:"ranks_per_node,omitempty"` // of rails and gpus
}

// String is "pairs of node1,node2,node3"; empty for nil.
func (p *Pattern) String() string {
	if p == nil {
		return ""
	}
	return p.Kind + " of " + strings.Join(p.Hosts, ",")
}

// Group is which nodes of a launch measured a point of a pattern.
type Group struct {
	// from 1, with the other groups of the round at the same time; past the pattern's rounds: those once more; 0: alone
	Round        int      `json:"round,omitempty"`
	Hosts        []string `json:"hosts"`
	RanksPerNode int      `json:"ranks_per_node"` // the largest, where nodes differ
	// of each of these nodes, the ranks of the group by number on the node; absent: all
	LocalRanks []int `json:"local_ranks,omitempty"`
}

// Alone reports whether the group measured while all other nodes were idle.
func (g *Group) Alone() bool { return g != nil && g.Round == 0 }

// String is "round 2: node1+node4", "alone: node1+node4"; empty for nil.
func (g *Group) String() string {
	switch {
	case g == nil:
		return ""
	case g.Round == 0:
		return "alone: " + g.Members()
	}
	return fmt.Sprintf("round %d: %s", g.Round, g.Members())
}

// Members is "node1+node4", or with local ranks "node1:3+node4:3".
func (g *Group) Members() string {
	if g.LocalRanks == nil {
		return strings.Join(g.Hosts, "+")
	}
	var all []string
	for _, host := range g.Hosts {
		for _, local := range g.LocalRanks {
			all = append(all, fmt.Sprint(host, ":", local))
		}
	}
	return strings.Join(all, "+")
}
