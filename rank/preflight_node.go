package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/advice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// node is what a host is, and how it is set for speed.
type node struct {
	Machine   result.Machine
	CPUs      int      // online
	NUMA      []string // CPUs of each NUMA node that has any: "0-31"
	Balancing int64    // kernel.numa_balancing; unknown
	HugePages string   // transparent ones: "always", "madvise", "never"; "" if unknown
	Virtual   bool
}

func readNode(root string) node {
	n := node{Machine: machineFacts(root), Balancing: unknown, Virtual: virtualMachine(root) != ""}
	online, _ := parseCPUs(readText(root, "sys/devices/system/cpu/online"))
	n.CPUs = max(len(online), n.Machine.Cores)
	nodes, _ := parseCPUs(readText(root, "sys/devices/system/node/online"))
	for _, i := range nodes {
		if cpus := readText(root, "sys/devices/system/node", "node"+strconv.Itoa(i), "cpulist"); cpus != "" {
			n.NUMA = append(n.NUMA, cpus)
		}
	}
	if b, ok := readNumber(root, "proc/sys/kernel/numa_balancing"); ok {
		n.Balancing = b
	}
	n.HugePages = chosen(readText(root, "sys/kernel/mm/transparent_hugepage/enabled"))
	return n
}

// chosen is the word in brackets: "madvise" of "always [madvise] never".
func chosen(text string) string {
	_, after, _ := strings.Cut(text, "[")
	word, _, _ := strings.Cut(after, "]")
	return word
}

// checkCPUs finds ranks that share cores or wander between NUMA nodes.
func checkCPUs(host []setup) []row {
	const name = "CPUs"
	var places []place
	least, most, wander := math.MaxInt, 0, 0
	for _, s := range host {
		places = append(places, place{Rank: s.who.Rank, Host: s.who.Host, CPUs: s.who.CPUs, Quota: s.who.Quota})
		cpus, _ := parseCPUs(s.who.CPUs)
		least, most = min(least, len(cpus)), max(most, len(cpus))
		touched := 0
		for _, list := range s.Node.NUMA {
			if of, _ := parseCPUs(list); slices.ContainsFunc(cpus, func(c int) bool { _, in := slices.BinarySearch(of, c); return in }) {
				touched++
			}
		}
		if touched > 1 {
			wander++
		}
	}
	online, nodes := host[0].Node.CPUs, len(host[0].Node.NUMA)
	found := fmt.Sprintf("%s on %s", units.Count(len(host), "rank"), units.Count(online, "CPU"))
	switch least {
	case 0:
		return []row{fine(name, "%s; what each rank may use is not known", found)}
	case online:
		found += ", not bound"
	case most:
		found += fmt.Sprintf(", bound to %d each", least)
	default:
		found += fmt.Sprintf(", bound to %d to %d each", least, most)
	}
	if ranks, cores, why := crowd(places); ranks > 0 {
		if why != "" {
			why = " (" + why + ")"
		}
		return []row{warn(name, advice.Cores+"; figures of ranks that share cores say nothing about speed",
			"%s: %d ranks share %s%s", found, ranks, units.Count(cores, "core"), why)}
	}
	if wander > 0 {
		return []row{warn(name, "bind each rank to one of them: mpirun --map-by numa --bind-to numa, srun --cpu-bind=ldoms or cores",
			"%s: %d may wander between %d NUMA nodes", found, wander, nodes)}
	}
	return []row{fine(name, "%s", found)}
}

// checkGovernor looks at the frequency of this rank's cores.
func checkGovernor(s setup) row {
	const name = "CPU governor"
	switch g := s.Node.Machine.Governor; g {
	case "performance":
		return fine(name, "performance")
	case "unknown", "":
		return fine(name, "not shown (a virtual machine, or the firmware decides)")
	default:
		return warn(name, "cpupower frequency-set -g performance (as root), or srun --cpu-freq=performance", "%s: cores slow down between operations, and small sizes vary", g)
	}
}

// checkBalancing looks for a kernel that moves pages between NUMA nodes behind the program's back.
func checkBalancing(host []setup) []row {
	const name = "NUMA balancing"
	n := host[0].Node
	switch {
	case len(n.NUMA) < 2:
		return []row{fine(name, "one NUMA node")}
	case n.Balancing == unknown:
		return []row{fine(name, "not known")}
	case n.Balancing == 0:
		return []row{fine(name, "off")}
	}
	return []row{warn(name, advice.Balancing, "on: the kernel unmaps and moves pages while they are in use, GPU drivers suffer most")}
}

