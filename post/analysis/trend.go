package analysis

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"busbar/internal/stats"
	"busbar/internal/units"
)

const (
	// leastDrop is the least share of bandwidth that is missing, or more than expected, to be a finding.
	leastDrop = 0.08
	// leastJump is the least jump of the time where one law goes over into the next, and jumpBeyond how many times the scatter it is at least: where
	// to cut was chosen for the jump.
	leastJump, jumpBeyond = 1.10, 5
	// farthest is how many times as large, or as small, the next size may be that what stands out is held against.
	farthest = 4
)

// curveTrend is what a curve does over sizes: its trend, and which of its points the trend's places are.
type curveTrend struct {
	stats.Trend
	sizes  []float64
	places []int // of points, by place in the trend
}

// mostSizes is how many sizes of a curve are looked at: the work grows with their third power. Of more, every second, third, … is.
const mostSizes = 64

// trendOf is the trend of a curve, which is looked for once.
func trendOf(c *Curve) curveTrend {
	c.found.Do(func() { c.trend = findTrend(c) })
	return c.trend
}

// findTrend looks for the trend of a curve. Sizes of 0 have no place in it.
func findTrend(c *Curve) curveTrend {
	var t curveTrend
	var times, noise []float64
	for i := 0; i < len(c.Points); i += 1 + (len(c.Points)-1)/mostSizes {
		p := &c.Points[i]
		if p.SizeBytes <= 0 {
			continue
		}
		t.sizes, times, noise = append(t.sizes, float64(p.SizeBytes)), append(times, p.Time.Value), append(noise, p.noise())
		t.places = append(t.places, i)
	}
	t.Trend = stats.FindTrend(t.sizes, times, noise)
	return t
}

// noise is the standard error of the logarithm of a point's time, 0 where none is known: a quarter of the width of its 95 % interval.
func (p *Point) noise() float64 {
	if p.Basis != stats.WithinLaunch && p.Basis != stats.AcrossLaunches || p.Time.Lo <= 0 {
		return 0
	}
	return math.Log(p.Time.Hi/p.Time.Lo) / 4
}

// trends are drops, spikes, jumps, plateaus and declines of all curves, which all processors look at.
func trends(curves []*Curve, _ Options) []Finding {
	curves = judged(curves)
	found := make([][]Finding, len(curves))
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(curves); i = next.Add(1) - 1 {
				found[i] = trendFindings(curves[i])
			}
		})
	}
	all.Wait()
	return slices.Concat(found...)
}

func trendFindings(c *Curve) []Finding {
	t := trendOf(c)
	if t.TooFew {
		return nil
	}
	return slices.Concat(anomalies(c, t), jumps(c, t), plateaus(c, t), declineOf(c, t.Noise))
}

// alone says whether an anomaly has no size near it on one of its sides: what lies between is then as little known as its cause.
func (t curveTrend) alone(a stats.Anomaly) bool {
	return t.sizes[a.From] > farthest*t.sizes[a.From-1] || t.sizes[a.To+1] > farthest*t.sizes[a.To]
}

func anomalies(c *Curve, t curveTrend) (found []Finding) {
	for _, a := range t.Anomalies {
		depth := math.Abs(a.Depth)
		if depth < leastDrop || t.alone(a) {
			continue
		}
		from, to := t.places[a.From], t.places[a.To]
		deepest, gap := from, 0.0
		for place := a.From; place <= a.To; place++ {
			i := t.places[place]
			if off := math.Abs(math.Log(c.Points[i].Time.Value / t.around(a, place))); off > gap {
				deepest, gap = i, off
			}
		}
		f := Finding{Kind: Drop, Curve: c, From: c.Points[from].SizeBytes, To: c.Points[to].SizeBytes, Weight: depth, Severity: severityOf(depth)}
		verb := "below"
		if !a.Drop() {
			f.Kind, f.Severity, verb = Spike, Note, "above"
		}
		where := ""
		if from != to {
			where = "most at " + sizeOf(c.Points[deepest].SizeBytes) + ": "
		}
		if c.ofLatency(deepest) {
			f.state("%s an operation takes %s the sizes around it say (%s%s)", sizes(f.From, f.To), longer(1/(1-a.Depth)), where, units.Duration(c.Points[deepest].Time.Value))
		} else {
			f.state("%s bandwidth lies %.0f %% %s what the sizes around it say (%s%s)", sizes(f.From, f.To), 100*depth, verb, where, c.figures(deepest))
		}
		f.Evidence = []string{fmt.Sprintf("It stands out by %s standard errors of the curve's own scatter of %.1f %%; a clean curve shows as much with a chance of %s.", errorsWords(a.Z), 100*t.Noise, chanceWords(a.Chance))}
		f.Evidence = append(append(f.Evidence, c.neighbours(from, to)...), c.onceOnly()...)
		f.Hints = hintsFor(f.Kind, c, f.From, f.To)
		found = append(found, f)
	}
	return found
}

