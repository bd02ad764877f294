// Package ranges writes sets of small whole numbers as Linux and Slurm do: 0-3,8, and names that end in such numbers.
//
// It reads none: each reader of a list decides what a wrong one is.
package ranges

import (
	"cmp"
	"fmt"
	"slices"
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

// Names writes names that end in numbers: "node01-node08, node11".
func Names(names []string) string {
	const most = 6
	names = slices.SortedFunc(slices.Values(names), func(a, b string) int {
		pa, na := numbered(a)
		pb, nb := numbered(b)
		x, _ := strconv.Atoi(na)
		y, _ := strconv.Atoi(nb)
		return cmp.Or(cmp.Compare(pa, pb), cmp.Compare(x, y), cmp.Compare(a, b))
	})
	parts := runs(names)
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("and %d more", len(parts)-most))
	}
	return strings.Join(parts, ", ")
}

// numbered splits a name into what precedes its last digits, and those.
func numbered(name string) (prefix, digits string) {
	prefix = strings.TrimRight(name, "0123456789")
	return prefix, name[len(prefix):]
}

// next is the name that would follow: node10 follows node09, and node010 does not. "" if there is no number.
func next(name string) string {
	prefix, digits := numbered(name)
	n, err := strconv.Atoi(digits)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s%0*d", prefix, len(digits), n+1)
}
