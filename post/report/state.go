package report

import (
	"fmt"
	"strings"

	"busbar/internal/result"
	"busbar/internal/units"
)

// stateWords sum up the devices' state before the first case: the range of each figure, and what holds clocks back.
func stateWords(ranks []result.Rank) string {
	var states []*result.GPU
	for _, r := range ranks {
		if r.State != nil {
			states = append(states, r.State)
		}
	}
	var words []string
	for _, figure := range []struct {
		name, unit string
		of         func(*result.GPU) float64
	}{
		{"SM clock", "MHz", func(s *result.GPU) float64 { return float64(s.SMClock) }},
		{"memory clock", "MHz", func(s *result.GPU) float64 { return float64(s.MemoryClock) }},
		{"temperature", "°C", func(s *result.GPU) float64 { return float64(s.Temperature) }},
		{"power", "W", func(s *result.GPU) float64 { return s.Power }},
	} {
		if text := rangeWords(states, figure.of); text != "" {
			words = append(words, figure.name+" "+text+" "+figure.unit)
		}
	}
	held, order, errors := map[string]int{}, []string(nil), 0
	for _, s := range states {
		for _, reason := range s.Throttle {
			if held[reason]++; held[reason] == 1 {
				order = append(order, reason)
			}
		}
		if s.ECCErrors > 0 {
			errors++
		}
	}
	for _, reason := range order {
		words = append(words, fmt.Sprintf("clocks reduced on %s: %s", units.Count(held[reason], "device"), reason))
	}
	if errors > 0 {
		words = append(words, units.Count(errors, "device")+" with uncorrected ECC errors")
	}
	return strings.Join(words, "; ")
}

// rangeWords are the least and the greatest of what is known, which is never negative; "" where nothing is.
func rangeWords(states []*result.GPU, of func(*result.GPU) float64) string {
	least, most := -1.0, -1.0
	for _, s := range states {
		v := of(s)
		if v < 0 {
			continue
		}
		if least < 0 || v < least {
			least = v
		}
		most = max(most, v)
	}
	switch {
	case least < 0:
		return ""
	case least == most:
		return fmt.Sprintf("%g", most)
	}
	return fmt.Sprintf("%g to %g", least, most)
}
