package analysis

import (
	"iter"
	"slices"

	"busbar/internal/stats"
)

// Ratio divides the time of a point by that of another: launch by launch where both curves are of the same
// launches, else as a whole.
func Ratio(a *Curve, i int, b *Curve, j int) stats.Ratio {
	p, q := &a.Points[i], &b.Points[j]
	switch {
	case len(p.Launches) == 0 && len(q.Launches) == 0:
		r := stats.RatioOf(p.Time, q.Time)
		r.Paired = len(a.Launches) == 1 && slices.Equal(a.Launches, b.Launches)
		return r
	case len(p.Launches) == len(a.Launches) && len(q.Launches) == len(b.Launches) &&
		slices.Equal(a.Launches, b.Launches):
		ratios := make([]float64, len(p.Launches))
		for k := range ratios {
			ratios[k] = p.Launches[k] / q.Launches[k]
		}
		return stats.RatioOfPairs(ratios)
	}
	return stats.RatioOfLaunches(p.byLaunch(), q.byLaunch())
}

// byLaunch are the medians of all launches, also of one alone.
func (p *Point) byLaunch() []float64 {
	if p.Launches == nil {
		return []float64{p.Time.Value}
	}
	return p.Launches
}

// beyond reports whether a ratio is significantly over 1: by its interval, or in all of three launches or more.
func beyond(r stats.Ratio) bool {
	switch r.Basis {
	case stats.WithinLaunch, stats.AcrossLaunches:
		return r.Lo > 1
	case stats.LaunchSpread:
		return r.N >= fewestToSpread && r.Lo > 1
	}
	return false
}

// fewestToSpread is the minimum number of launches whose extremes are evidence. Three fall on one side by chance in one
// of eight cases, so this is never called significant.
const fewestToSpread = 3

// Shared yields the places of the sizes that both curves measured.
func Shared(a, b *Curve) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i := range a.Points {
			if j, both := b.sameSize(a.Points[i].SizeBytes); both && !yield(i, j) {
				return
			}
		}
	}
}

// sameSize finds a size of another curve: where ranks share the data, it is trimmed differently in each world.
func (c *Curve) sameSize(bytes int64) (at int, found bool) {
	at, _ = slices.BinarySearchFunc(c.Points, bytes, func(p Point, b int64) int {
		return int(min(1, max(-1, p.SizeBytes-b)))
	})
	for _, i := range []int{at, at - 1} {
		if i < 0 || i >= len(c.Points) {
			continue
		}
		if r := float64(c.Points[i].SizeBytes) / float64(bytes); r > 0.97 && r < 1.03 {
			return i, true
		}
	}
	return 0, false
}
