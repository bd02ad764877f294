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
		given = append(given, s.Name+"="+s.Value)
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
func (r *Report) found() []document.Block {
	read := r.log.Reading
	var all []document.Block
	if 2*read.Damaged > read.Said {
		all = section("Most of this log was not understood", document.Paragraph(fmt.Sprintf(
			"%d of %d messages of the library could not be read. Their lines may begin in a way that post log "+
				"does not know: remove what precedes the messages, and report it with a line of the log.",
			read.Damaged, read.Said)))
	}
	switch {
	case len(r.findings) > 0 || all == nil && read.Unexplained > 0 && r.ignored == 0:
	case all != nil:
		return all
	case r.ignored > 0:
		return section("No finding but what --ignore leaves out (" + units.Count(r.ignored, "finding") + ")")
	default:
		return section("No problem found in this log")
	}
	var blocks []document.Block
	if read.Unexplained > 0 {
		blocks = append(blocks, document.Paragraph(fmt.Sprintf(
			"%d of %d warnings and errors are not explained here; their text is below.",
			read.Unexplained,
			read.Warnings,
		)))
	}
	return append(all, section("Findings, the most severe first", append(blocks, document.Findings(r.findings))...)...)
}

// section is one section.
func section(title string, blocks ...document.Block) []document.Block {
	return []document.Block{document.NewSection(title, blocks...)}
}

// communicators are a table, where there are several.
func (r *Report) communicators() []document.Block {
	largest := slices.Clone(r.log.Communicators)
	if len(largest) < 2 {
		return nil
	}
	units.SortBy(largest, func(c nccllog.Communicator) int { return -c.Ranks })
	return tableSection(fmt.Sprintf("Communicators (%d)", len(largest)),
		document.NewTable("name~", "ranks>", "nodes>", "wrote>", "channels>", "created by~"), mostCommunicators,
		largest,
		func(c nccllog.Communicator) []any {
			wrote := len(c.Members)
			if !c.RanksKnown() {
				wrote = nccllog.Unknown
			}
			return []any{c.Name, c.Ranks, c.Nodes, wrote, c.Channels.Coll, c.Function}
		})
}

// tableSection is a table of the first rows under its title, with the number of further ones; none without rows.
func tableSection[T any](title string, t *document.Table, most int, all []T, cells func(T) []any,
	notes ...string,
) []document.Block {
	if len(all) == 0 {
		return nil
	}
	blocks := fill(t, most, all, cells)
	for _, n := range notes {
		blocks = append(blocks, document.Paragraph(n))
	}
	return section(title, blocks...)
}

// fill adds the first rows to a table, and the number of further ones below it. An empty text and an unknown number are
// a dash.
func fill[T any](t *document.Table, most int, all []T, cells func(T) []any) []document.Block {
	for _, row := range all[:min(most, len(all))] {
		var texts []string
		for _, cell := range cells(row) {
			text := fmt.Sprint(cell)
			if text == "" || cell == nccllog.Unknown {
				text = "-"
			}
			texts = append(texts, text)
		}
		t.Row(texts...)
	}
	blocks := []document.Block{t}
	if n := len(all) - most; n > 0 {
		blocks = append(blocks, document.Paragraph("and "+units.Count(n, "more row")))
	}
	return blocks
}

// choices are which algorithm and protocol was used for which sizes; equal neighbours are one row.
func (r *Report) choices() []document.Block {
	rows := r.log.ChoiceRows()
	var notes []string
	if slices.ContainsFunc(rows, func(c nccllog.ChoiceRow) bool { return c.Unsure }) {
		notes = append(notes, "* bytes as in the log, of one rank or of all: the log does not show which")
	}
	if slices.ContainsFunc(rows, func(c nccllog.ChoiceRow) bool { return c.OfRank }) {
		notes = append(notes,
			"Sizes “per rank” are bytes of one rank: the log does not have the number of ranks (INIT records it).")
	}
	return tableSection("Algorithm and protocol by size",
		document.NewTable("collective~", "size~", "algorithm/protocol~", "calls>"), mostChoices, rows,
		func(c nccllog.ChoiceRow) []any { return []any{c.Name, c.Sizes, c.Way, c.Times} }, notes...)
}

// calls are what the ranks called, all of one kind together.
func (r *Report) calls() []document.Block {
	var notes []string
	if slices.ContainsFunc(r.log.Calls, func(c nccllog.Calls) bool { return c.Rank < 0 }) {
		notes = []string{
			"Where ranks are unknown, calls are of a process, with all its GPUs and communicators. INIT in " +
				"NCCL_DEBUG_SUBSYS records ranks.",
		}
	}
	return tableSection("Calls", document.NewTable("collective~", "type~", "size~", "calls per rank~", "ranks~"),
		mostCalls, r.log.CallRows(),
		func(c nccllog.CallRow) []any { return []any{c.Name, c.Type, c.Sizes, c.Each, c.Ranks} }, notes...)
}

