package timelinedoc

import (
	"cmp"
	"fmt"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// OfDiff returns a diff as a document: the result first.
func OfDiff(d *timeline.Diff) *document.Document {
	s := &timelineDocument{}
	doc := &s.Document
	doc.Kind, doc.Tool, doc.Data, doc.Notices = "timeline-diff", d.Tool, d, d.Notes
	var limits []string
	for _, n := range d.Notes {
		if f, is := n.Fact.(profiles.StepChange); is {
			s.say("%s", notice.Sentence(f))
			s.put(document.List(notice.Details(f)))
			continue
		}
		limits = append(limits, notice.Paragraph(n.Fact))
	}
	steps := "whole recordings"
	if d.Before.Steps > 0 {
		steps = fmt.Sprintf("%s and %d", units.Count(d.Before.Steps, "whole step"), d.After.Steps)
	}
	s.say("before: %s; after: %s; %s, %s", d.Before.Path, d.After.Path, units.Count(d.Before.Ranks, "rank"), steps)
	of := "ranks"
	if d.LateRank != "" {
		of = "the ranks that wait for " + d.LateRank
	}
	changed(s, fmt.Sprintf("What changed, in ms per %s, mean over %s:", d.Per, of), "part", d.Parts)
	s.say("Times are means over steps without the lowest and highest fifth. Changes below %.3f ms are no finding.",
		d.Margin)
	if d.Calibrated {
		s.say("Computing is no finding: rank --step calibrates it in each launch.")
	}
	changed(s, "On "+d.LateRank+", less the mean of the other ranks, in ms:", "part", d.LateParts)
	changed(s, "What accounts for it, in ms, collectives as far as exposed:", "operator~", d.Operators)
	s.list("Limits:", limits)
	return doc
}

// changed is a table of changes.
func changed(s *timelineDocument, title, first string, all []timeline.Changed) {
	var rows [][]string
	for _, c := range all[:min(len(all), mostRows)] {
		if c.Before == 0 && c.After == 0 {
			continue
		}
		name := cmp.Or(c.Operator, profiles.ChangedPart{Part: c.Part, Rank: c.Rank}.Name())
		if c.Operator != "" && c.Rank != "" {
			name = c.Rank + ": " + name
		}
		ci, significant := "-", "unknown"
		if c.Lo != nil {
			ci, significant = fmt.Sprintf("%+.3f to %+.3f", *c.Lo, *c.Hi), map[bool]string{true: "yes"}[c.Significant]
		}
		rows = append(rows, []string{name, three(c.Before), three(c.After), fmt.Sprintf("%+.3f", c.Change), ci,
			significant})
	}
	if rows != nil {
		s.title(title)
		s.table(rows, first, "before>", "after>", "change>", "95 % CI>", "significant")
	}
}
