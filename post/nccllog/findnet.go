package nccllog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/advice"
	"busbar/internal/units"
)

// overNet are the transports over a network between hosts, each once: as its sender has it, where that wrote.
func (l *Log) overNet() (all []Transport) {
	type end struct{ comm, from, to int }
	sent := map[end]bool{}
	for _, t := range l.Transports {
		if t.Kind == "net" && !t.Receive {
			sent[end{t.Comm, t.From, t.To}] = true
		}
	}
	for _, t := range l.Transports {
		if t.Kind == "net" && !l.sameHost(t) && (!t.Receive || !sent[end{t.Comm, t.From, t.To}]) {
			all = append(all, t)
		}
	}
	return all
}

// connections is how many a transport stands for: one a channel.
func connections(t Transport) int { return max(1, len(t.Channels)) }

// sameHost says whether both ends of a transport are known to be on one host.
func (l *Log) sameHost(t Transport) bool {
	if l.nodes() == 1 || t.Comm >= 0 && t.Comm < len(l.Communicators) && l.Communicators[t.Comm].Nodes == 1 {
		return true
	}
	a, b := l.hostOf(t.Comm, t.From), l.hostOf(t.Comm, t.To)
	return a != "" && a == b && !l.namesake(t.Comm)
}

// isTCP says whether a transport goes over TCP.
func isTCP(t Transport) bool { return strings.EqualFold(t.How, "Socket") }

// usesTCP says whether NCCL named its sockets as the network, and nothing else.
func (l *Log) usesTCP() bool {
	return len(l.Network.Using) > 0 && !slices.ContainsFunc(l.Network.Using, func(n Named) bool { return !strings.EqualFold(n.Name, "Socket") })
}

// faster is what of RDMA the log shows; "" where it shows none.
func (l *Log) faster() string {
	if names := names(l.Network.IB); len(names) > 0 {
		return "InfiniBand or RoCE devices: " + units.Some(names)
	}
	for _, p := range l.Network.Providers {
		if strings.HasPrefix(p.Name, "efa") {
			return "EFA"
		}
	}
	return ""
}

func names(all []Named) (out []string) {
	for _, n := range all {
		if !slices.Contains(out, n.Name) {
			out = append(out, n.Name)
		}
	}
	return out
}

// missing says whether a plugin was looked for in vain.
func (l *Log) missing(part string) bool {
	return slices.ContainsFunc(l.Network.Missing, func(n Named) bool { return strings.Contains(n.Name, part) })
}

// findNetwork tells of nodes that talk over TCP.
func findNetwork(l *Log) []Finding {
	var tcp, all int
	for _, t := range l.overNet() {
		all += connections(t)
		if isTCP(t) {
			tcp += connections(t)
		}
	}
	if tcp == 0 && (all > 0 || !l.usesTCP() || l.nodes() < 2) {
		return nil
	}
	f := Finding{Kind: OverTCP, Severity: Warning, Source: environmentDoc + "NCCL_NET; docs/preflight.md, NCCL network",
		Says: "NCCL goes over TCP between nodes (NET/Socket)."}
	if all > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%d of %s between nodes via NET/Socket", tcp, units.Count(all, "connection")))
	}
	if len(l.Network.Sockets) > 0 {
		f.Evidence = append(f.Evidence, "interfaces: "+units.Some(names(l.Network.Sockets)))
	}
	var todo []string
	if what := l.faster(); what != "" {
		f.Severity = Serious
		f.Says = "NCCL goes over TCP between nodes (NET/Socket), though the log names " + what + "."
	}
	switch {
	case on(l.setting("NCCL_IB_DISABLE")):
		f.Severity, f.Variable = Serious, "NCCL_IB_DISABLE"
		f.Evidence = append(f.Evidence, "NCCL_IB_DISABLE="+l.setting("NCCL_IB_DISABLE"))
		todo = append(todo, "unset NCCL_IB_DISABLE")
	case strings.EqualFold(l.setting("NCCL_NET"), "Socket"):
		f.Severity, f.Variable = Serious, "NCCL_NET"
		f.Evidence = append(f.Evidence, "NCCL_NET=Socket")
		todo = append(todo, "unset NCCL_NET")
	default:
		if l.missing("libnccl-net") {
			f.Evidence = append(f.Evidence, "NCCL's network plugin was not found (libnccl-net.so)")
			todo = append(todo, "on EFA: "+advice.Plugin)
		}
		todo = append(todo, "with InfiniBand or RoCE, "+advice.Devices)
		todo = append(todo, "rank --preflight there says what the host has; without RDMA, NCCL_SOCKET_NTHREADS and NCCL_NSOCKS_PERTHREAD give a connection more sockets")
	}
	f.Advice = strings.Join(todo, "; ")
	return []Finding{f}
}

