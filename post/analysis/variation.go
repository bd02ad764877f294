package analysis

import (
	"slices"

	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

const (
	fewestLaunches = 3    // minimum to compare launches
	minSpread      = 1.25 // of the slowest launch's time over the fastest's
	muchSpread     = 1.5
)

// variations are the ranges of sizes at which launches of one thing differ by a quarter or more.
func variations(curves []*Curve, _ Options) (found []Finding) {
	for _, c := range judged(curves) {
		found = append(found, variationOf(c)...)
	}
	return found
}

// variationOf returns the finding on a curve; nil if there is none.
func variationOf(c *Curve) []Finding {
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
		if spread < minSpread {
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
		return nil
	}
	// A few sizes are chance, unless they differ by much: the more launches there are, the further lie their extremes
	// apart. One is in any case.
	middle := stats.Median(spreads)
	few := len(spreads) <= 2 || 3*len(spreads) < len(c.Points)
	if len(c.Points) > 3 && (len(spreads) == 1 || few && middle < muchSpread) {
		return nil
	}
	severity := notice.Info
	switch {
	case middle >= 2:
		severity = notice.Error
	case middle >= muchSpread:
		severity = notice.Warning
	}
	if c.Imported() {
		severity = min(severity, notice.Warning)
	}
	p := &c.Points[at]
	fact := notice.LaunchVariation{
		Sizes:    len(spreads),
		Of:       len(c.Points),
		Factor:   units.Factor(most),
		At:       units.Bytes(p.SizeBytes),
		Launches: len(p.Launches),
		Fastest: units.Seconds(
			slices.Min(p.Launches),
		),
		Slowest:  units.Seconds(slices.Max(p.Launches)),
		Median:   units.Factor(middle),
		Imported: c.Imported(),
	}
	if i := slices.Index(slowest, slices.Max(slowest)); 3*slowest[i] >= 2*len(spreads) {
		fact.Launch, fact.SlowAt = units.Truncate(c.Launches[i], 18), slowest[i]
		fact.Host, fact.Start = c.whereRan(i)
	}
	return []Finding{c.finding(fact, severity, 1-1/middle, c.Points[from].SizeBytes, c.Points[to].SizeBytes)}
}

// whereRan is the host of rank 0 of a launch, and when it began; "" where that is not recorded.
func (c *Curve) whereRan(launch int) (host, start string) {
	for _, run := range c.Runs {
		if run.PairedBy() == c.Launches[launch] && run.Machine.Host != "" {
			return run.Machine.Host, run.Start.UTC().Format("2006-01-02 15:04 UTC")
		}
	}
	return "", ""
}
