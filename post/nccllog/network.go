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

// names returns what adds to a list the names that a regular expression finds in a message. A second group of it is the
// version.
func names(list, pattern string) func(*Reader, *process, message) verdict {
	re := regexp.MustCompile(pattern)
	return func(r *Reader, p *process, m message) verdict {
		result := unknown
		for _, found := range re.FindAllStringSubmatch(m.text, -1) {
			result = r.name(p, list, found[1], strings.Join(found[2:], ""))
		}
		return result
	}
}

// anInterface is one of "eth0:10.0.0.1<0>" and "[0]eth0:10.0.0.1<0> [1]eth1:…", of which IPv6 has colons in it. Ports
// do not matter.
const anInterface = `(?:^|[\s\]])([^\s:<\]]+:[^\s<]+)<`

// What the loader of plugins reports. Before "No plugin found", 2.18 to 2.20 have the error of dlopen.
var (
	pluginMissing = regexp.MustCompile(
		`(?:Could not find: ?|No plugin found \(|Plugin load \(|Plugin load returned \d+ : )([^\s):]+)`)
	pluginLoaded = regexp.MustCompile(`^\S+ ?:? ?(?:Loaded|Using|Successfully loaded external) ` +
		`(?:(?:net|tuner|profiler) )?(?:plugin )?(.*?)(?: \(([^()]*)\))?$`)
)

// notOfNetwork is how other plugins begin that the loader found.
var notOfNetwork = regexp.MustCompile(`^(?:internal|(?:gin|coll|collnet) plugin )`)

// offered returns what adds to a list what the loader of plugins found, or not.
func offered(list string) func(*Reader, *process, message) verdict {
	return func(r *Reader, p *process, m message) verdict {
		if of := pluginMissing.FindStringSubmatch(m.text); of != nil {
			return r.name(p, missing, strings.TrimRight(of[1], "."), "")
		}
		of := pluginLoaded.FindStringSubmatch(m.text)
		if of == nil || notOfNetwork.MatchString(of[1]) {
			return unknown
		}
		return r.name(p, list, of[1], of[2])
	}
}

// What "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eno1:192.168.0.3<0>" names.
var (
	ibNames = names(ibDevice, `\[\d+\]([^\s;:]+:[^\s;<]+)(?:[\s;]|$)`)
	outOfIB = names(bootstrap, `OOB (\S+:[^\s<]+)`)
)

// devices reads such a line.
func (r *Reader) devices(p *process, m message) verdict {
	outOfIB(r, p, m)
	return ibNames(r, p, m)
}

// noDevice reads that there is no device for InfiniBand or RoCE.
func (r *Reader) noDevice(p *process, _ message) verdict {
	return r.name(p, missing, "InfiniBand or RoCE device", "")
}

// networkLines are lines about network plugins, interfaces and devices, by what they begin with.
var networkLines = []lineKind{
	{"Using network ", true, names(using, `^Using network (.+)`)},
	{"Bootstrap", true, names(bootstrap, anInterface)},
	{"Initialized NET plugin", true, names(plugin, `plugin (.+)`)},
	{"Assigned NET plugin", true, names(plugin, `plugin (.+?)(?: to comm)?$`)},
	{"NET/Plugin", true, offered(plugin)},
	{"TUNER/Plugin", true, offered(tuner)},
	{"PROFILER/Plugin", true, offered(profiler)},
	{"GPU Direct RDMA ", false, (*Reader).gdr},
	{"NET/IB : No device found", true, (*Reader).noDevice},
	{"NET/IB", true, (*Reader).devices},
	{"NET/Socket", true, names(socket, anInterface)},
	{"NET/OFI", true, names(provider, `(?i)selected provider is ([^\s,]+)`)},
	{"NET/OFI", true, names(plugin, `(?:Initializing|Using) (aws-ofi-\S+) ?(\S*)`)},
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

// directRDMA is what NCCL reports of one device: "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'", "GPU Direct
// RDMA Enabled for GPU 17000 / HCA 0 (distance 4 <= 5), read 0".
var directRDMA = regexp.MustCompile(`GPU Direct RDMA (Enabled|Disabled)[^']*?(?:'(.+?)'|(HCA \d+)(?: [^']*)?$)`)

// gdr reads such a line.
func (r *Reader) gdr(p *process, m message) verdict {
	of := directRDMA.FindStringSubmatch(m.text)
	if of == nil {
		return unknown
	}
	key := gdrKey{device: of[2] + of[3], enabled: of[1] == "Enabled"}
	g := r.direct[key]
	if g == nil {
		if len(r.direct) >= maxNames {
			return passed
		}
		key.device = kept(key.device)
		g = &direct{GDR: GDR{Device: key.device, Enabled: key.enabled, Said: kept(strings.TrimSpace(m.text))}}
		r.direct[key] = g
	}
	g.who.add(p)
	return understood
}
