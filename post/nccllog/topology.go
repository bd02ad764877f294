package nccllog

import (
	"slices"
	"strings"
)

// system reads "=== System : maxBw 20.0 totalBw 40.0 ===", which was "maxWidth 20.0 totalWidth 40.0" up to 2.13.
func (r *Reader) system(p *process, m message) verdict {
	c := cursor{m.text}
	var most, total float64
	if !c.read("=== System : maxBw % totalBw % ===", &most, &total) &&
		!c.read("=== System : maxWidth % totalWidth % ===", &most, &total) {
		return unknown
	}
	k := p.context(m.head, true)
	if k.hardware == nil {
		k.hardware = map[string]bool{}
		k.topology.MaxBw, k.topology.TotalBw = most, total
	}
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
		if from = strings.TrimSpace(from); run(from, 0, "0123456789") == len(from) {
			return passed // a channel of a graph
		}
		return k.paths(from, paths)
	}
	c := cursor{strings.TrimLeft(m.text, " +")}
	var link, kind, name string
	var bw float64
	if !c.read("%[%] - %/%", &link, &bw, &kind, &name) {
		return passed // CPU/0-0 (1/1/2), and what the channels of a graph go through
	}
	switch {
	case link == "NVL":
		k.topology.NVLinks++
	case kind == "GPU" && k.first(kind+name):
		k.topology.GPUs++
	case (kind == "NIC" || kind == "NET") && k.first(kind+name):
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

func (k *member) paths(from, rest string) verdict {
	kind, _, _ := strings.Cut(from, "/")
	var to, way string
	var hops int
	c := cursor{rest}
	for c.spaces(); c.s != ""; c.spaces() {
		var path Path
		if !c.read("% (%/%/%)", &to, &hops, &path.Bw, &way) || len(way) > 8 {
			return unknown
		}
		if from == to || !k.first(from+">"+to) {
			continue
		}
		other, _, _ := strings.Cut(to, "/")
		path.Pair, path.Type = kept(kind+"-"+other), kept(way)
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

const loadingTopology = "Loading topology file "

// topologyFile reads "Loading topology file /path".
func (r *Reader) topologyFile(p *process, m message) verdict {
	path := strings.TrimSpace(strings.TrimPrefix(m.text, loadingTopology))
	p.context(m.head, true).topology.File = kept(path)
	return understood
}
