package foreign

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// table reads CSV: that of rccl-tests, and of scripts that time all-reduce over backends, worlds and sizes.
type table struct {
	in      *input
	layout  *tableLayout
	columns []string
	last    string // row of this table; "" before the first
	tests   map[string]*test
	order   []*test
	launch  string
}

// tableLayout is a family of CSV files.
type tableLayout struct {
	tool, format string
	stated       bandwidths // that are checked against the number of ranks
	script       bool       // whose habits its rows do not tell, and which are taken for granted
	needs        [][]string // one name of each must be a column
	record       func(t *table, row tableRow, rec *result.Record) (tableRun, bool)
}

// tableRun is what rows of one run share.
type tableRun struct {
	backend, device            string
	world, nodes, perNode, gpu int
}

func newTable(in *input) *table { return &table{in: in, tests: map[string]*test{}} }

var tableLayouts = []*tableLayout{
	{tool: "rccl-tests", format: "rccl-tests CSV", stated: bandwidths{alg: "algbw", bus: "busbw"}, needs: [][]string{{"numcycle"}, {"collective"}, {"size"}, {"time"}, {"inplace"}}, record: (*table).rccl},
	{tool: "all-reduce script", format: "CSV of an all-reduce script", script: true,
		needs: [][]string{scriptBackend, scriptWorld, scriptSize, scriptTime}, record: (*table).script},
}

func (p *table) opens(l line) bool { return layoutOf(tableWords(l.text)) != nil }

// layoutOf is the layout of a line of column names; nil if it is none.
func layoutOf(names []string) *tableLayout {
	if len(names) < 4 {
		return nil
	}
	for _, layout := range tableLayouts {
		missing := slices.ContainsFunc(layout.needs, func(any []string) bool {
			return !slices.ContainsFunc(any, func(n string) bool { return slices.Contains(names, n) })
		})
		if !missing {
			return layout
		}
	}
	return nil
}

// tableWords are the fields of a line, in lower case; nil where they are no line of CSV.
func tableWords(text string) []string {
	if !strings.Contains(text, ",") {
		return nil
	}
	words, err := tableFields(text)
	if err != nil {
		return nil
	}
	for i, w := range words {
		words[i] = strings.ToLower(strings.TrimSpace(w))
	}
	return words
}

func tableFields(text string) ([]string, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	return r.Read()
}

func (p *table) take(l line) (bool, error) {
	if names := tableWords(l.text); layoutOf(names) != nil {
		if slices.Contains(names, "run") && slices.Contains(names, "launch") {
			return true, &Error{Path: p.in.file.Path, Line: l.n, Text: "this table was made by busbar from its records: use the .jsonl files that it was made from"}
		}
		if err := p.close(); err != nil {
			return true, err
		}
		p.layout, p.columns, p.launch, p.last = layoutOf(names), names, "", ""
		return true, nil
	}
	if p.layout == nil || !strings.Contains(l.text, ",") {
		return false, nil
	}
	words, err := tableFields(l.text)
	whole := err == nil && (len(words) == len(p.columns) || p.moreNodes(words))
	if whole {
		if known, err := p.row(l, words); known || err != nil {
			return known, err
		}
	}
	if p.beginsRow(l.text) {
		return true, p.in.torn(l.n, l.text)
	}
	return false, nil
}

// moreNodes reports whether a row of rccl-tests holds a number of nodes, as it does with MPI; its heading does not.
func (p *table) moreNodes(words []string) bool {
	return p.layout.tool == "rccl-tests" && len(words) == len(p.columns)+1
}

// beginsRow reports whether a line begins like a row that broke off: its first two fields are numbers where those of
// the last row are, and else single words.
func (p *table) beginsRow(text string) bool {
	fields, above := strings.SplitN(text, ",", 3), strings.SplitN(p.last, ",", 3)
	for i, field := range fields[:2] {
		_, figure := number(strings.TrimSpace(field))
		if p.last == "" {
			if len(strings.Fields(field)) != 1 {
				return false
			}
			continue
		}
		_, was := number(strings.TrimSpace(above[i]))
		if was != figure || len(strings.Fields(field)) > max(len(strings.Fields(above[i])), 1) {
			return false
		}
	}
	return true
}

// tableRow is one line by column names.
type tableRow map[string]string

// any is the value of the first of the columns that is there.
func (r tableRow) any(names []string) (value, name string) {
	for _, n := range names {
		if v := strings.TrimSpace(r[n]); v != "" {
			return v, n
		}
	}
	return "", ""
}

// whole is a whole number of a column; 0 where there is none.
func (r tableRow) whole(names ...string) int {
	v, _ := r.any(names)
	n, _ := amount(v)
	return n
}

// row makes a record of a row; false: the words are none that its columns can hold.
func (p *table) row(l line, words []string) (bool, error) {
	columns := p.columns
	if p.moreNodes(words) {
		at := slices.Index(columns, "collective") + 1
		columns = slices.Insert(slices.Clone(columns), at, "nodes")
	}
	row := tableRow{}
	for i, name := range columns {
		row[name] = words[i]
	}
	rec := &result.Record{Case: coll.Case{Root: -1, SizeBytes: -1, Count: -1}, Status: result.OK, Check: result.Check{Result: "unknown"},
		Imported: &result.Origin{Line: l.n, Stated: map[string]string{}}}
	run, ok := p.layout.record(p, row, rec)
	if !ok {
		return false, nil
	}
	t, err := p.testOf(run, l.n)
	if err != nil {
		return false, err
	}
	if p.layout.script && rec.Collective != coll.Other && rec.Collective.Shared() {
		t.deduced(notice.Deduced{What: notice.DeducedSize, From: notice.FromShare, Collective: rec.Collective.String()})
	}
	p.last = l.text
	p.in.counts.Rows++
	return true, t.add(rec)
}

// maxTableRuns bounds the runs of one table that are open at once.
const maxTableRuns = 256

// testOf is the run that a row belongs to.
func (p *table) testOf(run tableRun, n int) (*test, error) {
	key := fmt.Sprint(run)
	if t := p.tests[key]; t != nil {
		return t, nil
	}
	if len(p.order) >= maxTableRuns {
		if err := p.end(); err != nil {
			return nil, err
		}
	}
	t := p.in.newTest(p.layout.tool, p.layout.format, n)
	t.stated = p.layout.stated
	if p.launch == "" {
		p.launch = t.run.Launch
	}
	t.run.Launch = p.launch
	if p.layout.script {
		t.deduced(notice.ScriptHabits{})
	}
	t.run.World, t.run.Nodes, t.run.RanksPerNode, t.run.Device = run.world, run.nodes, run.perNode, run.device
	t.run.Backend = result.Backend{Name: run.backend, Library: libraryBy(strings.ToUpper(run.backend), "", p.layout.tool)}
	p.tests[key], p.order = t, append(p.order, t)
	return t, nil
}

// end closes the runs that are open.
func (p *table) end() error {
	for _, t := range p.order {
		if err := t.end(result.Complete, nil); err != nil {
			return err
		}
	}
	p.tests, p.order = map[string]*test{}, nil
	return nil
}

func (p *table) close() error {
	p.layout = nil
	return p.end()
}
