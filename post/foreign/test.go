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

// test is one run of another tool: a table, or the rows of one that belong together.
type test struct {
	in         *input
	run        result.Run
	ranks      []result.Rank
	settle     func(rows []*result.Record) // decides what the first rows tell together, before any is written
	held       []*result.Record
	table      Table
	used       map[string]string
	points     int
	label      string     // of its configuration among those of the file
	configured bool       // its first row has begun
	footer     bool       // its last row was read
	stated     bandwidths // columns whose ratio is checked against the number of ranks
}

// heldRows is how many records wait until it is decided what they tell together.
const heldRows = 4096

// allHeldRows bounds the records that are held of all the tests that are open: a file may have hundreds of them.
const allHeldRows = 4 * heldRows

// newTest begins a run. Its ID follows from the file's bytes and its place among the runs of the file, so that a file
// that is imported twice counts once.
func (in *input) newTest(tool, format string, line int) *test {
	in.tests++
	used := map[string]string{}
	return &test{in: in, used: used, run: result.Run{
		ID: in.id("run", in.tests), Launch: in.id("launch", in.tests), Campaign: in.id("campaign", 0), Tool: tool,
		Method: result.Method{Warmup: -1, CheckRounds: -1, Rotate: -1, ClockOffsets: -1},
		Imported: &result.Source{Tool: tool, Format: format, Path: in.file.Path, SHA256: in.file.SHA256, Line: line,
			Settings: map[string]string{}},
	}}
}

// id is a UUID of version 8, made of the file's hash.
func (in *input) id(what string, n int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", in.file.SHA256, what, n))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// tool names what measured.
func (t *test) tool(name string) { t.run.Tool, t.run.Imported.Tool = name, name }

// set notes a word of the source on how it measured.
func (t *test) set(key, value string) {
	if value != "" {
		t.run.Imported.Settings[key] = value
	}
}

// deduced notes what follows from the file and no line of it states, once.
func (t *test) deduced(f notice.Fact) {
	if all := &t.run.Imported.Deduced; !slices.Contains(*all, notice.Kept{Fact: f}) {
		all.Add(f)
	}
}

func (t *test) warn(f notice.Fact) {
	if !slices.ContainsFunc(t.run.Warnings, func(k notice.Kept) bool { return reflect.DeepEqual(k.Fact, f) }) {
		t.run.Warnings.Add(f)
	}
}

// wrongValues notes how many wrong values the source counts below its rows. If the run's line is written already,
// reason has to go to its end.
func (t *test) wrongValues(n int64) (cause notice.Fact) {
	f := notice.WrongValuesCounted{Values: n}
	if n > 0 && t.table != nil {
		return f
	}
	if n > 0 {
		t.warn(f)
	}
	return nil
}

// add takes a record of a row that was counted.
func (t *test) add(r *result.Record) error {
	t.in.counts.Points++
	t.points++
	if t.table != nil {
		return t.write(r)
	}
	t.held = append(t.held, r)
	if t.in.held++; len(t.held) >= heldRows || t.in.held >= allHeldRows {
		return t.begin()
	}
	return nil
}

// begin decides what the held rows tell, and hands them on.
func (t *test) begin() error {
	if t.settle != nil {
		t.settle(t.held)
	}
	for _, r := range t.held {
		t.complete(r)
	}
	t.header()
	table, err := t.in.sink.Begin(&t.run, t.ranks)
	if err != nil {
		return err
	}
	t.table = table
	held := t.held
	t.held, t.in.held = nil, t.in.held-len(held)
	for _, r := range held {
		if err := t.table.Append(r); err != nil {
			return err
		}
	}
	return nil
}

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// configure takes what was set for a test, when its first row begins.
func (t *test) configure() {
	if t.configured {
		return
	}
	sh := t.in.shell
	t.configured, t.label = true, sh.configurations.next()
	if t.run.Environment == nil {
		t.run.Environment = sh.environment
	}
	for name, value := range sh.environment {
		if _, there := t.run.Environment[name]; !there {
			t.run.Environment[name] = value
		}
	}
	sh.environment, sh.open = nil, t
}

// header fills in what the run's line says of all its rows.
func (t *test) header() {
	if t.run.World == 0 {
		for i, r := range t.held {
			if t.run.World = r.World; i > 0 && r.World != t.held[0].World {
				t.run.World = 0
				break
			}
		}
	}
	t.hosts()
	t.run.Variant = strings.Join(append(nonEmpty(t.label), configured(t.run.Environment)...), " ")
	if len(t.used) > 0 {
		t.run.Imported.Given = t.used
	}
	if len(t.run.Imported.Settings) == 0 {
		t.run.Imported.Settings = nil
	}
}

func (t *test) write(r *result.Record) error {
	t.complete(r)
	return t.table.Append(r)
}

// complete gives a record what its file does not tell but who imports it does. A time so short that it makes no
// bandwidth, or of a number of ranks that is in doubt, is kept as it is printed.
func (t *test) complete(r *result.Record) {
	if r.World == 0 {
		r.World = t.run.World
	}
	t.in.file.Given.fill(&r.Case, r.Imported.Operation, t.used)
	// sendrecv's table names one that it does not use
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
		t.in.doubtful(r.Imported.Line, why)
		r.Status, r.Why, r.World = result.Failed, result.Because(why), 0
	}
}

// giveWorld gives a case the number of ranks that it lacks, where a size has to be made of it.
func (t *test) giveWorld(c *coll.Case) {
	if c.World == 0 && t.in.file.Given.World > 0 {
		c.World, t.used["world"] = t.in.file.Given.World, itoa(t.in.file.Given.World)
	}
}

// hosts sets what follows from the list of ranks.
func (t *test) hosts() {
	perHost, devices := map[string]int{}, []string{}
	gpus := map[[2]string]bool{}
	for i := range t.ranks {
		r := &t.ranks[i]
		perHost[r.Host]++
		// An address without its domain, as old versions print, may be of several GPUs.
		if gpu := [2]string{r.Host, r.PCI}; strings.Contains(r.PCI, ":") {
			t.run.Method.Shared = t.run.Method.Shared || gpus[gpu]
			gpus[gpu] = true
		}
		if r.Device != "" && !slices.Contains(devices, r.Device) {
			devices = append(devices, r.Device)
		}
	}
	for _, n := range perHost {
		t.run.RanksPerNode = max(t.run.RanksPerNode, n)
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

// end closes the run; one without a row is written too, with how it ended.
func (t *test) end(outcome result.Outcome, cause notice.Fact) error {
	t.footer = true
	if t.table == nil {
		if err := t.begin(); err != nil {
			return err
		}
	}
	return t.table.End(result.End{Outcome: outcome, Why: result.Because(cause)})
}
