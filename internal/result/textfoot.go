package result

import (
	"bufio"
	"fmt"
	"math"
	"strconv"
	"strings"

	"busbar/internal/units"
)

// foot draws the footnotes, and how the run was and ended.
func (v *textView) foot(w *bufio.Writer) {
	fmt.Fprintln(w)
	for i, text := range v.notes {
		fmt.Fprintf(w, "[%d] %s\n", i+1, text)
	}
	for _, k := range v.run.Warnings {
		fmt.Fprintf(w, "Warning: %s\n", k.Sentences())
	}
	if v.ok > 0 {
		fmt.Fprintf(w, "Data checked: %d of %d measured points\n", v.checked, v.ok)
	}
	if v.hosts != "" {
		fmt.Fprintln(w, v.hosts)
	}
	fmt.Fprintln(w, v.ending())
}

func (v *textView) ending() string {
	switch e := v.end; {
	case e == nil:
		return "Not ended: the run goes on, or was cut off"
	case e.Outcome == Complete:
		return "Complete: " + counts(e.Points)
	default:
		s := strings.ToUpper(string(e.Outcome)) // the reader must not take this for the whole
		if e.Reason != "" {
			s += " (" + e.Reason + ")"
		}
		if s += ": " + counts(e.Points); e.Left > 0 {
			s += fmt.Sprintf(", %d not measured; go on with --resume", e.Left)
		}
		return s
	}
}

func counts(points map[Status]int) string {
	var parts []string
	for _, s := range Statuses {
		if n := points[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if parts == nil {
		return "no points"
	}
	return strings.Join(parts, ", ")
}

// hostsLine names the first hosts and their ranks.
func hostsLine(ranks []Rank) string {
	const shown = 4
	hosts := units.GroupBy(ranks, func(r Rank) string { return r.Host })
	if len(hosts) == 0 {
		return ""
	}
	var parts []string
	for _, on := range hosts[:min(len(hosts), shown)] {
		parts = append(parts, fmt.Sprintf("%s (%s)", on[0].Host, units.Count(len(on), "rank")))
	}
	if len(hosts) > shown {
		parts = append(parts, fmt.Sprintf("and %d more", len(hosts)-shown))
	}
	return fmt.Sprintf("%s: %s", units.Count(len(hosts), "host"), strings.Join(parts, ", "))
}

// digits writes x with so many decimals, or with as many as three significant digits take when x is small.
func digits(x float64, decimals int) string {
	if x > 0 && x < math.Pow10(1-decimals) {
		decimals = 2 - int(math.Floor(math.Log10(x)))
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// tensorSize writes bytes as the profiler does, in MB of 2^20 bytes; in KB or bytes where that would be 0.00.
func tensorSize(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 10<<10:
		return fmt.Sprintf("%.2f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.2f MB", float64(n)/(1<<20))
}
