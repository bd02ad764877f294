package timeline

import (
	"fmt"
	"strings"

	"busbar/post/say"
)

// duration writes milliseconds with the unit that fits.
func duration(v float64) string {
	if v == 0 {
		return "0 ms"
	}
	return say.Duration(v / 1e3)
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
