package stats

import (
	"math"
	"sort"
)

const (
	// wantedPower is the probability of a verdict with the number of launches that planner estimates.
	wantedPower = 0.8
	mostWanted  = 100 // launches a side; more is Hopeless
)

// FewestLaunches is the minimum number of launches per side, or of pairs, for a verdict. With fewer, even the most
// extreme labelling is not significant.
func FewestLaunches(alpha float64, paired bool) int {
	for n := 1; ; n++ {
		if enough(n, n, alpha, paired) {
			return n
		}
	}
}

// enough reports whether so many launches per side, or n pairs, can give a verdict at all.
func enough(m, n int, alpha float64, paired bool) bool {
	if paired {
		return math.Exp2(1-float64(n)) <= alpha
	}
	return m > 0 && n > 0 && math.Ln2-logChoose(m+n, n) <= math.Log(alpha)
}

// planner estimates how many more launches a verdict needs. It assumes normal logarithms and a Bonferroni correction
// over points, which is stricter than the test but known in advance.
type planner struct {
	Standard
	points int // of which one has to be significant
}

// more estimates how many more launches per side, or pairs, a verdict needs if ratio and spread stay as they are. A
// ratio inside the margin needs its CI within the margin; one outside must be significant among all points.
func (p *planner) more(t Trial, ratio Ratio) int {
	m, n, s := spread(t, p.Paired)
	most := mostWanted - min(m, n)
	more := sort.Search(most, func(more int) bool {
		m, n := m+more, n+more
		// Of one launch nothing is known but that it is too few.
		return enough(m, n, p.Alpha, p.Paired) &&
			(s < 0 || p.resolves(m, n, s, t.Margin, math.Abs(math.Log(ratio.Value))))
	})
	if more >= most {
		return Hopeless
	}
	return max(more, 1)
}

// resolves reports whether so many launches probably separate a distance of logarithms from the margin, or from 0.
func (p *planner) resolves(m, n int, s, margin, distance float64) bool {
	tail := p.Alpha / 2 / float64(p.points)
	if inside := math.Log1p(margin) - distance; inside > 0 {
		distance, tail = inside, p.Alpha/2
	}
	deviation, df := s/math.Sqrt(float64(n)), float64(n-1)
	if !p.Paired {
		deviation, df = s*math.Sqrt(1/float64(m)+1/float64(n)), float64(m+n-2)
	}
	return (studentQuantile(df, tail)+normalQuantile(wantedPower))*deviation <= distance
}

// spread is how many launches each side has, or how many pairs there are, and the standard deviation of their
// logarithms; −1 if they are too few to have one.
func spread(t Trial, paired bool) (m, n int, s float64) {
	a, b := t.known(paired)
	m, n = len(a), len(b)
	df := m + n - 2
	if paired {
		n, df = m, m-1
	}
	if m == 0 || n == 0 || df < 1 {
		return m, n, -1
	}
	return m, n, math.Sqrt((squaresOf(a) + squaresOf(b)) / float64(df))
}

// squaresOf is the sum of the squared distances to the mean.
func squaresOf(x []float64) (sum float64) {
	center := mean(x)
	for _, v := range x {
		sum += (v - center) * (v - center)
	}
	return sum
}
