package foreign

import (
	"regexp"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// osu reads the text of the OSU benchmarks: the heading names the columns.
type osu struct {
	layout
	columnTable
	largest int64 // the last row's size: sizes ascend; -1: none yet
}

var (
	osuTitle = regexp.MustCompile(
		`^OSU (MPI|NCCL|RCCL|OpenSHMEM|UPC(?:\+\+)?|oshm)(?:-(\w+))? (.+?)(?: Benchmark| Test)?s? v((\d+)\.(\d+)\S*)$`,
	)
	osuHeading = regexp.MustCompile(`^#\s*((?:Size |Avg Latency\(us\)|Overall\(us\)).*)$`)
	osuGap     = regexp.MustCompile(`\s{2,}|\t`) // between column names, which contain single spaces
	osuType    = regexp.MustCompile(`^Datatype: (\S+?)\.$`)
	osuSetting = regexp.MustCompile(`\[ ([a-z ]+): (\S+) \]`)
	osuRow     = regexp.MustCompile(`^\s*\d[\d.]*(\s|$)`)
	osuLatency = regexp.MustCompile(`^(?:(Avg )?(Latency|Lat) ?|Overall)\(us\)$`)
	osuComment = regexp.MustCompile(
		`^(Overall = |Send Buffer on |Running |Transfer|Window creation: |Synchronization: |Datatype: |Rank|-)`)
)

func (p *osu) take(l line) (bool, error) {
	if m := osuTitle.FindStringSubmatch(l.body); m != nil && l.mark {
		return true, p.titled(m, l.n)
	}
	t := p.test
	if t == nil {
		return false, nil
	}
	if !l.mark {
		switch {
		case strings.HasPrefix(l.body, "DATA VALIDATION ERROR"):
			t.warn(notice.Recorded{Text: l.body})
		case p.columns == nil || !osuRow.MatchString(l.text):
			return false, nil
		default:
			return p.row(l)
		}
		return true, nil
	}
	if m := osuHeading.FindStringSubmatch(strings.TrimSpace(l.text)); m != nil {
		p.columns, p.largest = osuGap.Split(strings.TrimSpace(m[1]), -1), -1
		return true, nil
	}
	if m := osuType.FindStringSubmatch(l.body); m != nil {
		if p.point.Type = dataType(m[1]); p.point.Type == 0 {
			t.set("datatype", m[1])
		}
		return true, nil
	}
	settings := osuSetting.FindAllStringSubmatch(l.body, -1)
	for _, m := range settings {
		t.set(m[1], m[2])
	}
	return settings != nil || osuComment.MatchString(l.body), nil
}

// osuCollectives are the titles with the sizes and operation of one of our collectives.
var osuCollectives = map[string]coll.Collective{
	"Allreduce": coll.AllReduce, "Allgather": coll.AllGather, "Reduce_scatter": coll.ReduceScatter,
	"Broadcast": coll.Broadcast, "Reduce": coll.Reduce,
	"All-to-All Personalized Exchange": coll.AllToAll, "Alltoall": coll.AllToAll, "Gather": coll.Gather,
	"Scatter": coll.Scatter,
}

// titled begins a test at its title.
func (p *osu) titled(m []string, n int) error {
	t, err := p.begin("OSU Micro-Benchmarks "+m[4], "OSU text", n)
	t.set("device", m[2])
	t.backend(strings.ToLower(m[1]), m[1], "")
	p.columns, p.operation = nil, ""
	p.point = coll.Case{Root: -1, Mode: coll.Latency, Collective: osuCollectives[strings.TrimSuffix(m[3], " Latency")]}
	c := &p.point
	if c.Collective == 0 {
		c.Collective, p.operation = coll.Other, m[3]
	}
	if c.Collective.Reduces() {
		c.Op = coll.Sum
	}
	// These apply to all runs of a version, whatever its options.
	major, _ := amount(m[5])
	minor, _ := amount(m[6])
	early := major < 7 || major == 7 && minor < 1
	if c.Collective.Rooted() && early {
		c.Root = 0
	}
	switch mpi := m[1] == "MPI"; {
	case c.Collective == coll.Other:
	case m[1] == "NCCL" || m[1] == "RCCL" || mpi && early && c.Collective.Reduces():
		c.Type = coll.Float32
	case mpi && early:
		c.Type = coll.Int8
	}
	if c.Collective == coll.Broadcast && m[1] == "MPI" {
		c.Placement = coll.InPlace // it has one buffer
	}
	return err
}

// row adds the record of a row. A table ends if sizes no longer ascend: further rows belong to another table whose
// heading is missing.
func (p *osu) row(l line) (bool, error) {
	rec, words := p.record(p.test, l.n), strings.Fields(l.text)
	if !p.fill(rec, words, osuColumn) {
		return true, p.in.torn(l.n, l.text)
	}
	if size, ok := count(words[0]); ok && p.columns[0] == "Size" {
		if size <= p.largest {
			p.columns = nil
			return false, nil
		}
		p.largest = size
	}
	if rec.Time == nil || strings.Contains(p.operation, "andwidth") || strings.HasPrefix(p.operation, "Non-blocking") {
		rec.Mode = 0 // not a pure operation time
	}
	return true, p.test.add(rec)
}

// osuColumn sets one value; false: not valid in this column.
func osuColumn(rec *result.Record, name, word string) bool {
	v, ok := positive(word)
	switch {
	case name == "Validation":
		if rec.Check.Result = "ok"; word != "Pass" {
			rec.Status, rec.Check.Result = result.Wrong, "wrong"
			rec.Why = result.Because(notice.SourceReports{Text: word})
		}
		return true
	case name == "Size":
		n, whole := count(word)
		shareOrAll(rec, n)
		return whole
	case osuLatency.MatchString(name):
		timed(rec, v, 1e-6, "barrier behind each operation", "mean over iterations, mean over ranks")
		rec.Time.Stop = "fixed"
	case name == "Iterations" && rec.Time != nil:
		iterations, _ := amount(word)
		rec.Time.Samples, rec.Time.Iterations = iterations, iterations
	default:
		state(rec, name, word)
	}
	return ok
}

// shareOrAll sets the size of OSU and IMB: what one rank sends; for reduce_scatter the total.
func shareOrAll(rec *result.Record, n int64) {
	if rec.Collective != coll.ReduceScatter {
		sized(&rec.Case, n)
		return
	}
	rec.SizeBytes = n
	if parts := int64(rec.World) * int64(rec.Type.Size()); parts > 0 && n%parts == 0 {
		rec.Count = n / parts
	}
}