// rdmaEnds are the ends of connections between hosts, other than over TCP. Each end is a line of its own: sender and receiver
// reach the memory of their GPUs each by a NIC of their own.
func (l *Log) rdmaEnds() (ends []Transport) {
	for _, t := range l.Transports {
		if t.Kind == "net" && !l.sameHost(t) && !isTCP(t) {
			ends = append(ends, t)
		}
	}
	return ends
}

// endHost is the host of the end that a transport is told of; "" where it is not known.
func (l *Log) endHost(t Transport) string {
	if t.Comm < 0 && t.Process >= 0 && t.Process < len(l.Processes) {
		return l.Processes[t.Process].Host
	}
	if t.Receive {
		return l.hostOf(t.Comm, t.To)
	}
	return l.hostOf(t.Comm, t.From)
}

// endCount counts ends of connections.
type endCount struct{ sends, receives int }

func (c *endCount) add(t Transport) {
	if t.Receive {
		c.receives += connections(t)
	} else {
		c.sends += connections(t)
	}
}

func (c endCount) sum() int { return c.sends + c.receives }

// findDirect tells of ends of connections between nodes that pass through host memory, and of NICs without GPUDirect RDMA.
func findDirect(l *Log) []Finding {
	var without, all endCount
	allAt, withoutAt := map[string]*endCount{}, map[string]*endCount{}
	for _, t := range l.rdmaEnds() {
		host := l.endHost(t)
		if allAt[host] == nil {
			allAt[host], withoutAt[host] = &endCount{}, &endCount{}
		}
		all.add(t)
		allAt[host].add(t)
		if !t.GDR {
			without.add(t)
			withoutAt[host].add(t)
		}
	}
	off, far, able := l.directDevices()
	if without.sum() == 0 {
		return l.disabledNICs(off, all.sum() > 0)
	}
	f := Finding{Kind: NoDirect, Severity: Warning, Source: gpuDoc + ", GPU-to-NIC communication", Variable: "NCCL_NET_GDR_LEVEL"}
	var hosts []string
	for _, host := range slices.Sorted(maps.Keys(withoutAt)) {
		n, of := withoutAt[host], allAt[host]
		if n.sum() == 0 {
			continue
		}
		hosts = append(hosts, cmp.Or(host, "unknown host"))
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %d of %d [send] and %d of %d [receive] without /GDRDMA", hosts[len(hosts)-1], n.sends, of.sends, n.receives, of.receives))
	}
	f.Evidence = clipTexts(f.Evidence)
	f.Says = fmt.Sprintf("%d of %s between nodes go through host memory, without GPUDirect RDMA (on %s).", without.sum(), units.Count(all.sum(), "connection end"), hostsText(hosts))
	if len(hosts) < len(allAt) {
		f.Who = hostsText(hosts)
	}
	switch {
	case without.receives == 0 && all.receives > 0 && without.sends == all.sends && !l.nvlinks():
		f.Severity, f.Variable = Note, "NCCL_NET_GDR_READ"
		f.Advice = "NCCL's default for sends of GPUs without NVLink; NCCL_NET_GDR_READ=1 tries the direct way"
	case len(off) > 0:
		f.Evidence = append(f.Evidence, "GPU Direct RDMA Disabled: "+units.Some(off))
		f.Advice = advice.Peermem
	case len(far)+len(able) > 0:
		if len(far) > 0 {
			f.Evidence = append(f.Evidence, "GPU Direct RDMA Disabled, for the distance to the GPU: "+units.Some(far))
		} else {
			f.Evidence = append(f.Evidence, "GPU Direct RDMA Enabled: "+units.Some(able)+", so the cards could: NCCL took them for too far from the GPUs")
		}
		f.Advice = "see nvidia-smi topo -m; NCCL_NET_GDR_LEVEL=PHB allows it over the host's bridge, where that is found to be faster"
	default:
		f.Advice = advice.Peermem + "; where that is well: see nvidia-smi topo -m, cards far from the GPUs are left out (NCCL_NET_GDR_LEVEL)"
	}
	for _, name := range []string{"NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_READ", "NCCL_DMABUF_ENABLE"} {
		if v := l.setting(name); v != "" {
			f.Evidence = append(f.Evidence, name+"="+v)
		}
	}
	return []Finding{f}
}

