package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// Timelines is what a report says of timelines: what was found in them, and a picture of some GPUs.
type Timelines struct {
	Found   *timeline.Timeline `json:"found"`
	Picture Picture            `json:"picture"`
}

// OfTimeline is a report about timelines alone: it has nothing of results.
func OfTimeline(t *timeline.Timeline, o Options) *Report {
	r := &Report{Title: cmp.Or(o.Title, titleOf(t)), Made: o.Made.UTC().Format(time.RFC3339), Tool: o.Tool, Bases: bases}
	r.addTimeline(t, o)
	return r.whole()
}

// addTimeline puts timelines beside what a report says of results.
func (r *Report) addTimeline(t *timeline.Timeline, o Options) {
	r.Timeline = &Timelines{Found: t, Picture: pictureOf(t)}
	r.Headlines = append(r.Headlines, headlinesOf(t, r.Measured())...)
	for i, f := range t.Files {
		if i == maxFiles {
			r.LeftOut = append(r.LeftOut, notice.ReportLeftOut{Shown: maxFiles, Of: len(t.Files), What: notice.LeftTraces})
			break
		}
		r.Files = append(r.Files, File{Name: f.Path, Href: hrefFrom(o.Dir, f.Path), What: strings.Join(nonEmpty("timeline", f.Tool), ", ")})
	}
	r.whole()
}

// Measured says whether the report is about results, with timelines or without.
func (r *Report) Measured() bool { return r.Timeline == nil || r.Totals.Runs > 0 }

// Collectives says whether the report is about collectives: one that has no results is so too, unless it is about something else.
func (r *Report) Collectives() bool { return r.Measured() && (r.Steps == nil || r.Totals.Rows > 0) }

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

func titleOf(t *timeline.Timeline) string {
	title := "Timeline of " + units.Count(len(t.Working()), t.Unit())
	if gpus := gpusOf(t); gpus != "" && len(gpus) <= longestInTitle {
		title += ", " + gpus
	}
	return title
}

// longestInTitle is how long the names of GPUs may be for a title: longer ones stand in the tables alone.
const longestInTitle = 80

// gpusOf names the GPUs, each kind once.
func gpusOf(t *timeline.Timeline) string {
	var names []string
	for _, d := range t.Devices {
		if d.GPU != "" && !slices.Contains(names, d.GPU) {
			names = append(names, d.GPU)
		}
	}
	return units.Some(names)
}

// headlinesOf is what a report states first of timelines; beside results each states what it is about.
func headlinesOf(t *timeline.Timeline, besideResults bool) (all []Headline) {
	for _, f := range t.InShort() {
		h := Headline{Notice: notice.New(f)}
		h.Severity = notice.Info // what to do is in the section
		if besideResults {
			h.At.Subject = "Timeline of " + units.Count(len(t.Working()), t.Unit())
		}
		all = append(all, h)
	}
	return all
}

// ms writes milliseconds with three decimals, as every text about a timeline does.
func ms(v float64) string { return fmt.Sprintf("%.3f", v) }

// sizeOf writes a size. Sizes of gradients are seldom powers of two: then two decimals do.
func sizeOf(bytes int64) string {
	exact := coll.FormatSize(bytes, true)
	if number, _, _ := strings.Cut(exact, " "); len(number) <= len("1023") {
		return exact
	}
	for _, unit := range []struct {
		name string
		of   float64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if v := float64(bytes) / unit.of; v >= 1 {
			return fmt.Sprintf("%.2f %s", v, unit.name)
		}
	}
	return exact
}
