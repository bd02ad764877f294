package plot

import (
	"cmp"

	"busbar/internal/coll"
)

// Measure is what is drawn of points.
type Measure uint8

// The measures.
const (
	BusBW Measure = iota
	AlgBW
	operationTime
	latency
)

// measures describe them; value makes what the Y axis counts of the time of one operation in seconds.
var measures = [...]struct {
	short, title string
	y            Axis
	value        func(coll.Case, float64) float64
}{
	BusBW: {"busbw", "Bus bandwidth", Axis{"busbw (GB/s)", Linear},
		func(c coll.Case, seconds float64) float64 { return c.BusBW(seconds) / 1e9 }},
	AlgBW: {"algbw", "Algorithm bandwidth", Axis{"algbw (GB/s)", Linear},
		func(c coll.Case, seconds float64) float64 { return c.AlgBW(seconds) / 1e9 }},
	operationTime: {"time", "Time of one operation", Axis{"time of one operation", Seconds}, seconds},
	latency:       {"latency", "Latency", Axis{"latency (median)", Seconds}, seconds},
}

func seconds(_ coll.Case, s float64) float64 { return s }

// timeOf is the measure of time in the mode of series, which have one mode.
func timeOf(all []series) Measure {
	if all[0].Mode == coll.Latency {
		return latency
	}
	return operationTime
}

// curves makes a curve of each series; value turns times into what the axis counts, and leaves 0 out.
func curves(all []series, value func(coll.Case, float64) float64) []Curve {
	result, keys := make([]Curve, len(all)), keysOf(all)
	for i, s := range all {
		result[i].Points = trace(s.cells, func(c cell) XY { return point(float64(c.of.SizeBytes), c, value) })
	}
	dress(result, keys)
	return result
}

func keysOf(all []series) []key {
	keys := make([]key, len(all))
	for i, s := range all {
		keys[i] = s.key
	}
	return keys
}

// trace makes points of cells; those without a value leave a gap.
func trace(cells []cell, point func(cell) XY) (points []XY) {
	gap := false
	for _, c := range cells {
		xy := point(c)
		if xy.Y <= 0 {
			gap = len(points) > 0
			continue
		}
		xy.Gap, gap = gap, false
		points = append(points, xy)
	}
	return points
}

func point(x float64, c cell, value func(coll.Case, float64) float64) XY {
	a, b := value(c.of, c.lo), value(c.of, c.hi)
	return XY{X: x, Y: value(c.of, c.s), Lo: min(a, b), Hi: max(a, b)}
}

// dress labels curves and sets their styles: a collective has the same style in all plots that compare collectives.
func dress(curves []Curve, keys []key) {
	collectives := map[coll.Collective]bool{}
	for _, k := range keys {
		collectives[k.Collective] = true
	}
	names := name(keys)
	for i, k := range keys {
		curves[i].Label, curves[i].Style = cmp.Or(names[i], k.Collective.String()), i
		if len(collectives) == len(keys) && len(keys) > 1 {
			curves[i].Style = int(k.Collective) - 1
		}
	}
}

// distribution draws what iterations of one series took, from the fastest to the slowest.
func distribution(s series) (all []Curve) {
	for i, label := range []string{"median", "p99", "p90", "max", "min"} {
		all = append(all, Curve{Label: label, Style: i, Points: trace(s.cells, func(c cell) XY {
			v := []float64{c.s, c.p99, c.p90, c.max, c.min}[i]
			if i > 0 { // an interval is the median's
				c.lo, c.hi = v, v
			}
			return XY{X: float64(c.of.SizeBytes), Y: v, Lo: c.lo, Hi: c.hi}
		})})
	}
	return all
}
