package foreign

import (
	"cmp"
	"encoding/csv"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// table reads CSV of rccl-tests, and of scripts that time all-reduce over backends, worlds and sizes; also rows of
// rccl-tests' JSON.
type table struct {
	layout
	format  *tableFormat // nil: none is open
	columns []string
	runs    units.Numbers[tableRun]
	tests   []*test
}

// tableFormat is a family of tables.
type tableFormat struct {
	tool   string
	layout string
	stated bandwidths // checked against the number of ranks
	script bool       // conventions assumed for its rows
	// record reads a row; the error means that it is unusable.
	record func(row tableRow, rec *result.Record) (tableRun, error)
}

// tableRun is the common data of one run's rows.
type tableRun struct {
	backend, device       string
	world, nodes, perNode int
}

// tableRow is one row by lower-case column names.
type tableRow map[string]string

var (
	rcclTable = tableFormat{
		tool:   "rccl-tests",
		layout: "rccl-tests CSV",
		stated: bandwidths{alg: "algbw", bus: "busbw"},
		record: rcclRecord,
	}
	scriptTable = tableFormat{tool: "all-reduce script", layout: "CSV of an all-reduce script", script: true,
		record: scriptRecord}
)

// formatOf returns the format with these columns, or nil.
func formatOf(names []string) *tableFormat {
	has := func(re *regexp.Regexp) bool { return slices.ContainsFunc(names, re.MatchString) }
	switch {
	case slices.Contains(names, "numcycle") && slices.Contains(names, "collective"):
		return &rcclTable
	case slices.Contains(names, "backend") && has(scriptWorld) && has(scriptSize) && has(scriptTime):
		return &scriptTable
	}
	return nil
}

func (p *table) take(l line) (bool, error) {
	if !strings.Contains(l.text, ",") {
		return false, nil
	}
	r := csv.NewReader(strings.NewReader(l.text))
	r.TrimLeadingSpace = true
	words, err := r.Read()
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = strings.ToLower(strings.TrimSpace(w))
	}
	if format := formatOf(names); format != nil {
		if slices.Contains(names, "run") && slices.Contains(names, "launch") {
			return true, p.in.own(l.n)
		}
		err := p.close()
		p.format, p.columns = format, names
		return true, err
	}
	if p.format == nil {
		return false, nil
	}
	columns := p.columns
	if p.format == &rcclTable && len(words) == len(columns)+1 { // with MPI rows have a number of nodes
		columns = slices.Insert(slices.Clone(columns), slices.Index(columns, "collective")+1, "nodes")
	}
	if err == nil && len(words) == len(columns) {
		row := tableRow{}
		for i, name := range columns {
			row[name] = strings.TrimSpace(words[i])
		}
		if known, err := p.add(l.n, row); known || err != nil {
			return known, err
		}
	}
	if first, _, _ := strings.Cut(l.text, ","); strings.Contains(first, " ") || strings.Contains(l.text, ", ") {
		return false, nil // a sentence
	}
	return true, p.in.torn(l.n, l.text)
}

// add adds the record of a row; false: invalid values.
func (p *table) add(n int, row tableRow) (bool, error) {
	rec := newRecord(n, 0, "")
	rec.Check.Result = "unknown"
	run, err := p.format.record(row, rec)
	if err != nil {
		return false, nil
	}
	i, added := p.runs.Of(run)
	if added {
		p.tests = append(p.tests, p.testOf(run, n))
	}
	t := p.tests[i]
	if p.format.script && rec.Collective.Shared() {
		t.deduced(notice.Deduced{What: notice.DeducedSize, From: notice.FromShare, Collective: rec.Collective.String()})
	}
	return true, t.add(rec)
}

// testOf begins the run of a row.
func (p *table) testOf(run tableRun, n int) *test {
	t := p.in.newTest(p.shell, p.format.tool, p.format.layout, n)
	t.stated = p.format.stated
	if p.format.script {
		t.deduced(notice.ScriptHabits{})
	}
	if p.tests != nil {
		t.run.Launch = p.tests[0].run.Launch
	}
	t.run.World, t.run.Nodes, t.run.RanksPerNode, t.run.Device = run.world, run.nodes, run.perNode, run.device
	t.backend(run.backend, strings.ToUpper(run.backend), "")
	return t
}

// close ends all runs of the table.
func (p *table) close() error {
	for _, t := range p.tests {
		if err := t.end(); err != nil {
			return err
		}
	}
	p.format, p.runs, p.tests = nil, nil, nil
	return nil
}

