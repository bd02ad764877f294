package stats

import "math"

const (
	minForModes  = 20
	minModeShare = 0.10 // of the samples; fewer are outliers
	minModeRatio = 1.2  // between the medians of the modes
	minModeGap   = 0.5  // empty space over the width of what faces it on both sides
	chanceOfGap  = 5e-4 // that one cut through one population shows such a gap
)

// bimodal searches sorted samples for two modes and reports the pair furthest apart.
//
// At every cut that leaves each part its minModeShare, it compares the gap with the facing width: the span of the
// nearest 80 % of the smaller part, plus that of as many samples on the other side. A twentieth of the smaller part may
// be in the gap from either side. So a long tail is judged by its own spacing: within one mode of locally even density
// the gap is about an eighth of the facing width. In few samples it can be larger by chance. One exponential spacing
// exceeds c times the sum of k others with probability (1+c)^−k, which determines the required ratio there.
func bimodal(sorted []float64) (modes [2]Mode, found bool) {
	n := len(sorted)
	if n < minForModes {
		return modes, false
	}
	tick := resolution(sorted)
	widest := 0.0
	least := max(3, int(minModeShare*float64(n)))
	for cut := least; cut <= n-least; cut++ {
		smaller := min(cut, n-cut)
		stray := smaller / 20
		reach := (4*(smaller-stray-1) + 4) / 5 // 80 %, rounded up
		upper, lower := cut+stray, cut-1-stray
		gap := sorted[upper] - sorted[lower] - tick
		if gap <= widest {
			continue
		}
		facing := sorted[upper+reach] - sorted[upper] + sorted[lower] - sorted[lower-reach] + tick
		if gap < minModeGap*facing || gap < (math.Pow(chanceOfGap, -1/float64(2*reach))-1)*facing {
			continue
		}
		a, b := quantile(sorted[:cut], 0.5), quantile(sorted[cut:], 0.5)
		if b-a < (minModeRatio-1)*math.Abs(a) {
			continue
		}
		widest, found = gap, true
		share := float64(cut) / float64(n)
		modes = [2]Mode{{At: a, Share: share}, {At: b, Share: 1 - share}}
	}
	return modes, found
}

// resolution is the smallest difference between two distinct samples: the tick of a coarse clock, or almost 0. Two
// distinct values cannot show a tick: 0.
func resolution(sorted []float64) float64 {
	tick, steps := math.Inf(1), 0
	for i := 1; i < len(sorted); i++ {
		if d := sorted[i] - sorted[i-1]; d > 0 {
			tick, steps = min(tick, d), steps+1
		}
	}
	if steps < 2 {
		return 0
	}
	return tick
}
