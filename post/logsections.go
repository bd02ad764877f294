package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/units"
	"busbar/post/nccllog"
)

// What is shown at most of a list; the JSON has all.
const (
	mostCommunicators = 8
	mostSettings      = 12
	mostChoices       = 24
	mostCalls         = 16
)

// sections tells what one log says: what it is of, what was found, then the facts.
func (r *logReport) sections(p logPage) {
	p.title(r.log.Title())
	r.facts(p)
	r.found(p)
	r.communicators(p)
	r.choices(p)
	r.calls(p)
	r.inspected(p)
	r.ras(p)
	r.reading(p)
}

// facts are what the whole run has in common.
func (r *logReport) facts(p logPage) {
	for _, f := range r.log.Facts() {
		p.fact(f.Name, f.Value)
	}
	var given []string
	for _, s := range r.log.Settings {
		if s.From != "mention" && s.From != "default" {
			given = append(given, s.Name+"="+s.Value)
		}
	}
	if len(given) > mostSettings {
		given = append(given[:mostSettings:mostSettings], fmt.Sprintf("and %d more", len(given)-mostSettings))
	}
	if len(given) > 0 {
		p.fact("settings", strings.Join(given, ", "))
	}
}

// found tells the findings, and how many warnings and errors were not understood. Only where all were may it be said that
// nothing was found.
func (r *logReport) found(p logPage) {
	unexplained, read := r.log.Reading.Unexplained, r.log.Reading
	unread := read.Damaged + read.NotUnderstood
	if 2*unread > read.Said {
		p.title("Most of this log was not understood")
		p.line(fmt.Sprintf("%d of %d messages of the library could not be read. What precedes each line may be unknown to "+
			"post log: remove it, and report it with a line of the log.", unread, read.Said))
		if len(r.findings) == 0 {
			return
		}
	} else if len(r.findings) == 0 && unexplained == 0 {
		p.title("Nothing wrong was found in this log")
		return
	}
	p.title("What is worth knowing, the gravest first")
	if unexplained > 0 {
		p.line(fmt.Sprintf("%d of %d warnings and errors are not explained here; their text is below.", unexplained, r.log.Reading.Warnings))
	}
	for i, f := range r.findings {
		p.finding(i+1, f)
	}
}

// communicators are a table, where there are several, or one is not told by the facts.
func (r *logReport) communicators(p logPage) {
	all := r.log.Communicators
	if len(all) < 2 {
		return
	}
	p.title(fmt.Sprintf("Communicators (%d)", len(all)))
	largest := slices.Clone(all)
	slices.SortStableFunc(largest, func(a, b nccllog.Communicator) int { return cmp.Compare(b.Ranks, a.Ranks) })
	var rows [][]string
	for _, c := range largest[:min(mostCommunicators, len(largest))] {
		wrote := "-"
		if c.RanksKnown() {
			wrote = fmt.Sprint(len(c.Members))
		}
		rows = append(rows, []string{c.Name, orDash(c.Ranks), orDash(c.Nodes), wrote, orDash(c.Channels.Coll), cmp.Or(c.Function, "-")})
	}
	p.table([]string{"name", "ranks", "nodes", "wrote", "channels", "made by"}, rows)
	if n := len(all) - mostCommunicators; n > 0 {
		p.line(fmt.Sprintf("and %d more, not larger", n))
	}
}

// orDash writes what may be unknown.
func orDash(n int) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// choices are which algorithm and protocol was taken for which sizes; neighbours alike are one row.
func (r *logReport) choices(p logPage) {
	rows := r.log.ChoiceRows()
	if len(rows) == 0 {
		return
	}
	p.title("Algorithm and protocol by size")
	var cells [][]string
	for _, c := range rows[:min(mostChoices, len(rows))] {
		cells = append(cells, []string{c.Name, c.Sizes, c.Way, fmt.Sprint(c.Times)})
	}
	p.table([]string{"collective", "size", "way", "calls"}, cells)
	if n := len(rows) - mostChoices; n > 0 {
		p.line(fmt.Sprintf("and %d more rows", n))
	}
	if slices.ContainsFunc(rows, func(c nccllog.ChoiceRow) bool { return c.Unsure }) {
		p.line("* the bytes as the log has them: whether they are of one rank or of all is not known there")
	}
	if slices.ContainsFunc(rows, func(c nccllog.ChoiceRow) bool { return c.OfRank }) {
		p.line("Sizes “a rank” are bytes of one rank: how many ranks there are is not in this log (INIT tells).")
	}
}

// calls are what the ranks called, all of one kind together.
func (r *logReport) calls(p logPage) {
	rows := r.log.CallRows()
	if len(rows) == 0 {
		return
	}
	p.title("Calls")
	byProcess := slices.ContainsFunc(r.log.Calls, func(c nccllog.Calls) bool { return c.Rank < 0 })
	var cells [][]string
	for _, c := range rows[:min(mostCalls, len(rows))] {
		cells = append(cells, []string{c.Name, c.Type, c.Sizes, c.Each, c.Ranks})
	}
	p.table([]string{"collective", "type", "size", "calls a rank", "ranks"}, cells)
	if n := len(rows) - mostCalls; n > 0 {
		p.line(fmt.Sprintf("and %d more rows", n))
	}
	if byProcess {
		p.line("Where ranks are not known, calls are of a process, with all its GPUs and communicators. INIT in NCCL_DEBUG_SUBSYS names ranks.")
	}
}

