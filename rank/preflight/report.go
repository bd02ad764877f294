package preflight

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// Verdict is the result of a check.
type Verdict string

// The verdicts. With a warning a run works, but its results may mislead.
const (
	Passed  Verdict = "ok"
	Caution Verdict = "warning"
	Problem Verdict = "problem"
)

var verdicts = map[notice.Severity]Verdict{notice.Info: Passed, notice.Warning: Caution, notice.Error: Problem}

// meaning describes the worst severity.
var meaning = map[notice.Severity]string{
	notice.Info:    "Ready",
	notice.Warning: "Ready with warnings",
	notice.Error:   "Not ready",
}

// Checklist collects the rows on rank 0. The watchdog or the side channel may end it while the ranks hang in a check.
type Checklist struct {
	title  string
	format document.Format
	out    io.Writer
	ranks  []launch.RankFacts

	mu      sync.Mutex
	rows    []Row
	written bool
}

// NewChecklist returns an empty list for these ranks; Write prints it to out.
func NewChecklist(ranks []launch.RankFacts, format document.Format, out io.Writer) *Checklist {
	hosts, _ := whereabouts(nil, ranks)
	return &Checklist{ranks: ranks, format: format, out: out, title: fmt.Sprintf("Preflight of %s on %s",
		units.Count(len(ranks), "rank"), units.Count(len(hosts), "host"))}
}

// SetBackends adds the checked backends to the title.
func (c *Checklist) SetBackends(names []string) {
	c.title += ": " + cmp.Or(strings.Join(names, ", "), "no backend")
}

// WriteUnconnected writes the JSON report of ranks that cannot connect; host is this rank's.
func WriteUnconnected(out io.Writer, host string, err error) {
	c := &Checklist{format: document.JSON, out: out, ranks: []launch.RankFacts{{Host: host}}}
	c.Add(Found("MPI", preflights.MPIUnusable{Failed: exit.FailureOf(err).Parts}))
	_, _ = c.Write() // the exit code reports it too
}

// Add adds rows; on ranks other than 0 the checklist is nil, and Add does nothing.
func (c *Checklist) Add(rows ...Row) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = append(c.rows, rows...)
}

// HasProblem reports whether one of these checks found an error.
func (c *Checklist) HasProblem(checks ...string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.rows, func(r Row) bool {
		return r.Severity == notice.Error && slices.Contains(checks, r.Check)
	})
}

// CutShort writes the report when the job ends early, with the reason. It does nothing for nil, or after Write.
func (c *Checklist) CutShort(cause notice.Fact) {
	if c == nil {
		return
	}
	c.Add(Found("communication", preflights.PreflightStopped{Cause: notice.Kept{Fact: cause}}))
	_, _ = c.Write() // the job ends anyway
}

// Write writes the report, once, and returns the worst severity.
func (c *Checklist) Write() (notice.Severity, error) {
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

// preflightReport holds the values of the JSON.
type preflightReport struct {
	Verdict Verdict       `json:"verdict"`
	Rows    []ReportedRow `json:"rows"` // in the order of the notices
}

// ReportedRow is a row of the JSON.
type ReportedRow struct {
	Check   string      `json:"check"`
	Verdict Verdict     `json:"verdict"`
	Code    notice.Code `json:"code"`
	Found   string      `json:"found"`
	Advice  string      `json:"advice"` // "" for ok
	Where   []string    `json:"where"`  // hosts; ranks if only some ranks of a host are affected
	Worst   string      `json:"worst,omitempty"`
}

// todo returns the advice; "" for ok.
func (r Row) todo() string {
	if r.Severity == notice.Info {
		return ""
	}
	return r.Advice()
}

// show adds the row to a table, with its advice below. Findings are in capitals.
func (r Row) show(table *document.Table) {
	if r.Severity == notice.Info {
		table.Row(string(Passed), r.Check, r.Text())
		return
	}
	table.Row(strings.ToUpper(string(verdicts[r.Severity])), r.Check, fmt.Sprintf("%s [%s]", r.Text(), r.Code()))
	head := "  advice"
	for line := range strings.Lines(r.todo()) {
		table.Row("", head, strings.TrimSpace(line))
		head = ""
	}
}

// document returns the rows as a table with advice, and the overall verdict.
func (c *Checklist) document(rows []Row, worst notice.Severity) *document.Document {
	d := &document.Document{Kind: "preflight", Title: c.title}
	table := document.NewTable("verdict", "check", "found…")
	data, count := preflightReport{Verdict: verdicts[worst]}, map[notice.Severity]int{}
	for _, r := range rows {
		count[r.Severity]++
		d.Notices = append(d.Notices, r.Notice)
		data.Rows = append(data.Rows, ReportedRow{r.Check, verdicts[r.Severity], r.Code(), r.Message(), r.todo(),
			r.where(c.ranks), r.worst})
		r.show(table)
	}
	d.Data = data
	d.Add(table, &document.Section{Title: fmt.Sprintf("%s: %s, %s, %d ok", meaning[worst],
		units.Count(count[notice.Error], "problem"), units.Count(count[notice.Warning], "warning"),
		count[notice.Info])})
	return d
}
