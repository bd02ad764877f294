package sweeps

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/coll"
)

// ParseGroups parses a division of the world into groups.
func ParseGroups(word string) ([]coll.Division, error) {
	d, err := coll.ParseDivision(word)
	return []coll.Division{d}, err
}

// ParseImbalances parses the imbalance of an alltoallv; a matrix file is not one of these words.
func ParseImbalances(word string) ([]coll.Imbalance, error) {
	i, err := coll.ParseImbalance(word)
	return []coll.Imbalance{i}, err
}

// ParseMatrix reads a matrix of bytes, rows of senders and columns of receivers, separated by spaces as in nccl-tests
// (NCCL_TESTS_ALLTOALLV_MATRIX_FILE) or by commas, and rounds them down to 16 bytes as nccl-tests does. Empty lines are
// skipped. Errors name the file and the line.
func ParseMatrix(file string, text []byte) (coll.Matrix, error) {
	var m coll.Matrix
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if strings.Contains(line, ",") {
			words = strings.Split(line, ",")
		}
		row := make([]int64, len(words))
		for i, w := range words {
			w = strings.TrimSpace(w)
			x, err := strconv.ParseFloat(w, 64)
			// A column of 4,096 of these bytes fits an int64.
			if err != nil || !(x >= 0 && x <= 1<<50) {
				return nil, fmt.Errorf("%s:%d: %q must be a number of bytes from 0 to %d", file, number, w,
					int64(1<<50))
			}
			row[i] = int64(x) &^ 15
		}
		if len(m) > 0 && len(row) != len(m[0]) {
			return nil, fmt.Errorf("%s:%d: %d numbers, but %d in the first row", file, number, len(row), len(m[0]))
		}
		m = append(m, row)
	}
	switch {
	case len(m) == 0:
		return nil, fmt.Errorf("%s: the matrix is empty", file)
	case len(m) != len(m[0]):
		return nil, fmt.Errorf("%s:%d: %d rows of %d numbers: the matrix must have one row and one column per rank",
			file, number, len(m), len(m[0]))
	case !slices.ContainsFunc(m, func(row []int64) bool { return slices.Max(row) > 0 }):
		return nil, fmt.Errorf("%s: all numbers are below 16", file)
	}
	return m, nil
}
