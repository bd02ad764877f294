package foreign

import (
	"regexp"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// imb reads the text of the Intel benchmarks. A program runs many blocks, each of which has a table; they share a
// launch.
type imb struct {
	in     *input
	head   imbHead
	test   *imbTest
	launch string
}

// imbHead is what stands over all blocks of a program's run.
type imbHead struct {
	version, mpi, date string
	moved, reduced, op string
	command            []string
	calling            bool // the lines of the command come now
	configured         bool // the first row has begun
	label              string
}

type imbTest struct {
	*test
	head       *imbHead
	collective coll.Collective
	operation  string
	columns    []string
}

func newIMB(in *input) *imb { return &imb{in: in} }

var (
	imbTitle  = regexp.MustCompile(`^Intel\s?\(R\) MPI Benchmarks? (?:Suite V?)?(.*?),? ?(?:(\S+) part)?$`)
	imbBlock  = regexp.MustCompile(`^Benchmarking (Multi-)?(\S+)`)
	imbRanks  = regexp.MustCompile(`^#?processes = (\d+)`)
	imbGroups = regexp.MustCompile(`^\( *(\d+) groups of (\d+) processes each running simultaneous`)
	imbKnown  = regexp.MustCompile(
		`^(\( *\d+ additional processes? |Group +\d+:|Minimum message length|Maximum message length|Message lengths were|` +
			`List of Benchmarks|!! |MODE: |Machine +:|System +:|Release +:|Version +:|` +
			`MPI Thread Environment|For comparison|Calling sequence was|[\w ]+$)`)
	imbValue   = regexp.MustCompile(`^(Date|MPI Version|MPI_Datatype|MPI_Datatype for reductions|MPI_Op) +: +(.*)$`)
	imbFailure = regexp.MustCompile(`^(\d+) +((?:out-of-mem|time-out|int-overflow)\.;?.*)$`)
)

func (p *imb) opens(l line) bool {
	return imbTitle.MatchString(l.body) || l.mark && imbBlock.MatchString(l.body)
}

func (p *imb) take(l line) (bool, error) {
	if m := imbTitle.FindStringSubmatch(l.body); m != nil {
		p.over()
		p.head, p.launch = imbHead{version: strings.TrimSpace(m[1])}, ""
		return true, p.close()
	}
	if m := imbBlock.FindStringSubmatch(l.body); m != nil && l.mark {
		return true, p.block(m, l)
	}
	if m := imbValue.FindStringSubmatch(l.body); m != nil && l.mark {
		p.value(m[1], strings.TrimSpace(m[2]))
		return true, nil
	}
	if l.body == "All processes entering MPI_Finalize" {
		p.over()
		return true, nil
	}
	if p.calling(l) {
		return true, nil
	}
	if p.test != nil {
		if known, err := p.test.take(l); known || err != nil {
			return known, err
		}
	}
	return l.mark && (imbKnown.MatchString(l.body) || l.body == "" || fence.MatchString(l.body)), nil
}

// over notes that the block that is open is whole.
func (p *imb) over() {
	if p.test != nil {
		p.test.footer = true
	}
}

// value reads a line of the head.
func (p *imb) value(key, value string) {
	switch key {
	case "Date":
		p.head.date = value
	case "MPI Version":
		p.head.mpi = value
	case "MPI_Datatype":
		p.head.moved = value
	case "MPI_Datatype for reductions":
		p.head.reduced = value
	case "MPI_Op":
		p.head.op = value
	}
}

// calling reads the command, which may take several lines.
func (p *imb) calling(l line) bool {
	if strings.HasPrefix(l.body, "Calling sequence was") {
		p.head.calling, p.head.command = true, nil
		return true
	}
	if !p.head.calling || !l.mark || strings.HasPrefix(l.body, "Minimum message") ||
		strings.HasPrefix(l.body, "Message lengths") {
		p.head.calling = p.head.calling && l.body == ""
		return false
	}
	p.head.command = append(p.head.command, strings.Fields(l.body)...)
	return true
}

// imbCollectives are the benchmarks whose sizes and operation are those of a collective here. Sendrecv is a ring.
var imbCollectives = map[string]coll.Collective{
	"allreduce": coll.AllReduce, "allgather": coll.AllGather, "reduce_scatter": coll.ReduceScatter,
	"bcast": coll.Broadcast, "reduce": coll.Reduce,
	"alltoall": coll.AllToAll, "gather": coll.Gather, "scatter": coll.Scatter, "sendrecv": coll.SendRecv,
}

// block begins a table.
func (p *imb) block(m []string, l line) error {
	p.over()
	if err := p.close(); err != nil {
		return err
	}
	tool := strings.TrimSpace("Intel MPI Benchmarks " + p.head.version)
	t := &imbTest{test: p.in.newTest(tool, "IMB text", l.n), head: &p.head}
	if p.launch == "" {
		p.launch = t.run.Launch
	}
	t.run.Launch = p.launch
	if t.collective = imbCollectives[strings.ToLower(m[2])]; t.collective == 0 || m[1] != "" {
		t.collective, t.operation = coll.Other, m[1]+m[2]
	}
	t.run.Backend = result.Backend{Name: "mpi", Library: libraryBy("MPI", p.head.mpi, tool)}
	t.run.Command, t.run.Imported.Started = p.head.command, p.head.date
	if t.operation != "" {
		t.set("MPI_Datatype", p.head.moved)
		t.set("MPI_Op", p.head.op)
	}
	if p.test = t; p.head.configured {
		p.in.shell.open = t.test
	}
	return nil
}

// words fills in type and operation, which stand over all blocks.
func (t *imbTest) words(rec *result.Record) {
	if t.collective == coll.Other {
		rec.Placement = 0
		return
	}
	rec.Type = dataType(t.head.moved)
	if t.collective.Reduces() {
		rec.Type = dataType(t.head.reduced)
		if op, err := coll.ParseRedOp(strings.TrimPrefix(strings.ToLower(t.head.op), "mpi_")); err == nil {
			rec.Op = op
		}
	}
	if t.collective.Rooted() {
		t.set("root", "another with each operation")
	}
	if t.collective == coll.Broadcast {
		rec.Placement = coll.InPlace // it has one buffer
	}
}

// size reads #bytes: what one rank sends, in reduce_scatter all of it.
func (t *imbTest) size(rec *result.Record, n int64) { osuSize(rec, n) }

// take reads a line of a block.
func (t *imbTest) take(l line) (bool, error) {
	if m := imbRanks.FindStringSubmatch(l.body); m != nil && l.mark {
		t.run.World, _ = amount(m[1])
		return true, nil
	}
	if m := imbGroups.FindStringSubmatch(l.body); m != nil {
		t.run.World, _ = amount(m[2])
		t.set("groups at the same time", m[1])
		return true, nil
	}
	words := strings.Fields(l.text)
	switch {
	case len(words) == 0 || l.mark && !strings.HasPrefix(words[0], "#bytes") && !strings.HasPrefix(words[0],
		"#repetitions"):
		return false, nil
	case words[0] == "#bytes" || words[0] == "#repetitions" || words[0] == "Group" && len(words) > 2 &&
		words[1] == "#bytes":
		t.columns = words
		return true, nil
	case t.columns == nil:
		return false, nil
	}
	if _, ok := count(words[0]); !ok {
		return false, nil
	}
	return true, t.row(l, words)
}

// configure takes what was set for the program's run, when its first row begins.
func (t *imbTest) configure() {
	if !t.head.configured {
		t.test.configure()
		t.head.configured, t.head.label = true, t.label
	}
	t.configured, t.label, t.in.shell.open = true, t.head.label, t.test
}

// row makes a record of a row.
func (t *imbTest) row(l line, words []string) error {
	t.configure()
	rec := &result.Record{
		Case: coll.Case{Collective: t.collective, Root: -1, Placement: coll.OutOfPlace, Mode: coll.Latency,
			World: t.run.World, SizeBytes: -1, Count: -1},
		Status: result.OK, Check: result.Check{Result: "off"},
		Imported: &result.Origin{Line: l.n, Operation: t.operation, Stated: map[string]string{}},
	}
	t.words(rec)
	if m := imbFailure.FindStringSubmatch(l.body); m != nil && t.columns[0] == "#bytes" {
		n, _ := count(m[1])
		t.size(rec, n)
		rec.Status, rec.Why, rec.Check.Result = imbStatus(m[2]), result.Because(notice.SourceReports{Text: m[2]}), "none"
		t.in.counts.Rows++
		return t.add(rec)
	}
	if len(words) != len(t.columns) {
		return t.in.torn(l.n, l.text)
	}
	repetitions := 0
	for i, name := range t.columns {
		v, ok := number(words[i])
		size, isWhole := integer(v)
		if !ok || !isWhole && (name == "#bytes" || strings.HasPrefix(name, "t")) {
			return t.in.torn(l.n, l.text)
		}
		switch name {
		case "#bytes":
			t.size(rec, size)
		case "#repetitions":
			repetitions, _ = amount(words[i])
		case "t_max[usec]", "t[usec]", "t_ovrl[usec]":
			rec.Time = &result.Time{Seconds: seconds(v, 1e-6), Samples: repetitions, Iterations: repetitions, Outliers: -1,
				Stop: "fixed", Sync: "barrier between operations", Summary: "mean over iterations, max over ranks"}
		case "t_avg[usec]":
			if rec.Time != nil {
				rec.Time.Mean = seconds(v, 1e-6)
			}
		case "defects":
			if rec.Check.Result = "ok"; v != 0 {
				rec.Check.Result, rec.Imported.Stated[name] = "unknown", words[i]
			}
		default:
			rec.Imported.Stated[name] = words[i]
		}
	}
	if rec.Time == nil {
		rec.Mode = 0
		if repetitions > 0 {
			rec.Imported.Stated["#repetitions"] = itoa(repetitions)
		}
	}
	t.in.counts.Rows++
	return t.add(rec)
}

func imbStatus(text string) result.Status {
	switch {
	case strings.HasPrefix(text, "out-of-mem"):
		return result.OOM
	case strings.HasPrefix(text, "time-out"):
		return result.Timeout
	}
	return result.Unsupported
}

func (p *imb) close() error {
	t := p.test
	if p.test = nil; t == nil {
		return nil
	}
	if !t.footer {
		return t.end(result.Interrupted, notice.SourceIncomplete{Lacks: notice.SourceFinalize})
	}
	return t.end(result.Complete, nil)
}
