package foreign

import (
	"crypto/sha256"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// test is one run of another tool: a table, or the rows that belong together.
type test struct {
	in     *input
	shell  *shell
	around *around
	run    result.Run
	ranks  []result.Rank
	settle func(rows []*result.Record) // deduces what the first rows state together, before any is written
	held   []*result.Record
	table  Table
	label  string     // number of its configuration in the file
	rows   bool       // its first row was read
	stated bandwidths // columns whose ratio is checked against the number of ranks
	wrong  int64      // values that the source counts below its rows
	ended  result.End // as far as is known
}

// heldRows is the number of records held until the deduction.
const heldRows = 4096

// newTest begins a run. Its ID comes from the file's bytes and the run's index in the file, so that importing a file
// twice counts once.
func (in *input) newTest(sh *shell, tool, format string, line int) *test {
	in.tests++
	t := &test{in: in, shell: sh, ended: result.End{Outcome: result.Complete}, run: result.Run{
		ID: in.id("run", in.tests), Launch: in.id("launch", in.tests), Campaign: in.id("campaign", 0), Tool: tool,
		Method: result.Method{Warmup: -1, CheckRounds: -1, Rotate: -1, ClockOffsets: -1},
		Imported: &result.Source{Tool: tool, Format: format, Path: in.file.Path, SHA256: in.file.SHA256, Line: line,
			Settings: map[string]string{}, Given: map[string]string{}},
	}}
	t.around = sh.of(t)
	t.run.Environment = t.around.environment
	return t
}

// id returns a UUID of version 8 from the file's hash.
func (in *input) id(what string, n int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", in.file.SHA256, what, n))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// backend sets the library together with the benchmark, to distinguish it from rank's own measurements.
func (t *test) backend(name, library, version string) {
	by := "by " + t.run.Tool
	if library = strings.TrimSpace(library + " " + version); library != "" {
		by = library + " (" + by + ")"
	}
	t.run.Backend = result.Backend{Name: name, Library: by, Version: version}
}

// set records a setting from the source.
func (t *test) set(key, value string) {
	if value != "" {
		t.run.Imported.Settings[key] = value
	}
}

// deduced records, once, what follows from the file without being stated.
func (t *test) deduced(f notice.Fact) { addOnce(&t.run.Imported.Deduced, f) }

func (t *test) warn(f notice.Fact) { addOnce(&t.run.Warnings, f) }

func addOnce(all *notice.List, f notice.Fact) {
	if !slices.ContainsFunc(*all, func(k notice.Kept) bool { return reflect.DeepEqual(k.Fact, f) }) {
		all.Add(f)
	}
}

// lacks records missing data.
func (t *test) lacks(what notice.SourceEnd) {
	t.ends(result.Interrupted, notice.SourceIncomplete{Lacks: what})
}

// ends records how the source ended; the first failure is kept.
func (t *test) ends(outcome result.Outcome, cause notice.Fact) {
	if t.ended.Outcome != result.Aborted {
		t.ended = result.End{Outcome: outcome, Why: result.Because(cause)}
	}
}

// add counts a row and adds its records.
func (t *test) add(records ...*result.Record) error {
	if !t.rows {
		t.rows, t.label = true, t.shell.next()
	}
	t.shell.forget()
	t.in.counts.Rows++
	t.in.counts.Points += len(records)
	if t.held = append(t.held, records...); t.table == nil && len(t.held) < heldRows {
		return nil
	}
	return t.flush()
}

// flush writes the held records, after the deduction.
func (t *test) flush() (err error) {
	if t.table == nil && t.settle != nil {
		t.settle(t.held)
	}
	for _, r := range t.held {
		t.complete(r)
	}
	if t.table == nil {
		t.header()
		if t.table, err = t.in.sink.Begin(&t.run, t.ranks); err != nil {
			return err
		}
	}
	for _, r := range t.held {
		if err := t.table.Append(r); err != nil {
			return err
		}
	}
	t.held = nil
	return nil
}

// header sets the run's values for all rows.
func (t *test) header() {
	if t.run.Imported.Given["world"] != "" {
		t.run.World = t.in.file.Given.world()
	}
	t.hosts()
	words := append([]string{t.label}, configured(t.run.Environment)...)
	t.run.Variant = strings.TrimSpace(strings.Join(words, " "))
}

// complete adds given values that the file lacks. A time too short for a bandwidth, or with a doubtful number of
// ranks, is kept as printed.
func (t *test) complete(r *result.Record) {
	if r.World == 0 {
		r.World = t.run.World
	}
	t.in.file.Given.fill(&r.Case, r.Imported.Operation, t.run.Imported.Given)
	// sendrecv's table names an unused operation
	if r.Collective != coll.Other && !r.Collective.Reduces() && r.Op != 0 {
		r.Imported.Stated["redop"], r.Op = r.Op.String(), 0
	}
	if r.SizeBytes < 0 && r.Count >= 0 && r.World > 0 && r.Type != 0 && r.Collective != coll.Other {
		if c, err := r.WithElements(r.Count); err == nil {
			r.SizeBytes = c.SizeBytes
		}
	}
	why := t.stated.contradiction(r)
	if r.Time != nil && (why != nil || math.IsInf(2*r.AlgBW(r.Time.Seconds), 0)) {
		r.Imported.Stated["time"], r.Time = strconv.FormatFloat(r.Time.Seconds, 'g', -1, 64)+" s", nil
	}
	if why != nil {
		t.in.counts.Doubtful++
		t.in.first(r.Imported.Line, why)
		r.Status, r.Why, r.World = result.Failed, result.Because(why), 0
	}
}

// hosts sets values that follow from the list of ranks.
func (t *test) hosts() {
	perHost, devices, gpus := map[string]int{}, []string{}, map[[2]string]bool{}
	for _, r := range t.ranks {
		perHost[r.Host]++
		t.run.RanksPerNode = max(t.run.RanksPerNode, perHost[r.Host])
		// An address without its domain, as in old versions, may belong to several GPUs.
		if gpu := [2]string{r.Host, r.PCI}; strings.Contains(r.PCI, ":") {
			t.run.Method.Shared = t.run.Method.Shared || gpus[gpu]
			gpus[gpu] = true
		}
		if r.Device != "" && !slices.Contains(devices, r.Device) {
			devices = append(devices, r.Device)
		}
	}
	if len(perHost) > 0 {
		t.run.Nodes = len(perHost)
	}
	if len(devices) > 0 {
		t.run.Device = devices[0]
	}
	if len(devices) > 1 {
		t.run.Device = fmt.Sprintf("%s and %d other kinds", devices[0], len(devices)-1)
	}
}

// end closes the run; a run without rows is written too, with its outcome. Wrong values counted by the source are a
// warning of the run, or its failure if the header is not written yet.
func (t *test) end() error {
	wrong := notice.WrongValuesCounted{Values: t.wrong}
	if t.wrong > 0 && t.table == nil {
		t.warn(wrong)
	} else if t.wrong > 0 {
		t.ends(t.ended.Outcome, wrong)
	}
	if t.table == nil {
		if err := t.flush(); err != nil {
			return err
		}
	}
	return t.table.End(t.ended)
}
