package report

import (
	"fmt"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/footnote"
	"busbar/post/show"
	"busbar/post/steps"
)

// Limits on training steps.
const (
	headedStepRuns  = 3 // that have headlines,
	maxStepHeadings = 6 // and how many each
)

// addStepRuns takes runs of training steps. It is called before report.
func (b *builder) addStepRuns(runs []*steps.Run) {
	b.steps = runs
	for _, r := range runs {
		for _, f := range r.Files {
			if g := b.byRun[f.Run.ID]; g != nil {
				g.records = max(g.records, len(f.Records))
			}
		}
		for _, group := range r.Groups {
			for _, p := range group.Points {
				b.countStep(p)
			}
		}
	}
}

// countStep counts a point in what was planned and done, and in the quality of the data.
func (b *builder) countStep(p *steps.Point) {
	g := b.byRun[p.File.Run.ID]
	if g == nil {
		return
	}
	g.rows++
	g.counts[p.Status]++
	if p.Timed() {
		b.stepped++
	}
	r := &result.Record{Status: p.Status, Why: p.Why, Needed: p.Needed, Check: p.Check, Warnings: p.Warnings}
	r.SizeBytes = -1
	b.quality.add(g.number, "training steps", r)
}

// stepTableText explains the columns of the tables.
const stepTableText = "Times are medians over the rounds of one launch; ±% is half the width of the 95 % CI. " +
	"In turn: computation, then communication. exposed: overlapped minus computation, round by round; %step is its " +
	"share of the step. Hidden communication: %wall by the wall clock, %intvl by intervals, at most %bound. comp and " +
	"comm: the factor by which computation and communication are slower when overlapped; speed: of overlapped over " +
	"in turn; %weak: efficiency of weak scaling."

// stepsSection has the tables of post show.
func (r form) stepsSection() *document.Section {
	s := section("steps", "Training step")
	if len(r.steps) == 0 {
		return s
	}
	s.Add(document.Paragraph(stepTableText))
	for _, run := range r.steps {
		newest := run.Newest()
		title := nonEmpty(run.Step().Model, run.Library(), newest.Variant, run.World())
		of := document.NewSection(strings.Join(title, ", "),
			append(aboutSteps(run), messages(run.Findings())...))
		for _, g := range run.Groups {
			notes := &footnote.List{Shows: func(notice.Code) bool { return true }, Report: func(notice.Fact) {}}
			group := show.StepGroup(g, notes)
			group.Add(messages(g.Findings()))
			group.Add(notes.Blocks()...)
			of.Add(group)
		}
		s.Add(of)
	}
	return s
}

// aboutSteps describes the model and the computation, with caveats.
func aboutSteps(run *steps.Run) (texts document.List) {
	newest := run.Newest()
	if newest.Rehearse {
		texts = append(texts, "SIMULATED: no device was measured; these values are not about hardware.")
	}
	if why := newest.Crowded(); why != nil {
		texts = append(texts, units.Capital(notice.Message(why))+". The results below hold for such a machine alone.")
	}
	return append(texts, units.Capital(steps.About(run.Step()))+".", units.Capital(steps.How(run.Step()))+".")
}

func messages(all []notice.Notice) (texts document.List) {
	for _, n := range all {
		texts = append(texts, notice.Paragraph(n.Fact))
	}
	return texts
}

// addStepHeadlines adds what the steps show: of each run its best group, then what groups show together.
func (r *Report) addStepHeadlines(runs []*steps.Run) {
	for _, run := range runs[:min(len(runs), headedStepRuns)] {
		r.Headlines = append(r.Headlines, stepHeadlines(run, len(runs) > 1)...)
	}
	if n := len(runs) - headedStepRuns; n > 0 {
		r.Headlines = append(r.Headlines, Headline{Notice: notice.New(notice.MoreStepRuns{Runs: n})})
	}
}

// stepHeadlines are those of one run; where there are several, each names its backend.
func stepHeadlines(run *steps.Run, several bool) (all []Headline) {
	newest := run.Newest()
	whose := ""
	if several {
		whose = newest.Backend.Name
	}
	add := func(n notice.Notice, subject string) {
		if newest.Rehearse || newest.Crowded() != nil {
			n.Severity = notice.Info
		}
		n.At.Subject = subject
		all = append(all, Headline{Notice: n})
	}
	if best := run.BestGroup(); best != nil {
		subject := stepSubject(run, best)
		for _, n := range best.Findings() {
			add(n, subject)
			subject = whose
		}
	}
	for _, n := range run.Findings() {
		switch n.Fact.(type) {
		case notice.StepComputation, notice.StepPointsMissing: // the plan has what is missing
			continue
		}
		if len(all) < maxStepHeadings {
			add(n, whose)
		}
	}
	return all
}

// stepSubject is the training step of a headline, with caveats.
func stepSubject(run *steps.Run, of *steps.Group) string {
	newest := run.Newest()
	subject := fmt.Sprintf("Training step of %s, %s, %s", run.Step().Model, newest.Backend.Name, run.World())
	switch {
	case newest.Rehearse:
		subject += " (simulated: nothing about hardware)"
	case newest.Crowded() != nil:
		subject += " (oversubscribed: holds for such a machine alone)"
	}
	return subject + ", " + of.Title()
}
