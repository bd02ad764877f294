package plot

import (
	"busbar/internal/coll"
)

func (b Bandwidth) short() string {
	if b == AlgBW {
		return "algbw"
	}
	return "busbw"
}

func (b Bandwidth) title() string {
	if b == AlgBW {
		return "Algorithm bandwidth"
	}
	return "Bus bandwidth"
}

func (b Bandwidth) axis() string {
	if b == AlgBW {
		return "algbw (GB/s)"
	}
	return "busbw (GB/s)"
}

// value makes a bandwidth of the time of one operation in seconds: GB/s.
func (b Bandwidth) value(c coll.Case, seconds float64) float64 {
	if b == AlgBW {
		return c.AlgBW(seconds) / 1e9
	}
	return c.BusBW(seconds) / 1e9
}

func seconds(_ coll.Case, s float64) float64 { return s }

// curves makes a curve of each series; value turns times into what the axis counts, and leaves 0 out.
func curves(all []series, value func(coll.Case, float64) float64) []Curve {
	keys := make([]key, len(all))
	for i, s := range all {
		keys[i] = s.key
	}
	names, result := name(keys), make([]Curve, len(all))
	for i, s := range all {
		result[i].Label = names[i]
		if names[i] == "" {
			result[i].Label = s.collective.String()
		}
		result[i].Points = trace(s.cells, func(c cell) XY { return point(float64(c.of.SizeBytes), c, value) })
	}
	dress(result, keys)
	return result
}

// trace makes points of cells; those without a figure leave a gap.
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

// dress chooses the styles: a collective keeps its own in all pictures that compare collectives; twins that differ in
// placement alone share one, the one in place being hollow.
func dress(curves []Curve, keys []key) {
	own, twin := map[coll.Collective]bool{}, map[key]int{}
	placements := map[coll.Placement]bool{}
	for _, k := range keys {
		own[k.collective], placements[k.placement] = true, true
	}
	for i, k := range keys {
		if len(own) == len(keys) && len(own) > 1 {
			curves[i].Style = int(k.collective) - 1
			continue
		}
		curves[i].Hollow = k.placement == coll.InPlace && len(placements) > 1
		k.placement = 0
		if _, ok := twin[k]; !ok {
			twin[k] = len(twin)
		}
		curves[i].Style = twin[k]
	}
}

// distribution draws what iterations of one series took, from the fastest to the slowest.
func distribution(s series) []Curve {
	stats := []struct {
		label string
		of    func(cell) float64
	}{
		{"median", func(c cell) float64 { return c.s }},
		{"p99", func(c cell) float64 { return c.p99 }},
		{"p90", func(c cell) float64 { return c.p90 }},
		{"max", func(c cell) float64 { return c.max }},
		{"min", func(c cell) float64 { return c.min }},
	}
	var all []Curve
	for i, stat := range stats {
		points := trace(s.cells, func(c cell) XY {
			y := stat.of(c)
			if i == 0 {
				return XY{X: float64(c.of.SizeBytes), Y: y, Lo: c.lo, Hi: c.hi}
			}
			return XY{X: float64(c.of.SizeBytes), Y: y, Lo: y, Hi: y}
		})
		all = append(all, Curve{Label: stat.label, Style: i, Points: points})
	}
	return all
}
