package foreign

import (
	"regexp"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// commsRes reads the rows that PARAM's communication benchmark marks with COMMS-RES. Its percentiles are over ranks, of
// each rank's mean; what the world was, and whether operations were awaited one by one, it does not print.
type commsRes struct {
	in      *input
	test    *test
	columns []string
	quant   bool
}

func newCommsRes(in *input) *commsRes { return &commsRes{in: in} }

const commsMark = "COMMS-RES"

// commsRow is the mark with collective and type: COMMS-RES-all_reduce-float32 and a tag.
var commsRow = regexp.MustCompile(`^COMMS-RES-(QUANT-)?([A-Za-z0-9_]+)-([a-z]+[0-9]*)(\S*)$`)

// commsColumns are the names of a heading; those of latencies are of rows that are quantised or point to point.
var commsColumns = regexp.MustCompile(
	`total-size \(B\)|size \(B\)|nElementsPerRank|nElementsPairPerRank|` +
		`(?:Time|Latency|pingLatency|pingPongLatency|TotalTime|TotalLatency)\(us\):p50|P95 Latency\(us\): Quant|De-Quant|[A-Za-z]*BW\(GB/s\)|\S+`)

func (p *commsRes) opens(l line) bool { return strings.HasPrefix(l.body, commsMark) }

func (p *commsRes) take(l line) (bool, error) {
	if !strings.HasPrefix(l.body, commsMark) {
		return false, nil
	}
	words := strings.Fields(l.body)
	m := commsRow.FindStringSubmatch(words[0])
	if m == nil {
		heading := strings.TrimPrefix(strings.TrimPrefix(l.body, commsMark), "-QUANT")
		p.columns, p.quant = commsColumns.FindAllString(heading, -1), words[0] != commsMark
		return true, p.close()
	}
	if p.columns == nil {
		return true, p.in.torn(l.n, l.text)
	}
	if p.test == nil {
		const tool = "PARAM comms"
		p.test = p.in.newTest(tool, "COMMS-RES text", l.n)
		p.test.run.Backend = result.Backend{Name: "unknown", Library: libraryBy("", "", tool)}
	}
	return true, p.row(l, m, words[1:])
}

// row makes a record of a row.
func (p *commsRes) row(l line, m, words []string) error {
	columns := p.columns
	if len(words) < len(columns) && len(words) >= 3 && strings.HasPrefix(columns[len(columns)-1], "Total") {
		columns = columns[:len(columns)-1] // headings of some rows name a column more
	}
	if len(words) != len(columns) {
		return p.in.torn(l.n, l.text)
	}
	rec := &result.Record{
		Case:   coll.Case{Type: dataType(m[3]), Root: -1, SizeBytes: -1, Count: -1},
		Status: result.OK, Check: result.Check{Result: "unknown"},
		Imported: &result.Origin{Line: l.n, Stated: map[string]string{}},
	}
	rec.Collective, rec.Imported.Operation = commsCollective(m[2])
	if rec.Collective.Reduces() {
		rec.Op = coll.Sum // it has no other
	}
	if tag := strings.TrimPrefix(m[4], "-"); tag != "" {
		rec.Imported.Stated["tag"] = tag
	}
	if rec.Type == 0 {
		rec.Imported.Stated["type"] = m[3]
	}
	for i, name := range columns {
		v, ok := number(words[i])
		bytes, isWhole := integer(v)
		if !ok || !isWhole {
			return p.in.torn(l.n, l.text)
		}
		switch {
		case strings.HasSuffix(name, "size (B)"):
			rec.SizeBytes = bytes
		case name == "nElementsPerRank":
			rec.Count = bytes
		case name == "Time(us):p50" || name == "Latency(us):p50" || name == "pingLatency(us):p50":
			rec.Time = &result.Time{Seconds: seconds(v, 1e-6), Outliers: -1, Summary: "mean over iterations, median over ranks"}
		default:
			rec.Imported.Stated[commsName(columns, i)] = words[i]
		}
	}
	p.in.counts.Rows++
	p.test.configure()
	return p.test.add(rec)
}

// commsCollective is the collective that PARAM calls so: names with _base are those of torch's functions on one tensor.
func commsCollective(name string) (coll.Collective, string) {
	c, operation := operationOf(strings.TrimSuffix(name, "_base"))
	if c == coll.Other {
		operation = name
	}
	return c, operation
}

// commsName tells columns of the same name apart.
func commsName(columns []string, i int) string {
	n := 0
	for _, c := range columns[:i] {
		if c == columns[i] {
			n++
		}
	}
	if n == 0 {
		return columns[i]
	}
	return columns[i] + " " + strconv.Itoa(n+1)
}

func (p *commsRes) close() error {
	t := p.test
	if p.test = nil; t == nil {
		return nil
	}
	return t.end(result.Complete, nil)
}
