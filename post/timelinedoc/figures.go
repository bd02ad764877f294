package timelinedoc

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"busbar/internal/stats"
)

// A figureColumn is a column of a table of figures.
type figureColumn struct {
	name   string
	digits int // behind the point
}

// write writes one figure; "-" where it is not known.
func (c figureColumn) write(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	digits := c.digits
	if math.Abs(v) >= 1e5 {
		digits = min(digits, 1) // nobody reads microseconds of minutes
	}
	return fmt.Sprintf("%.*f", digits, v)
}

// A figureRow is a row of it: what it is of, and its figures. NaN is one that is not known.
type figureRow struct {
	label  string
	values []float64
}

// figureTable is a table of figures which may have more rows than one reads.
type figureTable struct {
	first   string // head of the labels
	columns []figureColumn
	rows    []figureRow
	worst   int    // the column by whose greatest figures rows are chosen, where there are too many
	noun    string // what a row is
}

// mostRows is how many rows a table has at most; of longer ones it has the least, the median and the greatest of each
// column, and worstRows rows.
const (
	mostRows  = 16
	worstRows = 5
)

// figures writes a table of figures, and says which rows it leaves out.
func (s *sheet) figures(t figureTable) {
	if len(t.rows) == 0 {
		return
	}
	out := &sheetTable{head: []string{t.first}, align: "l" + strings.Repeat("r", len(t.columns)), names: []int{0}}
	for _, c := range t.columns {
		out.head = append(out.head, c.name)
	}
	rows := t.rows
	if len(rows) > mostRows {
		for _, r := range []figureRow{t.summary("minimum", slices.Min), t.summary("median", stats.Median),
			t.summary("maximum", slices.Max)} {
			out.rows = append(out.rows, t.cells(r))
		}
		rows = slices.Clone(rows)
		// NaN is the least
		slices.SortStableFunc(rows, func(a, b figureRow) int { return -cmp.Compare(a.values[t.worst], b.values[t.worst]) })
		rows = rows[:worstRows]
	}
	for _, r := range rows {
		out.rows = append(out.rows, t.cells(r))
	}
	s.table(out)
	if len(rows) < len(t.rows) {
		s.say(fmt.Sprintf("%d %ss: each column by itself, then the %d with the highest %s.",
			len(t.rows), t.noun, len(rows), t.columns[t.worst].name))
	}
}

func (t figureTable) cells(r figureRow) []string {
	cells := []string{r.label}
	for i, c := range t.columns {
		cells = append(cells, c.write(r.values[i]))
	}
	return cells
}

// summary is one figure of each column, of those that are known.
func (t figureTable) summary(label string, of func([]float64) float64) figureRow {
	r := figureRow{label: label}
	for i := range t.columns {
		var known []float64
		for _, row := range t.rows {
			if v := row.values[i]; !math.IsNaN(v) {
				known = append(known, v)
			}
		}
		v := math.NaN()
		if known != nil {
			v = of(known)
		}
		r.values = append(r.values, v)
	}
	return r
}
