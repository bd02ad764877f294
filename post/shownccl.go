package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// ncclRow is one row of nccl-tests' table: a size with both placements.
type ncclRow struct {
	dataType coll.DataType
	op       coll.RedOp
	root     int
	size     int64
	cycle    int
}

// writeNCCLTests writes the points of throughput mode in nccl-tests' layout (2.17 and later), one test for each
// collective; it returns false when there are none. What the layout has no place for stands in lines with #.
func writeNCCLTests(w io.Writer, f *result.File) bool {
	var order []coll.Collective
	tests := map[coll.Collective][]*result.Record{}
	for i := range f.Records {
		if r := &f.Records[i]; r.Mode == coll.Throughput {
			if tests[r.Collective] == nil {
				order = append(order, r.Collective)
			}
			tests[r.Collective] = append(tests[r.Collective], r)
		}
	}
	for i, c := range order {
		if i > 0 {
			fmt.Fprintln(w)
		}
		writeNCCLHead(w, f, c, tests[c])
		writeNCCLRows(w, c, tests[c])
	}
	return len(order) > 0
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
	fmt.Fprintf(w, "# %s: %s (%s), in the layout of nccl-tests\n", printable(f.Run.Tool), printable(f.Run.Backend.Name), printable(f.Run.Backend.Library))
	if f.Run.Rehearse {
		fmt.Fprintln(w, "# REHEARSED: no device was measured; these figures say nothing about hardware")
	}
	fmt.Fprintf(w, "# Collective test starting: %s_perf\n", c)
	fmt.Fprintf(w, "# nThread 1 nGpus 1 minBytes %d maxBytes %d step: %s warmup iters: %d iters: %d agg iters: %d validation: %d graph: %d\n",
		sizes[0], sizes[len(sizes)-1], step(sizes), m.Warmup, iterations, max(m.Aggregate, 1), check, m.Graph)
	took := "median over batches, iterations as many as each size needed"
	if m.Iterations > 0 {
		took = "of one batch of all iterations, as nccl-tests takes it"
	}
	fmt.Fprintf(w, "# time: %s; of the ranks' times: %s\n", took, printable(m.Average))
	for _, text := range f.Run.Warnings {
		fmt.Fprintf(w, "# Warning: %s\n", printable(text))
	}
	fmt.Fprint(w, "#\n# Using devices\n")
	for _, r := range f.Ranks {
		pci := strings.TrimSuffix(r.PCI, ".0")
		if pci == "" {
			pci = "0000:00:00"
		}
		device := r.Device
		if device == "" {
			device = f.Run.Device
		}
		fmt.Fprintf(w, "#  Rank %2d Group %2d Pid %6d on %10s device %2d [%s] %s\n", r.Rank, 0, r.PID, printable(r.Host), r.LocalRank, printable(pci), printable(device))
	}
	fmt.Fprint(w, `#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
`)
}

// step says how the sizes grow, as nccl-tests does: by a factor, or by bytes.
func step(sizes []int64) string {
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

// writeNCCLRows writes the table and what nccl-tests writes under it, but for the average over sizes.
func writeNCCLRows(w io.Writer, c coll.Collective, records []*result.Record) {
	var order []ncclRow
	rows := map[ncclRow]map[coll.Placement]*result.Record{}
	wrong := int64(0)
	for _, r := range records {
		k := ncclRow{r.Type, r.Op, r.Root, r.SizeBytes, r.Cycle}
		if rows[k] == nil {
			order = append(order, k)
			rows[k] = map[coll.Placement]*result.Record{}
		}
		rows[k][r.Placement] = r
		wrong += r.Check.Wrong
	}
	for _, k := range order {
		for _, p := range []coll.Placement{coll.OutOfPlace, coll.InPlace} {
			r := rows[k][p]
			if r == nil {
				continue
			}
			if r.Status != result.OK {
				fmt.Fprintf(w, "# %s %s: %s %s\n", coll.FormatSize(k.size, true), placement(p), printable(string(r.Status)), printable(r.Reason))
			}
			for _, text := range r.Warnings {
				fmt.Fprintf(w, "# %s %s: %s\n", coll.FormatSize(k.size, true), placement(p), printable(text))
			}
		}
		if !measured(rows[k]) {
			continue
		}
		out, in := ncclFigures(rows[k][coll.OutOfPlace]), ncclFigures(rows[k][coll.InPlace])
		fmt.Fprintf(w, "%12d  %12d  %8s  %6s  %6d%s%s\n", k.size, anyOf(rows[k]).Count, ncclType(k.dataType), k.op, k.root, out, in)
	}
	verdict := "OK"
	if wrong > 0 {
		verdict = "FAILED"
	}
	fmt.Fprintf(w, "# Out of bounds values : %d %s\n# Bus bandwidth is not averaged over sizes: that figure says nothing\n#\n# Collective test concluded: %s_perf\n", wrong, verdict, c)
}

func measured(m map[coll.Placement]*result.Record) bool {
	for _, r := range m {
		if r.Time != nil {
			return true
		}
	}
	return false
}

func anyOf(m map[coll.Placement]*result.Record) *result.Record {
	if r := m[coll.OutOfPlace]; r != nil {
		return r
	}
	return m[coll.InPlace]
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

// ncclType is the name of a type in nccl-tests.
func ncclType(t coll.DataType) string {
	switch t {
	case coll.Float16:
		return "half"
	case coll.Float32:
		return "float"
	case coll.Float64:
		return "double"
	}
	return t.String()
}
