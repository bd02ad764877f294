package main

import (
	"slices"
	"strings"
	"testing"

	"busbar/internal/result"
)

func TestReadNode(t *testing.T) {
	n := readNode(fakeRoot(t, map[string]string{
		"sys/devices/system/cpu/online":                        "0-7\n",
		"sys/devices/system/node/online":                       "0-2\n",
		"sys/devices/system/node/node0/cpulist":                "0-3\n",
		"sys/devices/system/node/node1/cpulist":                "4-7\n",
		"sys/devices/system/node/node2/cpulist":                "\n", // memory alone
		"proc/sys/kernel/numa_balancing":                       "1\n",
		"sys/kernel/mm/transparent_hugepage/enabled":           "always [madvise] never\n",
		"proc/self/status":                                     "Cpus_allowed_list:\t0-3\n",
		"proc/cpuinfo":                                         "model name : x\nflags : hypervisor\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
	}))
	if n.CPUs != 8 || !slices.Equal(n.NUMA, []string{"0-3", "4-7"}) || n.Balancing != 1 || n.HugePages != "madvise" || !n.Virtual || n.Machine.Governor != "powersave" {
		t.Errorf("%+v", n)
	}
	n = readNode(t.TempDir())
	if n.CPUs != 0 || n.NUMA != nil || n.Balancing != unknown || n.HugePages != "" || n.Virtual {
		t.Errorf("nothing known: %+v", n)
	}
}

func TestCheckCPUs(t *testing.T) {
	for name, c := range map[string]struct {
		online int
		numa   []string
		quota  float64
		cpus   []string // of each rank
		want   want
	}{
		"bound":           {8, []string{"0-3", "4-7"}, 0, []string{"0-1", "2-3", "4-5", "6-7"}, want{passed, "4 ranks on 8 CPUs, bound to 2 each"}},
		"bound unequally": {8, nil, 0, []string{"0-1", "2-7"}, want{passed, "bound to 2 to 6 each"}},
		"one node":        {8, []string{"0-7"}, 0, []string{"0-7", "0-7"}, want{passed, "2 ranks on 8 CPUs, not bound"}},
		"two nodes":       {8, []string{"0-3", "4-7"}, 0, []string{"0-7", "0-3"}, want{caution, "1 may wander between 2 NUMA nodes"}},
		"crowded":         {2, nil, 0, []string{"0-1", "0-1", "0-1"}, want{caution, "3 ranks share 2 cores"}},
		"on one core":     {8, nil, 0, []string{"0", "0", "1-3"}, want{caution, "2 ranks share 1 core (bound to CPUs 0)"}},
		"quota":           {8, nil, 1.5, []string{"0-7", "0-7", "0-7"}, want{caution, "cgroup quota of 1.5 CPUs"}},
		"unknown":         {8, nil, 0, []string{"0-7", ""}, want{passed, "is not known"}},
	} {
		host := hostOf(len(c.cpus), setup{Node: node{CPUs: c.online, NUMA: c.numa}})
		for i := range host {
			host[i].who.CPUs, host[i].who.Quota = c.cpus[i], c.quota
		}
		expect(t, name, checkCPUs(host), c.want)
	}
}

func TestCheckSpeed(t *testing.T) {
	two := []string{"0", "1"}
	for name, c := range map[string]struct {
		rows []row
		want want
	}{
		"performance":      {byRank(checkGovernor)(hostOf(1, setup{Node: node{Machine: result.Machine{Governor: "performance"}}})), want{passed, "performance"}},
		"powersave":        {byRank(checkGovernor)(hostOf(1, setup{Node: node{Machine: result.Machine{Governor: "performance, powersave"}}})), want{caution, "powersave"}},
		"no governor":      {byRank(checkGovernor)(hostOf(1, setup{Node: node{Machine: result.Machine{Governor: "unknown"}}})), want{passed, "not shown"}},
		"balancing":        {checkBalancing(hostOf(1, setup{Node: node{NUMA: two, Balancing: 1}})), want{caution, "on"}},
		"no balancing":     {checkBalancing(hostOf(1, setup{Node: node{NUMA: two}})), want{passed, "off"}},
		"one node":         {checkBalancing(hostOf(1, setup{Node: node{NUMA: two[:1], Balancing: 1}})), want{passed, "one NUMA node"}},
		"balancing hidden": {checkBalancing(hostOf(1, setup{Node: node{NUMA: two, Balancing: unknown}})), want{passed, "not known"}},
		"busy":             {checkLoad(hostOf(1, setup{Node: node{CPUs: 8, Machine: result.Machine{Load1: 2.01}}})), want{caution, "2.01 on 8 CPUs"}},
		"quiet":            {checkLoad(hostOf(1, setup{Node: node{CPUs: 8, Machine: result.Machine{Load1: 2}}})), want{passed, "2.00 on 8 CPUs"}},
		"huge pages":       {checkHugePages(hostOf(1, setup{Node: node{HugePages: "never"}})), want{passed, "never"}},
		"no huge pages":    {checkHugePages(hostOf(1, setup{})), want{passed, "not known"}},
	} {
		expect(t, name, c.rows, c.want)
	}
}

