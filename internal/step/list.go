package step

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// String is the model in one line for people: "resnet50: 161 layers, 25,557,032 parameters, forward 33.3ms, backward 66.7ms".
func (m *Model) String() string {
	s := fmt.Sprintf("%s: %d layers, %s parameters, forward %s, backward %s",
		m.Name, len(m.Layers), thousands(m.Params()), rounded(m.Forward()), rounded(m.Backward()))
	if m.Optimizer > 0 {
		s += fmt.Sprintf(", optimizer %s", rounded(m.Optimizer))
	}
	return s
}

// WriteTable writes a line for each plan: its operations, the least and the largest of them, what all of them move, and the memory
// that a rank wants. A plan that is the same step as one above it says so. The error is the writer's.
func WriteTable(w io.Writer, plans []*Plan) error {
	rows := [][]string{{"# point", "operations", "smallest", "largest", "together", "memory"}}
	for i, p := range plans {
		if first := SameAs(plans[:i], p); first >= 0 {
			rows = append(rows, []string{p.Point.String(), "as with " + plans[first].Point.Bucket.String()})
			continue
		}
		smallest, largest, sum := p.volume()
		rows = append(rows, []string{p.Point.String(), strconv.Itoa(len(p.Ops)), binary(smallest), binary(largest), binary(sum), binary(p.Bytes)})
	}
	_, err := io.WriteString(w, aligned(rows))
	return err
}

// SameAs is the index of the first of plans that is the same step as p, -1 where there is none.
func SameAs(plans []*Plan, p *Plan) int {
	for i, other := range plans {
		if p.Same(other) {
			return i
		}
	}
	return -1
}

// volume is the size of the smallest operation, of the largest and of all, in bytes: S of each collective.
func (p *Plan) volume() (smallest, largest, sum int64) {
	for i, o := range p.Ops {
		bytes := o.Count * int64(p.Point.Type.Size())
		if o.Collective.Shared() {
			bytes *= int64(p.World)
		}
		if i == 0 || bytes < smallest {
			smallest = bytes
		}
		largest = max(largest, bytes)
		sum += bytes
	}
	return smallest, largest, sum
}

// aligned puts the first column of rows to the left and the others to the right.
func aligned(rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for len(widths) < len(row) {
			widths = append(widths, 0)
		}
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(&b, "%-*s", widths[i], cell)
			} else {
				fmt.Fprintf(&b, "  %*s", widths[i], cell)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// binary writes a size in bytes with three digits: "97.5 MiB".
func binary(bytes int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	size, u := float64(bytes), 0
	for size >= 999.5 && u < len(units)-1 {
		size, u = size/1024, u+1
	}
	return fmt.Sprintf("%.3g %s", size, units[u])
}

// rounded writes seconds with three digits or so: "33.3ms".
func rounded(seconds float64) time.Duration {
	d := duration(seconds)
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}
