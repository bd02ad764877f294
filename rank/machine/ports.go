package machine

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// RDMAPort is a port of an InfiniBand, RoCE or EFA adapter, in the kernel's words.
type RDMAPort struct {
	Name  string // "mlx5_0/1"
	State string // "ACTIVE"
	Phys  string // "LinkUp"
	Rate  string // "400 Gb/sec (4X NDR)"
	Link  string // "InfiniBand", "Ethernet"
	EFA   bool
	Open  bool // programs may open the device
}

// RDMAPorts are the ports of a host's RDMA adapters, the first 32 at most.
func RDMAPorts(root string) (ports []RDMAPort) {
	dirs, _ := filepath.Glob(filepath.Join(root, "sys/class/infiniband/*/ports/*"))
	usable := rdmaFiles(root)
	word := func(dir, file string) string { // "4: ACTIVE"
		_, after, _ := strings.Cut(ReadText(dir, file), ":")
		return strings.TrimSpace(after)
	}
	for _, dir := range dirs[:min(mostPorts, len(dirs))] {
		device := filepath.Base(filepath.Dir(filepath.Dir(dir)))
		driver, _ := os.Readlink(filepath.Join(root, "sys/class/infiniband", device, "device/driver"))
		ports = append(ports, RDMAPort{Name: device + "/" + filepath.Base(dir), State: word(dir, "state"),
			Phys: word(dir, "phys_state"),
			Rate: ReadText(dir, "rate"), Link: ReadText(dir, "link_layer"), EFA: filepath.Base(driver) == "efa",
			Open: usable[device]})
	}
	return ports
}

// rdmaFiles are the devices whose file under /dev may be opened. In a container /sys may show devices that are not
// there.
func rdmaFiles(root string) map[string]bool {
	open := map[string]bool{}
	verbs, _ := filepath.Glob(filepath.Join(root, "sys/class/infiniband_verbs/uverbs*"))
	for _, v := range verbs {
		file := filepath.Join(root, "dev/infiniband", filepath.Base(v))
		if unix.Access(file, unix.R_OK|unix.W_OK) == nil {
			open[ReadText(v, "ibdev")] = true
		}
	}
	return open
}

// Active reports whether the port carries traffic.
func (p RDMAPort) Active() bool { return p.State == "ACTIVE" }

// Kind is what ports have in common: "InfiniBand 400 Gb/sec (4X NDR)".
func (p RDMAPort) Kind() string {
	link := cmp.Or(p.Link, "unknown link")
	if p.EFA {
		link = "EFA"
	}
	return link + " " + cmp.Or(p.Rate, "at an unknown rate")
}

// Narrow reports whether an InfiniBand port came up slower than its cable should be. One lane of four, or the rate that
// links are trained from, is no adapter's own.
func (p RDMAPort) Narrow() bool {
	return p.Active() && p.Link == "InfiniBand" && !p.EFA &&
		(strings.Contains(p.Rate, "(1X") || strings.Contains(p.Rate, "SDR"))
}