// directDevices are NICs by what was said of their GPUDirect RDMA: disabled, disabled for a distance, enabled. TCP has none.
func (l *Log) directDevices() (off, far, able []string) {
	for _, g := range l.Network.GDR {
		name, list := g.Device, &able
		switch {
		case strings.HasPrefix(g.Said, "NET/Socket"):
			continue
		case !g.Enabled && strings.Contains(g.Said, "(distance"):
			list = &far
		case !g.Enabled:
			list = &off
			if hosts := l.hostsOf(g.Processes); len(hosts) > 0 {
				name += " on " + hostsText(hosts)
			}
		}
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	return off, far, able
}

// disabledNICs tells of NICs without GPUDirect RDMA where no connection shows it.
func (l *Log) disabledNICs(off []string, unused bool) []Finding {
	if len(off) == 0 || l.nodes() == 1 || l.usesTCP() {
		return nil
	}
	f := Finding{Kind: NoDirect, Severity: Warning, Source: gpuDoc + ", GPU-to-NIC communication",
		Says:     "GPUDirect RDMA is disabled for " + units.Some(off) + ": data between GPUs and these NICs goes through host memory.",
		Evidence: []string{"GPU Direct RDMA Disabled: " + units.Some(off)}, Advice: advice.Peermem}
	if unused {
		f.Severity = Note
		f.Says = "GPUDirect RDMA is disabled for " + units.Some(off) + "; the connections in this log do not use these NICs."
	}
	return []Finding{f}
}

// findCards tells of hosts with several cards of which one alone is used.
func findCards(l *Log) []Finding {
	if slices.ContainsFunc(l.Network.GDR, func(g GDR) bool { return strings.Contains(g.Device, "+") }) ||
		slices.ContainsFunc(l.Network.IB, func(n Named) bool { return strings.Contains(n.Name, "+") }) {
		return nil // NCCL made one device of several cards
	}
	used, ranks := map[string]map[int]bool{}, map[string]map[int]bool{}
	for _, t := range l.overNet() {
		host := l.endHost(t)
		if isTCP(t) || t.Receive || t.NetDev < 0 || t.PXN >= 0 || host == "" {
			continue
		}
		if used[host] == nil {
			used[host], ranks[host] = map[int]bool{}, map[int]bool{}
		}
		used[host][t.NetDev], ranks[host][t.From] = true, true
	}
	var hosts []string
	cards := 0
	for host, devices := range used {
		if n := l.cardsOf(host); len(devices) == 1 && n > 1 && l.localRanks(host) > 1 {
			hosts, cards = append(hosts, host), max(cards, n)
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	slices.Sort(hosts)
	device := slices.Collect(maps.Keys(used[hosts[0]]))[0]
	f := Finding{Kind: OneCard, Severity: Warning, Who: hostsText(hosts), Variable: "NCCL_IB_HCA", Source: environmentDoc + "NCCL_IB_HCA, NCCL_CROSS_NIC",
		Says: fmt.Sprintf("Of up to %d network cards of a host one alone carries what goes to other nodes (on %s).", cards, hostsText(hosts)),
		Evidence: []string{fmt.Sprintf("all connections of %s leave by device %d, %s", hosts[0], device, ranksText(slices.Collect(maps.Keys(ranks[hosts[0]])))),
			"devices: " + units.Some(names(l.Network.IB))},
		Advice: "see that all cards are up and named in NCCL_IB_HCA; " + advice.Cable}
	if v := l.setting("NCCL_IB_HCA"); v != "" {
		f.Evidence = append(f.Evidence, "NCCL_IB_HCA="+v)
	}
	return []Finding{f}
}

// cardsOf is the number of devices for InfiniBand and RoCE that a host's processes named.
func (l *Log) cardsOf(host string) int {
	n := map[string]bool{}
	for _, d := range l.Network.IB {
		if slices.ContainsFunc(d.Processes, func(i int) bool { return i >= 0 && i < len(l.Processes) && l.Processes[i].Host == host }) {
			n[d.Name] = true
		}
	}
	return len(n)
}

// localRanks is the number of ranks of a host that wrote.
func (l *Log) localRanks(host string) (n int) {
	for _, p := range l.Processes {
		if p.Host == host {
			n += len(p.Ranks)
		}
	}
	return n
}

// findProvider tells of a libfabric that goes over TCP.
func findProvider(l *Log) (found []Finding) {
	for _, p := range l.Network.Providers {
		if word, _, _ := strings.Cut(strings.ToLower(p.Name), ";"); word != "tcp" && word != "sockets" && word != "udp" && word != "net" {
			continue
		}
		found = append(found, Finding{Kind: WrongProvider, Severity: Serious, Who: l.who(p.Processes), Variable: "FI_PROVIDER", Source: "libfabric, fi_provider(7)",
			Says:     fmt.Sprintf("Libfabric's provider is %s: TCP, and not the network adapter.", p.Name),
			Evidence: []string{"Selected Provider is " + p.Name},
			Advice:   "see fi_info -p efa (or cxi, verbs) there, and FI_PROVIDER; " + advice.Devices})
	}
	return found
}

// virtual are interfaces that lead to no other host.
var virtual = []string{"docker", "lo", "virbr", "veth", "br-"}

// findInterface tells of ranks that meet over an interface that leads nowhere.
func findInterface(l *Log) (found []Finding) {
	if l.nodes() == 1 || l.nodes() == 0 {
		return nil
	}
	for _, n := range l.Network.Bootstrap {
		name, address, _ := strings.Cut(n.Name, ":")
		if !slices.ContainsFunc(virtual, func(v string) bool { return strings.HasPrefix(name, v) && (v != "lo" || name == "lo") }) {
			continue
		}
		found = append(found, Finding{Kind: BadInterface, Severity: Serious, Who: l.who(n.Processes), Variable: "NCCL_SOCKET_IFNAME", Source: networkDoc + ", IP network interfaces",
			Says:     fmt.Sprintf("Ranks meet over %s, an interface that other hosts do not reach.", name),
			Evidence: []string{strings.TrimSpace("Bootstrap: " + name + " " + address)}, Advice: interfaces})
	}
	return found
}

// findPlugins tells of plugins that were asked for and not found.
func findPlugins(l *Log) (found []Finding) {
	for _, variable := range []string{"NCCL_NET_PLUGIN", "NCCL_TUNER_PLUGIN", "NCCL_PROFILER_PLUGIN"} {
		want := l.setting(variable)
		if want == "" || strings.EqualFold(want, "none") {
			continue
		}
		i := slices.IndexFunc(l.Network.Missing, func(n Named) bool {
			return strings.Contains(n.Name, want) || strings.Contains(want, n.Name) && n.Name != ""
		})
		if i < 0 {
			continue
		}
		found = append(found, Finding{Kind: NoPlugin, Severity: Warning, Who: l.who(l.Network.Missing[i].Processes), Variable: variable, Source: environmentDoc + variable,
			Says:     fmt.Sprintf("The plugin that %s asks for was not found, and NCCL went on without it.", variable),
			Evidence: []string{variable + "=" + want, "not found: " + l.Network.Missing[i].Name},
			Advice:   "put its folder on LD_LIBRARY_PATH, or give its whole path"})
	}
	return found
}
