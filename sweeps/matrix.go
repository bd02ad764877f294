package sweeps

import (
	"errors"
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
	var m matrixRows
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
		if err := m.add(words); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, max(number, 1), err)
	}
	return coll.Matrix(m), nil
}

// matrixRows are the rows of a matrix so far.
type matrixRows coll.Matrix

// add appends a row of numbers, rounded down to 16 bytes.
func (m *matrixRows) add(words []string) error {
	row := make([]int64, len(words))
	for i, w := range words {
		w = strings.TrimSpace(w)
		x, err := strconv.ParseFloat(w, 64)
		// A column of 4,096 of these bytes fits an int64.
		if err != nil || !(x >= 0 && x <= 1<<50) {
			return fmt.Errorf("%q must be a number of bytes from 0 to %d", w, int64(1<<50))
		}
		row[i] = int64(x) &^ 15
	}
	if len(*m) > 0 && len(row) != len((*m)[0]) {
		return fmt.Errorf("%d numbers, but %d in the first row", len(row), len((*m)[0]))
	}
	*m = append(*m, row)
	return nil
}

// check returns why a whole matrix is invalid.
func (m matrixRows) check() error {
	switch {
	case len(m) == 0:
		return errors.New("the matrix is empty")
	case len(m) != len(m[0]):
		return fmt.Errorf("%d rows of %d numbers: the matrix must have one row and one column per rank", len(m),
			len(m[0]))
	case !slices.ContainsFunc(m, func(row []int64) bool { return slices.Max(row) > 0 }):
		return errors.New("all numbers are below 16")
	}
	return nil
}
