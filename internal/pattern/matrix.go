package pattern

import (
	"cmp"
	"fmt"
	"slices"

	"busbar/internal/stats"
	"busbar/internal/units"
)

// Matrix is a table of nodes or GPUs. 0 is unknown.
type Matrix struct {
	Name          string // of a node, or which rails measured; "" of pairs
	Unit          string // "GB/s"; of pairs the median of sound ones
	Rows, Columns []string
	Values        [][]float64
	slowest       float64 // s
}

// mostMatrices is the number of nodes whose GPUs have a matrix.
const mostMatrices = 8

// Matrices are, of pairs, their times as multiples of the median of sound ones; of rails the median pair of each GPU,
// by node and rail, alone and then all at once; of gpus the pairs of each node, those of the slowest nodes. Values of
// GPUs are bus bandwidths, or in latency mode times.
func (v *Verdict) Matrices(hosts []string) (all []Matrix) {
	if v.Kind == Halves || v.Pairs.Base <= 0 {
		return nil
	}
	first, rows, columns := 0, slices.Clone(hosts), v.Each
	unit, value := "us", func(seconds float64) float64 { return 1e6 * seconds }
	if v.rate != nil {
		unit, value = "GB/s", func(seconds float64) float64 { return v.rate(seconds) / 1e9 }
	}
	names := []string{"each rail alone", "rails at once"}
	if v.Kind == Pairs {
		first, columns = 1, v.Nodes
		for i, host := range hosts {
			rows[i] = fmt.Sprint(i+1, "  ", host)
		}
		names, unit = []string{""}, units.Duration(v.Pairs.Base)
		value = func(seconds float64) float64 { return seconds / v.Pairs.Base }
	}
	var numbers []string
	for i := range columns {
		numbers = append(numbers, fmt.Sprint(first+i))
	}
	if v.Kind == GPUs {
		names, rows = hosts, numbers
	}
	cells := v.cells()
	for i, name := range names {
		m := Matrix{Name: name, Unit: unit, Rows: rows, Columns: numbers}
		for row := range rows {
			m.Values = append(m.Values, make([]float64, columns))
			for column := range columns {
				if x := cells[[3]int{i, row, column}]; len(x) > 0 {
					m.Values[row][column], m.slowest = value(stats.Median(x)), max(m.slowest, stats.Median(x))
				}
			}
		}
		all = append(all, m)
	}
	if v.Kind == GPUs {
		slices.SortStableFunc(all, func(a, b Matrix) int { return cmp.Compare(b.slowest, a.slowest) })
		all = all[:min(len(all), mostMatrices)]
	}
	return all
}

// cells are the times in the rounds by matrix, row and column.
func (v *Verdict) cells() map[[3]int][]float64 {
	cells := map[[3]int][]float64{}
	for _, t := range v.times {
		on := t.when()
		if on != inRounds && on != atOnce {
			continue
		}
		for k, i := range t.Nodes {
			at, other := [3]int{0, i, t.Nodes[1-k]}, t.Nodes[1-k]
			switch v.Kind {
			case Rails:
				at = [3]int{int(on / atOnce), i / v.Each, i % v.Each}
			case GPUs:
				at = [3]int{i / v.Each, i % v.Each, other % v.Each}
			}
			cells[at] = append(cells[at], t.Seconds)
		}
	}
	return cells
}
