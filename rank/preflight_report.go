package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/rank/launch"
)

// verdict is what a check comes to.
type verdict string

// The verdicts. With a warning a run works, but its results or its end may not be what they seem.
const (
	passed  verdict = "ok"
	caution verdict = "warning"
	problem verdict = "problem"
)

var verdicts = map[notice.Severity]verdict{notice.Info: passed, notice.Warning: caution, notice.Error: problem}

// meaning is what the worst severity means for a run.
var meaning = map[notice.Severity]string{
	notice.Info:    "Ready",
	notice.Warning: "A run works, mind the warnings",
	notice.Error:   "Not ready",
}

// checklist is what preflight found so far, on rank 0. The watchdog or the side channel may cut it short while the
// ranks are stuck in what is being checked.
type checklist struct {
	title  string
	format document.Format
	out    io.Writer
	ranks  []launch.RankFacts

	mu      sync.Mutex
	rows    []row
	written bool
}

// add takes rows; on ranks other than 0 there is no checklist, and it does nothing.
func (c *checklist) add(rows ...row) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = append(c.rows, rows...)
}

// hasProblem reports whether one of these checks found something that ends a run.
func (c *checklist) hasProblem(checks ...string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.rows, func(r row) bool {
		return r.Severity == notice.Error && slices.Contains(checks, r.Check)
	})
}

// cutShort reports what is known when the job ends in the middle, with the reason. It does nothing for nil, or after
// write.
func (c *checklist) cutShort(cause notice.Fact) {
	if c == nil {
		return
	}
	c.add(found("communication", notice.PreflightStopped{Cause: notice.Kept{Fact: cause}}))
	_, _ = c.write() // the job ends anyway
}

// write writes the report, once, and returns the worst severity.
func (c *checklist) write() (notice.Severity, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := mergeRows(c.rows, c.ranks)
	worst := notice.Info
	for _, r := range rows {
		worst = max(worst, r.Severity)
	}
	if c.written {
		return worst, nil
	}
	c.written = true
	return worst, c.document(rows, worst).Write(c.out, c.format)
}

// preflightReport is the values of the JSON.
type preflightReport struct {
	Verdict verdict       `json:"verdict"`
	Rows    []reportedRow `json:"rows"` // in the order of the notices
}

// reportedRow is a row of the JSON.
type reportedRow struct {
	Check   string      `json:"check"`
	Verdict verdict     `json:"verdict"`
	Code    notice.Code `json:"code"`
	Found   string      `json:"found"`
	Advice  string      `json:"advice"` // what to do; empty if all is well
	Where   []string    `json:"where"`  // hosts, and ranks where not all of a host are meant
	Worst   string      `json:"worst,omitempty"`
}

// todo is what to do; "" where all is well.
func (r row) todo() string {
	if r.Severity == notice.Info {
		return ""
	}
	return r.Advice()
}

// show adds the row to a table, and below it what to do. Findings are in capitals, to be found at a glance.
func (r row) show(table *document.Table) {
	if r.Severity == notice.Info {
		table.Row(string(passed), r.Check, r.Text())
		return
	}
	table.Row(strings.ToUpper(string(verdicts[r.Severity])), r.Check, fmt.Sprintf("%s [%s]", r.Text(), r.Code()))
	head := "  advice"
	for line := range strings.Lines(r.todo()) {
		table.Row("", head, strings.TrimSpace(line))
		head = ""
	}
}

// document is the rows as a table, each with what to do, and the verdict on the whole.
func (c *checklist) document(rows []row, worst notice.Severity) *document.Document {
	d := &document.Document{Kind: "preflight", Title: c.title}
	table := &document.Table{Columns: []document.Column{{Name: "verdict"}, {Name: "check"}, {Name: "found", Wrap: true}}}
	data, count := preflightReport{Verdict: verdicts[worst]}, map[notice.Severity]int{}
	for _, r := range rows {
		count[r.Severity]++
		d.Notices = append(d.Notices, r.Notice)
		data.Rows = append(data.Rows, reportedRow{r.Check, verdicts[r.Severity], r.Code(), r.Message(), r.todo(),
			r.where(c.ranks), r.worst})
		r.show(table)
	}
	d.Data = data
	d.Add(table, &document.Section{Title: fmt.Sprintf("%s: %s, %s, %d ok", meaning[worst],
		units.Count(count[notice.Error], "problem"), units.Count(count[notice.Warning], "warning"), count[notice.Info])})
	return d
}
