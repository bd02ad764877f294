package nccllog

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// counts reads "24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels, 8 p2p channels per peer",
// which had fewer parts before 2.21.
func (r *Reader) counts(p *process, m message) verdict {
	n := Channels{Unknown, Unknown, Unknown, Unknown, Unknown}
	c := cursor{s: m.text, open: m.open}
	for {
		v := c.small()
		switch {
		case c.maybe(" coll channels"):
			n.Coll = v
		case c.maybe(" collnet channels"):
			n.CollNet = v
		case c.maybe(" nvls channels"):
			n.NVLS = v
		case c.maybe(" p2p channels per peer"):
			n.PerPeer = v
		case c.maybe(" p2p channels"):
			n.P2P = v
		default:
			return unknown
		}
		if !c.maybe(",") {
			break
		}
	}
	if !c.done() || n.Coll == Unknown || m.open && n.PerPeer == Unknown {
		return unknown
	}
	k := p.context(m.head, false)
	k.Channels = &n
	if n.NVLS > 0 {
		yes := true
		k.nvls = &yes
	}
	return understood
}

// channel reads lines that begin with Channel or Ring: the order of a ring, and how one rank reaches another.
func (r *Reader) channel(p *process, m message) verdict {
	if strings.Contains(m.text, " via ") {
		return r.transport(p, m)
	}
	if strings.HasPrefix(m.text, "Ring") {
		return r.link(p, m)
	}
	c := cursor{s: m.text, open: m.open}
	c.lit("Channel")
	n := Ring{Channel: c.small()}
	if c.maybe("/") {
		n.Of = c.small()
	}
	c.spaces()
	c.lit(":")
	for c.spaces(); c.s != "" && !c.bad; c.spaces() {
		if i := strings.Index(c.s, "..."); i >= 0 && i < 12 {
			n.Cut = true // NCCL's own lines are bounded, and the last number with them
			break
		}
		n.Ranks = append(n.Ranks, c.small())
	}
	if !c.done() || len(n.Ranks) == 0 || slices.Min(n.Ranks) < 0 {
		return unknown
	}
	k := p.context(m.head, true)
	ring := k.ring(n.Channel)
	ring.Of, ring.Ranks, ring.Cut = n.Of, n.Ranks, n.Cut
	return understood
}

func (k *member) ring(channel int) *Ring {
	if k.rings == nil {
		k.rings = map[int]*Ring{}
	}
	if k.rings[channel] == nil {
		k.rings[channel] = &Ring{Channel: channel}
	}
	return k.rings[channel]
}

// link reads "Ring 00 : 1 -> 0 -> 1".
func (r *Reader) link(p *process, m message) verdict {
	c := cursor{s: m.text, open: m.open}
	c.lit("Ring")
	channel := c.small()
	c.lit(" :")
	from := c.small()
	c.lit(" ->")
	at := c.small()
	c.lit(" ->")
	to := c.small()
	if !c.done() {
		return unknown
	}
	ring := p.context(m.head, true).ring(channel)
	if l := [3]int{from, at, to}; !slices.Contains(ring.Links, l) {
		ring.Links = append(ring.Links, l)
	}
	return understood
}

// trees reads "Trees [0] 2/-1/-1->1->0 [1] …" and what 2.4 and 2.7 wrote: the parent in front, and two trees with a
// bar between.
func (r *Reader) trees(p *process, m message) verdict {
	text, _, more := strings.Cut(m.text, " comm 0x") // RCCL
	c := cursor{s: strings.TrimPrefix(text, "Trees"), open: m.open && !more}
	var all []Tree
	for c.spaces(); c.s != ""; c.spaces() {
		c.lit("[")
		channel := c.small()
		c.lit("]")
		t := c.tree()
		t.Channel = channel
		if c.maybe("|") {
			c.tree()
		}
		if c.bad {
			return unknown
		}
		all = append(all, t)
	}
	if !c.done() || len(all) == 0 {
		return unknown
	}
	k := p.context(m.head, true)
	for _, t := range all {
		k.tree(t)
	}
	return understood
}

// tree reads a/b/c->r->p or p->r->a/b/c.
func (c *cursor) tree() (t Tree) {
	first := c.some()
	c.lit("->")
	t.Rank = c.small()
	c.lit("->")
	last := c.some()
	if len(first) == 1 && len(last) > 1 {
		first, last = last, first
	}
	if len(last) != 1 {
		c.bad = true
		return t
	}
	t.Up = last[0]
	for _, d := range first {
		if d >= 0 {
			t.Down = append(t.Down, d)
		}
	}
	return t
}

