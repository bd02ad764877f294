package foreign

import (
	"cmp"
	"regexp"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// imb reads the text of the Intel benchmarks. A program runs many blocks, each with a table; they share a launch.
type imb struct {
	layout
	columnTable
	head   imbHead
	launch string
}

// imbHead is the header of a program's run, above all blocks.
type imbHead struct {
	version string            // "": unknown
	values  map[string]string // by name
}

var (
	imbTitle = regexp.MustCompile(`^Intel\s?\(R\) MPI Benchmarks? (?:Suite V?)?(.*?),? ?(?:(\S+) part)?$`)
	imbBlock = regexp.MustCompile(`^Benchmarking (Multi-)?(\S+)`)
	imbRanks = regexp.MustCompile(`^(?:#?processes = |\( *(\d+) groups of )(\d+)`)
	imbKnown = regexp.MustCompile(
		`^(\( *\d+ additional processes? |Group +\d+:|Minimum message length|Maximum message length|` +
			`Message lengths were|List of Benchmarks|!! |MODE: |Machine +:|System +:|Release +:|Version +:|` +
			`MPI Thread Environment|For comparison|[\w ]*$|[-=*]{3,}$)`,
	)
	imbValue   = regexp.MustCompile(`^(Date|MPI Version|MPI_Datatype|MPI_Datatype for reductions|MPI_Op) +: +(.*?) *$`)
	imbFailure = regexp.MustCompile(`^(\d+) +((out-of-mem|time-out|int-overflow)\.;?.*)$`)
	imbRow     = regexp.MustCompile(`^\d+(\s|$)`)
	imbColumns = regexp.MustCompile(`^(?:Group\s+)?#(?:bytes|repetitions)\s`)
)

func (p *imb) take(l line) (bool, error) {
	if m := imbTitle.FindStringSubmatch(l.body); m != nil {
		p.over()
		p.head, p.launch = imbHead{version: strings.TrimSpace(m[1]), values: map[string]string{}}, ""
		return true, p.close()
	}
	if m := imbBlock.FindStringSubmatch(l.body); m != nil && l.mark {
		p.over()
		return true, p.block(m, l)
	}
	if p.test == nil && p.head.values == nil {
		return false, nil
	}
	if l.body == "All processes entering MPI_Finalize" {
		p.over()
		return true, nil
	}
	if p.test != nil && imbColumns.MatchString(strings.TrimSpace(l.text)) {
		p.columns = strings.Fields(l.text)
		return true, nil
	}
	if l.mark {
		return p.comment(l), nil
	}
	if p.test == nil || p.columns == nil || !imbRow.MatchString(l.body) {
		return false, nil
	}
	return true, p.row(l)
}

// over marks the open block as complete.
func (p *imb) over() {
	if p.test != nil {
		p.test.ends(result.Complete, nil)
	}
}

// comment reads a line of the header or between the blocks.
func (p *imb) comment(l line) bool {
	if m := imbValue.FindStringSubmatch(l.body); m != nil {
		if p.head.values != nil {
			p.head.values[m[1]] = m[2]
		}
		return true
	}
	if m := imbRanks.FindStringSubmatch(l.body); m != nil && p.test != nil {
		p.test.run.World, _ = amount(m[2])
		p.test.set("groups at the same time", m[1])
		return true
	}
	return p.test == nil || imbKnown.MatchString(l.body)
}

// imbCollectives are the benchmarks with the sizes and operation of one of our collectives. Sendrecv is a ring.
var imbCollectives = map[string]coll.Collective{
	"allreduce": coll.AllReduce, "allgather": coll.AllGather, "reduce_scatter": coll.ReduceScatter,
	"bcast": coll.Broadcast, "reduce": coll.Reduce,
	"alltoall": coll.AllToAll, "gather": coll.Gather, "scatter": coll.Scatter, "sendrecv": coll.SendRecv,
}

// block begins a table.
func (p *imb) block(m []string, l line) error {
	t, err := p.begin(strings.TrimSpace("Intel MPI Benchmarks "+p.head.version), "IMB text", l.n)
	t.lacks(notice.SourceFinalize)
	p.launch = cmp.Or(p.launch, t.run.Launch)
	head := p.head.values
	t.run.Launch, t.run.Imported.Started = p.launch, head["Date"]
	t.backend("mpi", "MPI "+head["MPI Version"], "")
	p.columns, p.operation = nil, ""
	p.point = coll.Case{Collective: imbCollectives[strings.ToLower(m[2])], Root: -1, Mode: coll.Latency,
		Placement: coll.OutOfPlace}
	c := &p.point
	if c.Collective == 0 || m[1] != "" {
		c.Collective, c.Placement, p.operation = coll.Other, 0, m[1]+m[2]
		t.set("MPI_Datatype", head["MPI_Datatype"])
		t.set("MPI_Op", head["MPI_Op"])
		return err
	}
	c.Type = dataType(head["MPI_Datatype"])
	if c.Collective.Reduces() {
		c.Type = dataType(head["MPI_Datatype for reductions"])
		c.Op, _ = coll.ParseRedOp(strings.TrimPrefix(strings.ToLower(head["MPI_Op"]), "mpi_"))
	}
	if c.Collective.Rooted() {
		t.set("root", "another with each operation")
	}
	if c.Collective == coll.Broadcast {
		c.Placement = coll.InPlace // it has one buffer
	}
	return err
}

// imbStatus are the words in place of a size that was not measured.
var imbStatus = map[string]result.Status{"out-of-mem": result.OOM, "time-out": result.Timeout,
	"int-overflow": result.Unsupported}

// row returns the record of a row.
func (p *imb) row(l line) error {
	rec := p.record(p.test, l.n)
	if m := imbFailure.FindStringSubmatch(l.body); m != nil && p.columns[0] == "#bytes" {
		n, _ := count(m[1])
		shareOrAll(rec, n)
		rec.Status, rec.Check.Result = imbStatus[m[3]], "none"
		rec.Why = result.Because(notice.SourceReports{Text: m[2]})
		return p.test.add(rec)
	}
	if !p.fill(rec, strings.Fields(l.text), imbColumn) {
		return p.in.torn(l.n, l.text)
	}
	if rec.Time == nil {
		rec.Mode = 0
	} else {
		delete(rec.Imported.Stated, imbRepetitions)
	}
	return p.test.add(rec)
}

const imbRepetitions = "#repetitions"

// imbColumn sets one value; false: not valid in this column.
func imbColumn(rec *result.Record, name, word string) bool {
	v, ok := number(word)
	switch name {
	case "#bytes":
		n, whole := count(word)
		shareOrAll(rec, n)
		return whole
	case "t_max[usec]", "t[usec]", "t_ovrl[usec]":
		timed(rec, v, 1e-6, "barrier between operations", "mean over iterations, max over ranks")
		repetitions, _ := amount(rec.Imported.Stated[imbRepetitions])
		rec.Time.Samples, rec.Time.Iterations, rec.Time.Stop = repetitions, repetitions, "fixed"
	case "t_avg[usec]":
		if rec.Time != nil {
			rec.Time.Mean = seconds(v, 1e-6)
		}
	case "defects":
		if rec.Check.Result = "ok"; v != 0 {
			rec.Check.Result = "unknown"
			state(rec, name, word)
		}
	default:
		state(rec, name, word)
	}
	return ok && (v >= 0 || name[0] != 't')
}
