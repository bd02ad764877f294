package timeline

import (
	"math"

	"busbar/internal/stats"
	"busbar/post/trace"
)

// mostShift is how many calls one trace may begin after another.
const mostShift = 1024

// inOrder matches by the order in which calls began, after it has found how many calls each rank's trace begins
// later than the longest's.
func (m *matcher) inOrder() (found [][]int32) {
	long := 0
	for i := range m.parts {
		if len(m.kinds[i]) > len(m.kinds[long]) {
			long = i
		}
	}
	shifts := make([]int, len(m.parts))
	for i := range m.parts {
		if i == long {
			continue
		}
		s, known := m.shift(long, i)
		if !known {
			return nil
		}
		shifts[i] = s
	}
next:
	for n := range m.kinds[long] {
		one := make([]int32, len(m.parts))
		for i := range m.parts {
			at := n - shifts[i]
			if at < 0 || at >= len(m.kinds[i]) {
				continue next
			}
			one[i] = int32(at)
		}
		if m.alike(one) {
			found = append(found, one)
		}
	}
	return found
}

// shift is how many calls later than the longest's a part begins. Where steps repeat, several shifts fit: ranks of one
// host have one clock, and it decides; else the one that fits most calls is taken, and of equally many the one that the
// clocks of the hosts are for.
func (m *matcher) shift(long, part int) (best int, known bool) {
	a, b := m.kinds[long], m.kinds[part]
	type fitting struct{ shift, calls int }
	var fits []fitting
	most := 0
	for s := -min(mostShift, len(b)-1); s <= min(mostShift, len(a)-1); s++ {
		if n := fit(a, b, s); n > 0 {
			fits = append(fits, fitting{s, n})
			most = max(most, n)
		}
	}
	one, sameHost := m.clocks(long, part)
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
		if d := m.distance(long, part, s); d < nearest {
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

// clocks reports whether the times of two parts can be compared at all, and whether they were taken by one clock.
func (m *matcher) clocks(a, b int) (known, sameHost bool) {
	x, y := m.device(a), m.device(b)
	known = x.origin != trace.Unknown && y.origin != trace.Unknown
	return known, known && (x.File == y.File || x.Host != "" && x.Host == y.Host)
}

// mostCompared is of about how many calls the distance is taken: there may be as many shifts to try, and a hundred
// thousand calls.
const mostCompared = 1000

// distance is how far apart the ends of calls are under a shift, in milliseconds, in the middle of calls from the whole
// recording.
func (m *matcher) distance(a, b, shift int) float64 {
	x, y := m.device(a), m.device(b)
	var apart []float64
	for i := 0; i < len(m.parts[b].calls); i += 1 + len(m.parts[b].calls)/mostCompared {
		if n := i + shift; n >= 0 && n < len(m.parts[a].calls) {
			at := m.parts[b].calls[i]
			apart = append(apart, math.Abs(milliseconds((x.seen[m.parts[a].calls[n]].end-y.seen[at].end)+(x.origin-y.origin))))
		}
	}
	return stats.Median(apart)
}
