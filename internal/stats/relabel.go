package stats

import "math"

// between is the distance of the two sides of a labelling: Student's t of the logarithms, squared, on the scale of a
// normal variable. Otherwise points with fewer launches, whose t varies more, would dominate (Wallace, Annals of
// Mathematical Statistics 30, 1959). It is 0 for a side with fewer than two launches.
func (p *tested) between(second []int) float64 {
	sum, b := 0.0, len(second)
	for _, i := range second {
		sum += p.values[i]
		if p.present != nil && !p.present[i] {
			b--
		}
	}
	a := p.n - b
	if a < 2 || b < 2 {
		return 0
	}
	each := 1/float64(a) + 1/float64(b)
	df := float64(p.n - 2)
	within := max(0, p.squares-sum*sum*each) / df
	return normalScale(math.Abs(sum)*each/(math.Sqrt(within*each)+p.floor), df)
}

// within is the distance of the mean of the logarithms of pairs from 0, on the same scale.
func (p *tested) within(swapped []int) float64 {
	sum := p.sum
	for _, i := range swapped {
		sum -= 2 * p.values[i]
	}
	if p.n < 2 {
		return 0
	}
	n := float64(p.n)
	spread := max(0, p.squares-sum*sum/n) / (n - 1)
	return normalScale(math.Abs(sum)/n/(math.Sqrt(spread/n)+p.floor), n-1)
}

func normalScale(t, df float64) float64 {
	if t == 0 || math.IsNaN(t) {
		return 0 // nothing differs anywhere
	}
	c := (8*df + 1) / (8*df + 3)
	return c * c * df * math.Log1p(t*t/df)
}
