package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/units"
)

// topology is a short text on the CPUs and memory of this host: sockets, cores and hardware threads, then one line per
// NUMA node with its CPUs and memory, and the network ports on it. Empty where /sys does not say.
func topology(root string) string {
	online, err := parseCPUs(readText(root, "sys/devices/system/cpu/online"))
	if err != nil || len(online) == 0 {
		return ""
	}
	sockets, cores := map[string]bool{}, map[string]bool{}
	for _, cpu := range online {
		at := "sys/devices/system/cpu/cpu" + strconv.Itoa(cpu) + "/topology"
		if socket := readText(root, at, "physical_package_id"); socket != "" {
			sockets[socket] = true
		}
		if siblings := readText(root, at, "thread_siblings_list"); siblings != "" {
			cores[siblings] = true
		}
	}
	if len(sockets) == 0 || len(cores) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s", units.Count(len(sockets), "socket"), units.Count(len(cores), "core"), units.Count(len(online), "hardware thread"))
	nodes, _ := parseCPUs(readText(root, "sys/devices/system/node/online"))
	nics := networkNodes(root)
	for _, node := range nodes {
		dir := filepath.Join("sys/devices/system/node", "node"+strconv.Itoa(node))
		fmt.Fprintf(&b, "\nNUMA node %d: CPUs %s", node, orNone(readText(root, dir, "cpulist")))
		prefix := fmt.Sprintf("Node %d MemTotal", node)
		if memory, ok := kilobytes(field(readText(root, dir, "meminfo"), prefix)); ok {
			fmt.Fprintf(&b, ", %s", binary(memory))
		}
		if len(nics[node]) > 0 {
			fmt.Fprintf(&b, ", %s", strings.Join(nics[node], " "))
		}
	}
	return b.String()
}

// networkNodes are the RDMA devices and the interfaces with hardware of their own, by NUMA node.
func networkNodes(root string) map[int][]string {
	nics := map[int][]string{}
	for _, class := range []string{"infiniband", "net"} {
		entries, _ := os.ReadDir(filepath.Join(root, "sys/class", class))
		for _, e := range entries {
			node, ok := readNumber(root, "sys/class", class, e.Name(), "device/numa_node")
			if ok && node >= 0 && !slices.Contains(nics[int(node)], e.Name()) {
				nics[int(node)] = append(nics[int(node)], e.Name())
			}
		}
	}
	return nics
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// nearNodes are the NUMA nodes that the CPUs of a list are on; nil where that is not known.
func nearNodes(root, cpus string) []int {
	mine, err := parseCPUs(cpus)
	if err != nil {
		return nil
	}
	nodes, _ := parseCPUs(readText(root, "sys/devices/system/node/online"))
	var near []int
	for _, node := range nodes {
		here, _ := parseCPUs(readText(root, "sys/devices/system/node", "node"+strconv.Itoa(node), "cpulist"))
		if slices.ContainsFunc(mine, func(cpu int) bool { return slices.Contains(here, cpu) }) {
			near = append(near, node)
		}
	}
	return near
}
