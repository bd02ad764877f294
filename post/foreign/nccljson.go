package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// ncclDocument reads the JSON of nccl-tests (-J), versions 1 to 4. Results are read one by one.
type ncclDocument struct {
	in         *input
	test       *test
	ranks      int // of the world; 0: not told
	collective coll.Collective
	operation  string
	mode       coll.Mode
	sync       string
	summary    string
	launches   int // of a CUDA graph, for a figure; 0 without one
	rows       int
}

func newNCCLDocument(in *input) *ncclDocument { return &ncclDocument{in: in} }

// fits says whether what stands before the results is that of nccl-tests.
func (n *ncclDocument) fits(f fields) bool { return f["config"] != nil || f["args"] != nil }

// ncclJSONConfig is the part of config that is used.
type ncclJSONConfig struct {
	Threads  int    `json:"nthreads"`
	GPUs     int    `json:"ngpus"`
	Warmup   *int   `json:"warmup_iters"`
	Iters    int    `json:"iterations"`
	Agg      int    `json:"aggregated_iterations"`
	Check    *int   `json:"validation"`
	Graph    int    `json:"graph"`
	Blocking string `json:"blocking_collectives"`
	Devices  []struct {
		Rank  int    `json:"rank"`
		Group int    `json:"group"`
		PID   int    `json:"pid"`
		Host  string `json:"hostname"`
		Local int    `json:"device"`
		PCI   string `json:"device_hex"`
		Info  string `json:"device_info"`
	} `json:"devices"`
}

// begin makes a run of what stands before the results.
func (n *ncclDocument) begin(f fields) error {
	var config ncclJSONConfig
	if raw := f["config"]; raw != nil {
		if err := json.Unmarshal(raw, &config); err != nil {
			return &Error{Path: n.in.file.Path, Text: fmt.Sprintf("config of nccl-tests' JSON cannot be read: %v", err)}
		}
	}
	vendor, library := "nccl", f.text("nccl_version")
	if f["rccl_version"] != nil {
		vendor, library = "rccl", f.text("rccl_version")
	}
	tool, version := vendor+"-tests", ""
	if version = f.text("version"); version != "" {
		version = ", version " + version
	}
	t := n.in.newTest(tool, tool+" JSON"+version, 0)
	n.test, t.stated = t, bandwidths{alg: "alg_bw", bus: "bus_bw"}
	library = versionOf(library)
	t.run.Backend = result.Backend{Name: vendor, Library: libraryBy(strings.ToUpper(vendor), library, tool),
		Version: library}
	t.run.Imported.Started = f.text("start_time")
	_ = json.Unmarshal(f["args"], &t.run.Command) // what is no list of words is none
	t.run.Environment = libraryVariables(f["env"])
	n.settings(f, &config)
	n.devices(&config)
	n.collective = coll.Other
	if len(t.run.Command) > 0 {
		n.collective, n.operation = perfProgram(t.run.Command[0])
	} else {
		t.warn(notice.CollectiveUnknown{})
	}
	return nil
}

// settings fills in how it was measured.
func (n *ncclDocument) settings(f fields, config *ncclJSONConfig) {
	t := n.test
	var words map[string]json.RawMessage
	_ = json.Unmarshal(f["config"], &words) // it was read before
	for key, raw := range words {
		if key != "devices" {
			t.set(key, strings.Trim(string(raw), `"`))
		}
	}
	m := &t.run.Method
	if m.Iterations, m.Aggregate = config.Iters, config.Agg; config.Warmup != nil {
		m.Warmup = *config.Warmup
	}
	if config.Check != nil {
		m.CheckRounds = *config.Check
	}
	if config.Graph > 0 {
		m.Graph = config.Iters
	}
	average := averageOf(option(t.run.Command, "-a", "--average"))
	if m.Average = average; len(t.run.Command) == 0 {
		m.Average = "mean over ranks, unless -a was given"
	}
	n.launches = config.Graph
	n.mode, n.sync, n.summary = coll.Throughput, "issued back to back", "mean over iterations; of the ranks' times: "+
		m.Average
	if config.Blocking == "true" {
		n.mode, n.sync = coll.Latency, "each operation awaited (-z)"
	}
}

// averageOf is what nccl-tests makes of the ranks' times, by its -a.
func averageOf(a string) string {
	switch a {
	case "0":
		return "rank 0"
	case "2":
		return "min over ranks"
	case "3":
		return "max over ranks"
	}
	return "mean over ranks"
}

