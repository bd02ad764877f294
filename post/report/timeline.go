package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/timeline"
	"busbar/post/timelinedoc"
)

// timelines are what was found in timelines, and a plot of some GPUs.
type timelines struct {
	found *timeline.Timeline
	plot  lanePlot
}

// OfTimeline is a report about timelines alone: it has nothing of results.
func OfTimeline(t *timeline.Timeline, o Options) *Report {
	r := &Report{Title: titleOf(t), Made: o.Made.UTC().Format(time.RFC3339), Tool: o.Tool}
	r.addTimeline(t, o)
	return r
}

// addTimeline adds timelines to the report.
func (r *Report) addTimeline(t *timeline.Timeline, o Options) {
	r.timeline = &timelines{found: t, plot: lanePlotOf(t)}
	subject := ""
	if r.Measured() {
		subject = "Timeline of " + units.Count(len(t.Working()), t.Unit())
	}
	for _, f := range t.InShort() {
		h := Headline{Notice: notice.New(f)}
		h.Severity = notice.Info // what to do is in the section
		h.At.Subject = subject
		r.Headlines = append(r.Headlines, h)
	}
	for _, f := range t.Files {
		r.Files = append(r.Files, document.Link{Name: f.Path, Href: hrefFrom(o.Dir, f.Path)})
	}
}

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

func titleOf(t *timeline.Timeline) string {
	title := "Timeline of " + units.Count(len(t.Working()), t.Unit())
	var names []string
	for _, d := range t.Devices {
		if d.GPU != "" {
			names = units.AddOnce(names, d.GPU)
		}
	}
	return strings.Join(nonEmpty(title, units.Some(names)), ", ")
}

// alignedText is how rows of the plot are aligned.
const alignedText = "Rows are aligned by the ends of the collectives that they share, not by the clocks of their " +
	"hosts. A row without one begins with its own first activity."

// timelineSection is what timelines show: on the page their plot, then what post timeline prints.
func (r form) timelineSection() *document.Section {
	s := section("timeline", "Timeline")
	if r.timeline == nil {
		return s
	}
	t, plot := r.timeline.found, &r.timeline.plot
	s.Add(document.Paragraph(readWords(t)))
	if r.page {
		s.Add(chart("timeline-picture", "plot of each "+t.Unit()+" over time"))
		if len(plot.Rows) > 1 {
			s.Add(document.Paragraph(alignedText))
		}
		s.Add(paragraphs(leftOut(plot.LeftOut))...)
	}
	if len(plot.Sights) > 0 {
		items := document.Items{First: 1}
		for _, one := range plot.Sights {
			items.All = append(items.All, document.Item{Text: one.Label + ": " + one.Text})
		}
		s.Add(section("timeline-look", "Where to look first", document.Paragraph(
			"The steps with the most exposed communication, on the "+t.Unit()+" that takes longest in each."), items))
	}
	s.Add(timelinedoc.Details(t)...)
	return s
}

// readWords are how many devices, files and steps were read, and which patterns applied.
func readWords(t *timeline.Timeline) string {
	steps, of := 0, "without steps"
	for _, d := range t.Devices {
		steps = max(steps, len(d.Steps))
	}
	if steps > 0 {
		of = units.Count(steps, "step")
	}
	text := fmt.Sprintf("%s in %s, %s.", units.Count(len(t.Working()), t.Unit()), units.Count(len(t.Files), "file"), of)
	if p := t.Rule.CommPattern; p != "" {
		text += " Kernels that match " + p + " count as communication too."
	}
	if p := t.Rule.StepPattern; p != "" {
		text += " Steps are ranges that match " + p + "."
	}
	return text
}
