// Package report makes a report about many runs, in two forms: a Markdown text, and a page that is one file. Package
// analysis finds what is in the values; this package decides what is in a report and how much of it. It writes no file
// by itself.
package report

import (
	"slices"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/pattern"
	"busbar/post/analysis"
	"busbar/post/atomicfile"
	"busbar/post/steps"
)

// Report is what is in a report. It has many fields because each section of the report has its own.
type Report struct {
	Title     string
	Made      string // when, RFC 3339 in UTC
	Tool      string // which post made it
	Totals    totals
	Banners   []notice.Notice
	Headlines []Headline
	Plan      plan
	Findings  []analysis.Finding
	Quality   qualityOf
	Files     document.Links // that were read
	LeftOut   []notice.ReportLeftOut

	answers             []analysis.Answer
	patterns            *pattern.Runs
	charts              pageData
	runs                runList
	environment, method facts
	steps               []*steps.Run
	timeline            *timelines // where one was read
	hang                []document.Block
}

// totals are how many there are of what the report lists, also where it does not list all.
type totals struct {
	Curves int
	Points int // of curves
	Rows   int // records of collectives, with a value or without
	Steps  int // points of training steps with values
}

// Headline is a notice among those that a report begins with.
type Headline struct {
	notice.Notice
	Finding int // its number, if it is a finding
}

// Notices are those of banners, plan, headlines, findings and timeline; a headline that repeats a finding counts once.
func (r *Report) Notices() []notice.Notice {
	all := slices.Concat(r.Banners, r.Plan.Notices)
	for _, h := range r.Headlines {
		if h.Finding == 0 {
			all = append(all, h.Notice)
		}
	}
	for _, f := range r.Findings {
		all = append(all, f.Notice)
	}
	if r.timeline != nil {
		all = append(all, r.timeline.found.Notices()...)
	}
	return all
}

// ignore removes the banners and headlines that shows does not show.
func (r *Report) ignore(shows func(notice.Code) bool) {
	hidden := func(n notice.Notice) bool { return !shows(n.Code()) }
	r.Banners = slices.DeleteFunc(r.Banners, hidden)
	r.Headlines = slices.DeleteFunc(r.Headlines, func(h Headline) bool { return hidden(h.Notice) })
	r.Plan.Notices = slices.DeleteFunc(r.Plan.Notices, hidden)
}

// Measured reports whether the report is about results, with timelines or without.
func (r *Report) Measured() bool { return r.timeline == nil || len(r.runs) > 0 }

// Collectives reports whether the report is about collectives: one that has no results is so too, unless it is about
// something else.
func (r *Report) Collectives() bool { return r.Measured() && (r.steps == nil || r.Totals.Rows > 0) }

// Forms are both forms of the report, as files of this name.
func (r *Report) Forms(name string) []atomicfile.Named {
	return []atomicfile.Named{{Name: name + ".html", Write: r.WritePage}, {Name: name + ".md", Write: r.WriteMarkdown}}
}
