package nccllog

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"busbar/internal/golden"

	"github.com/shoenig/test/must"
)

// expect compares the facts that a rule finds with those in testdata/found (-update writes them anew): for each its
// severity, its code, who it is about, and its parameters.
func expect(t *testing.T, what string, rule func(*findings), l *Log) []*found {
	t.Helper()
	in := &findings{Log: l}
	rule(in)
	var got []string
	for _, f := range in.all {
		parameters, err := json.Marshal(f.Fact)
		must.NoError(t, err)
		got = append(got, fmt.Sprintf("%v %s %q %s", f.Severity, f.Code(), f.At.Subject, parameters))
	}
	slices.Sort(got)
	golden.Lines(t, filepath.Join("testdata", "found", t.Name()+".txt"), what, got)
	return in.all
}

// fromEnvironment is a variable with its value.
func fromEnvironment(name, value string) Setting {
	return Setting{Name: name, Value: value, From: "environment"}
}

// oneHost is a log of two ranks on one host with these transports.
func oneHost(c Communicator, all ...Transport) *Log {
	c.Name, c.Ranks, c.Nodes = "comm 1", 2, 1
	return &Log{Communicators: []Communicator{c}, Transports: all}
}

// Each pair counts once, in either direction. Traffic through another GPU's NIC or to another host does not count.
func TestWithinHost(t *testing.T) {
	way := func(kind string, from, to, pxn int) Transport {
		return Transport{Kind: kind, From: from, To: to, PXN: pxn}
	}
	shm := []Transport{way("shm", 0, 1, Unknown), way("shm", 1, 0, Unknown), way("p2p", 1, 2, Unknown)}

	path := func(pair, kind string) Communicator {
		return Communicator{Topology: Topology{Paths: []Path{{Pair: pair, Type: kind}}}}
	}
	expect(t, "SHM", findWithinHost, oneHost(Communicator{}, shm...))
	expect(t, "SHM beside NVLink", findWithinHost, oneHost(Communicator{Topology: Topology{NVLinks: 1}}, shm...))
	expect(t, "SHM beside a path of NVLink", findWithinHost, oneHost(path("GPU-GPU", "NVL"), shm...))
	expect(t, "SHM beside a path over PCIe", findWithinHost, oneHost(path("GPU-GPU", "PIX"), shm...))
	expect(t, "SHM beside NVLink to a processor", findWithinHost, oneHost(path("GPU-CPU", "NVL"), shm...))
	l := oneHost(Communicator{}, shm...)
	l.Settings = []Setting{fromEnvironment("NCCL_P2P_LEVEL", "LOC")}
	expect(t, "SHM as it was set", findWithinHost, l)
	l.Settings = []Setting{fromEnvironment("NCCL_P2P_DISABLE", "1"), fromEnvironment("NCCL_P2P_LEVEL", "0")}
	expect(t, "SHM as it was set twice", findWithinHost, l)
	l.Settings = []Setting{fromEnvironment("NCCL_P2P_LEVEL", "SYS")}
	expect(t, "SHM though far peers are allowed", findWithinHost, l)

	expect(t, "another GPU's card", findWithinHost, oneHost(Communicator{}, way("net", 0, 1, 0), way("net", 0, 1, 1)))
	net := oneHost(Communicator{}, way("net", 0, 1, Unknown), way("net", 1, 0, Unknown))

	expect(t, "network", findWithinHost, net)
	net.Settings = []Setting{fromEnvironment("NCCL_SHM_DISABLE", "1")}
	expect(t, "network as it was set", findWithinHost, net)
}

