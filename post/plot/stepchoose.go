package plot

import (
	"fmt"
	"slices"

	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/post/steps"
)

// mostPanels is how many groups one picture of steps holds: more of them go into another.
const mostPanels = 6

// stepBars chooses the pictures of runs of training steps: bars of all groups.
func stepBars(runs []*steps.Run) (bars []StepBars) {
	seen := map[string]int{}
	for _, r := range runs {
		var panels []StepPanel
		for _, g := range r.Groups {
			if p := panelOf(g); len(p.Bars) > 0 {
				panels = append(panels, p)
			}
		}
		run := r.Newest()
		page := Page{Name: fileName("step", run.Backend.Name, fmt.Sprint("world", run.World)),
			Title: "A training step of " + r.Step().Model + " by bucket size", Caption: barCaption(r),
			Rehearsed: run.Rehearse}
		for _, text := range []string{r.Library(), prefixed("variant ", run.Variant), r.World(), run.Device,
			prefixed("host ", run.Machine.Host), run.Start.UTC().Format("2006-01-02"),
			"computing by " + r.Step().Computing,
			run.Tool} {
			page.Subtitle = add(page.Subtitle, text)
		}
		for part := range slices.Chunk(panels, mostPanels) {
			p := page
			p.Name = numbered(seen, page.Name)
			bars = append(bars, StepBars{Page: p, Panels: part})
		}
	}
	return bars
}

// numbered tells the pictures of one name apart.
func numbered(seen map[string]int, name string) string {
	if seen[name]++; seen[name] > 1 {
		return fmt.Sprintf("%s_%d", name, seen[name])
	}
	return name
}

// barMarks are what is above a bar, and in the caption.
var barMarks = map[step.Verdict]struct{ mark, meaning string }{
	step.Best:         {"best", "best: smallest median."},
	step.Least:        {"smallest", "smallest: no other is significantly slower."},
	step.NoDifference: {"≈", "≈: not significantly slower."},
	step.TooFewRounds: {"?", "?: too few rounds."},
}

func panelOf(g *steps.Group) StepPanel {
	panel := StepPanel{Title: g.Title()}
	for _, p := range g.Points {
		if !p.Timed() {
			continue
		}
		f := p.Figures
		bar := StepBar{Label: steps.Bucket(p.Bucket), Compute: f.Compute.Figure, Comm: f.Comm.Figure,
			Sequential: f.Sequential.Figure, Overlapped: f.Overlapped.Figure,
			Mark: barMarks[g.Compared(p).Verdict].mark}
		if n := len(p.Ops); n > 0 {
			bar.Label += "\n" + units.Count(n, "op")
		}
		panel.Bars = append(panel.Bars, bar)
	}
	return panel
}

// barCaption states how the picture is read, and what its marks mean where there are any.
func barCaption(r *steps.Run) []string {
	caption := []string{"Parts of a bar are medians: exposed is overlapped less computing, hidden what is left of " +
		"communication.", "Whiskers: 95 % CI of the median over rounds of one launch."}
	for _, g := range r.Groups {
		for _, p := range g.Points {
			caption = add(caption, barMarks[g.Compared(p).Verdict].meaning)
			if p.Status == result.Unfinished {
				caption = add(caption, "The run was cut off: some points have fewer rounds.")
			}
		}
	}
	return caption
}
