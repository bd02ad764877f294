package timelinedoc

import (
	"cmp"
	"fmt"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// OfDiff returns a diff as a document: the result first.
func OfDiff(d *timeline.Diff) *document.Document {
	s := &timelineDocument{}
	s.say("%s", notice.Sentence(d.Result))
	for _, detail := range notice.Details(d.Result) {
		s.say("%s", detail)
	}
	for _, run := range []struct {
		side string
		timeline.DiffRun
	}{{"before", d.Before}, {"after", d.After}} {
		s.say("%s: %s, %s, %s", run.side, run.Path, units.Count(run.Ranks, "rank"),
			cmp.Or(map[bool]string{true: units.Count(run.Steps, "whole step")}[run.Steps > 0], "the whole recording"))
	}
	s.changes(d)
	s.operators(d)
	var texts []string
	for _, n := range d.Notes {
		if n.Code() != d.Result.Code() {
			texts = append(texts, notice.Paragraph(n.Fact))
		}
	}
	s.list("Limits:", texts)
	doc := &s.Document
	doc.Kind, doc.Tool, doc.Data, doc.Notices = "timeline-diff", d.Tool, d, d.Notes
	return doc
}

var changeHeads = []string{"before>", "after>", "change>", "95 % CI>", "significant"}

// changes are the tables of parts.
func (s *timelineDocument) changes(d *timeline.Diff) {
	table := func(title string, parts []timeline.PartChange) {
		var rows [][]string
		for _, p := range parts {
			if p.Before != 0 || p.After != 0 {
				name := profiles.ChangedPart{Part: p.Part, Rank: p.Rank}.Name()
				rows = append(rows, append([]string{name}, changeCells(p.Change)...))
			}
		}
		if rows != nil {
			s.title(title)
			s.table(rows, append([]string{"part"}, changeHeads...)...)
		}
	}
	of := ""
	if d.LateRank != "" {
		of = ", mean over the ranks that wait for " + d.LateRank
	} else if d.Before.Ranks > 1 {
		of = ", mean over ranks"
	}
	table(fmt.Sprintf("What changed, in ms per %s%s:", d.Per, of), d.Parts)
	s.say("Levels are means without the fifth of steps at each end, so that parts may not add up exactly. Changes "+
		"below %.3f ms are no finding.", d.Margin)
	if d.Calibrated {
		s.say("Computing is no finding: rank --step calibrates it in each launch.")
	}
	table("On "+d.LateRank+", less the mean of the other ranks, in ms:", d.OnRank)
}

// changeCells are the cells of a change.
func changeCells(c timeline.Change) []string {
	ci, significant := "-", ""
	if c.Lo != nil {
		ci = fmt.Sprintf("%+.3f to %+.3f", *c.Lo, *c.Hi)
	}
	if c.Significant {
		significant = "yes"
		if c.Lo == nil {
			significant = "unknown"
		}
	}
	return []string{three(c.Before), three(c.After), fmt.Sprintf("%+.3f", c.Delta), ci, significant}
}

// operators is the table of what accounts for the changes.
func (s *timelineDocument) operators(d *timeline.Diff) {
	var rows [][]string
	for _, o := range d.Operators[:min(len(d.Operators), mostRows)] {
		name := o.Name
		if o.Bytes > 0 {
			name += " " + coll.FormatSize(o.Bytes, true)
		}
		if o.Ranks > 0 {
			name += fmt.Sprintf(" x%d", o.Ranks)
		}
		cells := changeCells(o.Change)
		rows = append(rows, append([]string{name, string(o.Kind), cmp.Or(o.On, "the others")}, cells[:4]...))
	}
	if rows == nil {
		return
	}
	s.title(fmt.Sprintf("What accounts for it, in ms per %s, the largest change first:", d.Per))
	heads := append([]string{"name~", "kind", "on"}, changeHeads[:4]...)
	if d.LateRank == "" {
		for i, r := range rows {
			rows[i] = append(r[:2:2], r[3:]...)
		}
		heads = append(heads[:2:2], heads[3:]...)
	}
	s.table(rows, heads...)
	s.say("Collectives have their exposed time, waiting included; kernels of several streams add up.")
	if n := len(d.Operators) - len(rows); n > 0 {
		s.say("The JSON has %d more.", n)
	}
}
