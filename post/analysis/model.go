package analysis

import (
	"cmp"
	"math"

	"busbar/internal/stats"
)

// Model describes the times of a curve over sizes: t = α + S/β, or several such lines one after the other. A parameter
// that the measured sizes do not determine is unknown.
type Model struct {
	Curve    *Curve
	Segments []Segment       // by size; empty if the sizes are too few or no model fits
	Latency  stats.Parameter // s, the time of the smallest sizes: α of the first line
	// Bandwidth is the limit for large sizes, in bytes per second: β of the last line as bus bandwidth, or as algorithm
	// bandwidth if the collective has no other.
	Bandwidth stats.Parameter
	Half      stats.Parameter // bytes, n½: the size from which on half of that is reached; known only if it is
	// of the bounds: NoBounds is the scatter around the model, else launches, each with lines of its own
	Basis stats.Basis
	Noise float64 // standard deviation of log t around the model: 0.02 is 2 %
	Odd   int     // outlier sizes
}

// mostScatter is the maximum standard deviation of points around the lines. Beyond it, no model fits.
const mostScatter = 0.10

// Segment is a line of the model, from one measured size to another, both included.
type Segment struct {
	From, To int64   // bytes
	Alpha    float64 // s
	PerByte  float64 // s
	// Step is the ratio of this line's time to that of the line before, where the model changes; 0 for the first.
	Step float64
}

// ModelOf is the model of a curve; without lines if its sizes are too few, or no model fits.
func ModelOf(c *Curve) Model {
	m := Model{Curve: c}
	if _, trusted := c.Trusted(); !trusted {
		return m
	}
	t := trendOf(c)
	if m.Noise = t.Noise; len(t.Segments) == 0 || m.Noise > mostScatter {
		return m
	}
	for _, s := range t.Segments {
		m.Segments = append(m.Segments, Segment{From: int64(t.sizes[s.From]), To: int64(t.sizes[s.To]),
			Alpha: s.Alpha.Value, PerByte: 1 / s.Beta.Value})
	}
	for i, s := range t.Switches(t.sizes) {
		m.Segments[i+1].Step = s.Step
	}
	first, last := t.Segments[0].Fit, t.Segments[len(t.Segments)-1].Fit
	m.Latency, m.Bandwidth, m.Half = first.Alpha, times(last.Beta, c.factor()), halfOf(t, last)
	for _, out := range t.Out {
		if out {
			m.Odd++
		}
	}
	m.overLaunches(t)
	return m
}

// factor converts algorithm bandwidth to the bandwidth of the model.
func (c *Curve) factor() float64 { return cmp.Or(c.Collective.BusFactor(c.World), 1) }

func times(p stats.Parameter, factor float64) stats.Parameter {
	return stats.Parameter{Value: factor * p.Value, Lo: factor * p.Lo, Hi: factor * p.Hi, Known: p.Known}
}

// halfOf is the size from which on the model reaches half of its bandwidth, by the last line where that applies. An
// earlier line has only the bandwidth at its bounds, and twice the scatter in addition.
func halfOf(t curveTrend, last stats.Fit) stats.Parameter {
	value := t.half()
	switch {
	case value == last.Half.Value:
		return last.Half
	case !last.Beta.Known:
		return stats.Parameter{}
	}
	wider := 2 * math.Exp(2*t.Noise)
	half := stats.Parameter{
		Value: value, Lo: t.reaches(last.Beta.Lo / wider), Hi: t.reaches(last.Beta.Hi * wider / 4),
	}
	half.Known = half.Lo > t.sizes[0] && !math.IsInf(half.Hi, 1)
	return half
}

// half is the size at which the model reaches half of its bandwidth: n½ of the last line, or a smaller size.
func (t curveTrend) half() float64 {
	last := t.Segments[len(t.Segments)-1]
	if at := t.reaches(last.Beta.Value / 2); len(t.Segments) > 1 && at <= t.sizes[last.From] {
		return at
	}
	return last.Half.Value
}

// overLaunches replaces the scatter by the variation between launches, if several launches measured all sizes. All
// launches have lines over the same sizes.
func (m *Model) overLaunches(t curveTrend) {
	n := len(m.Curve.Launches)
	if n < 2 {
		return
	}
	latency, bandwidth, half := make([]float64, n), make([]float64, n), make([]float64, n)
	for l := range n {
		own, all := t.ofLaunch(m.Curve, l)
		if !all {
			return
		}
		last := own.Segments[len(own.Segments)-1].Beta.Value
		latency[l], bandwidth[l], half[l] = own.Segments[0].Alpha.Value, last*m.Curve.factor(), own.half()
	}
	for p, values := range map[*stats.Parameter][]float64{&m.Latency: latency, &m.Bandwidth: bandwidth, &m.Half: half} {
		if p.Known {
			var e stats.Estimate
			e, m.Basis = stats.MedianOfLaunches(values)
			p.Value, p.Lo, p.Hi = e.Value, e.Lo, e.Hi
		}
	}
}

// ofLaunch are the lines of one launch; all reports whether it measured every size.
func (t curveTrend) ofLaunch(c *Curve, launch int) (own curveTrend, all bool) {
	own = curveTrend{sizes: t.sizes, places: t.places}
	for _, s := range t.Segments {
		var sizes, times []float64
		for i := s.From; i <= s.To; i++ {
			p := &c.Points[t.places[i]]
			if len(p.Launches) != len(c.Launches) {
				return own, false
			}
			if !t.Out[i] {
				sizes, times = append(sizes, t.sizes[i]), append(times, p.Launches[launch])
			}
		}
		own.Segments = append(own.Segments,
			stats.Segment{From: s.From, To: s.To, Fit: stats.FitAlphaBeta(sizes, times)})
	}
	return own, true
}

// reaches is the first size at which the model has a bandwidth, in bytes per second: within a line, or the first size
// of the next line after a jump. It is the first size of all if that has it, and +Inf if none has.
func (t curveTrend) reaches(bandwidth float64) float64 {
	for _, s := range t.Segments {
		from, to := t.sizes[s.From], t.sizes[s.To]
		if from/s.Time(from) >= bandwidth {
			return from
		}
		if to/s.Time(to) >= bandwidth { // within this line
			return s.Alpha.Value / (1/bandwidth - 1/s.Beta.Value)
		}
	}
	return math.Inf(1)
}
