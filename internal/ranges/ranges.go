// Package ranges writes sets of small whole numbers as Linux and Slurm do: 0-3,8, and names that end in such numbers.
//
// It reads none: who wants a list says himself what a wrong one is.
package ranges

import (
	"strconv"
	"strings"
)

// Format writes increasing numbers; "" where there are none.
func Format(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := strconv.Itoa(numbers[i])
		if j > i {
			part += "-" + strconv.Itoa(numbers[j])
		}
		parts, i = append(parts, part), j+1
	}
	return strings.Join(parts, ",")
}
