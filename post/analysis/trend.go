package analysis

import (
	"math"
	"slices"
	"sync"

	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

const (
	// minDrop is the minimum relative deviation of bandwidth to report.
	minDrop = 0.08
	// minJump is the minimum jump of the time between two lines of the model, and jumpBeyond its minimum ratio to the
	// scatter: the cut was chosen to maximise the jump.
	minJump, jumpBeyond = 1.10, 5
	// farthest is the maximum ratio between an outlier's size and its neighbours.
	farthest = 4
)

// curveTrend is what a curve does over sizes: its trend, and which of its points the trend's places are.
type curveTrend struct {
	stats.Trend
	sizes  []float64
	places []int // of points, by place in the trend
}

// mostSizes is how many sizes of a curve are looked at: the work grows with their third power. Of more, every second,
// third, … is.
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
		t.sizes, t.places = append(t.sizes, float64(p.SizeBytes)), append(t.places, i)
		times, noise = append(times, p.Time.Value), append(noise, p.noise())
	}
	t.Trend = stats.FindTrend(t.sizes, times, noise)
	return t
}

// noise is the standard error of the logarithm of a point's time, 0 where none is known: a quarter of the width of its
// 95 % interval.
func (p *Point) noise() float64 {
	if p.Basis != stats.WithinLaunch && p.Basis != stats.AcrossLaunches || p.Time.Lo <= 0 {
		return 0
	}
	return math.Log(p.Time.Hi/p.Time.Lo) / 4
}

// trends are drops, spikes, jumps and declines of all curves, which are looked for in parallel.
func trends(curves []*Curve, _ Options) []Finding {
	curves = judged(curves)
	found := make([][]Finding, len(curves))
	var all sync.WaitGroup
	for i, c := range curves {
		all.Go(func() {
			if t := trendOf(c); t.Segments != nil {
				found[i] = slices.Concat(anomalies(c, t), jumps(c, t), declineOf(c, t.Noise))
			}
		})
	}
	all.Wait()
	return slices.Concat(found...)
}

// alone reports whether an anomaly has no near size on one side, so that its range and its cause are unknown.
func (t curveTrend) alone(a stats.Anomaly) bool {
	return t.sizes[a.From] > farthest*t.sizes[a.From-1] || t.sizes[a.To+1] > farthest*t.sizes[a.To]
}

func anomalies(c *Curve, t curveTrend) (found []Finding) {
	for _, a := range t.Anomalies {
		depth := math.Abs(a.Depth)
		if depth < minDrop || t.alone(a) {
			continue
		}
		from, to, deepest := t.places[a.From], t.places[a.To], t.places[a.Deepest]
		o := notice.Outlier{
			Depth:   units.Share(depth),
			At:      c.value(deepest),
			Sigma:   notice.Sigma(a.Z),
			Scatter: units.Share(t.Noise),
			Chance:  units.Probability(a.Chance),
			Beside:  c.neighbours(from, to),
			Once:    len(c.Launches) == 1,
		}
		if c.BusBW(c.best()) > 20*c.BusBW(deepest) { // bandwidth of sizes this small is not relevant
			o.Depth, o.Slower = 0, units.Factor(1/(1-a.Depth))
		}
		fact, severity := notice.Fact(notice.Spike{Outlier: o}), notice.Info
		if a.Drop() {
			fact, severity = notice.Drop{Outlier: o}, severityOf(depth)
		}
		found = append(found, c.finding(fact, severity, depth, c.Points[from].SizeBytes, c.Points[to].SizeBytes))
	}
	return found
}

// value is the time and bandwidth of a point.
func (c *Curve) value(i int) notice.Value {
	return notice.Value{
		Size:  units.Bytes(c.Points[i].SizeBytes),
		BusBW: units.Bandwidth(c.BusBW(i)),
		Time:  units.Seconds(c.Points[i].Time.Value),
	}
}

// neighbours are the values of the points beside a range.
func (c *Curve) neighbours(from, to int) (all []notice.Value) {
	for _, i := range []int{from - 1, to + 1} {
		if i >= 0 && i < len(c.Points) && c.Points[i].SizeBytes > 0 {
			all = append(all, c.value(i))
		}
	}
	return all
}

// jumps are the sizes at which the time jumps between two lines of the model: likely a protocol switch, too early if
// the time increases and too late if it decreases.
func jumps(c *Curve, t curveTrend) (found []Finding) {
	for _, s := range t.Switches(t.sizes) {
		before, after := t.places[s.After], t.places[min(s.After+1, len(t.places)-1)]
		jump, direction := s.Step, "up"
		if jump < 1 {
			jump, direction = 1/jump, "down"
		}
		if jump < minJump || jump < math.Exp(jumpBeyond*t.Noise) {
			continue
		}
		weight, severity := 1-1/jump, notice.Info
		if direction == "up" {
			severity = min(severityOf(weight), notice.Warning)
		}
		fact := notice.Switch{
			Direction: direction,
			Factor:    units.Factor(jump),
			Before:    c.value(before),
			After:     c.value(after),
			Path:      c.pathChange(before, after),
			Once:      len(c.Launches) == 1,
		}
		found = append(found,
			c.finding(fact, severity, weight, c.Points[before].SizeBytes, c.Points[after].SizeBytes))
	}
	return found
}

// pathChange is which path the library took on both sides, where that is recorded.
func (c *Curve) pathChange(before, after int) notice.PathChange {
	p, q := c.Points[before].Path, c.Points[after].Path
	if p == nil || q == nil {
		return notice.PathChange{}
	}
	return notice.PathChange{Before: p.String(), After: q.String()}
}

// declined is the share of its largest bus bandwidth that a curve which declines has left at its largest size at most,
// and declineBeyond how many times the scatter it lost at least.
const declined, declineBeyond = 0.85, 4

// declineOf reports a bandwidth that drops beyond its peak. noise is the scatter of the logarithms of times.
func declineOf(c *Curve, noise float64) []Finding {
	left := min(declined, math.Exp(-declineBeyond*noise))
	n, best := len(c.Points), c.best()
	// The last two sizes must show it: one alone may be an odd one.
	if c.BusBW(best) <= 0 || best > n-3 || c.BusBW(n-1) > left*c.BusBW(best) || c.BusBW(n-2) > left*c.BusBW(best) {
		return nil
	}
	r := Ratio(c, best, c, n-1)
	share := c.BusBW(n-1) / c.BusBW(best)
	severity := severityIn(r, 1-share)
	fact := notice.Decline{
		Loss: units.Share(1 - share), Peak: c.value(best), Last: c.value(n - 1), Before: c.value(n - 2),
	}
	return []Finding{c.finding(fact, severity, 1-share, c.Points[best].SizeBytes, c.Points[n-1].SizeBytes)}
}
