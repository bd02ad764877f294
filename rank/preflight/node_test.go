package preflight

import (
	"slices"
	"testing"

	"busbar/internal/result"
	"busbar/rank/machine"
	"busbar/rank/machine/machinetest"
)

func TestReadNode(t *testing.T) {
	n := readNode(machinetest.Root(t, map[string]string{
		"sys/devices/system/cpu/online":                        "0-7\n",
		"sys/devices/system/node/online":                       "0-2\n",
		"sys/devices/system/node/node0/cpulist":                "0-3\n",
		"sys/devices/system/node/node1/cpulist":                "4-7\n",
		"sys/devices/system/node/node2/cpulist":                "\n", // memory only
		"proc/sys/kernel/numa_balancing":                       "1\n",
		"proc/self/status":                                     "Cpus_allowed_list:\t0-3\n",
		"proc/cpuinfo":                                         "model name : x\nflags : hypervisor\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
	}))
	if n.CPUs != 8 || !slices.Equal(n.NUMA, numaNodes("0-3", "4-7")) || n.Balancing != 1 || !n.Virtual ||
		n.Machine.Governor != "powersave" {
		t.Errorf("%+v", n)
	}
	n = readNode(t.TempDir())
	if n.CPUs != 0 || n.NUMA != nil || n.Balancing != unknown || n.Virtual {
		t.Errorf("unknown node: %+v", n)
	}
}

func numaNodes(cpus ...string) (nodes []machine.NUMANode) {
	for i, list := range cpus {
		nodes = append(nodes, machine.NUMANode{Number: i, CPUs: list})
	}
	return nodes
}

func TestCheckCPUs(t *testing.T) {
	for name, c := range map[string]struct {
		online int
		numa   []string
		quota  float64
		cpus   []string // of each rank
	}{
		"bound":           {8, []string{"0-3", "4-7"}, 0, []string{"0-1", "2-3", "4-5", "6-7"}},
		"bound unequally": {8, nil, 0, []string{"0-1", "2-7"}},
		"one node":        {8, []string{"0-7"}, 0, []string{"0-7", "0-7"}},
		"two nodes":       {8, []string{"0-3", "4-7"}, 0, []string{"0-7", "0-3"}},
		"crowded":         {2, nil, 0, []string{"0-1", "0-1", "0-1"}},
		"on one core":     {8, nil, 0, []string{"0", "0", "1-3"}},
		"quota":           {8, nil, 1.5, []string{"0-7", "0-7", "0-7"}},
		"unknown":         {8, nil, 0, []string{"0-7", ""}},
	} {
		host := hostOf(len(c.cpus), Setup{Node: node{CPUs: c.online, NUMA: numaNodes(c.numa...)}})
		for i := range host {
			host[i].who.CPUs, host[i].who.Quota = c.cpus[i], c.quota
		}
		expect(t, name, perGroup(checkCPUs)(host))
	}
}

func TestCheckSpeed(t *testing.T) {
	two := numaNodes("0", "1")
	for name, n := range map[string]node{
		"performance": {Machine: result.Machine{Governor: "performance"}},
		"powersave":   {Machine: result.Machine{Governor: "performance, powersave"}},
		"no governor": {Machine: result.Machine{Governor: "unknown"}},
	} {
		expect(t, name, byRank(checkGovernor)(hostOf(1, Setup{Node: n})))
	}
	for name, n := range map[string]node{
		"balancing": {NUMA: two, Balancing: 1}, "no balancing": {NUMA: two},
		"one node": {NUMA: two[:1], Balancing: 1}, "balancing hidden": {NUMA: two, Balancing: unknown},
	} {
		expect(t, name, perGroup(checkBalancing)(hostOf(1, Setup{Node: n})))
	}
	for name, load := range map[string]float64{"busy": 2.01, "quiet": 2} {
		n := node{CPUs: 8, Machine: result.Machine{Load1: load}}
		expect(t, name, perGroup(checkLoad)(hostOf(1, Setup{Node: n})))
	}
}

// The row shows the busiest host.
func TestBusiestHost(t *testing.T) {
	ranks := ranksOf(1, "a", "b", "c")
	var rows []Row
	for i, load := range []float64{9, 11, 10} {
		r := perGroup(checkLoad)(hostOf(1, Setup{Node: node{CPUs: 8, Machine: result.Machine{Load1: load}}}))[0]
		rows = append(rows, r.On(i))
	}
	got := mergeRows(rows, ranks)
	expect(t, "busiest", got)
	if got[0].worst != "b" {
		t.Errorf("%+v", got)
	}
}

func TestCheckAlikeHosts(t *testing.T) {
	good := func() (hosts [][]Setup) {
		for _, r := range ranksOf(1, "n1", "n2", "n3") {
			hosts = append(hosts,
				[]Setup{{who: r,
					Node: node{CPUs: 8,
						Machine: result.Machine{CPU: "EPYC", OS: "Debian", Kernel: "6.1", MemoryB: 100 * gib}},
					Fabric: fabric{Ports: []machine.RDMAPort{{State: "ACTIVE", Link: "InfiniBand", Rate: "400"}}}}})
		}
		return hosts
	}
	for name, spoil := range map[string]func(*Setup){ // of n2
		"alike":       func(*Setup) {},
		"CPU":         func(s *Setup) { s.Node.Machine.CPU = "Xeon" },
		"CPUs":        func(s *Setup) { s.Node.CPUs = 6 },
		"memory":      func(s *Setup) { s.Node.Machine.MemoryB = 50 * gib },
		"firmware's":  func(s *Setup) { s.Node.Machine.MemoryB = 98 * gib },
		"kernel":      func(s *Setup) { s.Node.Machine.Kernel = "5.15" },
		"a port down": func(s *Setup) { s.Fabric.Ports = []machine.RDMAPort{{State: "DOWN"}} },
		"GPUs":        func(s *Setup) { s.Fabric.GPUs = []string{"0000:01:00.0"} },
		"container":   func(s *Setup) { s.Node.Machine.Container = "docker" },
		"two of them": func(s *Setup) { s.Node.Machine.OS, s.Node.CPUs = "RHEL", 7 },
	} {
		hosts := good()
		spoil(&hosts[1][0])
		expect(t, name, []Row{checkAlikeHosts(hosts)})
	}
	expect(t, "one host", []Row{checkAlikeHosts(good()[:1])})
}
