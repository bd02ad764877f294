package nccllog

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"
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

// connections is the number of connections of a transport: one per channel.
func connections(t Transport) int { return max(1, len(t.Channels)) }

// sameHost reports whether both ends of a transport are known to be on one host.
func (l *Log) sameHost(t Transport) bool {
	if l.nodes() == 1 || t.Comm >= 0 && l.Communicators[t.Comm].Nodes == 1 {
		return true
	}
	a, b := l.hostOf(t.Comm, t.From), l.hostOf(t.Comm, t.To)
	return a != "" && a == b && !l.Communicators[t.Comm].namesakes
}

// isTCP reports whether a transport uses TCP.
func isTCP(t Transport) bool { return strings.EqualFold(t.How, "Socket") }

// usesTCP reports whether NCCL named its sockets as the network, and nothing else.
func (l *Log) usesTCP() bool {
	return len(l.Network.Using) > 0 &&
		!slices.ContainsFunc(l.Network.Using, func(n Named) bool { return !strings.EqualFold(n.Name, "Socket") })
}

// faster is what of RDMA the log shows; "" where it shows none.
func (l *Log) faster() string {
	if names := namesOnly(l.Network.IB); len(names) > 0 {
		return "InfiniBand or RoCE devices: " + units.Some(names)
	}
	for _, p := range l.Network.Providers {
		if strings.HasPrefix(p.Name, "efa") {
			return "EFA"
		}
	}
	return ""
}

func namesOnly(all []Named) (out []string) {
	for _, n := range all {
		out = units.AddOnce(out, n.Name)
	}
	return out
}

// missing reports whether NCCL searched for a plugin and did not find it.
func (l *Log) missing(part string) bool {
	return slices.ContainsFunc(l.Network.Missing, func(n Named) bool { return strings.Contains(n.Name, part) })
}

// findNetwork finds nodes that communicate over TCP.
func findNetwork(l *findings) {
	fact := nccllogs.TCPBetweenNodes{RDMA: l.faster()}
	for _, t := range l.overNet() {
		fact.Of += connections(t)
		if isTCP(t) {
			fact.TCP += connections(t)
		}
	}
	if fact.TCP == 0 && (fact.Of > 0 || !l.usesTCP() || l.nodes() < 2) {
		return
	}
	fact.Interfaces = namesOnly(l.Network.Sockets)
	switch {
	case on(l.setting("NCCL_IB_DISABLE")):
		fact.Settings = l.assigned("NCCL_IB_DISABLE")
	case strings.EqualFold(l.setting("NCCL_NET"), "Socket"):
		fact.Settings = l.assigned("NCCL_NET")
	default:
		fact.PluginMissing = l.missing("libnccl-net")
	}
	if f := l.add(fact); fact.RDMA != "" || len(fact.Settings) > 0 {
		f.Severity = notice.Error
	}
}

// findNetworksDiffer finds processes that use different networks of NCCL.
func findNetworksDiffer(l *findings) {
	var fact nccllogs.NetworksDiffer
	for i, n := range l.Network.Using {
		if slices.ContainsFunc(l.Network.Using[:i], func(o Named) bool {
			return slices.ContainsFunc(o.Processes, func(p int) bool { return slices.Contains(n.Processes, p) })
		}) {
			return // of several communicators
		}
		fact.Networks = append(fact.Networks, nccllogs.NetworkOf{Name: n.Name, Who: l.name(n.Processes)})
	}
	if len(fact.Networks) > 1 && len(l.Communicators) == 1 {
		l.add(fact)
	}
}

// rdmaEnds are the ends of connections between hosts, other than over TCP. Each end is a line of its own: sender and
// receiver reach the memory of their GPUs each by a NIC of their own.
func (l *Log) rdmaEnds() []Transport {
	return units.Where(l.Transports, func(t Transport) bool { return t.Kind == "net" && !l.sameHost(t) && !isTCP(t) })
}

// endHost is the host of the end that logged a transport, or "".
func (l *Log) endHost(t Transport) string {
	if t.Comm < 0 && t.Process >= 0 {
		return l.Processes[t.Process].Host
	}
	if t.Receive {
		return l.hostOf(t.Comm, t.To)
	}
	return l.hostOf(t.Comm, t.From)
}