// The busiest host speaks for all.
func TestBusiestHost(t *testing.T) {
	ranks := ranksOf(1, "a", "b", "c")
	var rows []row
	for i, load := range []float64{9, 11, 10} {
		r := checkLoad(hostOf(1, setup{Node: node{CPUs: 8, Machine: result.Machine{Load1: load}}}))[0]
		rows = append(rows, r.on(i))
	}
	got := mergeRows(rows, ranks)
	if len(got) != 1 || !strings.Contains(got[0].Found, "11.00") || !strings.HasSuffix(got[0].Found, "(on b; better elsewhere)") {
		t.Errorf("%+v", got)
	}
}

func TestCheckAlikeHosts(t *testing.T) {
	good := func() (hosts [][]setup) {
		for _, r := range ranksOf(1, "n1", "n2", "n3") {
			hosts = append(hosts, []setup{{who: r, Node: node{CPUs: 8, HugePages: "always", Machine: result.Machine{CPU: "EPYC", OS: "Debian", Kernel: "6.1", MemoryB: 100 * gib}},
				Fabric: fabric{Ports: []rdmaPort{{State: "ACTIVE", Link: "InfiniBand", Rate: "400"}}}}})
		}
		return hosts
	}
	for name, c := range map[string]struct {
		spoil func(*setup) // of n2
		want  want
	}{
		"alike":       {func(*setup) {}, want{passed, "3 alike: EPYC, 8 CPUs, 100 GiB"}},
		"CPU":         {func(s *setup) { s.Node.Machine.CPU = "Xeon" }, want{caution, "CPU EPYC (n1, n3), Xeon (n2)"}},
		"CPUs":        {func(s *setup) { s.Node.CPUs = 6 }, want{caution, "number of CPUs 8 (n1, n3), 6 (n2)"}},
		"memory":      {func(s *setup) { s.Node.Machine.MemoryB = 50 * gib }, want{caution, "memory 100 GiB (n1, n3), 50 GiB (n2)"}},
		"firmware's":  {func(s *setup) { s.Node.Machine.MemoryB = 98 * gib }, want{passed, "alike"}},
		"kernel":      {func(s *setup) { s.Node.Machine.Kernel = "5.15" }, want{caution, "kernel 6.1 (n1, n3), 5.15 (n2)"}},
		"huge pages":  {func(s *setup) { s.Node.HugePages = "never" }, want{caution, "huge pages always (n1, n3), never (n2)"}},
		"a port down": {func(s *setup) { s.Fabric.Ports = []rdmaPort{{State: "DOWN"}} }, want{caution, "RDMA devices 1 x InfiniBand 400 (n1, n3), none (n2)"}},
		"GPUs":        {func(s *setup) { s.Fabric.GPUs = []string{"0000:01:00.0"} }, want{caution, "NVIDIA GPUs 0 (n1, n3), 1 (n2)"}},
		"container":   {func(s *setup) { s.Node.Machine.Container = "docker" }, want{caution, "container none (n1, n3), docker (n2)"}},
		"two of them": {func(s *setup) { s.Node.Machine.OS, s.Node.CPUs = "RHEL", 7 }, want{caution, "8 (n1, n3), 7 (n2); operating system Debian (n1, n3), RHEL (n2)"}},
	} {
		hosts := good()
		c.spoil(&hosts[1][0])
		expect(t, name, []row{checkAlikeHosts(hosts)}, c.want)
	}
	expect(t, "one host", []row{checkAlikeHosts(good()[:1])}, want{passed, "n1: EPYC, 100 GiB, Debian"})
}
