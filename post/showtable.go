package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
)

const (
	throughputHead = "       size        count      time     ±%    algbw    busbw   iters check"
	peakHead       = "       size      count      time    ±%    algbw    busbw  %peak  iters check"
	latencyHead    = "       size     median     ±%       min       p90       p99       max check"
)

// writeTable writes the records of one table, in their order; of throughput mode with the share of the ceiling that they
// reach, where one is known.
func writeTable(w io.Writer, mode coll.Mode, records []*result.Record, notes *footnotes, ceiling analysis.Ceiling) {
	head := throughputHead
	switch {
	case mode == coll.Latency:
		head = latencyHead
	case ceiling.Known():
		head = peakHead
	}
	fmt.Fprintln(w, head)
	for _, r := range records {
		size := fmt.Sprintf("%11s", coll.FormatSize(r.SizeBytes, true))
		if r.Cycle > 1 {
			size = fmt.Sprintf("#%-3d%7s", r.Cycle, coll.FormatSize(r.SizeBytes, true))
		}
		if r.Status == result.OK && r.Time == nil && r.Imported != nil {
			fmt.Fprintln(w, statedRow(size, r))
			continue
		}
		if r.Status != result.OK || r.Time == nil {
			writeNotOK(w, size, r)
			continue
		}
		row, marks := size+figures(mode, r, ceiling), notes.marks(r.Warnings.Texts())
		if len([]rune(row+marks)) > 80 {
			row, marks = strings.TrimRight(row, " "), "\n"+strings.Repeat(" ", len(size)+2)+marks
		}
		fmt.Fprintln(w, strings.TrimRight(row+marks, " "))
		if e := r.Time.Event; e != nil {
			fmt.Fprintf(w, "%s by events %s (min %s, max %s)\n", strings.Repeat(" ", len(size)), units.Duration(e.Seconds), units.Duration(e.Min), units.Duration(e.Max))
		}
	}
}

// figures are the columns of an ok point behind its size.
func figures(mode coll.Mode, r *result.Record, ceiling analysis.Ceiling) string {
	t := r.Time
	if mode == coll.Latency {
		return fmt.Sprintf(" %10s %6s %9s %9s %9s %9s %-4s ", units.Duration(t.Seconds), precision(t), units.Duration(t.Min), units.Duration(t.P90), units.Duration(t.P99), units.Duration(t.Max), r.Check.Result)
	}
	algbw, busbw := ifKnown(r.HasAlgBW(), units.Gigabytes(r.AlgBW(t.Seconds))), ifKnown(r.HasBusBW(), units.Gigabytes(r.BusBW(t.Seconds)))
	if ceiling.Known() {
		return fmt.Sprintf(" %10d %9s %5s %8s %8s %6s %6d %-4s ", r.Count, units.Duration(t.Seconds), precision(t), algbw, busbw,
			ifKnown(r.HasBusBW(), percent(ceiling.Share(r.BusBW(t.Seconds)))), t.Iterations, r.Check.Result)
	}
	return fmt.Sprintf(" %12d %9s %6s %8s %8s %7d %-4s ", r.Count, units.Duration(t.Seconds), precision(t), algbw, busbw, t.Iterations, r.Check.Result)
}

// percent writes a share, of which less than a tenth of a percent is no more than that.
func percent(share float64) string {
	if share > 0 && share < 0.0005 {
		return "<0.1"
	}
	return fmt.Sprintf("%.1f", 100*share)
}

// ifKnown is a figure, or the mark of one that is not known.
func ifKnown(known bool, text string) string {
	if !known {
		return "-"
	}
	return text
}

// statedRow is an imported row without a time: what its source says in its place.
func statedRow(size string, r *result.Record) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(r.Imported.Stated)) {
		words = append(words, name+" "+r.Imported.Stated[name])
	}
	return size + "  " + printable(strings.Join(words, ", "))
}

// writeNotOK writes status and reason over as many lines as they need.
func writeNotOK(w io.Writer, size string, r *result.Record) {
	text := string(r.Status)
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	if first := r.Check.First; first != nil {
		text += fmt.Sprintf(" (%s wrong; first on rank %d, host %s, index %d: wanted %s, found %s)", units.Count(int(r.Check.Wrong), "element"), first.Rank, first.Host, first.Index, first.Want, first.Got)
	}
	for i, line := range wrap(text, 80-len(size)-2) {
		if i > 0 {
			size = strings.Repeat(" ", len(size))
		}
		fmt.Fprintf(w, "%s  %s\n", size, line)
	}
}

// precision is half the interval in percent of the time; "-" where there is none.
func precision(t *result.Time) string {
	if t.Lo <= 0 || t.Hi <= 0 || t.Seconds <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 50*(t.Hi-t.Lo)/t.Seconds)
}

// footnotes are numbered by first appearance; equal texts share a number.
type footnotes struct{ texts []string }

func (f *footnotes) mark(text string) int {
	if i := slices.Index(f.texts, text); i >= 0 {
		return i + 1
	}
	f.texts = append(f.texts, text)
	return len(f.texts)
}

// marks are the numbers behind a row.
func (f *footnotes) marks(warnings []string) string {
	var numbers []string
	for _, w := range warnings {
		numbers = append(numbers, fmt.Sprint(f.mark(w)))
	}
	if numbers == nil {
		return ""
	}
	return "[" + strings.Join(numbers, ",") + "]"
}

func (f *footnotes) write(w io.Writer) {
	if len(f.texts) > 0 {
		fmt.Fprintln(w)
	}
	for i, text := range f.texts {
		number := fmt.Sprintf("[%d] ", i+1)
		for _, line := range wrap(text, 80-len(number)) {
			fmt.Fprintln(w, number+line)
			number = strings.Repeat(" ", len(number))
		}
	}
}
