package export

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/title"
)

// ncclKey is what the two placements of a row of nccl-tests' table share.
type ncclKey struct {
	dataType coll.DataType
	op       coll.RedOp
	root     int
	size     int64
	cycle    int
	parts    coll.Imbalance
}

// ncclRow is one row of the table. A log may have rows that look alike; each stays one of its own.
type ncclRow struct {
	ncclKey
	places [2]*result.Record // out of place, in place
}

// writeNCCLTests writes the points of throughput mode in nccl-tests' layout (2.17 and later), one test for each
// collective; it returns false when there are none. What the layout has no place for stands in lines with #.
func writeNCCLTests(w io.Writer, f *result.File) bool {
	var shown []*result.Record
	for r := range units.Each(f.Records) {
		if inNCCLTests(r) {
			shown = append(shown, r)
		}
	}
	for i, test := range units.GroupBy(shown, func(r *result.Record) coll.Collective { return r.Collective }) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		writeNCCLHead(w, f, test[0].Collective, test)
		writeNCCLRows(w, f, test[0].Collective, test)
	}
	return shown != nil
}

// inNCCLTests reports whether the layout has a place for a point.
func inNCCLTests(r *result.Record) bool {
	return r.Mode == coll.Throughput && r.Collective != coll.Other && r.SizeBytes >= 0 && !r.OfGroup()
}

// writeNCCLHead writes the lines over the table.
func writeNCCLHead(w io.Writer, f *result.File, c coll.Collective, records []*result.Record) {
	m := f.Run.Method
	var sizes []int64
	iterations, check := m.Iterations, 0
	for _, r := range records {
		if r.Time != nil {
			sizes = append(sizes, r.SizeBytes)
			iterations = max(iterations, r.Time.Iterations)
		}
		check = max(check, r.Check.Rounds)
	}
	slices.Sort(sizes)
	if sizes = slices.Compact(sizes); len(sizes) == 0 {
		sizes = []int64{0}
	}
	tool := f.Run.Tool
	if f.Run.Imported != nil {
		tool = "busbar, imported from " + f.Run.Imported.Tool
	}
	fmt.Fprintf(w, "# %s: %s (%s), in the layout of nccl-tests\n", document.Printable(tool),
		document.Printable(f.Run.Backend.Name), document.Printable(f.Run.Backend.Library))
	if f.Run.Rehearse {
		fmt.Fprintln(w, "# SIMULATED: no device was measured; these values are not about hardware")
	}
	fmt.Fprintf(w, "# Collective test starting: %s_perf\n", c)
	fmt.Fprintf(w, "# nThread 1 nGpus 1 minBytes %d maxBytes %d step: %s warmup iters: %d iters: %d agg iters: %d "+
		"validation: %d graph: %d\n", sizes[0], sizes[len(sizes)-1], growth(sizes), max(m.Warmup, 0), iterations,
		max(m.Aggregate, 1), check, m.Graph)
	fmt.Fprintf(w, "# time: %s; of the ranks' times: %s\n", ncclTimes(f), document.Printable(m.Average))
	for _, k := range f.Run.Warnings {
		fmt.Fprintf(w, "# Warning: %s\n", document.Printable(k.String()))
	}
	fmt.Fprint(w, "#\n# Using devices\n")
	for _, r := range f.Ranks {
		fmt.Fprintf(w, "#  Rank %2d Group %2d Pid %6d on %10s device %2d [%s] %s\n", r.Rank, 0, r.PID,
			document.Printable(r.Host), r.LocalRank,
			document.Printable(cmp.Or(strings.TrimSuffix(r.PCI, ".0"), "0000:00:00")),
			document.Printable(cmp.Or(r.Device, f.Run.Device)))
	}
	fmt.Fprint(w, `#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
`)
}

// ncclTimes states how times came about.
func ncclTimes(f *result.File) string {
	if f.Run.Imported != nil {
		return "as the tool that measured makes them"
	}
	if f.Run.Method.Iterations > 0 {
		return "of one batch of all iterations, as nccl-tests takes it"
	}
	return "median over batches, iterations as many as each size needed"
}

// growth states how the sizes grow, as nccl-tests does: by a factor, or by bytes.
func growth(sizes []int64) string {
	factor, bytes := int64(2), int64(0)
	if len(sizes) > 1 {
		factor, bytes = max(sizes[1]/max(sizes[0], 1), 1), sizes[1]-sizes[0]
	}
	even := bytes > 0
	for i := 2; i < len(sizes); i++ {
		even = even && sizes[i]-sizes[i-1] == bytes
	}
	if even && len(sizes) > 2 {
		return fmt.Sprintf("%d(bytes)", bytes)
	}
	return fmt.Sprintf("%d(factor)", factor)
}

