package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// ncclDevice is a rank of nccl-tests' JSON.
type ncclDevice struct {
	Rank  int    `json:"rank"`
	Group int    `json:"group"`
	PID   int    `json:"pid"`
	Host  string `json:"hostname"`
	Local int    `json:"device"`
	PCI   string `json:"device_hex"`
	Info  string `json:"device_info"`
}

// ncclDocument is a run read from JSON.
type ncclDocument struct{ *ncclTest }

// ncclJSON reads a run from the JSON of nccl-tests (-J), versions 1 to 4.
func (in *input) ncclJSON(sh *shell, f fields) error {
	n := ncclDocument{newNCCLTest(in.newTest(sh, "", "", 0))}
	t := n.test
	vendor := "nccl"
	if f["rccl_version"] != nil {
		vendor = "rccl"
	}
	t.around.vendor, t.around.library = vendor, versionOf(f.text(vendor+"_version"))
	t.run.Imported.Format = vendor + "-tests JSON"
	if version := f.text("version"); version != "" {
		t.run.Imported.Format += ", version " + version
	}
	t.run.Imported.Started, t.run.Imported.Ended = f.text("start_time"), f.text("end_time")
	n.config(f)
	var results []json.RawMessage
	_ = json.Unmarshal(f["results"], &results) // other values have no rows
	for i, raw := range results {
		if err := n.row(i+1, raw); err != nil {
			return err
		}
	}
	t.wrong, _ = count(f.object("out_of_bounds").text("count"))
	failures := slices.DeleteFunc(f.words("errors"), func(s string) bool { return s == "" })
	if t.ends(result.Complete, nil); len(failures) > 0 {
		t.ends(result.Aborted, notice.Recorded{Text: strings.Join(failures, "; ")})
	}
	return t.end()
}

var averageOption = regexp.MustCompile(`(?:^| )(?:-a ?|--average[ =])(\d)`)

// averages are the statistics over ranks, by nccl-tests' -a.
var averages = map[string]string{"0": "rank 0", "2": "min over ranks", "3": "max over ranks"}

// config sets what applies to all rows.
func (n ncclDocument) config(f fields) {
	t, config := n.test, f.object("config")
	t.run.Command = f.words("args")
	for key := range config {
		if key != "devices" {
			t.set(key, config.text(key))
		}
	}
	n.method("iterations", "aggregated_iterations", "warmup_iters")
	if config.text("blocking_collectives") == "true" {
		n.mode, n.sync = coll.Latency, "each operation awaited (-z)"
	}
	if len(t.run.Command) > 0 {
		n.collective, n.operation = perfProgram(t.run.Command[0])
		t.run.Method.Average = "mean over ranks"
		if m := averageOption.FindStringSubmatch(strings.Join(t.run.Command, " ")); m != nil && averages[m[1]] != "" {
			t.run.Method.Average = averages[m[1]]
		}
	}
	n.summary = "mean over iterations; of the ranks' times: " + t.run.Method.Average
	// The environment is the whole process's: only the library's variables are kept.
	for _, v := range f.words("env") {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "NCCL_") || strings.HasPrefix(name, "RCCL_") {
			t.run.Environment[name] = value
		}
	}
	var devices []ncclDevice
	_ = json.Unmarshal(config["devices"], &devices) // other values have no devices
	n.devices(devices)
	n.columns = &ncclColumns{point: strings.Fields("size count type redop root"), error: "#wrong", unit: 1e-6}
	t.stated = bandwidths{alg: "alg_bw", bus: "bus_bw"}
}

// devices sets the ranks. With several GPUs per process, only the first is listed.
func (n ncclDocument) devices(devices []ncclDevice) {
	groups := 1
	for _, d := range devices {
		n.ranks = append(n.ranks, result.Rank{Rank: d.Rank, Host: d.Host, LocalRank: d.Local, PID: d.PID, PCI: d.PCI,
			Device: d.Info})
		n.groups = append(n.groups, d.Group)
		n.run.World, groups = max(n.run.World, d.Rank+1), max(groups, d.Group+1)
	}
	setting := func(key string) int {
		v, _ := amount(n.run.Imported.Settings[key])
		return max(v, 1)
	}
	if perProcess := product(setting("nthreads"), setting("ngpus")); perProcess > 1 && len(devices) > 0 {
		n.run.World = max(n.run.World, len(devices)*perProcess)
		if len(devices) != n.run.World {
			n.warn(notice.DevicesPartlyListed{Listed: len(devices), World: n.run.World})
		}
	}
	n.run.World /= groups
}

// row adds a record for each placement of a result.
func (n ncclDocument) row(index int, raw json.RawMessage) error {
	var row fields
	_ = json.Unmarshal(raw, &row) // other values have no fields
	var records []*result.Record
	r := &ncclRow{point: map[string]string{}}
	for _, name := range n.columns.point {
		r.point[name] = strings.TrimSpace(row.text(name))
	}
	iterations, _ := amount(row.text("actual_iterations"))
	n.iterations = n.operations(iterations)
	for i, name := range []string{"out_of_place", "in_place"} {
		place := row.object(name)
		if place == nil {
			continue
		}
		rec := n.record(r, []coll.Placement{coll.OutOfPlace, coll.InPlace}[i])
		for _, name := range []string{"time", "cpu_time", "alg_bw", "bus_bw"} {
			if text := place.text(name); text != "" {
				n.put(rec, name, text)
			}
		}
		n.put(rec, "#wrong", cmp.Or(place.text("nwrong"), "N/A"))
		state(rec, "result", fmt.Sprint(index))
		state(rec, "experiment_name", row.text("experiment_name"))
		if tuning := row.object("tuning"); tuning != nil { // of version 4
			for _, name := range []string{"algo", "proto", "#channels", "implementation"} {
				n.put(rec, name, tuning.text(name))
			}
		}
		perIteration(rec, row.object(name+"_per_iter")) // with -I
		records = append(records, rec)
	}
	if records == nil {
		return n.in.torn(0, string(raw[:min(len(raw), 200)]))
	}
	return n.add(records...)
}

// perIteration reads the GPU event times: per iteration the maximum over processes.
func perIteration(rec *result.Record, f fields) {
	if f == nil {
		return
	}
	us := func(key string) float64 {
		v, _ := number(f.text(key))
		return v
	}
	if median := us("p50_us"); median > 0 && rec.Time != nil {
		rec.Time.Event = &result.Event{Seconds: seconds(median, 1e-6), Min: seconds(us("min_us"), 1e-6),
			Max: seconds(us("max_us"), 1e-6)}
	}
	state(rec, "per_iter", fmt.Sprintf("avg_us %g, p95_us %g, p99_us %g, cv_pct %g", us("avg_us"), us("p95_us"),
		us("p99_us"), us("cv_pct")))
}
