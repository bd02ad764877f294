package machine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"busbar/internal/units"
)

// Topology is a short text on the CPUs and memory of this host: sockets, cores and hardware threads, then one line per
// NUMA node with its CPUs and memory, and the network ports on it. Empty if unknown to /sys.
func Topology(root string) string {
	online, err := ParseCPUs(ReadText(root, "sys/devices/system/cpu/online"))
	if err != nil || len(online) == 0 {
		return ""
	}
	sockets, cores := map[string]bool{}, map[string]bool{}
	for _, cpu := range online {
		at := "sys/devices/system/cpu/cpu" + strconv.Itoa(cpu) + "/topology"
		if socket := ReadText(root, at, "physical_package_id"); socket != "" {
			sockets[socket] = true
		}
		if siblings := ReadText(root, at, "thread_siblings_list"); siblings != "" {
			cores[siblings] = true
		}
	}
	if len(sockets) == 0 || len(cores) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s", units.Count(len(sockets), "socket"), units.Count(len(cores), "core"),
		units.Count(len(online), "hardware thread"))
	nics := networkNodes(root)
	for _, n := range NUMANodes(root) {
		fmt.Fprintf(&b, "\nNUMA node %d: CPUs %s", n.Number, cmp.Or(n.CPUs, "none"))
		info := ReadText(root, numaFolder, fmt.Sprint("node", n.Number), "meminfo")
		if memory, ok := kilobytes(Field(info, fmt.Sprintf("Node %d MemTotal", n.Number))); ok {
			fmt.Fprintf(&b, ", %s", units.Binary(memory))
		}
		if len(nics[n.Number]) > 0 {
			fmt.Fprintf(&b, ", %s", strings.Join(nics[n.Number], " "))
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
			node, ok := ReadNumber(root, "sys/class", class, e.Name(), "device/numa_node")
			if ok && node >= 0 && !slices.Contains(nics[int(node)], e.Name()) {
				nics[int(node)] = append(nics[int(node)], e.Name())
			}
		}
	}
	return nics
}

const numaFolder = "sys/devices/system/node"

// NUMANode is a NUMA node that is online.
type NUMANode struct {
	Number int
	CPUs   string // "0-31"; "" where it has none
}

// NUMANodes returns the NUMA nodes of the machine.
func NUMANodes(root string) (nodes []NUMANode) {
	online, _ := ParseCPUs(ReadText(root, numaFolder, "online"))
	for _, n := range online {
		nodes = append(nodes, NUMANode{n, ReadText(root, numaFolder, fmt.Sprint("node", n), "cpulist")})
	}
	return nodes
}

// NearNodes returns the numbers of the NUMA nodes that have some of the CPUs.
func NearNodes(nodes []NUMANode, cpus string) (near []int) {
	mine, _ := ParseCPUs(cpus)
	for _, n := range nodes {
		here, _ := ParseCPUs(n.CPUs)
		if slices.ContainsFunc(mine, func(cpu int) bool { return slices.Contains(here, cpu) }) {
			near = append(near, n.Number)
		}
	}
	return near
}

// linksTime is how long nvidia-smi may take.
const linksTime = 5 * time.Second

// GPULinks is how nvidia-smi draws the links between the GPUs and the network ports of this host; "" without it.
func GPULinks() string {
	ctx, cancel := context.WithTimeout(context.Background(), linksTime)
	defer cancel()
	text, err := exec.CommandContext(ctx, "nvidia-smi", "topo", "-m").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
