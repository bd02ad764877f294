package foreign

import (
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// rccl reads a row of rccl-tests' CSV.
func (p *table) rccl(row tableRow, rec *result.Record) (tableRun, bool) {
	run := tableRun{backend: "rccl", nodes: row.whole("nodes"), perNode: row.whole("rankspernode"), gpu: row.whole("gpusperrank")}
	if run.gpu > 1 {
		run.perNode *= run.gpu
	}
	switch ranks := row.whole("ranks"); {
	case ranks > 0:
		run.world = ranks * max(run.gpu, 1)
	default:
		run.world = row.whole("gpus")
	}
	if cycle, ok := amount(row["numcycle"]); ok {
		rec.Cycle = cycle + 1
	}
	ok := rcclRecord(rec, run.world, row["collective"], row["type"], row["redop"], row["size"], row["time"], row["inplace"], row["#wrong"])
	for _, name := range []string{"algbw", "busbw", "busbwfactor"} {
		if row[name] != "" {
			rec.Imported.Stated[name] = row[name]
		}
	}
	return run, ok
}

// rcclRecord fills in what CSV and JSON of rccl-tests share.
func rcclRecord(rec *result.Record, world int, collective, dataTypeName, op, size, time, inPlace, wrong string) bool {
	rec.Collective, rec.Imported.Operation = operationOf(strings.TrimSuffix(strings.TrimSpace(collective), "_perf"))
	rec.Type, rec.World, rec.Mode = dataType(dataTypeName), world, coll.Throughput
	if rec.Type == 0 && dataTypeName != "" {
		rec.Imported.Stated["type"] = dataTypeName
	}
	if o, err := coll.ParseRedOp(op); err == nil {
		rec.Op = o
	} else {
		rec.Imported.Stated["redop"] = op
	}
	switch strings.TrimSpace(inPlace) {
	case "0", "false":
		rec.Placement = coll.OutOfPlace
	case "1", "true":
		rec.Placement = coll.InPlace
	}
	n, okSize := count(strings.TrimSpace(size))
	us, okTime := number(strings.TrimSpace(time))
	if !okSize || !okTime || us < 0 {
		return false
	}
	rec.SizeBytes = n
	if s := int64(rec.Type.Size()); s > 0 && rec.Collective != coll.Other {
		parts := int64(1)
		if rec.Collective.Shared() {
			parts = int64(world)
		}
		if parts > 0 && n%(s*parts) == 0 {
			rec.Count = n / s / parts
		}
	}
	rec.Time = &result.Time{Seconds: seconds(us, 1e-6), Samples: 1, Outliers: -1, Sync: "issued back to back",
		Summary: "mean over iterations; of the ranks' times the mean, unless -a was given"}
	switch w, ok := number(strings.TrimSpace(wrong)); {
	case strings.TrimSpace(wrong) == "N/A" || ok && w < 0:
		rec.Check.Result = "off"
	case ok && w == 0:
		rec.Check.Result = "ok"
	case ok:
		rec.Status, rec.Check.Result, rec.Check.Wrong = result.Wrong, "wrong", wrongElements(w)
		rec.Why = result.Because(notice.SourceCountsWrong{Elements: wrongElements(w)})
	}
	return true
}

// Names of the columns of scripts that time torch's all_reduce.
var (
	scriptBackend = []string{"backend"}
	scriptWorld   = []string{"num_processes", "world_size", "num_procs", "nprocs", "n_procs", "processes", "world"}
	scriptSize    = []string{"size_bytes", "data_size_bytes", "num_bytes", "bytes", "data_size_mb", "size_mb", "tensor_size_mb", "data_mb", "size (mb)"}
	scriptMean    = []string{"mean_time_ms", "mean_ms", "avg_time_ms", "avg_ms", "time_ms", "latency_mean_ms", "mean_time_s", "avg_time_s", "time_s", "avg_time_us", "mean_us", "time_us"}
	scriptMedian  = []string{"median_time_ms", "median_ms", "latency_median_ms", "p50_ms", "median_time_s", "median_us"}
	scriptTime    = append(append([]string{}, scriptMedian...), scriptMean...)
	scriptMin     = []string{"min_time_ms", "min_ms", "latency_min_ms", "min_time_s", "min_us"}
	scriptMax     = []string{"max_time_ms", "max_ms", "latency_max_ms", "max_time_s", "max_us"}
	scriptDevice  = []string{"device_name", "device", "device_type"}
	scriptCount   = []string{"num_elements", "numel", "elements", "tensor_numel"}
	scriptIters   = []string{"num_iterations", "num_iters", "iterations", "iters"}
)

// script reads a row of an all-reduce script.
func (p *table) script(row tableRow, rec *result.Record) (tableRun, bool) {
	backend, _ := row.any(scriptBackend)
	device, _ := row.any(scriptDevice)
	run := tableRun{backend: strings.ToLower(backend), device: device, world: row.whole(scriptWorld...)}
	rec.Collective, rec.Mode, rec.World = coll.AllReduce, coll.Latency, run.world
	if name := strings.TrimSpace(row["collective"]); name != "" {
		rec.Collective, rec.Imported.Operation = operationOf(name)
	}
	if rec.Collective.Reduces() {
		rec.Op = coll.Sum
	}
	if rec.Collective == coll.AllReduce {
		rec.Type, rec.Placement = coll.Float32, coll.InPlace
	}
	if row["dtype"] != "" {
		rec.Type = dataType(row["dtype"])
	}
	used := map[string]bool{"backend": true, "collective": true, "dtype": true}
	ok := scriptSizes(row, rec, used) && scriptTimes(row, rec, used)
	for name, value := range row {
		if !used[name] && value != "" {
			rec.Imported.Stated[name] = value
		}
	}
	return run, ok && run.world > 0
}

// scriptSizes reads the size, or makes it of the number of elements, where their type is known.
func scriptSizes(row tableRow, rec *result.Record, used map[string]bool) bool {
	if text, name := row.any(scriptCount); text != "" && rec.Type != 0 {
		n, ok := count(text)
		c, err := rec.WithElements(n)
		if used[name] = true; !ok || err != nil {
			return false
		}
		rec.SizeBytes, rec.Count = c.SizeBytes, n
		return true
	}
	text, name := row.any(scriptSize)
	v, ok := number(text)
	if !ok || v < 0 || v > 1<<40 {
		return false
	}
	if strings.Contains(name, "mb") {
		v *= 1 << 20
		rec.Notes = append(rec.Notes, "a MB of the source is taken for 2^20 bytes")
	} else {
		used[name] = true
	}
	sized(&rec.Case, int64(v))
	return true
}

// scriptTimes reads the times.
func scriptTimes(row tableRow, rec *result.Record, used map[string]bool) bool {
	t := &result.Time{Outliers: -1, Sync: "each operation awaited"}
	figure := func(names []string, to *float64) bool {
		text, name := row.any(names)
		v, ok := number(text)
		if !ok || v < 0 {
			return false
		}
		used[name] = true
		*to = seconds(v, scriptUnit(name))
		return true
	}
	hasMean := figure(scriptMean, &t.Mean)
	if figure(scriptMedian, &t.Seconds) {
		t.Summary = "median, as the script makes it"
	} else if t.Seconds, t.Summary = t.Mean, "mean, as the script makes it"; !hasMean {
		return false
	}
	figure(scriptMin, &t.Min)
	figure(scriptMax, &t.Max)
	if text, name := row.any(scriptIters); text != "" {
		if n, ok := amount(text); ok {
			t.Iterations, t.Samples, t.Stop, used[name] = n, n, "fixed", true
		}
	}
	rec.Time = t
	return true
}

// scriptUnit is the unit that a column's name ends with, in seconds.
func scriptUnit(name string) float64 {
	switch {
	case strings.HasSuffix(name, "_ms"):
		return 1e-3
	case strings.HasSuffix(name, "_us"):
		return 1e-6
	}
	return 1
}
