package logreport

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
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

// sections are what one log is of, what was found, then the facts.
func (r *Report) sections() []document.Block {
	all := []document.Block{r.facts()}
	for _, part := range []func() []document.Block{
		r.found, r.communicators, r.choices, r.calls, r.inspected, r.ras, r.reading,
	} {
		all = append(all, part()...)
	}
	return all
}

// facts are what the whole run has in common.
func (r *Report) facts() document.Fields {
	var all document.Fields
	for _, f := range r.log.Facts() {
		all = append(all, document.Field(f))
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
		all = append(all, document.Field{Name: "settings", Value: strings.Join(given, ", ")})
	}
	return all
}

// found are the findings, and how many warnings and errors were not understood. Only where all were may it be stated
// that nothing was found.
func (r *Report) found() (all []document.Block) {
	read := r.log.Reading
	if 2*read.Damaged > read.Said {
		text := fmt.Sprintf(
			"%d of %d messages of the library could not be read. Their lines may begin in a way that post log "+
				"does not know: remove what precedes the messages, and report it with a line of the log.",
			read.Damaged,
			read.Said,
		)
		all = append(
			all,
			&document.Section{
				Title:  "Most of this log was not understood",
				Blocks: []document.Block{document.Paragraph(text)},
			},
		)
		if len(r.findings) == 0 {
			return all
		}
	} else if len(r.findings) == 0 && (read.Unexplained == 0 || r.ignored > 0) {
		title := "No problem found in this log"
		if r.ignored > 0 {
			title = "No finding but what --ignore leaves out (" + units.Count(r.ignored, "finding") + ")"
		}
		return []document.Block{&document.Section{Title: title}}
	}
	section := &document.Section{Title: "Findings, the most severe first"}
	if read.Unexplained > 0 {
		section.Add(
			document.Paragraph(fmt.Sprintf("%d of %d warnings and errors are not explained here; their text is below.",
				read.Unexplained, read.Warnings)),
		)
	}
	section.Add(document.Findings(r.findings))
	return append(all, section)
}

// communicators are a table, where there are several, or the facts do not have all of one.
func (r *Report) communicators() []document.Block {
	all := r.log.Communicators
	if len(all) < 2 {
		return nil
	}
	largest := slices.Clone(all)
	slices.SortStableFunc(largest, func(a, b nccllog.Communicator) int { return cmp.Compare(b.Ranks, a.Ranks) })
	t := &document.Table{Columns: columns("name", "ranks>", "nodes>", "wrote>", "channels>", "created by")}
	for _, c := range largest[:min(mostCommunicators, len(largest))] {
		wrote := "-"
		if c.RanksKnown() {
			wrote = fmt.Sprint(len(c.Members))
		}
		t.Row(c.Name, orDash(c.Ranks), orDash(c.Nodes), wrote, orDash(c.Channels.Coll), cmp.Or(c.Function, "-"))
	}
	return tableSection(fmt.Sprintf("Communicators (%d)", len(all)), t, len(all))
}

// tableSection is a table under its title, with the number of rows that it has not.
func tableSection(title string, t *document.Table, of int, notes ...string) []document.Block {
	section := &document.Section{Title: title, Blocks: []document.Block{t}}
	if n := of - len(t.Rows); n > 0 {
		section.Add(document.Paragraph(fmt.Sprintf("and %s", units.Count(n, "more row"))))
	}
	for _, n := range notes {
		section.Add(document.Paragraph(n))
	}
	return []document.Block{section}
}

// columns are the heads of a table; those that end in > are of numbers.
func columns(names ...string) (all []document.Column) {
	for _, name := range names {
		text, right := strings.CutSuffix(name, ">")
		all = append(all, document.Column{Name: text, Right: right, Narrow: !right})
	}
	return all
}

// orDash writes what may be unknown.
func orDash(n int) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// choices are which algorithm and protocol was used for which sizes; equal neighbours are one row.
func (r *Report) choices() []document.Block {
	rows := r.log.ChoiceRows()
	if len(rows) == 0 {
		return nil
	}
	t := &document.Table{Columns: columns("collective", "size", "algorithm/protocol", "calls>")}
	for _, c := range rows[:min(mostChoices, len(rows))] {
		t.Row(c.Name, c.Sizes, c.Way, fmt.Sprint(c.Times))
	}
	var notes []string
	if slices.ContainsFunc(rows, func(c nccllog.ChoiceRow) bool { return c.Unsure }) {
		notes = append(notes, "* bytes as in the log, of one rank or of all: the log does not show which")
	}
	if slices.ContainsFunc(rows, func(c nccllog.ChoiceRow) bool { return c.OfRank }) {
		notes = append(
			notes,
			"Sizes “per rank” are bytes of one rank: the log does not have the number of ranks (INIT records it).",
		)
	}
	return tableSection("Algorithm and protocol by size", t, len(rows), notes...)
}

// calls are what the ranks called, all of one kind together.
func (r *Report) calls() []document.Block {
	rows := r.log.CallRows()
	if len(rows) == 0 {
		return nil
	}
	t := &document.Table{Columns: columns("collective", "type", "size", "calls per rank", "ranks")}
	for _, c := range rows[:min(mostCalls, len(rows))] {
		t.Row(c.Name, c.Type, c.Sizes, c.Each, c.Ranks)
	}
	var notes []string
	if slices.ContainsFunc(r.log.Calls, func(c nccllog.Calls) bool { return c.Rank < 0 }) {
		notes = []string{
			"Where ranks are unknown, calls are of a process, with all its GPUs and communicators. INIT in " +
				"NCCL_DEBUG_SUBSYS " +
				"records ranks.",
		}
	}
	return tableSection("Calls", t, len(rows), notes...)
}

