package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/post/steps"
)

// mostPanels is how many groups one picture of steps holds: more of them go into another.
const mostPanels = 6

// Steps chooses the pictures of runs of training steps: bars of all groups, and over time the best step of each.
func Steps(runs []*steps.Run) (bars []StepBars, lanes []StepLanes) {
	names := stepNames(runs)
	for i, r := range runs {
		var panels []StepPanel
		var rows []StepRow
		for _, g := range r.Groups {
			if p := panelOf(g); len(p.Bars) > 0 {
				panels = append(panels, p)
			}
			if row := rowOf(g); row.StepTimeline != nil {
				rows = append(rows, row)
			}
		}
		subtitle := stepFacts(r)
		for n, part := range slices.Collect(slices.Chunk(panels, mostPanels)) {
			bars = append(bars, StepBars{Name: names[i] + numbered(n), Title: "A training step of " + r.Step().Model +
				" by bucket size", Subtitle: subtitle, Caption: barWords(r), Panels: part, Rehearsed: r.Newest().Rehearse})
		}
		for n, part := range slices.Collect(slices.Chunk(rows, mostPanels)) {
			lanes = append(lanes, StepLanes{Name: names[i] + "_timeline" + numbered(n), Title: "A training step of " +
				r.Step().Model + " over time", Subtitle: subtitle, Caption: laneWords, Rows: part, Rehearsed: r.Newest().Rehearse})
		}
	}
	return bars, lanes
}

// numbered is what tells the second picture of one kind from the first.
func numbered(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("_%d", n+1)
}

// stepNames are file names without extension: by backend and world, and where runs share these, by model and the time
// of the start.
func stepNames(runs []*steps.Run) []string {
	names := make([]string, len(runs))
	for _, more := range []func(*steps.Run) string{
		func(r *steps.Run) string {
			return fmt.Sprintf("step_%s_world%d", r.Newest().Backend.Name, r.Newest().World)
		},
		func(r *steps.Run) string { return r.Step().Model },
		func(r *steps.Run) string { return r.Newest().Start.UTC().Format("20060102T150405Z") },
	} {
		count := map[string]int{}
		for _, name := range names {
			count[name]++
		}
		for i, r := range runs {
			if names[i] == "" || count[names[i]] > 1 {
				names[i] = fileName(names[i], more(r))
			}
		}
	}
	seen := map[string]int{}
	for i, name := range names {
		names[i] += numbered(seen[name])
		seen[name]++
	}
	return names
}

func stepFacts(r *steps.Run) []string {
	run := r.Newest()
	var facts []string
	for _, text := range []string{r.Library(), prefixed("variant ", run.Variant), r.World(), run.Device,
		prefixed("host ", run.Machine.Host), run.Start.UTC().Format("2006-01-02"), "computing by " + r.Step().Computing,
		run.Tool} {
		facts = add(facts, text)
	}
	return facts
}

func panelOf(g *steps.Group) StepPanel {
	panel := StepPanel{Title: g.Title()}
	for _, p := range g.Points {
		if !p.Timed() {
			continue
		}
		f := p.Figures
		bar := StepBar{Label: steps.Bucket(p.Bucket), Compute: f.Compute.Figure, Comm: f.Comm.Figure,
			Sequential: f.Sequential.Figure, Overlapped: f.Overlapped.Figure}
		if n := len(p.Ops); n > 0 {
			bar.Under = units.Count(n, "op")
		}
		switch g.Compared(p).Verdict {
		case step.Best:
			bar.Mark = "best"
		case step.Least:
			bar.Mark = "smallest"
		case step.NoDifference:
			bar.Mark = "≈"
		case step.TooFewRounds:
			bar.Mark = "?"
		}
		panel.Bars = append(panel.Bars, bar)
	}
	return panel
}

// rowOf is the best step of a group over time; without a timeline where its record has none.
func rowOf(g *steps.Group) StepRow {
	p := g.Best
	if p == nil || p.Timeline == nil || p.Timeline.Span <= 0 {
		return StepRow{}
	}
	return StepRow{fmt.Sprintf("%s, bucket %s, rank %d", g.Title(), steps.Bucket(p.Bucket), p.Timeline.Rank), p.Timeline}
}

// barWords say how the picture is read, and what its marks mean where there are any.
func barWords(r *steps.Run) []string {
	words := []string{"Parts of a bar are medians: exposed is overlapped less computing, hidden what is left of " +
		"communication.", "Whiskers: 95 % CI of the median over rounds of one launch."}
	marks := map[step.Verdict]bool{}
	unfinished := false
	for _, g := range r.Groups {
		for _, p := range g.Points {
			marks[g.Compared(p).Verdict] = true
			unfinished = unfinished || p.Status == result.Unfinished
		}
	}
	var said []string
	for _, m := range []struct {
		verdict step.Verdict
		says    string
	}{{step.Best, "best: smallest median"}, {step.Least, "smallest: no other is significantly slower"},
		{step.NoDifference, "≈: not significantly slower"}, {step.TooFewRounds, "?: too few rounds"}} {
		if marks[m.verdict] {
			said = append(said, m.says)
		}
	}
	if said != nil {
		words = append(words, strings.Join(said, "; ")+".")
	}
	if unfinished {
		words = append(words, "The run was cut off: some points have fewer rounds.")
	}
	return words
}

var laneWords = []string{
	"The last overlapped step of the best bucket of each group, on one rank; numbers are those of the operations in " +
		"their order.",
	"An operation is on its way from its start to the moment in which its end was seen.",
}

// longestStep is the largest time of panels, in seconds.
func longestStep(panels []StepPanel) (most float64) {
	for _, p := range panels {
		for _, bar := range p.Bars {
			most = max(most, bar.Overlapped.Value, bar.Overlapped.Hi, bar.Sequential.Value, bar.Sequential.Hi)
		}
	}
	return cmp.Or(most, 1)
}
