package main

import (
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/machine"
)

// hardware is what the links of a world are made for; nil where nothing is known of it.
func hardware(root string, s *session) *result.Hardware {
	h := result.Hardware{Ports: machine.PortRates(root)}
	if l, ok := s.lib.(backend.Accelerator); ok {
		for r, member := range s.members {
			if link := l.Link(member); link != nil && (h.PCIe == nil || link.Speed*float64(link.Width) < h.PCIe.Speed*float64(h.PCIe.Width)) {
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
