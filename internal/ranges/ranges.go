// Package ranges writes sets of small whole numbers as Linux and Slurm do: 0-3,8, and names that end in such numbers.
//
// It reads none: each reader of a list decides what a wrong one is.
package ranges

import (
	"strconv"
	"strings"
)

// Format writes increasing numbers; "" for none.
func Format(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(runs(texts), ",")
}

// runs joins what follows on each other: "0-3", "8".
func runs(names []string) (parts []string) {
	for i := 0; i < len(names); {
		j := i
		for j+1 < len(names) && names[j+1] == next(names[j]) {
			j++
		}
		part := names[i]
		if j > i {
			part += "-" + names[j]
		}
		parts, i = append(parts, part), j+1
	}
	return parts
}
