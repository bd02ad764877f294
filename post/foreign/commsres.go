package foreign

import (
	"regexp"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// commsRes reads the rows that PARAM's communication benchmark marks with COMMS-RES. Its percentiles are over ranks, of
// each rank's mean; what the world was, and whether operations were awaited one by one, it does not print.
type commsRes struct {
	layout
	columnTable
}

const commsMark = "COMMS-RES"

var (
	// commsRow is the mark with collective and type: COMMS-RES-all_reduce-float32 and a tag.
	commsRow = regexp.MustCompile(`^COMMS-RES-(?:QUANT-)?([A-Za-z0-9_]+)-([a-z]+[0-9]*)-?(\S*)$`)
	// commsColumns are the names of a heading that hold spaces or follow each other directly, and all others.
	commsColumns = regexp.MustCompile(`(?:total-)?size \(B\)|(?:P95 Latency\(us\): )?Quant|[A-Za-z]+\(us\):p50|\S+`)
	commsTime    = regexp.MustCompile(`^(Time|Latency|pingLatency)\(us\):p50$`)
)

func (p *commsRes) take(l line) (bool, error) {
	if !strings.HasPrefix(l.body, commsMark) {
		return false, nil
	}
	words := strings.Fields(l.body)
	m := commsRow.FindStringSubmatch(words[0])
	if m == nil {
		p.columns = nil
		for _, name := range commsColumns.FindAllString(strings.TrimPrefix(l.body, words[0]), -1) {
			if slices.Contains(p.columns, name) {
				name += " 2"
			}
			p.columns = append(p.columns, name)
		}
		return true, p.close()
	}
	if p.columns == nil {
		return true, p.in.torn(l.n, l.text)
	}
	if p.test == nil {
		t, _ := p.begin("PARAM comms", "COMMS-RES text", l.n) // none is open
		t.backend("unknown", "", "")
	}
	return true, p.row(l, m, words[1:])
}

// row makes a record of a row.
func (p *commsRes) row(l line, m, words []string) error {
	if n := len(p.columns); len(words) == n-1 && strings.HasPrefix(p.columns[n-1], "Total") {
		p.columns = p.columns[:n-1] // headings of some rows name a column more
	}
	c, operation := operationOf(strings.TrimSuffix(m[1], "_base")) // of torch's functions on one tensor
	if c == coll.Other {
		operation = m[1]
	}
	rec := newRecord(l.n, c, operation)
	rec.Check.Result = "unknown"
	if c.Reduces() {
		rec.Op = coll.Sum // it has no other
	}
	state(rec, "tag", m[3])
	typed(rec, m[2])
	if !p.fill(rec, words, commsColumn) {
		return p.in.torn(l.n, l.text)
	}
	return p.test.add(rec)
}

// commsColumn puts one word where it belongs; false: it is none that this column can hold.
func commsColumn(rec *result.Record, name, word string) bool {
	v, ok := positive(word)
	switch {
	case strings.HasSuffix(name, "size (B)"):
		rec.SizeBytes, ok = count(word)
	case name == "nElementsPerRank":
		rec.Count, ok = count(word)
	case commsTime.MatchString(name):
		timed(rec, v, 1e-6, "", "mean over iterations, median over ranks")
	default:
		state(rec, name, word)
	}
	return ok
}
