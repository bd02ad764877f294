package stats

import (
	"maps"
	"math"
	"slices"
)

// MinPeers is the minimum number of values for PeerTails: fewer leave a test without power.
const MinPeers = 8

// PeerTails returns for each of MinPeers or more values the probability of one as high above the median, if all are
// normal with the same mean and variance; 1 at or below the median, nil of fewer. Up to half of the values may be
// outliers. The probabilities are those of Student with peerShare·(n−1) degrees of freedom, an upper bound by
// simulation, or with peerTails (of more than 100 values, 5/6 of it), for tails like those of Student with 5.
func PeerTails[K comparable](of map[K]float64) map[K]float64 {
	x := slices.Collect(maps.Values(of))
	if len(x) < MinPeers {
		return nil
	}
	center, s, df, p := Median(x), qn(x), min(peerShare*float64(len(x)-1), peerTails), map[K]float64{}
	if len(x) > 100 { // farther into the tails
		df *= 5. / 6
	}
	if s == 0 { // ties; the mean distance, as for normal values
		for _, v := range x {
			s += math.Sqrt(math.Pi/2) * math.Abs(v-center) / float64(len(x))
		}
	}
	for k, v := range of {
		if p[k] = 1; v > center {
			p[k] = studentTail(df, (v-center)/s)
		}
	}
	return p
}

const (
	peerShare = 0.6
	peerTails = 12
	mostOfQn  = 200 // values of which qn compares all pairs; of more it takes as many quantiles
)

// qn is the standard deviation of normal values by Qn of Rousseeuw & Croux (JASA 88, 1993): a quantile of the
// distances of all pairs. It has twice the efficiency of the median of the distances to the median.
func qn(x []float64) float64 {
	all, n, gaps := sortedCopy(x), min(len(x), mostOfQn), []float64(nil)
	var sorted []float64
	for i := range n {
		sorted = append(sorted, quantile(all, float64(i)/float64(n-1)))
		for _, v := range sorted[:i] {
			gaps = append(gaps, sorted[i]-v)
		}
	}
	slices.Sort(gaps)
	return 2.2219 * float64(n) / (float64(n) + 1.4) * gaps[(n/2+1)*(n/2)/2-1]
}
