package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
)

// A labelling selects the launches of the second side (unpaired), or the pairs that are swapped.
//
// It relabels whole launches, all their points together. So effects common to a launch stay common, and the family-wise
// false-positive rate is that of the largest statistic (Westfall & Young, Resampling-Based Multiple Testing, 1993,
// step-down max-T).

const (
	// exactLabellings is the most labellings that are all looked at; of more a sample is drawn.
	exactLabellings = 20000
	drawnLabellings = 9999
	leastDrawn      = 1999
	// mostWork bounds the labellings drawn: launches × points × labellings.
	mostWork = 4e9
)

// labellings are what is looked at: the true one, which comes first, and others.
type labellings struct {
	sets  [][]int // launches of the second side, or pairs that are swapped
	exact bool    // all that there are
}

// splits are the ways to call n of all launches the second side; the true one has the last n.
func splits(all, n, points int, seed uint64) labellings {
	if logChoose(all, n) <= math.Log(exactLabellings+0.5) {
		sets := combin.Combinations(all, n)
		sets[0], sets[len(sets)-1] = sets[len(sets)-1], sets[0] // the true one is the last in their order
		return labellings{sets, true}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	truth := make([]int, n)
	for i := range truth {
		truth[i] = all - n + i
	}
	l := labellings{sets: [][]int{truth}}
	for range drawn(all, points) {
		l.sets = append(l.sets, r.Perm(all)[:n])
	}
	return l
}

// swaps are the ways to swap the sides within pairs; in the true one none is.
func swaps(pairs, points int, seed uint64) labellings {
	l := labellings{sets: [][]int{nil}}
	swapped := func(in func(i int) bool) {
		var set []int
		for i := range pairs {
			if in(i) {
				set = append(set, i)
			}
		}
		l.sets = append(l.sets, set)
	}
	if float64(pairs)*math.Ln2 <= math.Log(exactLabellings) {
		l.exact = true
		for bits := 1; bits < 1<<pairs; bits++ {
			swapped(func(i int) bool { return bits>>i&1 == 1 })
		}
		return l
	}
	r := rand.New(rand.NewPCG(seed, 2))
	for range drawn(pairs, points) {
		swapped(func(int) bool { return r.Uint64()&1 == 1 })
	}
	return l
}

func drawn(launches, points int) int {
	return min(drawnLabellings, max(leastDrawn, int(mostWork/float64(launches*max(points, 1)))))
}

// tested is what one point gives to the test: a value for each launch or pair, 0 where it has none.
type tested struct {
	values  []float64
	present []bool  // nil: all
	n       int     // present
	sum     float64 // of the values
	squares float64 // their sum
	floor   float64 // added to the spread of the mean
}

// stepDown returns for each point the p-value that bounds the family-wise false-positive rate.
func stepDown(points []tested, l labellings, statistic func(*tested, []int) float64) []float64 {
	n := len(points)
	truth := make([]float64, n)
	order := make([]int, n)
	for i := range points {
		order[i], truth[i] = i, statistic(&points[i], l.sets[0])
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(truth[j], truth[i]) })
	reached := make([]int, n)
	for _, set := range l.sets {
		most := 0.0
		for k := n - 1; k >= 0; k-- {
			i := order[k]
			// The same labelling with sides exchanged differs in the last digits only.
			if most = max(most, statistic(&points[i], set)); most >= truth[i]*(1-1e-9) {
				reached[i]++
			}
		}
	}
	p := make([]float64, n)
	least := 0.0
	for _, i := range order {
		least = max(least, float64(reached[i])/float64(len(l.sets)))
		p[i] = least
	}
	return p
}