// option is the value of a flag on a command line; "" where it is not given.
func option(args []string, short, long string) string {
	for i, a := range args {
		switch {
		case (a == short || a == long) && i+1 < len(args):
			return args[i+1]
		case strings.HasPrefix(a, long+"="):
			return a[len(long)+1:]
		case strings.HasPrefix(a, short) && !strings.HasPrefix(a, "--") && len(a) > len(short):
			return a[len(short):]
		}
	}
	return ""
}

// libraryVariables are the variables of the library itself: the source holds the whole environment of a process, which
// is nobody's business.
func libraryVariables(raw json.RawMessage) map[string]string {
	var all []string
	_ = json.Unmarshal(raw, &all) // what is no list of words has none
	kept := map[string]string{}
	for _, v := range all {
		if name, value, ok := strings.Cut(v, "="); ok && (strings.HasPrefix(name, "NCCL_") ||
			strings.HasPrefix(name, "RCCL_")) {
			kept[name] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// devices fills in the ranks. With several GPUs a process only its first is listed.
func (n *ncclDocument) devices(config *ncclJSONConfig) {
	perProcess := product(max(config.Threads, 1), max(config.GPUs, 1))
	group := 0
	for _, d := range config.Devices {
		n.test.ranks = append(n.test.ranks, result.Rank{Rank: d.Rank, Host: d.Host, LocalRank: d.Local, PID: d.PID,
			PCI: d.PCI, Device: d.Info})
		n.ranks = max(n.ranks, d.Rank+1)
		group = max(group, d.Group)
	}
	if perProcess > 1 && len(config.Devices) > 0 {
		n.ranks = max(n.ranks, len(config.Devices)*perProcess)
		if len(config.Devices) != n.ranks {
			n.test.warn(notice.DevicesPartlyListed{Listed: len(config.Devices), World: n.ranks})
		}
	}
	if group > 0 {
		n.ranks /= group + 1
		n.test.warn(notice.ConcurrentGroups{})
	}
	n.test.run.World = n.ranks
}

// ncclJSONPlace is one placement of a result.
type ncclJSONPlace struct {
	Time    json.RawMessage `json:"time"`
	CPUTime json.RawMessage `json:"cpu_time"`
	AlgBW   json.RawMessage `json:"alg_bw"`
	BusBW   json.RawMessage `json:"bus_bw"`
	Wrong   json.RawMessage `json:"nwrong"`
}

// ncclJSONIters is what -I adds to a placement.
type ncclJSONIters struct {
	Min    float64 `json:"min_us"`
	Max    float64 `json:"max_us"`
	Avg    float64 `json:"avg_us"`
	Median float64 `json:"p50_us"`
	P95    float64 `json:"p95_us"`
	P99    float64 `json:"p99_us"`
	CV     float64 `json:"cv_pct"`
}

// ncclJSONRow is one result.
type ncclJSONRow struct {
	Size       int64          `json:"size"`
	Count      int64          `json:"count"`
	Type       string         `json:"type"`
	RedOp      string         `json:"redop"`
	Root       any            `json:"root"` // padded text, in other versions a number
	Out        *ncclJSONPlace `json:"out_of_place"`
	In         *ncclJSONPlace `json:"in_place"`
	OutIters   *ncclJSONIters `json:"out_of_place_per_iter"`
	InIters    *ncclJSONIters `json:"in_place_per_iter"`
	Iterations int            `json:"actual_iterations"`
	Experiment string         `json:"experiment_name"`
	Tuning     *struct {
		Implementation string `json:"implementation"`
		Algo           string `json:"algo"`
		Proto          string `json:"proto"`
		Channels       int    `json:"#channels"`
	} `json:"tuning"`
}

// readRows reads the list of results.
func (n *ncclDocument) readRows(d *json.Decoder, f fields) error {
	if err := n.begin(f); err != nil {
		return err
	}
	open, err := d.Token()
	if err != nil || open != json.Delim('[') {
		return err
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		var row ncclJSONRow
		n.rows++
		if err := json.Unmarshal(raw, &row); err != nil || row.Out == nil && row.In == nil {
			if err := n.in.torn(0, string(raw[:min(len(raw), 200)])); err != nil {
				return err
			}
			continue
		}
		if err := n.row(&row); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// row makes a record of each placement of a result.
func (n *ncclDocument) row(row *ncclJSONRow) error {
	n.in.counts.Rows++
	for _, p := range []struct {
		placement coll.Placement
		place     *ncclJSONPlace
		iters     *ncclJSONIters
	}{{coll.OutOfPlace, row.Out, row.OutIters}, {coll.InPlace, row.In, row.InIters}} {
		if p.place == nil {
			continue
		}
		if err := n.test.add(n.record(row, p.placement, p.place, p.iters)); err != nil {
			return err
		}
	}
	return nil
}

func (n *ncclDocument) record(
	row *ncclJSONRow, placement coll.Placement, place *ncclJSONPlace, iters *ncclJSONIters,
) *result.Record {
	rec := &result.Record{
		Case: coll.Case{Collective: n.collective, Type: dataType(row.Type), Root: -1, Placement: placement, Mode: n.mode,
			World:     n.ranks,
			SizeBytes: row.Size, Count: row.Count},
		Status: result.OK, Check: result.Check{Result: "off"},
		Imported: &result.Origin{Operation: n.operation, Stated: map[string]string{"result": itoa(n.rows)}},
	}
	stated := rec.Imported.Stated
	keep := func(name, text string) {
		if text != "" {
			stated[name] = text
		}
	}
	if rec.Type == 0 {
		keep("type", row.Type)
	}
	if op, err := coll.ParseRedOp(row.RedOp); err == nil {
		rec.Op = op
	} else {
		keep("redop", row.RedOp)
	}
	if root, ok := number(strings.TrimSpace(fmt.Sprint(row.Root))); ok {
		if n, ok := integer(root); ok {
			rec.Root = int(n)
		}
	}
	if us, ok := number(string(place.Time)); ok && us >= 0 {
		operations := product(row.Iterations, max(n.test.run.Method.Aggregate, 1), max(n.launches, 1))
		rec.Time = &result.Time{Seconds: seconds(us, 1e-6), Samples: 1, Iterations: operations, Batch: operations,
			Outliers: -1,
			Stop:     "fixed", Sync: n.sync, Summary: n.summary}
		rec.Time.Event = iters.event()
	}
	keep("cpu_time", string(place.CPUTime))
	keep("alg_bw", string(place.AlgBW))
	keep("bus_bw", string(place.BusBW))
	keep("experiment_name", row.Experiment)
	if w, ok := number(string(place.Wrong)); ok {
		if rec.Check.Result, rec.Check.Rounds = "ok", max(n.test.run.Method.CheckRounds, 0); w > 0 {
			rec.Status, rec.Check.Result, rec.Check.Wrong = result.Wrong, "wrong", wrongElements(w)
			rec.Why = result.Because(notice.SourceCountsWrong{Elements: wrongElements(w)})
		}
	}
	if t := row.Tuning; t != nil {
		rec.Path = &result.Path{Algorithm: t.Algo, Protocol: t.Proto, Channels: t.Channels}
		keep("implementation", t.Implementation)
	}
	if iters != nil {
		keep("per_iter", fmt.Sprintf("avg_us %g, p95_us %g, p99_us %g, cv_pct %g", iters.Avg, iters.P95, iters.P99, iters.CV))
	}
	return rec
}

// event are the times by the GPU's events, of each iteration the largest over processes; nil where there are none.
func (i *ncclJSONIters) event() *result.Event {
	if i == nil || i.Median <= 0 {
		return nil
	}
	return &result.Event{Seconds: seconds(i.Median, 1e-6), Min: seconds(i.Min, 1e-6), Max: seconds(i.Max, 1e-6)}
}

// end closes the run with what stands behind the results.
func (n *ncclDocument) end(f fields) error {
	t := n.test
	if t.run.Imported.Ended = f.text("end_time"); t.run.Imported.Started == "" {
		t.run.Imported.Started = f.text("start_time")
	}
	var bounds struct {
		Count float64 `json:"count"`
	}
	_ = json.Unmarshal(f["out_of_bounds"], &bounds) // where there is none, nothing was checked
	cause := t.wrongValues(wrongElements(bounds.Count))
	var failures []string
	_ = json.Unmarshal(f["errors"], &failures) // what is no list of words has none
	failures = slices.DeleteFunc(failures, func(s string) bool { return s == "" })
	if len(failures) > 0 {
		return t.end(result.Aborted, notice.Recorded{Text: strings.Join(failures, "; ")})
	}
	return t.end(result.Complete, cause)
}

// cut closes the run of a file that breaks off.
func (n *ncclDocument) cut() error {
	if n.test == nil {
		return nil
	}
	return n.test.end(result.Interrupted, notice.SourceIncomplete{})
}