// around is the time that the trend has at the place of an anomaly: that of the law it interrupts, or of the nearest one.
func (t curveTrend) around(a stats.Anomaly, place int) float64 {
	if at := t.At(place, t.sizes[place]); at > 0 {
		return at
	}
	nearest, least := t.Segments[0], math.MaxInt
	for _, s := range t.Segments {
		if d := max(a.From-s.To, s.From-a.To); d < least {
			nearest, least = s, d
		}
	}
	return nearest.Time(t.sizes[place])
}

// longer words how a time stands to another: "49 % longer than", "33 times as long as".
func longer(ratio float64) string {
	switch {
	case ratio >= 2:
		return units.Times(ratio) + " times as long as"
	case ratio < 1:
		return fmt.Sprintf("%.0f %% less long than", 100*(1-ratio))
	}
	return fmt.Sprintf("%.0f %% longer than", 100*(ratio-1))
}

// ofLatency says that a size is so small that its bandwidth tells nobody anything: under a twentieth of the curve's largest.
func (c *Curve) ofLatency(at int) bool {
	for i := range c.Points {
		if c.AlgBW(i) > 20*c.AlgBW(at) {
			return true
		}
	}
	return false
}

// onceOnly says so where nothing tells that a point would come out alike in another launch.
func (c *Curve) onceOnly() []string {
	if len(c.Launches) > 1 {
		return nil
	}
	return []string{"It is of one launch: measure it again before much is made of it."}
}

func errorsWords(z float64) string {
	if z > 20 {
		return "more than 20"
	}
	return fmt.Sprintf("%.1f", z)
}

func chanceWords(p float64) string {
	if p < 0.001 {
		return "less than 1 in 1000"
	}
	return fmt.Sprintf("%.1f %%", 100*p)
}

// figures are the bus bandwidth and time of a point.
func (c *Curve) figures(i int) string {
	words := units.Duration(c.Points[i].Time.Value)
	if b := c.BusBW(i); b > 0 {
		words = units.Gigabytes(b) + " GB/s bus bandwidth, " + words
	}
	return words
}

// neighbours are the figures of the points beside a range.
func (c *Curve) neighbours(from, to int) []string {
	var words []string
	for _, i := range []int{from - 1, to + 1} {
		if i >= 0 && i < len(c.Points) && c.Points[i].SizeBytes > 0 {
			words = append(words, sizeOf(c.Points[i].SizeBytes)+": "+c.figures(i))
		}
	}
	switch len(words) {
	case 0:
		return nil
	case 1:
		return []string{"Beside it, " + words[0] + "."}
	}
	return []string{"Beside it, " + words[0] + "; " + words[1] + "."}
}

// jumps are the sizes at which one law goes over into the next with a jump of the time: the library changes its way there, and
// does so too early where time jumps up, too late where it jumps down.
func jumps(c *Curve, t curveTrend) (found []Finding) {
	for _, s := range t.Switches(t.sizes) {
		before, after := t.places[s.After], t.places[min(s.After+1, len(t.places)-1)]
		jump, early := s.Step, true
		if jump < 1 {
			jump, early = 1/jump, false
		}
		if jump < leastJump || jump < math.Exp(jumpBeyond*t.Noise) {
			continue
		}
		f := Finding{Kind: Step, Curve: c, From: c.Points[before].SizeBytes, To: c.Points[after].SizeBytes, Weight: 1 - 1/jump}
		word, side := "falls", "after"
		if early {
			f.Severity = min(severityOf(f.Weight), Warning)
			word = "grows"
		} else {
			side = "before"
		}
		f.state("between %s and %s time %s by a factor of %s beyond what the size explains, as where a library changes its algorithm or protocol: the sizes just %s it are slower than need be", sizeOf(f.From), sizeOf(f.To), word, units.Times(jump), side)
		f.Evidence = []string{fmt.Sprintf("%s: %s; %s: %s.", sizeOf(f.From), c.figures(before), sizeOf(f.To), c.figures(after))}
		f.Evidence = append(append(f.Evidence, c.ways(before, after)...), c.onceOnly()...)
		f.Hints = hintsFor(Step, c, f.From, f.To)
		found = append(found, f)
	}
	return found
}

