package main

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"busbar/internal/notice"
)

// fabric is what a host has of RDMA, and what lies between its devices.
type fabric struct {
	Ports []rdmaPort
	pcie
	Peermem bool   // NVIDIA's module that lets RDMA reach GPU memory
	Plugin  string // path of NCCL's network plugin; "" if the loader would find none
}

// rdmaPort is a port of an InfiniBand, RoCE or EFA adapter, in the kernel's words.
type rdmaPort struct {
	Name  string // "mlx5_0/1"
	State string // "ACTIVE"
	Phys  string // "LinkUp"
	Rate  string // "400 Gb/sec (4X NDR)"
	Link  string // "InfiniBand", "Ethernet"
	EFA   bool
	Open  bool // programs may open the device
}

func readFabric(root string, env func(string) string) fabric {
	_, err := os.Stat(filepath.Join(root, "sys/module/nvidia_peermem"))
	return fabric{Ports: readPorts(root), pcie: readPCIe(root), Peermem: err == nil, Plugin: netPlugin(root, env)}
}

func readPorts(root string) (ports []rdmaPort) {
	dirs, _ := filepath.Glob(filepath.Join(root, "sys/class/infiniband/*/ports/*"))
	usable := rdmaFiles(root)
	word := func(dir, file string) string { // "4: ACTIVE"
		_, after, _ := strings.Cut(readText(dir, file), ":")
		return strings.TrimSpace(after)
	}
	for _, dir := range dirs[:min(mostPorts, len(dirs))] {
		device := filepath.Base(filepath.Dir(filepath.Dir(dir)))
		driver, _ := os.Readlink(filepath.Join(root, "sys/class/infiniband", device, "device/driver"))
		ports = append(ports, rdmaPort{Name: device + "/" + filepath.Base(dir), State: word(dir, "state"), Phys: word(dir, "phys_state"),
			Rate: readText(dir, "rate"), Link: readText(dir, "link_layer"), EFA: filepath.Base(driver) == "efa", Open: usable[device]})
	}
	return ports
}

// rdmaFiles are the devices whose file under /dev may be opened. In a container /sys may show devices that are not there.
func rdmaFiles(root string) map[string]bool {
	open := map[string]bool{}
	verbs, _ := filepath.Glob(filepath.Join(root, "sys/class/infiniband_verbs/uverbs*"))
	for _, v := range verbs {
		file := filepath.Join(root, "dev/infiniband", filepath.Base(v))
		if unix.Access(file, unix.R_OK|unix.W_OK) == nil {
			open[readText(v, "ibdev")] = true
		}
	}
	return open
}

func (p rdmaPort) active() bool { return p.State == "ACTIVE" }

// kind is what ports have in common: "InfiniBand 400 Gb/sec (4X NDR)".
func (p rdmaPort) kind() string {
	link := cmp.Or(p.Link, "unknown link")
	if p.EFA {
		link = "EFA"
	}
	return link + " " + cmp.Or(p.Rate, "at an unknown rate")
}

// kinds counts the active ports: "8 x InfiniBand 400 Gb/sec (4X NDR)".
func (f fabric) kinds() (list []notice.PortKind) {
	count := map[string]int{}
	for _, p := range f.Ports {
		if p.active() {
			count[p.kind()]++
		}
	}
	for _, k := range slices.Sorted(maps.Keys(count)) {
		list = append(list, notice.PortKind{Ports: count[k], Kind: k})
	}
	return list
}

// narrow says whether an InfiniBand port came up slower than its cable should be. One lane of four, or the rate that
// links are trained from, is no adapter's own.
func (p rdmaPort) narrow() bool {
	return p.active() && p.Link == "InfiniBand" && !p.EFA && (strings.Contains(p.Rate, "(1X") || strings.Contains(p.Rate, "SDR"))
}

// checkRDMA looks at the adapters of a host.
func checkRDMA(host []setup) (rows []row) {
	const name = "RDMA network"
	ports := host[0].Fabric.Ports
	if len(ports) == 0 {
		return []row{found(name, notice.NoRDMADevice{})}
	}
	var down []notice.PortState
	var narrow []notice.PortRate
	var closed []string
	for _, p := range ports {
		if !p.active() {
			down = append(down, notice.PortState{Port: p.Name, State: p.State, Physical: orUnknown(p.Phys)})
			continue
		}
		if p.narrow() {
			narrow = append(narrow, notice.PortRate{Port: p.Name, Rate: p.Rate})
		}
		if !p.Open {
			closed = append(closed, p.Name)
		}
	}
	if down != nil {
		rows = append(rows, found(name, notice.RDMAPortsDown{Active: len(ports) - len(down), Of: len(ports), Down: down}))
	}
	if narrow != nil {
		rows = append(rows, found(name, notice.RDMALinkNarrow{Links: narrow}))
	}
	if closed != nil {
		rows = append(rows, found(name, notice.RDMANotPermitted{Ports: closed}))
	}
	if rows == nil {
		rows = []row{found(name, notice.RDMAPorts{Ports: host[0].Fabric.kinds()})}
	}
	return rows
}
