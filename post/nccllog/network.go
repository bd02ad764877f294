package nccllog

import (
	"regexp"
	"strings"
)

// nameKey tells names of the network apart.
type nameKey struct{ list, name, version string }

// named is a name while it is read.
type named struct {
	Named
	list string
	who  who
}

// The lists of Network.
const (
	using     = "using"
	plugin    = "plugin"
	missing   = "missing"
	provider  = "provider"
	ibDevice  = "ib"
	socket    = "socket"
	bootstrap = "bootstrap"
	tuner     = "tuner"
	profiler  = "profiler"
	collnet   = "collnet"
)

// maxNames is how many are kept.
const maxNames = 1 << 14

func (r *Reader) name(p *process, list, name, version string) verdict {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 400 {
		return unknown
	}
	key := nameKey{list, name, version}
	n := r.names[key]
	if n == nil {
		if len(r.names) >= maxNames {
			return passed
		}
		n = &named{Named: Named{Name: kept(name), Version: kept(version)}, list: list}
		r.names[nameKey{list, n.Name, n.Version}] = n
		r.namesInOrder = append(r.namesInOrder, n)
	}
	n.who.add(p)
	return understood
}

// network reads lines about network plugins, interfaces and devices. All their facts stand at the end of a message.
func (r *Reader) network(p *process, m message) verdict {
	text := strings.TrimSpace(m.text)
	if m.open {
		return unknown
	}
	if rest, ok := strings.CutPrefix(text, "Using network "); ok {
		return r.name(p, using, rest, "")
	}
	for _, b := range []string{"Bootstrap : Using", "Bootstrap: Using"} {
		if rest, ok := strings.CutPrefix(text, b); ok {
			return r.interfaces(p, bootstrap, rest)
		}
	}
	if v := r.assigned(p, text); v != unknown {
		return v
	}
	if v := r.gdr(p, text); v != unknown {
		return v
	}
	layer, rest, _ := strings.Cut(text, "/")
	if i := strings.IndexAny(rest, " :"); i >= 0 {
		layer, rest = layer+"/"+rest[:i], strings.TrimLeft(rest[i:], " :")
	}
	if v := r.offered(p, layer, rest); v != unknown {
		return v
	}
	switch {
	case layer == "NET/IB" && strings.HasPrefix(rest, "Using"):
		return r.devices(p, strings.TrimPrefix(rest, "Using"))
	case layer == "NET/IB" && strings.HasPrefix(rest, "No device found"):
		return r.name(p, missing, "InfiniBand or RoCE device", "")
	case layer == "NET/Socket" && strings.HasPrefix(rest, "Using ["):
		return r.interfaces(p, socket, strings.TrimPrefix(rest, "Using"))
	case layer == "NET/OFI":
		return r.libfabric(p, rest)
	}
	return unknown
}

// assigned reads "Initialized NET plugin IB", "Assigned NET plugin IB to comm", and the same of other layers.
func (r *Reader) assigned(p *process, text string) verdict {
	rest, ok := strings.CutPrefix(text, "Initialized ")
	if !ok {
		if rest, ok = strings.CutPrefix(text, "Assigned "); !ok {
			return unknown
		}
		rest = strings.TrimSuffix(rest, " to comm")
	}
	layer, name, ok := strings.Cut(rest, " plugin ")
	if !ok || strings.Contains(layer, " ") {
		return unknown
	}
	switch layer {
	case "NET":
		return r.name(p, plugin, name, "")
	case "COLLNET", "CollNet":
		return r.name(p, collnet, name, "")
	}
	return passed
}

// What the loader of plugins reports. Before "No plugin found", 2.18 to 2.20 have the error of dlopen.
var (
	pluginMissing = regexp.MustCompile(
		`^(?:Could not find: ?|(?:dlerror=.*?)?No plugin found \()([^)]*)|^Plugin load \(([^)]*)\).*returned`)
	pluginLoaded = regexp.MustCompile(
		`^(?:Loaded|Using|Successfully loaded external) (?:(?:(?:net|profiler|tuner|(coll(?:net)?)) )?plugin )?(.*)$`)
)

