// Package say writes figures and counts as post says them in sentences and tables, the same everywhere. It decides nothing
// about them.
package say

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
)

// Count is a number and its noun: 1 run, 2 launches, 3 processes.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") || strings.HasSuffix(noun, "s") {
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Some lists up to eight words and counts the rest.
func Some(words []string) string {
	if n := len(words) - 8; n > 0 {
		return strings.Join(words[:8], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(words, ", ")
}

// Duration writes seconds with four digits and the unit that fits; "-" for what was not claimed.
func Duration(s float64) string {
	switch {
	case s <= 0:
		return "-"
	case s < 999.95e-6:
		return digits(s*1e6) + " us"
	case s < 999.95e-3:
		return digits(s*1e3) + " ms"
	}
	return digits(s) + " s"
}

func digits(v float64) string {
	switch {
	case v < 9.9995:
		return fmt.Sprintf("%.3f", v)
	case v < 99.995:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// Bandwidth writes bytes per second as GB/s, with two digits where three decimals would leave fewer.
func Bandwidth(bytesPerSecond float64) string {
	if v := bytesPerSecond / 1e9; v > 0 && v < 0.00995 {
		return fmt.Sprintf("%.2g", v)
	}
	return digits(bytesPerSecond / 1e9)
}

// Placement is the word of nccl-tests' heading.
func Placement(p coll.Placement) string {
	if p == coll.InPlace {
		return "in-place"
	}
	return "out-of-place"
}