// some reads a/b/c.
func (c *cursor) some() []int {
	all := []int{c.small()}
	for c.maybe("/") {
		all = append(all, c.small())
	}
	return all
}

func (k *member) tree(t Tree) {
	if k.trees == nil {
		k.trees = map[int]Tree{}
	}
	k.trees[t.Channel] = t
}

// oneTree reads "Tree 0 : -1 -> 0 -> 1/-1/-1".
func (r *Reader) oneTree(p *process, m message) verdict {
	c := cursor{s: m.text, open: m.open}
	c.lit("Tree")
	t := Tree{Channel: c.small()}
	c.lit(" :")
	t.Up = c.small()
	c.lit(" ->")
	t.Rank = c.small()
	c.lit(" ->")
	for _, d := range c.some() {
		if d >= 0 {
			t.Down = append(t.Down, d)
		}
	}
	if !c.done() {
		return unknown
	}
	p.context(m.head, true).tree(t)
	return understood
}

// connected reads "Connected all rings, use ring PXN 0 GDR 1" and its like.
func (r *Reader) connected(p *process, m message) verdict {
	text, _, more := strings.Cut(m.text, " comm 0x") // RCCL
	what, after, _ := strings.Cut(strings.TrimPrefix(text, "Connected "), ",")
	what = strings.TrimSpace(what)
	if m.open && after == "" && !more {
		return unknown
	}
	switch what {
	case "all rings", "all trees", "binomial trees", "NVLS tree", "collnet + chain", "CollNet":
	default:
		if !strings.HasPrefix(what, "Collnet Chains") {
			return unknown
		}
		what = "Collnet Chains"
	}
	k := p.context(m.head, false)
	if after != "" {
		c := cursor{s: after, open: m.open && !more}
		c.lit(" use ring PXN")
		pxn := c.small() != 0
		c.lit(" GDR")
		gdr := c.small() != 0
		if !c.done() {
			return unknown
		}
		k.ringPXN, k.ringGDR = &pxn, &gdr
	}
	if !slices.Contains(k.joined, what) {
		k.joined = append(k.joined, kept(what))
	}
	return understood
}

// chunk reads "P2P Chunksize set to 131072".
func (r *Reader) chunk(p *process, m message) verdict {
	c := cursor{s: m.text, open: m.open}
	c.lit("P2P Chunksize set to")
	v := c.integer()
	if !c.done() {
		return unknown
	}
	p.context(m.head, false).chunk = v
	return understood
}

// The lines that state whether NVLS is in use.
var (
	withNVLS    = regexp.MustCompile(`^NVLS (?:multicast support is available|Creat|comm )`)
	withoutNVLS = regexp.MustCompile(`^NVLS multicast support is not available`)
)

// multicast reads lines of NVLS and MNNVL of which only whether they are there matters.
func (r *Reader) multicast(p *process, m message) verdict {
	yes, no := true, false
	k := p.context(m.head, false)
	switch {
	case withoutNVLS.MatchString(m.text):
		k.nvls = &no
	case withNVLS.MatchString(m.text):
		k.nvls = &yes
	case strings.HasPrefix(m.text, "MNNVL 1 "):
		k.mnnvl = &yes
	case strings.HasPrefix(m.text, "MNNVL 0 "):
		k.mnnvl = &no
	default:
		return passed
	}
	return understood
}

// graph reads "Pattern 4, crossNic 0, nChannels 12, bw 20.000000/20.000000, type NVL/PIX, sameChannels 1".
func (r *Reader) graph(p *process, m message) verdict {
	c := cursor{s: m.text, open: m.open}
	c.lit("Pattern")
	pattern := c.small()
	g := Graph{Pattern: strconv.Itoa(pattern)}
	c.lit(", crossNic")
	g.CrossNIC = c.small()
	c.lit(", nChannels")
	g.Channels = c.small()
	if !c.maybe(", bw") && !c.maybe(", speed") {
		return unknown
	}
	g.BwIntra = c.float()
	if c.maybe("/") {
		g.BwInter = c.float()
	}
	if c.maybe(", nvlink") { // 2.5, with one type for all
		c.small()
		c.lit(", type ")
		g.Intra = linkType(c.until(", sameChannels"))
	} else {
		c.lit(", type ")
		g.Intra = c.until("/")
		g.Inter = c.until(", sameChannels")
	}
	g.Same = c.small()
	if !c.done() || len(g.Intra) > 8 || len(g.Inter) > 8 {
		return unknown
	}
	g.Name = patterns[pattern]
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
