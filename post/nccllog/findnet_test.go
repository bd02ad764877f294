package nccllog

import (
	"slices"
	"strings"
	"testing"

	"busbar/internal/golden"
	"busbar/internal/notice"

	"github.com/shoenig/test"
)

// twoHosts is a log of four ranks on two hosts, two processes of two ranks each, with these transports of their
// communicator.
func twoHosts(all ...Transport) *Log {
	return &Log{
		Processes: []Process{{Host: "n1", Ranks: []int{0, 1}}, {Host: "n2", Ranks: []int{2, 3}}},
		Communicators: []Communicator{{Name: "comm 1", Ranks: 4, Nodes: 2, Members: []Member{
			{Rank: 0, Process: 0}, {Rank: 1, Process: 0}, {Rank: 2, Process: 1}, {Rank: 3, Process: 1}}}},
		Transports: all,
	}
}

func sends(from, to int, how string, device int) Transport {
	return Transport{
		From:     from,
		To:       to,
		Kind:     "net",
		How:      how,
		NetDev:   device,
		PXN:      Unknown,
		GDR:      true,
		Channels: []int{0, 1},
	}
}

func receives(from, to int, how string, device int) Transport {
	t := sends(from, to, how, device)
	t.Receive = true
	return t
}

// A connection counts once, whether both ends logged it or only the receiver. One within a host does not count.
func TestConnectionsBetweenHosts(t *testing.T) {
	ends := func(l *Log) (ends [][2]int) {
		for _, t := range l.overNet() {
			ends = append(ends, [2]int{t.From, t.To})
		}
		return ends
	}
	p2p := Transport{From: 0, To: 2, Kind: "p2p", PXN: Unknown}
	l := twoHosts(receives(0, 2, "IB", 1), sends(0, 2, "IB", 0), receives(3, 1, "IB", 0), sends(0, 1, "IB", 0), p2p)
	if got, want := ends(l), [][2]int{{0, 2}, {3, 1}}; !slices.Equal(got, want) {
		t.Errorf("connections are %v, want %v", got, want)
	}
	l.Communicators = append(l.Communicators, Communicator{Nodes: 1})
	one := sends(0, 2, "IB", 0)
	one.Comm = 1
	unknown := sends(5, 6, "IB", 0)
	unknown.Comm = Unknown
	l.Transports = []Transport{one, unknown}
	if got, want := ends(l), [][2]int{{5, 6}}; !slices.Equal(got, want) {
		t.Errorf("beside a communicator of one node, connections are %v, want %v", got, want)
	}
	test.EqOp(t, 1, connections(Transport{}))
}

func TestTCPBetweenHosts(t *testing.T) {
	half := []Transport{sends(0, 2, "Socket", 0), sends(2, 0, "IB", 0)}
	silent := []Named{{Name: "Socket"}}
	for what, c := range map[string]struct {
		ends     []Transport
		network  Network
		settings []Setting
	}{
		"half":                {ends: half},
		"with interfaces":     {half, Network{Sockets: []Named{{Name: "eth0:10.0.0.1"}, {Name: "eth0:10.0.0.1"}}}, nil},
		"with cards":          {half, Network{IB: []Named{{Name: "mlx5_0"}}}, nil},
		"with EFA":            {half, Network{Providers: []Named{{Name: "tcp"}, {Name: "efa"}}}, nil},
		"without the plugin":  {half, Network{Missing: []Named{{Name: "libnccl-net.so"}}}, nil},
		"InfiniBand disabled": {half, Network{}, []Setting{fromEnvironment("NCCL_IB_DISABLE", "1")}},
		"asked for":           {half, Network{}, []Setting{fromEnvironment("NCCL_NET", "socket")}},
		"named alone":         {nil, Network{Using: silent}, nil},
		"named with another":  {nil, Network{Using: []Named{{Name: "Socket"}, {Name: "IB"}}}, nil},
		"not named":           {},
		"named, and not used": {[]Transport{sends(0, 2, "IB", 0)}, Network{Using: silent}, nil},
	} {
		l := twoHosts(c.ends...)
		l.Network, l.Settings = c.network, c.settings
		expect(t, what, findNetwork, l)
	}
}

