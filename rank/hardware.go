package main

import (
	"path/filepath"
	"strconv"
	"strings"

	"busbar/internal/result"
)

// hardware is what the links of a world are made for; nil where nothing is known of it.
func hardware(root string, s *session) *result.Hardware {
	h := result.Hardware{Ports: portRates(root)}
	if l, ok := s.lib.(*ncclLibrary); ok {
		for r, member := range s.members {
			if link := l.ranks[member].PCIe; link != nil && (h.PCIe == nil || link.Speed*float64(link.Width) < h.PCIe.Speed*float64(h.PCIe.Width)) {
				slowest := *link
				slowest.Rank = s.world.Name(r)
				h.PCIe = &slowest
			}
		}
	}
	if h.Ports == nil && h.PCIe == nil {
		return nil
	}
	return &h
}

// portRates are the active RDMA ports, and the interfaces with hardware behind them: what a virtual one states is made up.
func portRates(root string) (ports []result.Port) {
	for _, p := range readPorts(root) {
		number, rest, _ := strings.Cut(p.Rate, " ")
		rate, err := strconv.ParseFloat(number, 64)
		if err != nil || rate <= 0 || !strings.HasPrefix(rest, "Gb/sec") || !p.active() {
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
		megabits, ok := readNumber(root, dir, "speed")
		if _, err := filepath.EvalSymlinks(filepath.Join(root, dir, "device")); ok && megabits > 0 && err == nil {
			ports = append(ports, result.Port{Name: name, Rate: float64(megabits) / 1000})
		}
	}
	return ports
}

// readLink is the PCIe link of a device and the slot that it sits in; nil where /sys does not tell. The slot of a virtual
// machine is its host's invention and is left out.
func readLink(root, address string, virtual bool) *result.PCIe {
	dir, err := filepath.EvalSymlinks(filepath.Join(root, "sys/bus/pci/devices", strings.ToLower(address)))
	if err != nil {
		return nil
	}
	width, _ := readNumber(dir, "current_link_width")
	link := result.PCIe{Speed: transfers(readText(dir, "max_link_speed")), Width: int(width), Lanes: lanes(dir)}
	if slot := filepath.Dir(dir); !virtual && lanes(slot) > 0 {
		if speed := transfers(readText(slot, "max_link_speed")); speed > 0 {
			link.Speed = min(link.Speed, speed)
		}
		link.Lanes = min(link.Lanes, lanes(slot))
	}
	if link.Speed <= 0 || link.Width <= 0 || link.Lanes <= 0 {
		return nil
	}
	return &link
}

// transfers reads "32.0 GT/s PCIe"; 0 for "Unknown".
func transfers(speed string) float64 {
	number, unit, _ := strings.Cut(speed, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !strings.HasPrefix(unit, "GT/s") {
		return 0
	}
	return v
}

// lanes are those that a device has; 0 for what is none, or does not tell (255).
func lanes(dir string) int {
	n, ok := readNumber(dir, "max_link_width")
	if !ok || n > 64 {
		return 0
	}
	return int(n)
}