// writeNCCLRows writes the table and what nccl-tests writes under it, but for the average over sizes. Points without a
// time, cycles and how the run ended stand in comments.
func writeNCCLRows(w io.Writer, f *result.File, c coll.Collective, records []*result.Record) {
	wrong, cycle := int64(0), 0
	for _, row := range ncclRows(records) {
		if row.cycle != cycle {
			cycle = row.cycle
			fmt.Fprintf(w, "# Testing %d cycle.\n", cycle)
		}
		count, timed := int64(0), false // also a point with wrong data has a time
		for _, r := range row.places {
			if r != nil {
				count, timed = r.Count, timed || r.Time != nil
				wrong += r.Check.Wrong
				writeNCCLComments(w, r)
			}
		}
		if !timed {
			continue
		}
		fmt.Fprintf(w, "%12d  %12d  %8s  %6s  %6d%s%s\n", row.size, count, ncclType(row.dataType), row.op, row.root,
			ncclFigures(row.places[0]), ncclFigures(row.places[1]))
	}
	verdict := "OK"
	if wrong > 0 {
		verdict = "FAILED"
	}
	fmt.Fprintf(w, "# Out of bounds values : %d %s\n# Bus bandwidth is not averaged over sizes: such a value has no "+
		"meaning\n#\n%s# Collective test concluded: %s_perf\n", wrong, verdict, ncclEnding(f), c)
}

// writeNCCLComments writes what the layout has no columns for: a point's warnings, which an import takes for those of
// what comes behind them, and why it has no time.
func writeNCCLComments(w io.Writer, r *result.Record) {
	point := fmt.Sprintf("# %d %d %s %s %d %s: ", r.SizeBytes, r.Count, ncclType(r.Type), r.Op, r.Root,
		title.Placement(r.Placement))
	if r.Imbalance != "" {
		fmt.Fprintf(w, "%simbalance %s\n", point, document.Printable(string(r.Imbalance)))
	}
	for _, k := range r.Warnings {
		fmt.Fprintf(w, "%swarning: %s\n", point, document.Printable(k.String()))
	}
	if r.Time == nil && r.Status != result.OK {
		fmt.Fprintf(w, "%s%s: %s\n", point, document.Printable(string(r.Status)), document.Printable(r.Reason))
	}
}

// ncclRows puts the placements of a size side by side, in the order of the records.
func ncclRows(records []*result.Record) (rows []*ncclRow) {
	last := map[ncclKey]*ncclRow{}
	for _, r := range records {
		k := ncclKey{r.Type, r.Op, r.Root, r.SizeBytes, r.Cycle, r.Imbalance}
		at := 0
		if r.Placement == coll.InPlace {
			at = 1
		}
		row := last[k]
		if row == nil || row.places[at] != nil || at == 0 {
			row = &ncclRow{ncclKey: k}
			last[k], rows = row, append(rows, row)
		}
		row.places[at] = r
	}
	return rows
}

// ncclEnding is a comment on how the run ended; "" where it goes on, or was killed.
func ncclEnding(f *result.File) string {
	if f.End == nil {
		return ""
	}
	words := "# busbar: " + string(f.End.Outcome)
	if why := f.End.Reason; why != "" {
		words += ": " + document.Printable(why)
	}
	return words + "\n"
}

// ncclFigures are the four columns of one placement.
func ncclFigures(r *result.Record) string {
	if r == nil || r.Time == nil {
		return fmt.Sprintf("  %7s  %6s  %6s  %6s", "N/A", "N/A", "N/A", "N/A")
	}
	wrong := "N/A"
	if r.Check.Result == "ok" || r.Check.Result == "wrong" {
		wrong = fmt.Sprintf("%g", float64(r.Check.Wrong))
	}
	s := r.Time.Seconds
	return fmt.Sprintf("  %7s  %6s  %6s  %6s", fit(s*1e6, 7), fit(r.AlgBW(s)/1e9, 6), fit(r.BusBW(s)/1e9, 6), wrong)
}

// fit writes a number with two decimals, or with as many as the width leaves room for.
func fit(v float64, width int) string {
	for _, format := range []string{"%.2f", "%.1f", "%.0f"} {
		if s := fmt.Sprintf(format, v); len(s) <= width {
			return s
		}
	}
	return fmt.Sprintf("%.1e", v)
}

// ncclTypes are the types that nccl-tests calls otherwise.
var ncclTypes = map[coll.DataType]string{0: "-", coll.Float16: "half", coll.Float32: "float", coll.Float64: "double"}

// ncclType is the name of a type in nccl-tests.
func ncclType(t coll.DataType) string { return cmp.Or(ncclTypes[t], t.String()) }
