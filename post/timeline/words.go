package timeline

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/units"
)

// duration writes milliseconds with the unit that fits.
func duration(v float64) string {
	if v == 0 {
		return "0 ms"
	}
	return units.Duration(v / 1e3)
}

// size writes bytes as people do: exactly where that is short, else with two digits of its unit.
func size(bytes int64) string {
	exact := coll.FormatSize(bytes, true)
	for unit, name := range []string{"KiB", "MiB", "GiB"} {
		if v := float64(bytes) / float64(int64(1)<<(10*(unit+1))); v >= 1 && v < 1024 && strings.HasSuffix(exact, " B") {
			return fmt.Sprintf("%.2f %s", v, name)
		}
	}
	return exact
}

// list writes numbers as a sentence lists them.
func list(numbers []int) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = fmt.Sprint(n)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
