package cudart

import (
	"slices"
	"strings"
)

// Health is the state of a GPU now. Read before and after a measurement, it shows whether the GPU ran
// at its full clocks.
type Health struct {
	SMClock, MemoryClock int // of the multiprocessors and the memory in MHz; -1 if unknown
	// why clocks are not higher, in nvidia-smi's words; empty: nothing, nil: unknown
	Throttle         []string
	ECC, Persistence string  // "on", "off"; "" if unknown
	ECCErrors        int64   // not corrected, since the driver was loaded; -1 if unknown
	Temperature      int     // °C; -1 if unknown
	Power            float64 // W; -1 if unknown
}

// Throttled is what of Throttle takes speed from a GPU that has work: neither idling nor clocks set by a
// user.
func (h Health) Throttled() []string {
	chosen := []string{"gpu_idle", "applications_clocks_setting", "display_clock_setting"}
	return slices.DeleteFunc(slices.Clone(h.Throttle), func(s string) bool { return slices.Contains(chosen, s) })
}

// reasons are the bits of nvmlClocksEventReasons.
var reasons = strings.Fields(`
	gpu_idle applications_clocks_setting sw_power_cap hw_slowdown sync_boost sw_thermal_slowdown
	hw_thermal_slowdown hw_power_brake_slowdown display_clock_setting`)

// throttle names the bits; negative is unknown.
func throttle(bits int64) []string {
	if bits < 0 {
		return nil
	}
	words := []string{}
	for i := range 63 {
		switch {
		case bits>>i&1 == 0:
		case i < len(reasons):
			words = append(words, reasons[i])
		default:
			words = append(words, "other")
			return words
		}
	}
	return words
}

func onOff(n int) string {
	switch n {
	case 0:
		return "off"
	case 1:
		return "on"
	}
	return ""
}
