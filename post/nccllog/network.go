package nccllog

import (
	"regexp"
	"strings"
)

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
)

func (n *Network) lists() map[string]*[]Named {
	return map[string]*[]Named{using: &n.Using, plugin: &n.Plugins, missing: &n.Missing, provider: &n.Providers,
		ibDevice: &n.IB, socket: &n.Sockets, bootstrap: &n.Bootstrap, tuner: &n.Tuners}
}

// name adds a name to a list. The key has a type of its own.
func (r *Reader) name(p *process, list, name, version string) bool {
	type key struct{ list, name, version string }
	p.by(&row(r, r.names[list], key{list, name, version},
		Named{Name: strings.TrimSpace(name), Version: version}).Processes)
	return true
}

// lineReader takes the facts out of a message.
type lineReader func(*Reader, *process, message) bool

// names returns what adds to a list the names that a regular expression finds in a message. A second group of it is the
// version.
func names(list string, re *regexp.Regexp) lineReader {
	return func(r *Reader, p *process, m message) bool {
		all := re.FindAllStringSubmatch(m.text, -1)
		for _, found := range all {
			r.name(p, list, found[1], strings.Join(found[2:], ""))
		}
		return all != nil
	}
}

// anInterface is one of "eth0:10.0.0.1<0>" and "[0]eth0:10.0.0.1<0> [1]eth1:…", of which IPv6 has colons in it. Ports
// do not matter.
var anInterface = regexp.MustCompile(`(?:^|[\s\]])([^\s:<\]]+:[^\s<]+)<`)

// What the loader of plugins reports. Before "No plugin found", 2.18 to 2.20 have the error of dlopen.
var (
	pluginMissing = regexp.MustCompile(
		`(?:Could not find: ?|No plugin found \(|Plugin load \(|Plugin load returned \d+ : )([^\s):]+)`)
	pluginLoaded = regexp.MustCompile(
		`^\S+[ :]+(?:Loaded|Using|Successfully loaded external) (?:net |tuner |profiler )?(?:plugin )?(.*?)(?: ` +
			`\((.*)\))?$`,
	)
)

// notOfNetwork is how other plugins begin that the loader found.
var notOfNetwork = regexp.MustCompile(`^(?:internal|(?:gin|coll|collnet) plugin )`)

// offered returns what adds to a list what the loader of plugins found, or not; "" keeps only what was not found.
func offered(list string) lineReader {
	return func(r *Reader, p *process, m message) bool {
		if of := pluginMissing.FindStringSubmatch(m.text); of != nil {
			return r.name(p, missing, strings.TrimRight(of[1], "."), "")
		}
		of := pluginLoaded.FindStringSubmatch(m.text)
		return of != nil && list != "" && !notOfNetwork.MatchString(of[1]) && r.name(p, list, of[1], of[2])
	}
}

// What "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eno1:192.168.0.3<0>" names.
var (
	ibNames = names(ibDevice, regexp.MustCompile(`\[\d+\]([^\s;:]+:[^\s;<]+)(?:[\s;]|$)`))
	outOfIB = names(bootstrap, regexp.MustCompile(`OOB (\S+:[^\s<]+)`))
)

// readDevices reads such a line.
func readDevices(r *Reader, p *process, m message) bool {
	outOfIB(r, p, m)
	return ibNames(r, p, m)
}

// readNoDevice reads that there is no device for InfiniBand or RoCE.
func readNoDevice(r *Reader, p *process, _ message) bool {
	return r.name(p, missing, "InfiniBand or RoCE device", "")
}

// networkLines are lines about network plugins, interfaces and devices, by their first words.
var networkLines = []lineKind{
	{"^Using network ", names(using, regexp.MustCompile(`^Using network (.+)`))},
	{"^Bootstrap", names(bootstrap, anInterface)},
	{"^Initialized NET plugin", names(plugin, regexp.MustCompile(`plugin (.+)`))},
	{"^Assigned NET plugin", names(plugin, regexp.MustCompile(`plugin (.+?)(?: to comm)?$`))},
	{"^NET/Plugin", offered(plugin)},
	{"^TUNER/Plugin", offered(tuner)},
	{"^PROFILER/Plugin", offered("")},
	{"GPU Direct RDMA", readGDR},
	{"^NET/IB : No", readNoDevice},
	{"^NET/IB", readDevices},
	{"^NET/Socket", names(socket, anInterface)},
	{"^NET/OFI", names(provider, regexp.MustCompile(`(?i)selected provider is ([^\s,]+)`))},
	{"^NET/OFI", names(plugin, regexp.MustCompile(`(?:Initializing|Using) (aws-ofi-\S+) ?(\S*)`))},
}

// directRDMA is what NCCL reports of one device: "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'", "GPU Direct
// RDMA Enabled for GPU 17000 / HCA 0 (distance 4 <= 5), read 0".
var directRDMA = regexp.MustCompile(`GPU Direct RDMA (Enabled|Disabled)[^']*?(?:'(.+?)'|(HCA \d+)(?: [^']*)?$)`)

// readGDR reads such a line.
func readGDR(r *Reader, p *process, m message) bool {
	type key struct {
		device  string
		enabled bool
	}
	of := directRDMA.FindStringSubmatch(m.text)
	if of == nil {
		return false
	}
	k := key{of[2] + of[3], of[1] == "Enabled"}
	p.by(&row(r, &r.log.Network.GDR, k,
		GDR{Device: k.device, Enabled: k.enabled, Said: strings.TrimSpace(m.text)}).Processes)
	return true
}