// Another finding covers TCP, which has no GPUDirect RDMA.
func TestNoGPUDirect(t *testing.T) {
	through := sends(2, 0, "IB", 0)
	through.GDR = false
	tcp := sends(3, 0, "Socket", 0)
	tcp.GDR = false
	log := func(gdr ...GDR) *Log {
		l := twoHosts(sends(0, 2, "IB", 0), through, tcp)
		l.Network.GDR = gdr
		return l
	}
	on, off := GDR{Device: "mlx5_0", Enabled: true}, GDR{Device: "mlx5_1"}
	unknown := expect(t, "not said", findDirect, log())
	disabled := expect(t, "disabled", findDirect, log(on, off, off))
	expect(t, "enabled", findDirect, log(on, on))
	l := log(on)
	l.Settings = []Setting{fromEnvironment("NCCL_NET_GDR_LEVEL", "LOC"), fromEnvironment("NCCL_DMABUF_ENABLE", "0")}
	expect(t, "as it was set", findDirect, l)
	test.NotEqOp(t, disabled[0].Advice(), unknown[0].Advice())
	expect(t, "TCP alone", findDirect, twoHosts(tcp))
}

// One host sends by one of its NICs, though it has more, and several ranks that could use them.
func TestOneNIC(t *testing.T) {
	log := func(change func(*Log)) *Log {
		l := twoHosts(sends(0, 2, "IB", 1), sends(1, 3, "IB", 1), sends(2, 0, "IB", 0), sends(3, 1, "IB", 1))
		l.Network.IB = []Named{
			{Name: "mlx5_0", Processes: []int{0, 1}},
			{Name: "mlx5_1", Processes: []int{0, 1}},
			{Name: "mlx5_2", Processes: []int{1}},
		}
		change(l)
		return l
	}

	expect(t, "one of two", findCards, log(func(*Log) {}))
	expect(t, "as it was set", findCards,
		log(func(l *Log) { l.Settings = []Setting{fromEnvironment("NCCL_IB_HCA", "mlx5_1")} }))
	both := log(func(l *Log) { l.Transports[2].NetDev = 1 })
	expect(t, "on both", findCards, both)
	for what, change := range map[string]func(*Log){
		"TCP":                     func(l *Log) { l.Transports[0].How, l.Transports[1].How = "Socket", "Socket" },
		"told by receivers":       func(l *Log) { l.Transports[0].Receive, l.Transports[1].Receive = true, true },
		"by another GPU's card":   func(l *Log) { l.Transports[0].PXN, l.Transports[1].PXN = 0, 1 },
		"a host that is not told": func(l *Log) { l.Transports = []Transport{sends(7, 0, "IB", 0)} },
		"one rank there":          func(l *Log) { l.Processes[0].Ranks = []int{0} },
		"a device of several":     func(l *Log) { l.Network.IB[0].Name = "mlx5_0+mlx5_1" },
	} {
		expect(t, what, findCards, log(change))
	}
}

func TestProvidersOverTCP(t *testing.T) {
	for _, name := range []string{"tcp", "TCP;ofi_rxm", "sockets", "udp;ofi_rxd", "net", "efa", "verbs;ofi_rxm",
		"cxi"} {
		expect(t, name, findProvider, &Log{Network: Network{Providers: []Named{{Name: name}}}})
	}
}

func TestVirtualInterfaces(t *testing.T) {
	for _, name := range []string{"docker0", "lo", "virbr0", "veth12ab", "br-5f", "eth0", "lora0", "bond0"} {
		l := twoHosts()
		l.Network.Bootstrap = []Named{{Name: name + ":172.17.0.1<0>"}}
		expect(t, name, findInterface, l)
	}
	expect(t, "hosts that are not known", findInterface, &Log{Network: Network{Bootstrap: []Named{{Name: "docker0"}}}})
}