// inspected are the Inspector's values.
func (r *Report) inspected() []document.Block {
	all := r.log.Inspected
	if len(all) == 0 {
		return nil
	}
	t := &document.Table{
		Columns: columns(
			"collective",
			"size",
			"ranks>",
			"calls>",
			"median us>",
			"max us>",
			"busbw GB/s>",
			"slowest rank",
		),
	}
	for _, s := range all[:min(mostChoices, len(all))] {
		slow := "-"
		if len(s.Slow) > 1 {
			slow = fmt.Sprintf("%d (%.1f us)", s.Slow[0].Rank, s.Slow[0].Median)
		}
		size := "further sizes"
		if s.Bytes >= 0 {
			size = coll.FormatSize(s.Bytes, true)
		}
		t.Row(
			s.Name,
			size,
			fmt.Sprint(s.Ranks),
			fmt.Sprint(s.Calls),
			fmt.Sprintf("%.1f", s.Median),
			fmt.Sprintf("%.1f", s.Most),
			fmt.Sprintf("%.2f", s.Busbw),
			slow,
		)
	}
	return tableSection(
		"Measured by the Inspector",
		t,
		len(all),
		"The slowest rank has the longest median. A rank's own time includes "+
			"its waiting for others: the rank that is late has the shortest.",
	)
}

// ras are answers of ncclras.
func (r *Report) ras() (sections []document.Block) {
	for _, a := range r.log.RAS {
		section := &document.Section{Title: "RAS"}
		if a.File >= 0 && a.File < len(r.log.Files) {
			section.Title += " (" + filepath.Base(r.log.Files[a.File].Path) + ")"
		}
		var fields document.Fields
		if a.Version != "" {
			fields = append(fields, document.Field{Name: "library", Value: a.Version})
		}
		job := fmt.Sprintf("%s nodes, %s processes, %s GPUs", orDash(a.Nodes), orDash(a.Processes), orDash(a.GPUs))
		section.Add(append(fields, document.Field{Name: "job", Value: job}))
		t := &document.Table{Columns: columns("id", "communicators>", "ranks each>", "missing>", "status", "errors")}
		for _, c := range a.Comms[:min(mostCommunicators, len(a.Comms))] {
			t.Row(
				cmp.Or(c.ID, "-"),
				fmt.Sprint(c.Comms),
				orDash(c.Ranks),
				orDash(c.Missing),
				cmp.Or(c.Status, "-"),
				cmp.Or(c.Errors, "-"),
			)
		}
		if t.Rows != nil {
			section.Add(t)
		}
		if n := len(a.Comms) - mostCommunicators; n > 0 {
			section.Add(document.Paragraph(fmt.Sprintf("and %s", units.Count(n, "more row"))))
		}
		sections = append(sections, section)
	}
	return sections
}

// reading is how much was understood, and of which files.
func (r *Report) reading() []document.Block {
	const most = 6
	var lines int64
	var all document.Lines
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
			all = append(all, f.Path+": "+text)
		}
	}
	if n := len(r.log.Files); n > most {
		all = append(all, fmt.Sprintf("%d files with %d lines in all", n, lines))
	}
	if lacks := r.log.Lacks(); len(lacks) > 0 {
		all = append(all, "Not in this log (the word of NCCL_DEBUG_SUBSYS that records it): "+strings.Join(lacks, "; "))
	}
	if d := r.log.Reading; d.Said > 0 {
		all = append(
			all,
			fmt.Sprintf(
				"%d messages: %d with facts, %d without, %d damaged by others on the same line",
				d.Said,
				d.Understood,
				d.Said-d.Understood-d.Damaged,
				d.Damaged,
			),
		)
	}
	return []document.Block{&document.Section{Title: "Files", Blocks: []document.Block{all}}}
}

// contrastSections are how two logs differ.
func (r *Report) contrastSections() []document.Block {
	c := r.contrast
	all := []document.Block{document.Fields{
		{
			Name:  "A",
			Value: r.log.Title() + "; " + r.log.Paths(),
		}, {Name: "B", Value: r.other.Title() + "; " + r.other.Paths()},
	}}
	var main document.List
	for _, h := range c.Headlines {
		main = append(main, notice.Paragraph(h.Fact))
	}
	all = append(all, &document.Section{Title: "Main differences", Blocks: []document.Block{main}})
	all = append(all, differences("Differences in effect", c.Effects)...)
	all = append(all, differences("Differences in settings, versions and machines that matter", c.Causes)...)
	all = append(all, differences("Other settings that differ", c.Others)...)
	for _, side := range []struct {
		title string
		all   []notice.Notice
	}{{"Findings in A alone", c.OnlyA}, {"Findings in B alone", c.OnlyB}} {
		if len(side.all) > 0 {
			all = append(
				all,
				&document.Section{Title: side.title, Blocks: []document.Block{document.Findings(side.all)}},
			)
		}
	}
	if len(c.Same) > 0 {
		var texts []string
		for _, s := range c.Same {
			texts = append(texts, s.String())
		}
		same := document.Paragraph(strings.Join(texts, "; "))
		all = append(all, &document.Section{Title: "The same in both", Blocks: []document.Block{same}})
	}
	return all
}

func differences(title string, all []nccllog.Difference) []document.Block {
	if len(all) == 0 {
		return nil
	}
	t := &document.Table{Columns: columns("", "A", "B")}
	for _, d := range all {
		t.Row(d.What.String(), cmp.Or(d.A.String(), "not named"), cmp.Or(d.B.String(), "not named"))
	}
	return tableSection(title, t, len(all))
}
