package timeline

import (
	"busbar/internal/units"
)

// duration writes milliseconds with the unit that fits.
func duration(v float64) string {
	if v == 0 {
		return "0 ms"
	}
	return units.Duration(v / 1e3)
}
