package sidebyside

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/atomicfile"
	"busbar/post/say"
)

// field is a column of the tables of a comparison; its text is empty where there is nothing to say.
type field struct {
	name string
	text func(run *result.Run, r *result.Record) string
}

// fields begin with what scripts for this kind of table ask for, in their units; the rest has the names and units of
// merged.csv. docs/comparison.md describes them.
var fields = []field{
	{"backend", func(run *result.Run, _ *result.Record) string { return run.Backend.Name }},
	{"device", func(run *result.Run, _ *result.Record) string { return deviceKind(run.Backend.Name) }},
	{"num_processes", func(_ *result.Run, r *result.Record) string { return strconv.Itoa(r.World) }},
	{"data_size_mb", func(_ *result.Run, r *result.Record) string { return number(float64(r.SizeBytes) / (1 << 20)) }},
	{"mean_time_ms", milliseconds(func(t *result.Time) float64 { return t.Mean })},
	{"median_time_ms", milliseconds(func(t *result.Time) float64 { return t.Seconds })},
	{"time_lo_ms", milliseconds(func(t *result.Time) float64 { return t.Lo })},
	{"time_hi_ms", milliseconds(func(t *result.Time) float64 { return t.Hi })},
	{"min_time_ms", milliseconds(func(t *result.Time) float64 { return t.Min })},
	{"max_time_ms", milliseconds(func(t *result.Time) float64 { return t.Max })},
	{"algbw_GBps", figure(func(r *result.Record) float64 { return r.AlgBW(r.Time.Seconds) / 1e9 })},
	{"busbw_GBps", figure(func(r *result.Record) float64 { return r.BusBW(r.Time.Seconds) / 1e9 })},
	{"status", func(_ *result.Run, r *result.Record) string { return string(r.Status) }},
	{"reason", func(_ *result.Run, r *result.Record) string { return r.Reason }},
	{"rehearsed", func(run *result.Run, _ *result.Record) string { return yes(run.Rehearse) }},
	{"check", func(_ *result.Run, r *result.Record) string { return r.Check.Result }},
	{"num_iterations", func(_ *result.Run, r *result.Record) string {
		return say.Known(r.Timed() && r.Time.Iterations > 0, func() string { return strconv.Itoa(r.Time.Iterations) })
	}},
	{"num_warmup", func(run *result.Run, _ *result.Record) string {
		return say.Known(run.Method.Warmup >= 0, func() string { return strconv.Itoa(run.Method.Warmup) })
	}},
	{"collective", func(_ *result.Run, r *result.Record) string { return r.Collective.String() }},
	{"type", func(_ *result.Run, r *result.Record) string { return say.Known(r.Type != 0, r.Type.String) }},
	{"op", func(_ *result.Run, r *result.Record) string { return r.Op.String() }},
	{"placement", func(_ *result.Run, r *result.Record) string { return say.Known(r.Placement != 0, r.Placement.String) }},
	{"mode", func(_ *result.Run, r *result.Record) string { return r.Mode.String() }},
	{"size_bytes", func(_ *result.Run, r *result.Record) string { return strconv.FormatInt(r.SizeBytes, 10) }},
	{"count", func(_ *result.Run, r *result.Record) string { return strconv.FormatInt(r.Count, 10) }},
	{"slowest_rank", func(_ *result.Run, r *result.Record) string {
		if r.Ranks == nil || !r.Timed() {
			return ""
		}
		return strconv.Itoa(r.Ranks.Slowest)
	}},
	{"library", func(run *result.Run, _ *result.Record) string { return run.Backend.Title() }},
	{"variant", func(run *result.Run, _ *result.Record) string { return run.Variant }},
	{"settings", func(run *result.Run, _ *result.Record) string { return run.Method.Settings().String() }},
	{"nodes", func(run *result.Run, _ *result.Record) string {
		return say.Known(run.Nodes > 0, func() string { return strconv.Itoa(run.Nodes) })
	}},
	{"imported", func(run *result.Run, _ *result.Record) string {
		if run.Imported == nil {
			return ""
		}
		return run.Imported.Tool
	}},
	{"device_name", func(run *result.Run, _ *result.Record) string { return run.Device }},
	{"host", func(run *result.Run, _ *result.Record) string { return run.Machine.Host }},
	{"run", func(run *result.Run, _ *result.Record) string { return run.ID }},
	{"launch", func(run *result.Run, _ *result.Record) string { return run.Launch }},
	{"campaign", func(run *result.Run, _ *result.Record) string { return run.Campaign }},
	{"warnings", func(run *result.Run, r *result.Record) string {
		return slices.Concat(run.Warnings, r.Warnings).String()
	}},
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// figure is a column of figures, empty where there are none.
func figure(f func(*result.Record) float64) func(*result.Run, *result.Record) string {
	return func(_ *result.Run, r *result.Record) string {
		if !r.Timed() {
			return ""
		}
		return number(f(r))
	}
}

// milliseconds is a column of times; 0 is a time that is not claimed.
func milliseconds(f func(*result.Time) float64) func(*result.Run, *result.Record) string {
	return func(_ *result.Run, r *result.Record) string {
		if !r.Timed() || f(r.Time) <= 0 {
			return ""
		}
		return number(f(r.Time) * 1e3)
	}
}

// deviceKind is where a backend has its data.
func deviceKind(backend string) string {
	if strings.HasPrefix(backend, "nccl") || backend == "rccl" {
		return "gpu"
	}
	return "cpu"
}

// tableName is the file of one backend's points.
func tableName(backend string) string {
	return fmt.Sprintf("%s_%s_benchmark.csv", backend, deviceKind(backend))
}

// tables are a file for each backend, and that of all of them. What was rehearsed of NCCL takes its file's place only
// where nothing of NCCL was measured.
func (f *Results) tables() []atomicfile.Named {
	var backends []string
	for _, run := range f.runs {
		backends = units.AddOnce(backends, run.Backend.Name)
	}
	slices.Sort(backends)
	var outputs []atomicfile.Named
	for _, backend := range backends {
		name := tableName(backend)
		if backend == rehearsal && !f.has("nccl") {
			name = tableName("nccl")
		}
		outputs = append(outputs, atomicfile.Named{Name: name, Write: func(w io.Writer) error {
			return f.writeTable(w, func(r *result.Run) bool { return r.Backend.Name == backend })
		}})
	}
	return append(outputs, atomicfile.Named{Name: "combined_benchmark.csv", Write: func(w io.Writer) error {
		return f.writeTable(w, func(*result.Run) bool { return true }, f.missing()...)
	}})
}

// writeTable writes the rows of the runs wanted, and a row that says so for each backend without results.
func (f *Results) writeTable(w io.Writer, wanted func(*result.Run) bool, missing ...string) error {
	c := csv.NewWriter(w)
	cells := make([]string, len(fields))
	for i, column := range fields {
		cells[i] = column.name
	}
	err := c.Write(cells)
	for _, row := range f.rows {
		if err != nil {
			return err
		}
		if !wanted(row.Run) {
			continue
		}
		for i, column := range fields {
			cells[i] = column.text(row.Run, row.Record)
		}
		err = c.Write(cells)
	}
	for _, backend := range missing {
		if err != nil {
			return err
		}
		empty := map[string]string{"backend": backend, "device": deviceKind(backend), "status": "missing",
			"reason": notice.Message(f.lackOf(backend))}
		for i, column := range fields {
			cells[i] = empty[column.name]
		}
		err = c.Write(cells)
	}
	if c.Flush(); err == nil {
		err = c.Error()
	}
	return err
}

// lackOf is the notice that no results of a backend were read.
func (f *Results) lackOf(backend string) notice.BackendMissing {
	left := backend == "nccl" && slices.Contains(f.left, rehearsal)
	return notice.BackendMissing{Backend: backend, Simulated: notice.LeftOutWords(left)}
}
