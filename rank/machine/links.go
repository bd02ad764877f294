package machine

import (
	"path/filepath"
	"strconv"
	"strings"

	"busbar/internal/result"
)

// PortRates are the active RDMA ports, and the interfaces with hardware behind them: what a virtual one states is made
// up.
func PortRates(root string) (ports []result.Port) {
	for _, p := range RDMAPorts(root) {
		rate := quantity(p.Rate, "Gb/sec")
		if rate <= 0 || !p.Active() {
			continue
		}
		link := p.Link
		if p.EFA {
			link = "EFA"
		}
		ports = append(ports, result.Port{Name: p.Name, Link: link, Rate: rate})
	}
	for _, name := range interfaces(root) {
		dir := filepath.Join("sys/class/net", name)
		megabits, ok := ReadNumber(root, dir, "speed")
		if _, err := filepath.EvalSymlinks(filepath.Join(root, dir, "device")); ok && megabits > 0 && err == nil {
			ports = append(ports, result.Port{Name: name, Rate: float64(megabits) / 1000})
		}
	}
	return ports
}

// PCIeLink is the PCIe link of a device and the slot that it sits in; nil if unknown to /sys. The slot of a
// virtual machine is emulated and is left out.
func PCIeLink(root, address string, virtual bool) *result.PCIe {
	dir, err := filepath.EvalSymlinks(filepath.Join(root, "sys/bus/pci/devices", strings.ToLower(address)))
	if err != nil {
		return nil
	}
	width, _ := ReadNumber(dir, "current_link_width")
	link := result.PCIe{Speed: quantity(ReadText(dir, "max_link_speed"), "GT/s"), Width: int(width), Lanes: lanes(dir)}
	if slot := filepath.Dir(dir); !virtual && lanes(slot) > 0 {
		if speed := quantity(ReadText(slot, "max_link_speed"), "GT/s"); speed > 0 {
			link.Speed = min(link.Speed, speed)
		}
		link.Lanes = min(link.Lanes, lanes(slot))
	}
	if link.Speed <= 0 || link.Width <= 0 || link.Lanes <= 0 {
		return nil
	}
	return &link
}

// quantity is the number before a unit: 32 of "32.0 GT/s PCIe"; 0 where the unit is another.
func quantity(text, unit string) float64 {
	number, rest, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !strings.HasPrefix(rest, unit) {
		return 0
	}
	return v
}

// lanes are those of a device; 0 if it has no lanes or does not report them (255).
func lanes(dir string) int {
	n, ok := ReadNumber(dir, "max_link_width")
	if !ok || n > 64 {
		return 0
	}
	return int(n)
}