// inspected are the Inspector's values.
func (r *Report) inspected() []document.Block {
	return tableSection("Measured by the Inspector",
		document.NewTable("collective~", "size~", "ranks>", "calls>", "median us>", "max us>", "busbw GB/s>",
			"slowest rank~"), mostChoices, r.log.Inspected,
		func(s nccllog.Inspected) []any {
			slow := ""
			if len(s.Slow) > 1 {
				slow = fmt.Sprintf("%d (%.1f us)", s.Slow[0].Rank, s.Slow[0].Median)
			}
			return []any{s.Name, coll.FormatSize(s.Bytes, true), s.Ranks, s.Calls, fmt.Sprintf("%.1f", s.Median),
				fmt.Sprintf("%.1f", s.Most), fmt.Sprintf("%.2f", s.Busbw), slow}
		},
		"The slowest rank has the longest median. A rank's own time includes its waiting for others: the rank that is "+
			"late has the shortest.")
}

// ras are answers of ncclras.
func (r *Report) ras() (sections []document.Block) {
	number := func(n int) string {
		if n < 0 {
			return "-"
		}
		return fmt.Sprint(n)
	}
	for _, a := range r.log.RAS {
		fields := document.Fields{{Name: "job", Value: fmt.Sprintf("%s nodes, %s processes, %s GPUs", number(a.Nodes),
			number(a.Processes), number(a.GPUs))}}
		if a.Version != "" {
			fields = slices.Insert(fields, 0, document.Field{Name: "library", Value: a.Version})
		}
		blocks := []document.Block{fields}
		if len(a.Comms) > 0 {
			blocks = append(blocks, fill(
				document.NewTable("id~", "communicators>", "ranks each>", "missing>", "status~", "errors~"),
				mostCommunicators,
				a.Comms,
				func(c nccllog.RASComm) []any {
					return []any{c.ID, c.Comms, c.Ranks, c.Missing, c.Status, c.Errors}
				},
			)...)
		}
		title := "RAS (" + filepath.Base(r.log.Files[a.File].Path) + ")"
		sections = append(sections, section(title, blocks...)...)
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
		if i >= most && f.Cut == "" {
			continue
		}
		text := f.Path + ": " + string(f.Form)
		if f.Lines > 0 { // RAS's JSON is read as one document
			text += ", " + units.Count(int(f.Lines), "line")
		}
		if f.Cut != "" {
			text += "; ends early: " + f.Cut
		}
		all = append(all, text)
	}
	if n := len(r.log.Files); n > most {
		all = append(all, fmt.Sprintf("%d files with %d lines in all", n, lines))
	}
	if lacks := r.log.Lacks(); len(lacks) > 0 {
		all = append(all, "Not in this log (the word of NCCL_DEBUG_SUBSYS that records it): "+strings.Join(lacks, "; "))
	}
	if d := r.log.Reading; d.Said > 0 {
		all = append(all, fmt.Sprintf("%d messages: %d with facts, %d without, %d damaged by others on the same line",
			d.Said, d.Understood, d.Said-d.Understood-d.Damaged, d.Damaged))
	}
	return section("Files", all)
}

// contrastSections are how two logs differ.
func (r *Report) contrastSections() []document.Block {
	c := r.contrast
	var main document.List
	for _, h := range c.Headlines {
		main = append(main, notice.Paragraph(h.Fact))
	}
	var same []string
	for _, s := range c.Same {
		same = append(same, s.String())
	}
	all := slices.Concat(
		[]document.Block{document.Fields{
			{Name: "A", Value: r.log.Title() + "; " + r.log.Paths()},
			{Name: "B", Value: r.other.Title() + "; " + r.other.Paths()},
		}},
		section("Main differences", main),
		differences("Differences in effect", c.Effects),
		differences("Differences in settings, versions and machines that matter", c.Causes),
		differences("Other settings that differ", c.Others),
	)
	if len(c.OnlyA) > 0 {
		all = append(all, section("Findings in A alone", document.Findings(c.OnlyA))...)
	}
	if len(c.OnlyB) > 0 {
		all = append(all, section("Findings in B alone", document.Findings(c.OnlyB))...)
	}
	if same != nil {
		all = append(all, section("The same in both", document.Paragraph(strings.Join(same, "; ")))...)
	}
	return all
}

func differences(title string, all []nccllog.Difference) []document.Block {
	return tableSection(title, document.NewTable("~", "A~", "B~"), len(all), all, func(d nccllog.Difference) []any {
		return []any{d.What, cmp.Or(d.A.String(), "not named"), cmp.Or(d.B.String(), "not named")}
	})
}