// ways say which way the library took on both sides, where it tells.
func (c *Curve) ways(before, after int) []string {
	p, q := c.Points[before].Path, c.Points[after].Path
	switch {
	case p == nil || q == nil:
		return []string{"The library's way is not recorded, so the change is a guess from the times" + c.tellWay() + "."}
	case *p == *q:
		return []string{"The library says that it goes the same way on both sides, " + p.String() + ": the change is beneath it."}
	}
	return []string{fmt.Sprintf("The library goes %s before and %s after.", p, q)}
}

// tellWay is how the way can be known.
func (c *Curve) tellWay() string {
	if c.Backend == "nccl" && !c.Imported() {
		return "; rank --path records it"
	}
	return ""
}

// declined is the share of its largest bus bandwidth that a curve which declines has left at its largest size at most, and declineBeyond how many
// times the scatter it lost at least.
const declined, declineBeyond = 0.85, 4

// declineOf says that bandwidth does not stay at its largest. noise is the scatter of the logarithms of times.
func declineOf(c *Curve, noise float64) []Finding {
	left := min(declined, math.Exp(-declineBeyond*noise))
	n, best := len(c.Points), 0
	for i := range c.Points {
		if c.BusBW(i) > c.BusBW(best) {
			best = i
		}
	}
	// The last two sizes must show it: one alone may be an odd one.
	if c.BusBW(best) <= 0 || best > n-3 || c.BusBW(n-1) > left*c.BusBW(best) || c.BusBW(n-2) > left*c.BusBW(best) {
		return nil
	}
	r := ratioOfPoints(c, best, c, n-1)
	share := c.BusBW(n-1) / c.BusBW(best)
	f := Finding{Kind: Decline, Curve: c, From: c.Points[best].SizeBytes, To: c.Points[n-1].SizeBytes, Weight: 1 - share, Severity: severityOf(1 - share)}
	if r.Basis == stats.NoBounds {
		f.Severity = min(f.Severity, Warning)
	}
	f.state("bus bandwidth does not stay at its largest, %s GB/s at %s; at %s it is %s GB/s, %.0f %% less", units.Gigabytes(c.BusBW(best)), sizeOf(f.From), sizeOf(f.To), units.Gigabytes(c.BusBW(n-1)), 100*(1-share))
	f.Evidence = []string{fmt.Sprintf("At %s it is %s GB/s. The largest figure of many is one that chance favoured; what is lost is by so much overstated.", sizeOf(c.Points[n-2].SizeBytes), units.Gigabytes(c.BusBW(n-2)))}
	f.Hints = hintsFor(Decline, c, f.From, f.To)
	return []Finding{f}
}

// plateaus are ranges of sizes over which bandwidth stands still, though larger sizes have more: something holds it there.
func plateaus(c *Curve, t curveTrend) (found []Finding) {
	factor := c.Collective.BusFactor(c.World)
	for _, p := range stats.FindPlateaus(t.sizes, t.Trend) {
		from, to := t.places[p.From], t.places[p.To]
		f := Finding{Kind: Plateau, Curve: c, From: c.Points[from].SizeBytes, To: c.Points[to].SizeBytes, Weight: 1 - p.Level/p.Later}
		f.state("%s bus bandwidth stands still at %s GB/s, and rises to %s GB/s at larger sizes", sizes(f.From, f.To), units.Gigabytes(p.Level*factor), units.Gigabytes(p.Later*factor))
		f.Evidence = []string{fmt.Sprintf("%s of the trend lie within 10 %% of each other.", units.Count(p.To-p.From+1, "size"))}
		f.Hints = hintsFor(Plateau, c, f.From, f.To)
		found = append(found, f)
	}
	return found
}
