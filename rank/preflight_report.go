package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"busbar/internal/units"
)

// checklist is what preflight found so far, on rank 0. The watchdog or the side channel may cut it short while the
// ranks are stuck in what is being checked.
type checklist struct {
	title  string
	asJSON bool
	out    io.Writer
	ranks  []rankFacts

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

// hasProblem says whether one of these checks found something that ends a run.
func (c *checklist) hasProblem(checks ...string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.rows, func(r row) bool { return r.Verdict == problem && slices.Contains(checks, r.Check) })
}

// cutShort reports what is known when the job ends in the middle, with the reason. It does nothing for nil, or after write.
func (c *checklist) cutShort(reason string) {
	if c == nil {
		return
	}
	found, _, _ := strings.Cut(reason, "\n")
	c.add(bad("communication", "see the rank and host that are named: its log, its network, and whether the others can reach it; later checks were not made", "%s", found))
	_, _ = c.write() // the job ends anyway
}

// write writes the report, once, and returns the worst verdict.
func (c *checklist) write() (verdict, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := mergeRows(c.rows, c.ranks)
	worst := worstOf(rows)
	if c.written {
		return worst, nil
	}
	c.written = true
	if !c.asJSON {
		_, err := io.WriteString(c.out, table(c.title, rows, c.ranks))
		return worst, err
	}
	text, err := json.Marshal(struct {
		Verdict verdict `json:"verdict"`
		Rows    []row   `json:"rows"`
	}{worst, rows})
	if err == nil {
		_, err = c.out.Write(append(text, '\n'))
	}
	return worst, err
}

func worstOf(rows []row) verdict {
	worst := 0
	for _, r := range rows {
		worst = max(worst, slices.Index(verdicts, r.Verdict))
	}
	return verdicts[worst]
}

// table is the report for people, 80 columns wide.
func table(title string, rows []row, ranks []rankFacts) string {
	const width, indent = 80, 27
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", title)
	count := map[verdict]int{}
	for _, r := range rows {
		count[r.Verdict]++
		text := shorten(r.Found)
		if at := r.place(ranks); at != "" {
			text = at + ": " + text
		}
		mark := string(r.Verdict)
		if r.Verdict != passed { // found at a glance, without colour
			mark = strings.ToUpper(mark)
		}
		for i, line := range wrap(text, width-indent) {
			if i > 0 {
				mark, r.Check = "", ""
			}
			fmt.Fprintf(&b, "%-8s %-17s %s\n", mark, r.Check, line)
		}
		for i, line := range wrap(shorten(r.Advice), width-indent-3) {
			lead := "->"
			if i > 0 {
				lead = "  "
			}
			if line != "" {
				fmt.Fprintf(&b, "%-*s%s %s\n", indent, "", lead, line)
			}
		}
	}
	fmt.Fprintf(&b, "\n%s, %s, %d ok: %s\n", units.Count(count[problem], "problem"), units.Count(count[caution], "warning"), count[passed], meaning[worstOf(rows)])
	return b.String()
}

// shorten leaves out of a message of several lines its indentation and the list of places that were tried.
func shorten(text string) string {
	var lines []string
	tried := -1
	for line := range strings.Lines(text) {
		switch {
		case strings.TrimSpace(line) == "tried:":
			tried = 0
		case tried >= 0 && strings.HasPrefix(line, "  "):
			tried++
		default:
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	if tried > 0 {
		lines = append(lines, fmt.Sprintf("(%s tried, --json lists them)", units.Count(tried, "place")))
	}
	return strings.Join(lines, "\n")
}

// meaning is what a verdict on the whole says of a run.
var meaning = map[verdict]string{
	passed:  "ready",
	caution: "a run works, mind the warnings",
	problem: "not ready",
}