// findDirect finds ends of connections between nodes that pass through host memory, and NICs without GPUDirect RDMA.
func findDirect(l *findings) {
	var total nccllogs.HostEnds
	hosts := map[string]*nccllogs.HostEnds{}
	for _, t := range l.rdmaEnds() {
		host := cmp.Or(l.endHost(t), "unknown host")
		if hosts[host] == nil {
			hosts[host] = &nccllogs.HostEnds{Host: host}
		}
		for _, e := range []*nccllogs.HostEnds{&total, hosts[host]} {
			without, of := &e.Sends, &e.OfSends
			if t.Receive {
				without, of = &e.Receives, &e.OfReceives
			}
			*of += connections(t)
			if !t.GDR {
				*without += connections(t)
			}
		}
	}
	off, far, able := l.directDevices()
	fact := nccllogs.NoGPUDirect{
		Ends: total.Sends + total.Receives, Of: total.OfSends + total.OfReceives, Vendor: l.vendor(),
		Settings: l.assigned("NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_READ", "NCCL_DMABUF_ENABLE"),
	}
	if fact.Ends == 0 {
		l.disabledNICs(off, fact.Of > 0)
		return
	}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		if e := hosts[host]; e.Sends+e.Receives > 0 {
			fact.Hosts, fact.Each = append(fact.Hosts, host), append(fact.Each, *e)
		}
	}
	who := ""
	if len(fact.Hosts) < len(hosts) {
		who = fact.Hosts.String()
	}
	switch {
	case total.Receives == 0 && total.OfReceives > 0 && total.Sends == total.OfSends && !l.nvlinks():
		fact.Reason.Cause = nccllogs.DirectSends
	case len(off) > 0:
		fact.Reason = nccllogs.DirectNICs{Cause: nccllogs.DirectDisabled, NICs: off}
	case len(far) > 0:
		fact.Reason = nccllogs.DirectNICs{Cause: nccllogs.DirectDistance, NICs: far}
	case len(able) > 0:
		fact.Reason = nccllogs.DirectNICs{Cause: nccllogs.DirectChosen, NICs: able}
	}
	if f := l.about(who, fact); fact.Reason.Cause == nccllogs.DirectSends {
		f.Severity = notice.Info
	}
}

// directDevices are NICs by the state of their GPUDirect RDMA: disabled, disabled for a distance, enabled. TCP has no
// such state.
func (l *Log) directDevices() (off, far, able nccllogs.NICs) {
	for _, g := range l.Network.GDR {
		nic, list := nccllogs.NIC{Device: g.Device}, &able
		switch {
		case strings.HasPrefix(g.Said, "NET/Socket"):
			continue
		case !g.Enabled && strings.Contains(g.Said, "(distance"):
			list = &far
		case !g.Enabled:
			list = &off
			nic.Hosts = l.hostsOf(g.Processes)
		}
		if !slices.ContainsFunc(*list, func(n nccllogs.NIC) bool { return reflect.DeepEqual(n, nic) }) {
			*list = append(*list, nic)
		}
	}
	return off, far, able
}

// disabledNICs finds NICs without GPUDirect RDMA where no connection shows it.
func (l *findings) disabledNICs(off nccllogs.NICs, unused bool) {
	if len(off) == 0 || l.nodes() == 1 || l.usesTCP() {
		return
	}
	f := l.add(nccllogs.GPUDirectDisabled{NICs: off, Unused: unused, Vendor: l.vendor()})
	if unused {
		f.Severity = notice.Info
	}
}

