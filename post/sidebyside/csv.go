package sidebyside

import (
	_ "embed" // for columns.tsv
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/atomicfile"
)

// field is a column of the CSV tables.
type field struct {
	name, merged string  // merged is the column of merged.csv, or of ownColumns
	scale        float64 // of a measured value, which only a point that is ok has; 0 for other columns
}

// fields begin with what scripts for this kind of table ask for, in their units; the rest has the names and units of
// merged.csv. docs/comparison.md describes them.
var fields = func() (all []field) {
	for line := range strings.Lines(columnsFile) {
		var f field
		if n, _ := fmt.Sscan(line, &f.name, &f.merged, &f.scale); n == 3 {
			all = append(all, f)
		}
	}
	return all
}()

//go:embed columns.tsv
var columnsFile string

// ownColumns are what fields have beside the columns of merged.csv.
func ownColumns(row result.Row) map[string]any {
	own := map[string]any{
		"kind": deviceKind(row.Run.Backend.Name), "host": row.Run.Machine.Host,
		"size_mb":   strconv.FormatFloat(float64(row.Record.SizeBytes)/(1<<20), 'g', -1, 64),
		"rehearsed": map[bool]string{true: "yes", false: "no"}[row.Run.Rehearse],
	}
	if row.Run.Method.Warmup >= 0 {
		own["warmup"] = row.Run.Method.Warmup
	}
	if t := row.Record.Time; t != nil && t.Mean > 0 {
		own["mean_s"] = t.Mean
	}
	return own
}

// cells are a row of the CSV tables; a value that is unknown is empty.
func cells(row result.Row) (all []string, err error) {
	values := ownColumns(row)
	if err := json.Unmarshal(row.JSON(), &values); err != nil {
		return nil, err
	}
	for _, f := range fields {
		text := ""
		switch v := values[f.merged].(type) {
		case float64:
			if f.scale == 0 {
				text = strconv.FormatFloat(v, 'f', -1, 64)
			} else if row.Record.Timed() {
				text = strconv.FormatFloat(v*f.scale, 'g', -1, 64)
			}
		case nil:
		default:
			text = fmt.Sprint(v)
		}
		all = append(all, text)
	}
	return all, nil
}

// deviceKind is where a backend has its data.
func deviceKind(backend string) string {
	if strings.HasPrefix(backend, "nccl") || backend == "rccl" {
		return "gpu"
	}
	return "cpu"
}

// simulatedNCCL is the backend of simulated NCCL.
const simulatedNCCL = "nccl-rehearsal"

// tables are a file for each backend, and one of all of them. Simulated results of NCCL have the name of NCCL's file
// where nothing of NCCL was measured.
func (f *Results) tables() (files []atomicfile.Named) {
	var backends []string
	for _, row := range f.rows {
		backends = units.AddOnce(backends, row.Run.Backend.Name)
	}
	slices.Sort(backends)
	for _, backend := range backends {
		name := backend
		if backend == simulatedNCCL && !slices.Contains(backends, "nccl") {
			name = "nccl"
		}
		rows := units.Where(f.rows, func(r result.Row) bool { return r.Run.Backend.Name == backend })
		files = append(files, atomicfile.Named{
			Name:  fmt.Sprintf("%s_%s_benchmark.csv", name, deviceKind(backend)),
			Write: func(w io.Writer) error { return writeTable(w, rows, nil) },
		})
	}
	missing := slices.DeleteFunc([]string{"gloo", "nccl"}, func(b string) bool {
		return slices.Contains(backends, b) || b == "nccl" && slices.Contains(backends, simulatedNCCL)
	})
	return append(files, atomicfile.Named{Name: "combined_benchmark.csv", Write: func(w io.Writer) error {
		return writeTable(w, f.rows, missing)
	}})
}

// writeTable writes rows, and one with the status missing for each backend without results.
func writeTable(w io.Writer, rows []result.Row, missing []string) error {
	var table [][]string
	add := func(of func(field) string) {
		var line []string
		for _, f := range fields {
			line = append(line, of(f))
		}
		table = append(table, line)
	}
	add(func(f field) string { return f.name })
	for _, row := range rows {
		line, err := cells(row)
		if err != nil {
			return err
		}
		table = append(table, line)
	}
	for _, backend := range missing {
		empty := map[string]string{
			"backend": backend, "kind": deviceKind(backend), "status": "missing",
			"reason": "no results of " + backend + " in the files read",
		}
		add(func(f field) string { return empty[f.merged] })
	}
	return csv.NewWriter(w).WriteAll(table)
}
