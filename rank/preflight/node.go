package preflight

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/rank/machine"
)

// node holds the facts of a host and its performance settings.
type node struct {
	Machine   result.Machine
	CPUs      int                // online
	NUMA      []machine.NUMANode // with CPUs
	Balancing int64              // kernel.numa_balancing; unknown
	Virtual   bool
}

func readNode(root string) node {
	n := node{Machine: machine.Facts(root), Balancing: unknown, Virtual: machine.VirtualMachine(root) != ""}
	n.CPUs = machine.OnlineCPUs(root)
	for _, numa := range machine.NUMANodes(root) {
		if numa.CPUs != "" {
			n.NUMA = append(n.NUMA, numa)
		}
	}
	if b, ok := machine.ReadNumber(root, "proc/sys/kernel/numa_balancing"); ok {
		n.Balancing = b
	}
	return n
}

// checkCPUs finds ranks that share cores or move between NUMA nodes.
func checkCPUs(host []Setup) Row {
	var places []machine.Place
	lowest, most, moving := math.MaxInt, 0, 0
	for _, s := range host {
		places = append(places, machine.Place{Host: s.who.Host, CPUs: s.who.CPUs, Quota: s.who.Quota})
		cpus, _ := machine.ParseCPUs(s.who.CPUs)
		lowest, most = min(lowest, len(cpus)), max(most, len(cpus))
		if len(machine.NearNodes(s.Node.NUMA, s.who.CPUs)) > 1 {
			moving++
		}
	}
	online := host[0].Node.CPUs
	cpus := notice.RankCPUs{Ranks: len(host), CPUs: online,
		Binding: notice.Binding{Min: lowest, Max: most, Free: lowest == online && lowest > 0}}
	if lowest == 0 {
		return found(cpus)
	}
	if ranks, cores, limit := machine.Crowd(places); ranks > 0 {
		return found(notice.Oversubscribed{Ranks: ranks, Cores: cores, Limit: limit, CPUs: cpus})
	}
	if moving > 0 {
		return found(preflights.RanksAcrossNUMA{RankCPUs: cpus, Moving: moving, Nodes: len(host[0].Node.NUMA)})
	}
	return found(cpus)
}

// checkGovernor checks the frequency governor of this rank's cores.
func checkGovernor(s Setup) Row {
	switch g := s.Node.Machine.Governor; g {
	case "unknown", "":
		return found(preflights.CPUGovernor{})
	case "performance":
		return found(preflights.CPUGovernor{Governor: preflights.Governor(g)})
	default:
		return found(preflights.SlowGovernor{CPUGovernor: preflights.CPUGovernor{Governor: preflights.Governor(g)}})
	}
}

// checkBalancing checks whether the kernel moves pages between NUMA nodes.
func checkBalancing(host []Setup) Row {
	n := host[0].Node
	switch {
	case len(n.NUMA) < 2:
		return found(preflights.NUMABalancing{State: preflights.OneNUMANode})
	case n.Balancing == unknown:
		return found(preflights.NUMABalancing{State: preflights.BalancingUnknown})
	case n.Balancing == 0:
		return found(preflights.NUMABalancing{State: preflights.BalancingOff})
	}
	return found(preflights.NUMABalancingOn{})
}

// checkLoad checks for other work on the host.
func checkLoad(host []Setup) Row {
	n := host[0].Node
	load := preflights.CPULoad{Load: preflights.Load(n.Machine.Load1), CPUs: n.CPUs}
	r := found(load)
	if machine.Busy(n.Machine.Load1, n.CPUs) {
		r = found(preflights.HostBusy{CPULoad: load})
	}
	return r.smallest(fmt.Sprint(r.Severity), -n.Machine.Load1)
}

// hostProperties are the names of what is compared.
const hostProperties = "CPU,number of CPUs,memory,operating system,kernel,container,RDMA devices,NVIDIA GPUs"

// checkAlikeHosts compares the hosts: the slowest limits a collective.
func checkAlikeHosts(hosts [][]Setup) Row {
	m := hosts[0][0].Node.Machine
	memory := units.RoughBytes(m.MemoryB)
	if len(hosts) == 1 {
		system := slices.DeleteFunc([]string{m.OS, m.Container}, func(s string) bool { return s == "" })
		return found(preflights.OneHost{Host: hosts[0][0].who.Host, CPU: orUnknown(m.CPU), Memory: memory,
			System: orUnknown(strings.Join(system, ", "))})
	}
	var differ []preflights.HostProperty
	memoryOf := memoryOf(hosts)
	for i, name := range strings.Split(hostProperties, ",") {
		values := valuesOf(hosts, func(s Setup) string {
			m := s.Node.Machine
			return []string{m.CPU, strconv.Itoa(s.Node.CPUs), memoryOf(s), m.OS, m.Kernel, m.Container,
				joined(s.Fabric.kinds()), strconv.Itoa(len(s.Fabric.GPUs))}[i]
		})
		if len(values) > 1 {
			differ = append(differ, preflights.HostProperty{Name: name, Values: values})
		}
	}
	if len(differ) > 0 {
		return found(preflights.HostsDiffer{Properties: differ})
	}
	return found(preflights.HostsAlike{Hosts: len(hosts), CPU: orUnknown(m.CPU), CPUs: hosts[0][0].Node.CPUs,
		Memory: memory})
}

// valuesOf returns the values of a property with their hosts, the most frequent first.
func valuesOf(hosts [][]Setup, of func(Setup) string) (values []preflights.HostValue) {
	value := func(host []Setup) string { return cmp.Or(of(host[0]), "none") }
	for _, alike := range units.GroupBy(hosts, value) {
		v := preflights.HostValue{Value: value(alike[0])}
		for _, h := range alike {
			v.Hosts = append(v.Hosts, h[0].who.Host)
		}
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b preflights.HostValue) int {
		return cmp.Or(len(b.Hosts)-len(a.Hosts), cmp.Compare(a.Value, b.Value))
	})
	return values
}

// joined formats ports in one line.
func joined(kinds []preflights.PortKind) string {
	var list []string
	for _, k := range kinds {
		list = append(list, k.String())
	}
	return strings.Join(list, ", ")
}

// memoryOf distinguishes memory sizes that differ by more than firmware reserves.
func memoryOf(hosts [][]Setup) func(Setup) string {
	lowest, most := int64(math.MaxInt64), int64(0)
	for _, h := range hosts {
		lowest, most = min(lowest, h[0].Node.Machine.MemoryB), max(most, h[0].Node.Machine.MemoryB)
	}
	return func(s Setup) string {
		if float64(most) < 1.05*float64(lowest) {
			return ""
		}
		return units.Binary(s.Node.Machine.MemoryB)
	}
}

func orUnknown(s string) string { return cmp.Or(s, "unknown") }
