package stats

const (
	minForModes  = 20
	minModeShare = 0.10 // of the samples; fewer are a tail, and outliers
	minModeGap   = 1.0  // empty space between the modes over their own halves that face it
	minModeRatio = 1.2  // below, two ticks of a coarse clock would be two modes
)

// bimodal looks for two populations and reports the clearest pair. Samples are sorted.
//
// Every split in two parts of at least minModeShare is weighed by the space from the lower part's 90th percentile to
// the upper part's 10th, over the width of the halves that face each other (50th to 90th percentile below, 10th to
// 50th above). Where one population is cut in two this is about 0.1 to 0.3, wherever the cut and however long the tail;
// two normal modes reach 1 when their centres are 5 standard deviations apart. Stray samples in the gap or far above do not count.
func bimodal(sorted []float64) (modes [2]Mode, found bool) {
	n := len(sorted)
	if n < minForModes {
		return modes, false
	}
	best := 0.0
	least := max(3, int(minModeShare*float64(n)))
	for cut := least; cut <= n-least; cut++ {
		lower, upper := sorted[:cut], sorted[cut:]
		a, b := quantile(lower, 0.5), quantile(upper, 0.5)
		gap := quantile(upper, 0.1) - quantile(lower, 0.9)
		if gap <= best || b < minModeRatio*a {
			continue
		}
		if facing := (b - a) - gap; gap >= minModeGap*facing {
			best = gap
			share := float64(cut) / float64(n)
			modes = [2]Mode{{At: a, Share: share}, {At: b, Share: 1 - share}}
			found = true
		}
	}
	return modes, found
}
