package nccllog

import (
	"slices"
	"strconv"
	"strings"

	"busbar/internal/units"
	"busbar/post/nccllog/logline"
)

// What the search over the topology prints.
var (
	graphLine = logline.MustCompile("Pattern %, crossNic %, nChannels %, bw %/%, type %/%, sameChannels %")
	linkLine  = logline.MustCompile("%[%] - %/%")
	pathEntry = logline.MustCompile("% (%/%/%)")
)

// readGraph reads "Pattern 4, crossNic 0, nChannels 12, bw 20.000000/20.000000, type NVL/PIX, sameChannels 1".
func readGraph(r *Reader, p *process, m message) bool {
	c := logline.Cursor{S: strings.Replace(m.text, "speed ", "bw ", 1)} // up to 2.13
	var pattern, crossNIC, same int
	var g Graph
	if !c.All(graphLine, &pattern, &crossNIC, &g.Channels, &g.BwIntra, &g.BwInter, &g.Intra, &g.Inter, &same) ||
		len(g.Intra) > 8 || len(g.Inter) > 8 {
		return false
	}
	g.Pattern = strconv.Itoa(pattern)
	p.context(m.head, true).part.addGraph(g)
	return true
}

const maxGraphs = 256

func (c *Communicator) addGraph(g Graph) {
	if !slices.Contains(c.Graphs, g) && len(c.Graphs) < maxGraphs {
		c.Graphs = append(c.Graphs, g)
	}
}

// readSystem reads "=== System : maxBw 20.0 totalBw 40.0 ===", below which are the lines on hardware.
func readSystem(r *Reader, p *process, m message) bool {
	if k := p.context(m.head, true); k.hardware == nil {
		k.hardware = map[string]bool{}
	}
	return true
}

// maxHardware is how many devices and paths of one system are counted.
const maxHardware = 1 << 14

// readHardware reads the lines below it: "+ PCI[24.0] - GPU/0-17000 (0)", "+ NVL[20.0] - GPU/0-65000", and the paths
// between: "GPU/0-17000 :GPU/0-17000 (0/5000.0/LOC) GPU/0-65000 (1/40.0/NVL) CPU/0-0 (1/24.0/PHB)".
func readHardware(r *Reader, p *process, m message) bool {
	k := p.context(m.head, false)
	if k.hardware == nil {
		return false
	}
	if from, paths, ok := strings.Cut(m.text, " :"); ok {
		from = strings.TrimSpace(from)
		return strings.Contains(from, "/") && k.paths(from, paths) // else a channel of a graph
	}
	c := logline.Cursor{S: strings.TrimLeft(m.text, " +")}
	var link, kind, name string
	var bw float64
	if !c.Read(linkLine, &link, &bw, &kind, &name) {
		return false // CPU/0-0 (1/1/2), and what the channels of a graph go through
	}
	t := &k.part.Topology
	switch {
	case link == "NVL":
		t.NVLinks++
	case kind == "GPU" && k.first(kind+name):
		t.GPUs++
	case (kind == "NIC" || kind == "NET") && k.first(kind+name):
		t.NICs++
	}
	return true
}

func (k *member) first(what string) bool {
	if k.hardware[what] || len(k.hardware) >= maxHardware {
		return false
	}
	k.hardware[what] = true
	return true
}

func (k *member) paths(from, rest string) bool {
	kind, _, _ := strings.Cut(from, "/")
	all := &k.part.Topology.Paths
	var to, way string
	var hops int
	c := logline.Cursor{S: rest}
	for c.Spaces(); c.S != ""; c.Spaces() {
		var bw float64
		if !c.Read(pathEntry, &to, &hops, &bw, &way) || len(way) > 8 {
			return false
		}
		if from == to || !k.first(from+">"+to) {
			continue
		}
		other, _, _ := strings.Cut(to, "/")
		path := Path{Pair: kind + "-" + other, Type: way, Bw: bw}
		units.Entry(all, func(o Path) bool {
			o.Times = 0
			return o == path
		}, path).Times++
	}
	return true
}

const loadingTopology = "Loading topology file"

// readTopologyFile reads "Loading topology file /path".
func readTopologyFile(r *Reader, p *process, m message) bool {
	p.context(m.head, true).part.Topology.File = strings.TrimSpace(strings.TrimPrefix(m.text, loadingTopology))
	return true
}