// inspected are the Inspector's figures.
func (r *logReport) inspected(p logPage) {
	if len(r.log.Inspected) == 0 {
		return
	}
	p.title("Measured by the Inspector")
	var rows [][]string
	for _, s := range r.log.Inspected[:min(mostChoices, len(r.log.Inspected))] {
		slow := "-"
		if len(s.Slow) > 1 {
			slow = fmt.Sprintf("%d (%.1f us)", s.Slow[0].Rank, s.Slow[0].Median)
		}
		size := s.Sizes
		if s.Bytes >= 0 {
			size = coll.FormatSize(s.Bytes, true)
		}
		rows = append(rows, []string{s.Name, size, fmt.Sprint(s.Ranks), fmt.Sprint(s.Calls), fmt.Sprintf("%.1f", s.Median), fmt.Sprintf("%.1f", s.Most),
			fmt.Sprintf("%.2f", s.Busbw), slow})
	}
	p.table([]string{"collective", "size", "ranks", "calls", "median us", "max us", "busbw GB/s", "longest median: rank"}, rows)
	if n := len(r.log.Inspected) - mostChoices; n > 0 {
		p.line(fmt.Sprintf("and %d more rows", n))
	}
	p.line("Times are those of the Inspector. A rank's own time holds its waiting for others: the rank that is late has the shortest.")
}

// ras are answers of ncclras.
func (r *logReport) ras(p logPage) {
	for _, a := range r.log.RAS {
		name := "RAS"
		if a.File >= 0 && a.File < len(r.log.Files) {
			name += " (" + filepath.Base(r.log.Files[a.File].Path) + ")"
		}
		p.title(name)
		if a.Version != "" {
			p.fact("library", a.Version)
		}
		p.fact("job", fmt.Sprintf("%s nodes, %s processes, %s GPUs", orDash(a.Nodes), orDash(a.Processes), orDash(a.GPUs)))
		var rows [][]string
		for _, c := range a.Comms[:min(mostCommunicators, len(a.Comms))] {
			rows = append(rows, []string{cmp.Or(c.ID, "-"), fmt.Sprint(c.Comms), orDash(c.Ranks), orDash(c.Missing), cmp.Or(c.Status, "-"), cmp.Or(c.Errors, "-")})
		}
		if rows != nil {
			p.table([]string{"id", "communicators", "ranks each", "missing", "status", "errors"}, rows)
		}
		if n := len(a.Comms) - mostCommunicators; n > 0 {
			p.line(fmt.Sprintf("and %d more", n))
		}
	}
}

// reading tells how much was understood, and of which files.
func (r *logReport) reading(p logPage) {
	p.title("Read")
	const most = 6
	var lines int64
	for i, f := range r.log.Files {
		lines += f.Lines
		if i < most || f.Cut != "" {
			text := string(f.Form)
			if f.Lines > 0 { // RAS's JSON is read as one document
				text += ", " + units.Count(int(f.Lines), "line")
			}
			if f.Cut != "" {
				text += "; ends early: " + f.Cut
			}
			p.line(f.Path + ": " + text)
		}
	}
	if n := len(r.log.Files); n > most {
		p.line(fmt.Sprintf("%d files with %d lines in all", n, lines))
	}
	if lacks := r.log.Lacks(); len(lacks) > 0 {
		p.line("Not in this log, with the word of NCCL_DEBUG_SUBSYS that records it: " + strings.Join(lacks, "; "))
	}
	if d := r.log.Reading; d.Said > 0 {
		p.line(fmt.Sprintf("%d messages: facts were taken from %d, %d hold none, %d were damaged by others on the same line, %d (%.1f %%) have a shape that is not known",
			d.Said, d.Understood, d.Passed, d.Damaged, d.NotUnderstood, d.Share))
		if d.Share >= 1 {
			for _, s := range d.Shapes[:min(3, len(d.Shapes))] {
				p.line(fmt.Sprintf("not known: %s (%d)", s.Text, s.Times))
			}
		}
	}
}

// contrastSections tells in what two logs differ.
func (r *logReport) contrastSections(p logPage) {
	c := r.contrast
	p.title("A against B")
	p.fact("A", r.log.Title()+"; "+r.log.Paths())
	p.fact("B", r.other.Title()+"; "+r.other.Paths())
	p.title("What stands out")
	for _, h := range c.Headlines {
		p.line(h)
	}
	for _, d := range c.Doubts {
		p.line("Mind: " + d + ".")
	}
	differences(p, "What was done otherwise", c.Effects)
	differences(p, "What was given otherwise, and is known to matter", c.Causes)
	differences(p, "Settings that differ and are not known to matter", c.Others)
	for _, side := range []struct {
		title string
		all   []nccllog.Finding
	}{{"Findings in A alone", c.OnlyA}, {"Findings in B alone", c.OnlyB}} {
		if len(side.all) == 0 {
			continue
		}
		p.title(side.title)
		for i, f := range side.all {
			p.finding(i+1, f)
		}
	}
	if len(c.Same) > 0 {
		p.title("The same in both")
		p.line(strings.Join(c.Same, "; "))
	}
}

func differences(p logPage, title string, all []nccllog.Difference) {
	if len(all) == 0 {
		return
	}
	p.title(title)
	var rows [][]string
	for _, d := range all {
		rows = append(rows, []string{d.What, cmp.Or(d.A, "not named"), cmp.Or(d.B, "not named")})
	}
	p.table([]string{"", "A", "B"}, rows)
}