// busyShare is the load average over the number of CPUs from which other work disturbs figures.
const busyShare = 0.25

// checkLoad looks for other work on the host.
func checkLoad(host []setup) []row {
	const name = "load"
	n := host[0].Node
	load := n.Machine.Load1
	if load > busyShare*float64(n.CPUs) {
		return []row{warn(name, "end other work, or ask for whole nodes (srun --exclusive)", "load average %.2f on %s: other work disturbs the figures", load, units.Count(n.CPUs, "CPU")).least("busy", -load)}
	}
	return []row{fine(name, "load average %.2f on %s", load, units.Count(n.CPUs, "CPU")).least("quiet", -load)}
}

// checkHugePages says how large the pages of buffers may be; the hosts should agree.
func checkHugePages(host []setup) []row {
	return []row{fine("huge pages", "transparent huge pages: %s", cmp.Or(host[0].Node.HugePages, "not known"))}
}

// checkAlikeHosts compares the hosts: a collective is as fast as the slowest.
func checkAlikeHosts(hosts [][]setup) row {
	const name = "hosts"
	m := hosts[0][0].Node.Machine
	if len(hosts) == 1 {
		return fine(name, "%s: %s, %s, %s", hosts[0][0].who.Host, orUnknown(m.CPU), binary(m.MemoryB), orUnknown(strings.Join(slices.DeleteFunc(
			[]string{m.OS, m.Container}, func(s string) bool { return s == "" }), ", ")))
	}
	var differ []string
	for _, property := range []struct {
		name string
		of   func(setup) string
	}{
		{"CPU", func(s setup) string { return s.Node.Machine.CPU }},
		{"number of CPUs", func(s setup) string { return strconv.Itoa(s.Node.CPUs) }},
		{"memory", memoryOf(hosts)},
		{"operating system", func(s setup) string { return s.Node.Machine.OS }},
		{"kernel", func(s setup) string { return s.Node.Machine.Kernel }},
		{"container", func(s setup) string { return cmp.Or(s.Node.Machine.Container, "none") }},
		{"huge pages", func(s setup) string { return s.Node.HugePages }},
		{"RDMA devices", func(s setup) string { return strings.Join(s.Fabric.kinds(), ", ") }},
		{"NVIDIA GPUs", func(s setup) string { return strconv.Itoa(len(s.Fabric.GPUs)) }},
	} {
		by := map[string][]string{}
		for _, h := range hosts {
			v := property.of(h[0])
			by[v] = append(by[v], h[0].who.Host)
		}
		if len(by) < 2 {
			continue
		}
		var values []string
		for _, v := range slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(len(by[b])-len(by[a]), cmp.Compare(a, b)) }) {
			values = append(values, fmt.Sprintf("%s (%s)", orNone(v), hostRange(by[v])))
		}
		const most = 4
		if len(values) > most {
			values = append(values[:most], fmt.Sprintf("and %d more", len(values)-most))
		}
		differ = append(differ, property.name+" "+strings.Join(values, ", "))
	}
	if len(differ) > 0 {
		return warn(name, "leave out the hosts that differ, or set them alike: every collective is as slow as its slowest host", "they differ: %s", strings.Join(differ, "; "))
	}
	return fine(name, "%d alike: %s, %s, %s", len(hosts), orUnknown(m.CPU), units.Count(hosts[0][0].Node.CPUs, "CPU"), binary(m.MemoryB))
}

// memoryOf tells memories apart that differ by more than what the firmware keeps.
func memoryOf(hosts [][]setup) func(setup) string {
	least, most := int64(math.MaxInt64), int64(0)
	for _, h := range hosts {
		least, most = min(least, h[0].Node.Machine.MemoryB), max(most, h[0].Node.Machine.MemoryB)
	}
	return func(s setup) string {
		if float64(most) < 1.05*float64(least) {
			return ""
		}
		return binary(s.Node.Machine.MemoryB)
	}
}

func orUnknown(s string) string { return cmp.Or(s, "unknown") }