// findCards finds hosts that use one of several NICs.
func findCards(l *findings) {
	if slices.ContainsFunc(l.Network.GDR, func(g GDR) bool { return strings.Contains(g.Device, "+") }) ||
		slices.ContainsFunc(l.Network.IB, func(n Named) bool { return strings.Contains(n.Name, "+") }) {
		return // NCCL made one device of several cards
	}
	hosts := units.GroupBy(units.Where(l.overNet(), func(t Transport) bool {
		return !isTCP(t) && !t.Receive && t.NetDev >= 0 && t.PXN < 0 && l.endHost(t) != ""
	}), l.endHost)
	units.SortBy(hosts, func(sends []Transport) string { return l.endHost(sends[0]) })
	fact := nccllogs.OneNIC{Devices: namesOnly(l.Network.IB), Setting: l.assigned("NCCL_IB_HCA")}
	for _, sends := range hosts {
		host, device := l.endHost(sends[0]), sends[0].NetDev
		n := l.cardsOf(host)
		if n < 2 || l.localRanks(host) < 2 ||
			slices.ContainsFunc(sends, func(t Transport) bool { return t.NetDev != device }) {
			continue
		}
		if fact.Hosts == nil {
			fact.Host, fact.Device = host, device
			for _, t := range sends {
				addTo((*[]int)(&fact.Ranks), t.From)
			}
		}
		fact.Hosts, fact.NICs = append(fact.Hosts, host), max(fact.NICs, n)
	}
	if fact.Hosts != nil {
		l.add(fact)
	}
}

// cardsOf is the number of devices for InfiniBand and RoCE that a host's processes named.
func (l *Log) cardsOf(host string) int {
	return len(namesOnly(units.Where(l.Network.IB, func(d Named) bool {
		return slices.Contains(l.hostsOf(d.Processes), host)
	})))
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

// findProvider finds a libfabric that uses TCP.
func findProvider(l *findings) {
	for _, p := range l.Network.Providers {
		word, _, _ := strings.Cut(strings.ToLower(p.Name), ";")
		if slices.Contains([]string{"tcp", "sockets", "udp", "net"}, word) {
			l.about(l.who(p.Processes), nccllogs.LibfabricTCP{Provider: p.Name})
		}
	}
}

// virtual are interfaces that lead to no other host, as do those with a link-local address, such as a host's USB link
// to its management controller.
var virtual = strings.Fields(`
	docker lo virbr veth br- lxcbr cni cali flannel tunl ip6tnl tailscale`)

// findInterface finds interfaces that lead to no other host, over which ranks meet or send. Where it is not known that
// there is another host, a connection that failed shows it.
func findInterface(l *findings) {
	if n := l.nodes(); n == 1 || n == 0 && !l.connectionFailed() {
		return
	}
	var names, addresses []string
	var processes []int
	for _, n := range slices.Concat(l.Network.Bootstrap, l.Network.Sockets) {
		name, address, _ := strings.Cut(n.Name, ":")
		leadsNowhere := strings.HasPrefix(address, "169.254.") ||
			strings.HasPrefix(address, "fe80:") && l.connectionFailed() ||
			slices.ContainsFunc(virtual, func(v string) bool {
				return strings.HasPrefix(name, v) && (v != "lo" || name == "lo")
			})
		if leadsNowhere && !slices.Contains(names, name) {
			names, addresses = append(names, name), append(addresses, address)
			processes = append(processes, n.Processes...)
		}
	}
	if names == nil {
		return
	}
	fact := nccllogs.UnreachableInterface{Interface: units.Some(names)}
	if len(names) == 1 {
		fact.Address = addresses[0]
	}
	l.about(l.who(processes), fact)
}

// connectionFailed reports whether a rank could not connect to another one.
func (l *Log) connectionFailed() bool {
	return slices.ContainsFunc(l.Messages, func(m Message) bool {
		e := explain(m)
		return e != nil && slices.Contains([]notice.Code{"host-unreachable", "connection-refused", "connection-failed"},
			e.code)
	})
}

// findPlugins finds plugins that were asked for and not found.
func findPlugins(l *findings) {
	for _, s := range l.assigned("NCCL_NET_PLUGIN", "NCCL_TUNER_PLUGIN", "NCCL_PROFILER_PLUGIN") {
		if strings.EqualFold(s.Value, "none") {
			continue
		}
		i := slices.IndexFunc(l.Network.Missing, func(n Named) bool {
			return strings.Contains(n.Name, s.Value) || strings.Contains(s.Value, n.Name) && n.Name != ""
		})
		if i >= 0 {
			missing := l.Network.Missing[i]
			l.about(l.who(missing.Processes), nccllogs.PluginNotFound{Setting: s, File: missing.Name})
		}
	}
}