// The rings of the largest communicator count, or the first search if there is no ring.
func TestFarPaths(t *testing.T) {
	graph := func(pattern, intra, inter string) Graph {
		return Graph{Pattern: pattern, Channels: 2, BwIntra: 12, BwInter: 6, Intra: intra, Inter: inter}
	}
	log := func(nodes int, graphs ...Graph) *Log {
		return &Log{Communicators: []Communicator{{Name: "comm 1", Ranks: 4, Nodes: nodes, Graphs: graphs}}}
	}
	expect(t, "a ring behind a tree", findPaths, log(1, graph("3", "NVL", "PIX"), graph("4", "PHB", "PIX")))
	expect(t, "a tree behind a ring", findPaths, log(1, graph("4", "NVL", "PIX"), graph("3", "PHB", "PIX")))
	expect(t, "trees alone", findPaths, log(1, graph("3", "PHB", "PIX")))

	expect(t, "a card at the processor", findPaths, log(2, graph("4", "NVL", "PHB")))
	expect(t, "a card at another processor", findPaths, log(2, graph("4", "NVL", "SYS")))
	expect(t, "one node", findPaths, log(1, graph("4", "NVL", "SYS")))
	expect(t, "no search", findPaths, log(2))
	expect(t, "no communicator", findPaths, &Log{})
}

func TestFewChannels(t *testing.T) {
	log := func(ranks, channels int, graphs ...Graph) *Log {
		return &Log{
			Communicators: []Communicator{
				{Name: "comm 1", Ranks: ranks, Nodes: 1, Channels: Channels{Coll: channels}, Graphs: graphs},
			},
		}
	}
	tree, ring := Graph{Pattern: "3", Intra: "NVL"}, Graph{
		Pattern:  "4",
		Channels: 1,
		BwIntra:  20,
		BwInter:  20,
		Intra:    "NVL",
		Inter:    "PIX",
	}
	expect(t, "three", findChannels, log(2, 3, tree, ring))
	for what, l := range map[string]*Log{
		"four": log(2, 4, ring), "not told": log(2, Unknown, ring), "none": log(2, 0, ring),
		"one rank": log(1, 1, ring),
		"no ring":  log(2, 1, tree),
	} {
		expect(t, what, findChannels, l)
	}
	l := log(2, 3, ring)
	l.Communicators[0].Topology.Paths = []Path{
		{"GPU-GPU", "LOC", 5000, 2},
		{"GPU-GPU", "NVL", 240, 1},
		{"GPU-NET", "PIX", 24, 2},
	}
	expect(t, "links that are alike", findChannels, l)
	l.Communicators[0].Topology.Paths = append(l.Communicators[0].Topology.Paths, Path{"GPU-GPU", "NVL", 20, 3})
	expect(t, "links that are not alike", findChannels, l)
	l.Settings = []Setting{fromEnvironment("NCCL_MAX_CTAS", "3"), fromEnvironment("NCCL_TOPO_FILE", "/x.xml")}
	expect(t, "two settings", findChannels, l)
}

// The smallest of the large sizes is named, and 16 MiB is large.
func TestLatencyProtocol(t *testing.T) {
	const mib = 1 << 20
	ll := func(size int64) Choice { return Choice{Name: "AllReduce", Size: size, Algo: "RING", Proto: "LL"} }
	l := &Log{Choices: []Choice{ll(64 * mib), ll(16 * mib), ll(32 * mib), ll(16*mib - 1)}}
	expect(t, "LL", findChoices, l)
	l.Settings = []Setting{fromEnvironment("NCCL_PROTO", "LL")}
	expect(t, "LL as it was set", findChoices, l)
	expect(t, "a size that is not known", findChoices, &Log{Choices: []Choice{ll(Unknown)}})
}

// Ranks share a GPU if one host has one bus for two ranks of one communicator. A bus of another host is another GPU.
func TestSharedGPU(t *testing.T) {
	for _, c := range golden.Table[struct{ Name, ID, HostA, HostB, BusA, BusB string }](t, `
		Name                   ID     HostA  HostB  BusA  BusB
		one GPU                0xabc  n1     n1     2000  2000
		two GPUs               0xabc  n1     n1     2000  3000
		two hosts              0xabc  n1     n2     2000  2000
		a masked bus           0xabc  n1     n1     XXXX  XXXX
		no bus                 0xabc  n1     n1
		put together by order  -      n1     n1     2000  2000
		no host                0xabc  -      -      2000  2000
	`) {
		expect(t, c.Name, findShared, &Log{
			Communicators: []Communicator{{Name: "comm 1", ID: c.ID, Ranks: 2, Members: []Member{{Bus: c.BusA},
				{Rank: 1, Process: 1, Bus: c.BusB}}}},
			Processes: []Process{{Host: c.HostA}, {Host: c.HostB}},
		})
	}
}
