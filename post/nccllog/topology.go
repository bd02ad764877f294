package nccllog

import (
	"slices"
	"strconv"
	"strings"
)

// system reads "=== System : maxBw 20.0 totalBw 40.0 ===", which was "maxWidth 20.0 totalWidth 40.0" up to 2.13,
// "maxWidth 20.0" up to 2.7, and "maxWidth 20 maxSpeed 20" in 2.5.
func (r *Reader) system(p *process, m message) verdict {
	c := cursor{s: m.text, open: m.open}
	c.lit("=== System :")
	c.spaces()
	if !c.maybe("maxBw") && !c.maybe("maxWidth") {
		return unknown
	}
	most := c.float()
	c.spaces()
	total := 0.0
	switch {
	case c.maybe("totalBw"), c.maybe("totalWidth"):
		total = c.float()
	case c.maybe("maxSpeed"):
		c.float()
	}
	c.spaces()
	c.lit("===")
	if !c.done() {
		return unknown
	}
	k := p.context(m.head, true)
	if k.hardware == nil {
		k.hardware = map[string]bool{}
		k.topology.MaxBw, k.topology.TotalBw = most, total
	}
	p.system = k
	return understood
}

// maxHardware is how many devices and paths of one system are told apart.
const maxHardware = 1 << 14

// hardware reads the lines below it: "+ PCI[24.0] - GPU/0-17000 (0)", "+ NVL[20.0] - GPU/0-65000", and the paths
// between: "GPU/0-17000 :GPU/0-17000 (0/5000.0/LOC) GPU/0-65000 (1/40.0/NVL) CPU/0-0 (1/24.0/PHB)".
func (r *Reader) hardware(p *process, m message) verdict {
	k := p.context(m.head, false)
	if k.hardware == nil {
		return passed
	}
	if from, paths, ok := strings.Cut(m.text, " :"); ok {
		if run(strings.TrimSpace(from), 0, "0123456789") == len(strings.TrimSpace(from)) {
			return passed // a channel of a graph
		}
		return k.paths(from, paths, m.open)
	}
	c := cursor{s: strings.TrimLeft(m.text, " +"), open: m.open}
	link := c.until("[")
	c.float()
	c.lit("] - ")
	what := c.word()
	if c.bad {
		return passed // CPU/0-0 (1/1/2), and what the channels of a graph go through
	}
	kind, _, _ := strings.Cut(what, "/")
	switch {
	case link == "NVL":
		k.topology.NVLinks++
	case kind == "GPU" && k.first(what):
		k.topology.GPUs++
	case (kind == "NIC" || kind == "NET") && k.first(what):
		k.topology.NICs++
	}
	return understood
}

func (k *member) first(what string) bool {
	if k.hardware[what] || len(k.hardware) >= maxHardware {
		return false
	}
	k.hardware[strings.Clone(what)] = true
	return true
}

func (k *member) paths(from, rest string, open bool) verdict {
	kind, _, _ := strings.Cut(from, "/")
	c := cursor{s: rest, open: open}
	for c.spaces(); c.s != ""; c.spaces() {
		to := c.word()
		c.lit(" (")
		c.small()
		c.lit("/")
		bw := c.float()
		c.lit("/")
		way := c.until(")")
		if c.bad || len(way) > 8 {
			return unknown
		}
		way = linkType(way)
		other, _, _ := strings.Cut(to, "/")
		if from == to || !k.first(from+">"+to) {
			continue
		}
		path := Path{Pair: kept(kind + "-" + other), Type: kept(way), Bw: bw}
		i := slices.IndexFunc(k.topology.Paths, func(o Path) bool {
			return o.Pair == path.Pair && o.Type == path.Type && o.Bw == path.Bw
		})
		if i < 0 {
			k.topology.Paths, i = append(k.topology.Paths, path), len(k.topology.Paths)
		}
		k.topology.Paths[i].Times++
	}
	return understood
}

// linkType is the name of a kind of link, which 2.5 numbers.
func linkType(way string) string {
	names := []string{"LOC", "NVL", "PCI", "QPI", "NET"}
	if n, err := strconv.Atoi(way); err == nil && n >= 0 && n < len(names) {
		return names[n]
	}
	return way
}

// topologyFile reads "Loading topology file /path".
func (r *Reader) topologyFile(p *process, m message) verdict {
	c := cursor{s: m.text, open: m.open}
	c.lit("Loading topology file ")
	path := c.rest()
	if !c.done() || path == "" {
		return unknown
	}
	p.context(m.head, true).topology.File = kept(path)
	return understood
}
