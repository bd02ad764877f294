package preflight

import (
	"slices"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
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
	cpus := func(ranks, online, least, most int, free bool) notice.RankCPUs {
		return notice.RankCPUs{Ranks: ranks, CPUs: online,
			Binding: notice.Binding{Min: least, Max: most, Free: free}}
	}
	for name, c := range map[string]struct {
		online int
		numa   []string
		quota  float64
		cpus   []string // of each rank
		want   want
	}{
		"bound": {8, []string{"0-3", "4-7"}, 0, []string{"0-1", "2-3", "4-5", "6-7"}, cpus(4, 8, 2,
			2, false)},
		"bound unequally": {8, nil, 0, []string{"0-1", "2-7"}, cpus(2, 8, 2, 6, false)},
		"one node":        {8, []string{"0-7"}, 0, []string{"0-7", "0-7"}, cpus(2, 8, 8, 8, true)},
		"two nodes": {8, []string{"0-3", "4-7"}, 0, []string{"0-7", "0-3"},
			preflights.RanksAcrossNUMA{RankCPUs: cpus(2, 8, 4, 8, false), Moving: 1, Nodes: 2}},
		"crowded": {2, nil, 0, []string{"0-1", "0-1", "0-1"},
			notice.Oversubscribed{Ranks: 3, Cores: 2, CPUs: cpus(3, 2, 2, 2, true)}},
		"on one core": {8, nil, 0, []string{"0", "0", "1-3"},
			notice.Oversubscribed{Ranks: 2, Cores: 1, Limit: notice.CoreLimit{CPUs: "0"},
				CPUs: cpus(3, 8, 1, 3, false)}},
		"quota": {8, nil, 1.5, []string{"0-7", "0-7", "0-7"},
			notice.Oversubscribed{Ranks: 3, Cores: 2, Limit: notice.CoreLimit{Quota: 1.5},
				CPUs: cpus(3, 8, 8, 8, true)}},
		"unknown": {8, nil, 0, []string{"0-7", ""}, cpus(2, 8, 0, 8, false)},
	} {
		host := hostOf(len(c.cpus), Setup{Node: node{CPUs: c.online, NUMA: numaNodes(c.numa...)}})
		for i := range host {
			host[i].who.CPUs, host[i].who.Quota = c.cpus[i], c.quota
		}
		expect(t, name, perGroup(checkCPUs)(host), c.want)
	}
}

func TestCheckSpeed(t *testing.T) {
	two := numaNodes("0", "1")
	governor := func(name preflights.Governor) preflights.CPUGovernor { return preflights.CPUGovernor{Governor: name} }
	for name, c := range map[string]struct {
		rows []Row
		want want
	}{
		"performance": {byRank(checkGovernor)(hostOf(1,
			Setup{Node: node{Machine: result.Machine{Governor: "performance"}}})),
			governor("performance")},
		"powersave": {byRank(checkGovernor)(hostOf(1,
			Setup{Node: node{Machine: result.Machine{Governor: "performance, powersave"}}})),
			preflights.SlowGovernor{CPUGovernor: governor("performance, powersave")}},
		"no governor": {byRank(checkGovernor)(hostOf(1,
			Setup{Node: node{Machine: result.Machine{Governor: "unknown"}}})), governor("")},
		"balancing": {perGroup(checkBalancing)(hostOf(1, Setup{Node: node{NUMA: two, Balancing: 1}})),
			preflights.NUMABalancingOn{}},
		"no balancing": {perGroup(checkBalancing)(hostOf(1, Setup{Node: node{NUMA: two}})),
			preflights.NUMABalancing{State: preflights.BalancingOff}},
		"one node": {perGroup(checkBalancing)(hostOf(1, Setup{Node: node{NUMA: two[:1], Balancing: 1}})),
			preflights.NUMABalancing{State: preflights.OneNUMANode}},
		"balancing hidden": {perGroup(checkBalancing)(hostOf(1, Setup{Node: node{NUMA: two, Balancing: unknown}})),
			preflights.NUMABalancing{State: preflights.BalancingUnknown}},
		"busy": {perGroup(checkLoad)(hostOf(1, Setup{Node: node{CPUs: 8, Machine: result.Machine{Load1: 2.01}}})),
			preflights.HostBusy{CPULoad: preflights.CPULoad{Load: 2.01, CPUs: 8}}},
		"quiet": {perGroup(checkLoad)(hostOf(1, Setup{Node: node{CPUs: 8, Machine: result.Machine{Load1: 2}}})),
			preflights.CPULoad{Load: 2, CPUs: 8}},
	} {
		expect(t, name, c.rows, c.want)
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
	expect(t, "busiest", got, preflights.HostBusy{CPULoad: preflights.CPULoad{Load: 11, CPUs: 8}})
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
	alike := preflights.HostsAlike{Hosts: 3, CPU: "EPYC", CPUs: 8, Memory: 100 * gib}
	differ := func(words ...string) want { // name, value, value of n2
		var all []preflights.HostProperty
		for w := range slices.Chunk(words, 3) {
			all = append(all,
				preflights.HostProperty{Name: w[0], Values: []preflights.HostValue{{Value: w[1], Hosts: []string{"n1",
					"n3"}},
					{Value: w[2], Hosts: []string{"n2"}}}})
		}
		return preflights.HostsDiffer{Properties: all}
	}
	for name, c := range map[string]struct {
		spoil func(*Setup) // of n2
		want  want
	}{
		"alike":      {func(*Setup) {}, alike},
		"CPU":        {func(s *Setup) { s.Node.Machine.CPU = "Xeon" }, differ("CPU", "EPYC", "Xeon")},
		"CPUs":       {func(s *Setup) { s.Node.CPUs = 6 }, differ("number of CPUs", "8", "6")},
		"memory":     {func(s *Setup) { s.Node.Machine.MemoryB = 50 * gib }, differ("memory", "100 GiB", "50 GiB")},
		"firmware's": {func(s *Setup) { s.Node.Machine.MemoryB = 98 * gib }, alike},
		"kernel":     {func(s *Setup) { s.Node.Machine.Kernel = "5.15" }, differ("kernel", "6.1", "5.15")},
		"a port down": {func(s *Setup) { s.Fabric.Ports = []machine.RDMAPort{{State: "DOWN"}} },
			differ("RDMA devices",
				"1 x InfiniBand 400", "none")},
		"GPUs":      {func(s *Setup) { s.Fabric.GPUs = []string{"0000:01:00.0"} }, differ("NVIDIA GPUs", "0", "1")},
		"container": {func(s *Setup) { s.Node.Machine.Container = "docker" }, differ("container", "none", "docker")},
		"two of them": {func(s *Setup) { s.Node.Machine.OS, s.Node.CPUs = "RHEL", 7 },
			differ("number of CPUs", "8", "7",
				"operating system", "Debian", "RHEL")},
	} {
		hosts := good()
		c.spoil(&hosts[1][0])
		expect(t, name, []Row{checkAlikeHosts(hosts)}, c.want)
	}
	expect(t, "one host", []Row{checkAlikeHosts(good()[:1])}, preflights.OneHost{Host: "n1", CPU: "EPYC",
		Memory: 100 * gib, System: "Debian"})
}
