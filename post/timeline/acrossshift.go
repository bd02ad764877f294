package timeline

import (
	"math"

	"busbar/internal/stats"
	"busbar/post/trace"
)

// mostShift is how many calls one trace may begin after another.
const mostShift = 1024

// matchOrder matches by the order in which calls began, after it has found how many calls each rank's trace begins
// later than the longest's.
func (c *comparison) matchOrder(p *party, kinds [][]kind) (found [][]int32) {
	long := 0
	for i := range p.parts {
		if len(kinds[i]) > len(kinds[long]) {
			long = i
		}
	}
	shifts := make([]int, len(p.parts))
	for i := range p.parts {
		if i == long {
			continue
		}
		s, known := c.shift(p, kinds, long, i)
		if !known {
			return nil
		}
		shifts[i] = s
	}
next:
	for n := range kinds[long] {
		m := make([]int32, len(p.parts))
		for i := range p.parts {
			at := n - shifts[i]
			if at < 0 || at >= len(kinds[i]) {
				continue next
			}
			m[i] = int32(at)
		}
		if alike(m, kinds) {
			found = append(found, m)
		}
	}
	return found
}

// shift is how many calls later than the longest's a part begins. Where steps repeat, several shifts fit: ranks of one
// host have one clock, and it decides; else the one that fits most calls is taken, and of equally many the one that the
// clocks of the hosts are for.
func (c *comparison) shift(p *party, kinds [][]kind, long, part int) (best int, known bool) {
	a, b := kinds[long], kinds[part]
	type fitting struct{ shift, calls int }
	var fits []fitting
	most := 0
	for s := -min(mostShift, len(b)-1); s <= min(mostShift, len(a)-1); s++ {
		if n := fit(a, b, s); n > 0 {
			fits = append(fits, fitting{s, n})
			most = max(most, n)
		}
	}
	one, sameHost := c.clocks(p, long, part)
	var equal []int
	for _, f := range fits {
		if sameHost || f.calls == most {
			equal = append(equal, f.shift)
		}
	}
	switch {
	case len(equal) == 1:
		return equal[0], true
	case len(equal) == 0 || !one:
		return 0, false
	}
	nearest := math.Inf(1)
	for _, s := range equal {
		if d := c.distance(p, long, part, s); d < nearest {
			best, nearest = s, d
		}
	}
	return best, true
}

// fit is how many calls of b, begun s calls into a, are of the kind of a's; 0 where too many are not, or too few are
// left to tell.
func fit(a, b []kind, s int) (same int) {
	from, to := max(0, s), min(len(a), len(b)+s)
	n := to - from
	if n <= 0 || 2*n < min(len(a), len(b)) {
		return 0
	}
	wrong := 0
	for i := from; i < to; i++ {
		if a[i] == b[i-s] {
			same++
		} else if wrong++; 100*wrong > wrongs*n {
			return 0
		}
	}
	return same
}

// clocks says whether the times of two parts can be compared at all, and whether they were taken by one clock.
func (c *comparison) clocks(p *party, a, b int) (known, sameHost bool) {
	x, y := &c.timeline.Devices[p.parts[a].device], &c.timeline.Devices[p.parts[b].device]
	known = x.origin != trace.Unknown && y.origin != trace.Unknown
	return known, known && (x.File == y.File || x.Host != "" && x.Host == y.Host)
}

// mostCompared is of about how many calls the distance is taken: there may be as many shifts to try, and a hundred
// thousand calls.
const mostCompared = 1000

// distance is how far apart the ends of calls are under a shift, in milliseconds, in the middle of calls from the whole
// recording.
func (c *comparison) distance(p *party, a, b, shift int) float64 {
	x, y := &c.timeline.Devices[p.parts[a].device], &c.timeline.Devices[p.parts[b].device]
	var apart []float64
	for i := 0; i < len(p.parts[b].calls); i += 1 + len(p.parts[b].calls)/mostCompared {
		if n := i + shift; n >= 0 && n < len(p.parts[a].calls) {
			at := p.parts[b].calls[i]
			apart = append(apart, math.Abs(milliseconds((x.seen[p.parts[a].calls[n]].end-y.seen[at].end)+(x.origin-y.origin))))
		}
	}
	return stats.Median(apart)
}