// A plugin is missing if it was requested, by its name or by its file.
func TestMissingPlugins(t *testing.T) {
	for _, c := range golden.Table[struct{ Name, Variable, Value, Missing string }](t, `
		Name          Variable              Value         Missing
		by its file   NCCL_TUNER_PLUGIN     /opt/libx.so  libx.so
		by its name   NCCL_NET_PLUGIN       ofi           libnccl-net-ofi.so
		a profiler    NCCL_PROFILER_PLUGIN  p             libp.so
		another       NCCL_TUNER_PLUGIN     libx.so       libnccl-net.so
		without name  NCCL_TUNER_PLUGIN     libx.so
		none          NCCL_NET_PLUGIN       None          None
		not asked     NCCL_FOO              x             libnccl-net.so
	`) {
		l := &Log{
			Settings: []Setting{fromEnvironment(c.Variable, c.Value)},
			Network:  Network{Missing: []Named{{Name: "libother.so"}, {Name: c.Missing}}},
		}
		expect(t, c.Name, findPlugins, l)
	}
}

// Both ends of a connection count, and the host of each is named.
func TestNoGPUDirectAtOneEnd(t *testing.T) {
	plain := func(t Transport) Transport {
		t.GDR = false
		return t
	}
	there, back := sends(0, 2, "IB", 0), sends(2, 0, "IB", 0)
	at, atBack := receives(0, 2, "IB", 0), receives(2, 0, "IB", 0)
	for what, ends := range map[string][]Transport{
		"all are direct":                 {there, at},
		"the receiver's host":            {there, at, back, atBack, plain(receives(1, 3, "IB", 0))},
		"the sender's host":              {plain(there), at, back},
		"all senders, as without NVLink": {plain(there), at, plain(back), atBack},
		"all senders, no receiver wrote": {plain(there)},
	} {
		expect(t, what, findDirect, twoHosts(ends...))
	}
	l := twoHosts(plain(there), at)
	l.Communicators[0].Topology.NVLinks = 2
	expect(t, "all senders, though NVLink is in", findDirect, l)
}

// A NIC without GPUDirect RDMA is reported if no connection shows it.
func TestDisabledNICs(t *testing.T) {
	off := GDR{Device: "mlx5_0", Said: "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'", Processes: []int{1}}
	log := func(gdr GDR, ends ...Transport) *Log {
		l := twoHosts(ends...)
		l.Network.GDR = []GDR{gdr}
		return l
	}
	expect(t, "alone", findDirect, log(off))
	expect(t, "and not used", findDirect, log(off, sends(0, 2, "IB", 1)))
	oneNode := log(off)
	oneNode.Communicators[0].Nodes = 1
	expect(t, "on one node", findDirect, oneNode)
	tcp := log(off)
	tcp.Network.Using = []Named{{Name: "Socket"}}
	expect(t, "where TCP is used", findDirect, tcp)
	expect(t, "of TCP", findDirect, log(GDR{Device: "eth0", Said: "NET/Socket : GPU Direct RDMA Disabled for HCA 0"}))
	expect(t, "for a distance", findDirect,
		log(GDR{Device: "HCA 0", Said: "GPU Direct RDMA Disabled for GPU 1000 / HCA 0 (distance 5 > 4)"}))
}

// Ranks that cannot reach each other, one with a container's interface, which is the cause even with an unknown number
// of hosts. Colour codes without their escape character are removed.
func TestContainerInterface(t *testing.T) {
	text := "[0m n1:1:2 [0] NCCL INFO NET/Socket : Using [0]ens5:10.0.0.1<0> " +
		"[1]veth75fa:fe80::14ad:64ff:fe64:b31e%veth75fa<0>\n" +
		"[0m n1:1:2 [0] include/socket.h:403 NCCL WARN Connect to fe80::14ad:64ff:fe64:b31e%10<42069> failed : " +
		"Network is unreachable\n"
	codes := func(text string) (all []notice.Code) {
		for _, f := range read(t, text).Findings() {
			all = append(all, f.Code())
		}
		return all
	}
	test.SliceEqOp(t, []notice.Code{"host-unreachable", "unreachable-interface"}, codes(text))
	local := strings.NewReplacer("veth75fa:fe80::14ad:64ff:fe64:b31e%veth75fa", "enxb03a:169.254.3.1").Replace(text)
	test.SliceEqOp(t, []notice.Code{"host-unreachable", "unreachable-interface"}, codes(local))
	alone, _, _ := strings.Cut(text, "\n")
	if got := codes(alone + "\n"); len(got) > 0 {
		t.Errorf("without a failure: %v", got)
	}
}
