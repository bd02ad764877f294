package analysis

import (
	"fmt"
	"slices"

	"busbar/internal/stats"
	"busbar/internal/units"
)

const (
	fewestLaunches = 3    // to say how launches differ
	leastSpread    = 1.25 // of the slowest launch's time over the fastest's
	muchSpread     = 1.5
)

// variations are the ranges of sizes at which launches of one thing differ by a quarter or more.
func variations(curves []*Curve, _ Options) (found []Finding) {
	for _, c := range judged(curves) {
		if f, is := variationOf(c); is {
			found = append(found, f)
		}
	}
	return found
}

func variationOf(c *Curve) (f Finding, is bool) {
	var spreads []float64
	most, at, from, to := 0.0, 0, 0, 0
	slowest := make([]int, len(c.Launches)) // how often each launch was the slowest
	for i := range c.Points {
		p := &c.Points[i]
		if len(p.Launches) < fewestLaunches {
			continue
		}
		high := slices.Index(p.Launches, slices.Max(p.Launches))
		spread := p.Launches[high] / slices.Min(p.Launches)
		if spread < leastSpread {
			continue
		}
		if spreads == nil {
			from = i
		}
		if to = i; spread > most {
			most, at = spread, i
		}
		spreads = append(spreads, spread)
		if len(p.Launches) == len(c.Launches) {
			slowest[high]++
		}
	}
	if len(spreads) == 0 {
		return f, false
	}
	// A few sizes are chance, unless they differ by much: the more launches there are, the further lie their extremes apart. One is in any case.
	middle := stats.Median(spreads)
	few := len(spreads) <= 2 || 3*len(spreads) < len(c.Points)
	if len(c.Points) > 3 && (len(spreads) == 1 || few && middle < muchSpread) {
		return f, false
	}
	f = Finding{Kind: Variation, Curve: c, From: c.Points[from].SizeBytes, To: c.Points[to].SizeBytes, Weight: 1 - 1/middle}
	switch {
	case middle >= 2:
		f.Severity = Serious
	case middle >= muchSpread:
		f.Severity = Warning
	}
	p := &c.Points[at]
	f.state("launches differ at %d of %s, at most by a factor of %s (%s; %s, from %s to %s)", len(spreads), units.Count(len(c.Points), "size"),
		units.Times(most), sizeOf(p.SizeBytes), units.Count(len(p.Launches), "launch"), units.Duration(slices.Min(p.Launches)), units.Duration(slices.Max(p.Launches)))
	f.Evidence = []string{fmt.Sprintf("In the middle of those sizes the slowest launch takes %s times as long as the fastest. A figure of one launch is then worth no more than that.", units.Times(middle))}
	if i := slices.Index(slowest, slices.Max(slowest)); 3*slowest[i] >= 2*len(spreads) {
		f.Evidence = append(f.Evidence, fmt.Sprintf("Launch %s is the slowest at %d of them%s: look at what was different about it.", short(c.Launches[i]), slowest[i], c.whereRan(i)))
	}
	if c.Imported() {
		f.Severity = min(f.Severity, Warning)
		f.Evidence = append(f.Evidence, "Each file is taken for a launch. Whether all were started alike is not known.")
	}
	f.Hints = hintsFor(Variation, c, f.From, f.To)
	return f, true
}

// short is the beginning of a launch's name, as far as people compare such.
func short(launch string) string {
	if r := []rune(launch); len(r) > 18 {
		return string(r[:18]) + "…"
	}
	return launch
}

// whereRan says on which host rank 0 of a launch ran, and when it began.
func (c *Curve) whereRan(launch int) string {
	for _, run := range c.Runs {
		if run.PairedBy() == c.Launches[launch] && run.Machine.Host != "" {
			return fmt.Sprintf(" (rank 0 on %s, %s)", run.Machine.Host, run.Start.UTC().Format("2006-01-02 15:04 UTC"))
		}
	}
	return ""
}