// offered reads what the loader of plugins says.
func (r *Reader) offered(p *process, layer, rest string) verdict {
	list := map[string]string{"NET/Plugin": plugin, "TUNER/Plugin": tuner, "PROFILER/Plugin": profiler}[layer]
	if list == "" {
		return unknown
	}
	if m := pluginMissing.FindStringSubmatch(rest); m != nil {
		return r.name(p, missing, strings.TrimRight(firstWord(m[1]+m[2]), "."), "")
	}
	if m := pluginLoaded.FindStringSubmatch(rest); m != nil {
		name := m[2]
		if strings.HasPrefix(name, "internal") || strings.HasPrefix(name, "gin plugin ") {
			return passed
		}
		if m[1] != "" {
			list = collnet
		}
		version := ""
		if i := strings.LastIndex(name, " ("); i > 0 && strings.HasSuffix(name, ")") {
			name, version = name[:i], name[i+2:len(name)-1]
		}
		return r.name(p, list, name, version)
	}
	if name, ok := strings.CutPrefix(rest, "Plugin load returned "); ok {
		if _, after, found := strings.Cut(name, " : "); found {
			return r.name(p, missing, strings.TrimSuffix(firstWord(after), ":"), "")
		}
	}
	return passed
}

// libfabric reads what the plugin for libfabric says of itself and its provider.
func (r *Reader) libfabric(p *process, rest string) verdict {
	lower := strings.ToLower(rest)
	if i := strings.Index(lower, "selected provider is "); i >= 0 {
		name := rest[i+len("selected provider is "):]
		name, _, _ = strings.Cut(name, " ")
		return r.name(p, provider, strings.TrimRight(name, ","), "")
	}
	for _, way := range []string{"Initializing ", "Using "} { // Using up to 1.6
		if plug, ok := strings.CutPrefix(rest, way+"aws-ofi-"); ok {
			name, version, _ := strings.Cut(plug, " ")
			return r.name(p, plugin, "aws-ofi-"+name, firstWord(version))
		}
	}
	return unknown
}

// interfaces reads "eth0:10.0.0.1<0>" and "[0]eth0:10.0.0.1<0> [1]eth1:…", which of IPv6 has colons in it. Ports say
// nothing.
func (r *Reader) interfaces(p *process, list, s string) verdict {
	any := unknown
	for _, w := range strings.Fields(s) {
		if strings.HasPrefix(w, "[") {
			_, w, _ = strings.Cut(w, "]")
		}
		w, _, _ = strings.Cut(w, "<")
		if name, _, ok := strings.Cut(w, ":"); ok && name != "" {
			any = r.name(p, list, w, "")
		}
	}
	return any
}

// devices reads "[0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eno1:192.168.0.3<0>".
func (r *Reader) devices(p *process, s string) verdict {
	list, oob, _ := strings.Cut(s, ";")
	any := unknown
	for _, w := range strings.Fields(list) {
		_, name, ok := strings.Cut(w, "]")
		if !ok || name == "" {
			continue
		}
		any = r.name(p, ibDevice, name, "")
	}
	if rest, ok := strings.CutPrefix(strings.TrimSpace(oob), "OOB "); ok {
		r.interfaces(p, bootstrap, rest)
	}
	return any
}

// gdrKey tells what was said of GPUDirect RDMA apart.
type gdrKey struct {
	device  string
	enabled bool
}

// direct is what was said of one device, while it is read.
type direct struct {
	GDR
	who who
}

// gdr reads "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'", "GPU Direct RDMA Enabled for GPU 17000 / HCA 0
// (distance 4 <= 5), read 0" and "DMA-BUF is available on GPU device 0".
func (r *Reader) gdr(p *process, text string) verdict {
	if strings.HasPrefix(text, "DMA-BUF is ") {
		yes := strings.HasPrefix(text, "DMA-BUF is available")
		r.dmabuf = &yes
		return understood
	}
	i := strings.Index(text, "GPU Direct RDMA ")
	if i < 0 {
		return unknown
	}
	rest := text[i+len("GPU Direct RDMA "):]
	enabled := strings.HasPrefix(rest, "Enabled")
	if !enabled && !strings.HasPrefix(rest, "Disabled") {
		return unknown
	}
	device := ""
	if _, name, ok := strings.Cut(rest, "'"); ok {
		device, _, _ = strings.Cut(name, "'")
	} else if _, name, ok := strings.Cut(rest, "HCA "); ok {
		device = "HCA " + firstWord(name)
	}
	if device == "" {
		return unknown
	}
	key := gdrKey{device, enabled}
	g := r.direct[key]
	if g == nil {
		if len(r.direct) >= maxNames {
			return passed
		}
		g = &direct{GDR: GDR{Device: kept(device), Enabled: enabled, Said: kept(text)}}
		r.direct[gdrKey{g.Device, enabled}] = g
	}
	g.who.add(p)
	return understood
}
