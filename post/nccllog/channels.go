package nccllog

import (
	"slices"
	"strconv"
	"strings"
)

// counts reads "24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels, 8 p2p channels per peer",
// which had fewer parts before 2.21.
func (r *Reader) counts(p *process, m message) verdict {
	n := Channels{Unknown, Unknown, Unknown, Unknown, Unknown}
	of := map[string]*int{"coll channels": &n.Coll, "collnet channels": &n.CollNet, "nvls channels": &n.NVLS,
		"p2p channels": &n.P2P, "p2p channels per peer": &n.PerPeer}
	for _, part := range strings.Split(m.text, ",") {
		number, what, _ := strings.Cut(strings.TrimSpace(part), " ")
		v, err := strconv.ParseInt(number, 10, 32)
		if err != nil || of[what] == nil {
			return unknown
		}
		*of[what] = int(v)
	}
	if n.Coll == Unknown {
		return unknown
	}
	k := p.context(m.head, false)
	k.Channels = &n
	if n.NVLS > 0 {
		k.nvls = &yes
	}
	return understood
}

var yes, no = true, false

// channel reads lines that begin with Channel or Ring: the order of a ring, and how one rank reaches another.
func (r *Reader) channel(p *process, m message) verdict {
	if strings.Contains(m.text, " via ") {
		return r.transport(p, m)
	}
	if strings.HasPrefix(m.text, "Ring") {
		return passed // its neighbours, which the order has
	}
	c := cursor{m.text}
	var n Ring
	if !c.read("Channel %", &n.Channel) {
		return unknown
	}
	c.read("/%", &n.Of)
	c.spaces()
	if !c.read(":") {
		return unknown
	}
	for rank := 0; c.read(" %", &rank); {
		n.Ranks = append(n.Ranks, rank)
	}
	c.spaces()
	if i := strings.Index(c.s, "..."); i >= 0 && i < 12 {
		n.Cut, c.s = true, "" // NCCL's own lines are bounded, and the last number with them
	}
	if c.s != "" || len(n.Ranks) == 0 || slices.Min(n.Ranks) < 0 {
		return unknown
	}
	k := p.context(m.head, true)
	if k.rings == nil {
		k.rings = map[int]Ring{}
	}
	k.rings[n.Channel] = n
	return understood
}

// withNVLS are how lines begin that state that NVLS is in use.
var withNVLS = []string{"NVLS multicast support is available", "NVLS Creat", "NVLS comm "}

// multicast reads lines of NVLS of which only whether they are there matters.
func (r *Reader) multicast(p *process, m message) verdict {
	has := func(s string) bool { return strings.HasPrefix(m.text, s) }
	switch {
	case has("NVLS multicast support is not available"):
		p.context(m.head, false).nvls = &no
	case slices.ContainsFunc(withNVLS, has):
		p.context(m.head, false).nvls = &yes
	default:
		return passed
	}
	return understood
}

// graph reads "Pattern 4, crossNic 0, nChannels 12, bw 20.000000/20.000000, type NVL/PIX, sameChannels 1".
func (r *Reader) graph(p *process, m message) verdict {
	c := cursor{m.text}
	var pattern int
	var g Graph
	if !c.read("Pattern %, crossNic %, nChannels %, ", &pattern, &g.CrossNIC, &g.Channels) ||
		!c.read("bw ") && !c.read("speed ") ||
		!c.all("%/%, type %/%, sameChannels %", &g.BwIntra, &g.BwInter, &g.Intra, &g.Inter, &g.Same) ||
		len(g.Intra) > 8 || len(g.Inter) > 8 {
		return unknown
	}
	g.Pattern, g.Name = strconv.Itoa(pattern), patterns[pattern]
	g.Intra, g.Inter = kept(g.Intra), kept(g.Inter)
	k := p.context(m.head, true)
	if k.graphs == nil {
		k.graphs = map[Graph]int64{}
	}
	if k.graphs[g] > 0 || len(k.graphs) < maxGraphs {
		k.graphs[g]++
	}
	return understood
}

const maxGraphs = 256

// patterns are NCCL's names of what a search over the topology looks for.
var patterns = map[int]string{1: "balanced tree", 2: "split tree", 3: "tree", 4: "ring", 5: "NVLS", 6: "collnet direct"}
