package report

import (
	"fmt"
	"strings"

	"busbar/internal/result"
	"busbar/internal/units"
)

// gpuValues are the numbers in the state of a device; one that is unknown is negative.
var gpuValues = []struct {
	name, unit string
	of         func(*result.GPU) float64
}{
	{"SM clock", "MHz", func(s *result.GPU) float64 { return float64(s.SMClock) }},
	{"memory clock", "MHz", func(s *result.GPU) float64 { return float64(s.MemoryClock) }},
	{"temperature", "°C", func(s *result.GPU) float64 { return float64(s.Temperature) }},
	{"power", "W", func(s *result.GPU) float64 { return s.Power }},
}

// stateWords sum up the devices' state before the first case: the range of each value, and what reduces clocks.
func stateWords(ranks []result.Rank) string {
	var words, reasons []string
	for _, value := range gpuValues {
		least, most := -1.0, -1.0
		for _, r := range ranks {
			if r.State == nil || value.of(r.State) < 0 {
				continue
			}
			v := value.of(r.State)
			if most = max(most, v); least < 0 || v < least {
				least = v
			}
		}
		switch {
		case least < most:
			words = append(words, fmt.Sprintf("%s %g to %g %s", value.name, least, most, value.unit))
		case least >= 0:
			words = append(words, fmt.Sprintf("%s %g %s", value.name, most, value.unit))
		}
	}
	reduced, errors := map[string]int{}, 0
	for _, r := range ranks {
		if r.State == nil {
			continue
		}
		for _, reason := range r.State.Throttle {
			reasons = units.AddOnce(reasons, reason)
			reduced[reason]++
		}
		if r.State.ECCErrors > 0 {
			errors++
		}
	}
	for _, reason := range reasons {
		words = append(words, fmt.Sprintf("clocks reduced on %s: %s", units.Count(reduced[reason], "device"), reason))
	}
	if errors > 0 {
		words = append(words, units.Count(errors, "device")+" with uncorrected ECC errors")
	}
	return strings.Join(words, "; ")
}