// whole returns an integer column; 0 if missing.
func (r tableRow) whole(name string) int {
	n, _ := amount(r[name])
	return n
}

var errRow = errors.New("no row of this table")

// rcclRecord reads a row of rccl-tests, of CSV or JSON.
func rcclRecord(row tableRow, rec *result.Record) (tableRun, error) {
	gpus := max(row.whole("gpusperrank"), 1)
	run := tableRun{backend: "rccl", nodes: row.whole("nodes"), perNode: row.whole("rankspernode") * gpus,
		world: row.whole("ranks") * gpus}
	if run.world == 0 {
		run.world = row.whole("gpus")
	}
	size, okSize := count(row["size"])
	us, okTime := positive(row["time"])
	if !okSize || !okTime {
		return run, errRow
	}
	if cycle, ok := amount(row["numcycle"]); ok {
		rec.Cycle = cycle + 1
	}
	name := cmp.Or(row["collective"], row["name"])
	rec.Collective, rec.Imported.Operation = operationOf(strings.TrimSuffix(name, "_perf"))
	rec.World, rec.Mode, rec.SizeBytes = run.world, coll.Throughput, size
	typed(rec, row["type"])
	reduced(rec, row["redop"])
	switch row["inplace"] {
	case "0", "false":
		rec.Placement = coll.OutOfPlace
	case "1", "true":
		rec.Placement = coll.InPlace
	}
	parts := int64(rec.Type.Size())
	if rec.Collective.Shared() {
		parts *= int64(run.world)
	}
	if parts > 0 && size%parts == 0 && rec.Collective != coll.Other {
		rec.Count = size / parts
	}
	timed(rec, us, 1e-6, backToBack, "mean over iterations; of the ranks' times the mean, unless -a was given")
	rec.Time.Samples = 1
	switch w, ok := number(row["#wrong"] + row["wrong"]); {
	case row["#wrong"] == "N/A" || row["wrong"] == "N/A" || ok && w < 0:
		rec.Check.Result = "off"
	case ok:
		judge(rec, w)
	}
	for _, name := range []string{"algbw", "busbw", "busbwfactor"} {
		state(rec, name, row[name])
	}
	return run, nil
}

// Columns of scripts that time torch's all_reduce.
var (
	scriptWorld = regexp.MustCompile(`^((num_|n_?)?proc(esse)?s|world(_size)?)$`)
	scriptSize  = regexp.MustCompile(`^(?:data_|tensor_)?(?:size_|num_)?(bytes|mb)$`)
	scriptTime  = regexp.MustCompile(`^(?:latency_)?(mean|avg|median|p50)?_?(?:time)?_(ms|us|s)$`)
)

var scriptUnits = map[string]float64{"ms": 1e-3, "us": 1e-6, "s": 1}

// scriptRecord reads a row of an all-reduce script. It prefers a median to a mean, and bytes to MB.
func scriptRecord(row tableRow, rec *result.Record) (tableRun, error) {
	run := tableRun{backend: strings.ToLower(row["backend"]), device: row["device"]}
	rec.Collective, rec.Mode = coll.AllReduce, coll.Latency
	if row["collective"] != "" {
		rec.Collective, rec.Imported.Operation = operationOf(row["collective"])
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
	size, ofMB, median := -1.0, false, false
	for _, name := range slices.Sorted(maps.Keys(row)) {
		text := row[name]
		v, ok := positive(text)
		m := scriptTime.FindStringSubmatch(name)
		switch {
		case name == "backend" || name == "collective" || name == "dtype":
		case scriptWorld.MatchString(name):
			run.world, _ = amount(text)
		case scriptSize.MatchString(name) && ok && v <= 1<<40:
			if mb := strings.HasSuffix(name, "mb"); !mb {
				size, ofMB = v, false
			} else if state(rec, name, text); size < 0 {
				size, ofMB = v*(1<<20), true
			}
		case m != nil && ok && !median && (rec.Time == nil || m[1] == "median" || m[1] == "p50"):
			summary := "mean, as the script makes it"
			if median = m[1] == "median" || m[1] == "p50"; median {
				summary = "median, as the script makes it"
			}
			timed(rec, v, scriptUnits[m[2]], "each operation awaited", summary)
		default:
			state(rec, name, text)
		}
	}
	if rec.World = run.world; run.world == 0 || rec.Time == nil || size < 0 {
		return run, errRow
	}
	if ofMB {
		rec.Notes = append(rec.Notes, "a MB of the source is counted as 2^20 bytes")
	}
	sized(&rec.Case, int64(size))
	return run, nil
}
