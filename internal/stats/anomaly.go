package stats

import "math"

// Anomaly is a range of sizes that are slower or faster than the models on both sides. A step from one model to the
// next is a Switch and no Anomaly: an Anomaly ends again, or is slower than both models.
type Anomaly struct {
	From, To int // places of its first and last size
	Deepest  int // place of the size that is farthest off
	// Depth is the share of the bandwidth that the trend has and that is missing, over the stretch: 0.15. Negative
	// for a spike: −0.15 is faster by 15 %.
	Depth  float64
	Z      float64 // how many standard errors it deviates
	Chance float64 // of as much anywhere in a curve that has none, of all places looked at together
}

// Drop reports whether the anomaly is missing bandwidth; otherwise it is a spike.
func (a Anomaly) Drop() bool { return a.Depth > 0 }

const (
	longestRun = 5
	longRun    = 4
	longestEnd = 2
	// chanceOfAnomaly is the false-positive rate per curve. It is an upper bound: simulated curves have fewer.
	chanceOfAnomaly = 0.01
	// leastAnomaly is the minimum difference of logarithms that is reported.
	leastAnomaly = 0.04
)

// standing is by how much a run lies over its trend, as a logarithm, and how sure that is.
type standing struct {
	excess, z float64
	deepest   int // place of the point that is farthest off
}

// standsOut reports whether a run of points deviates more than noise does anywhere in the curve.
func (f *finder) standsOut(r stretch) bool {
	s := f.standing(r)
	return math.Abs(s.excess) >= leastAnomaly && f.chance(s.z) <= chanceOfAnomaly
}

func (f *finder) anomaly(r stretch) Anomaly {
	s := f.standing(r)
	return Anomaly{
		From: r.from, To: r.to, Deepest: s.deepest,
		Depth: 1 - math.Exp(-s.excess), Z: math.Abs(s.z), Chance: f.chance(s.z),
	}
}

// The Bonferroni correction: for the number of places and lengths, above and below the trend.
func (f *finder) chance(z float64) float64 {
	places := float64(len(f.sizes) * longestRun)
	return min(1, 2*places*studentTail(float64(f.scatter.df), math.Abs(z)))
}

// standing compares a run with the model of its segment and, next to another segment, with that model too. The closer
// model counts.
func (f *finder) standing(r stretch) standing {
	var found []standing
	for _, s := range f.cut.segments {
		if s.from <= r.to+1 && r.from-1 <= s.to {
			found = append(found, f.against(r, s))
		}
	}
	nearest := found[0]
	for _, s := range found[1:] {
		switch {
		case s.excess*nearest.excess <= 0:
			return standing{} // between two models
		case math.Abs(s.z) < math.Abs(nearest.z):
			nearest = s
		}
	}
	return nearest
}

// against compares a run with the model of a segment. The standard error combines that of the run's mean and that of
// the model at the run.
func (f *finder) against(r, segment stretch) standing {
	sizes, logs := f.counted(segment)
	model := newProfile(sizes, logs).best()
	half := math.Exp(model.logHalf)
	share := func(size float64) float64 { return half / (half + size) } // derivative of log t by log n½
	var n, p, pp float64
	for _, s := range sizes {
		n, p, pp = n+1, p+share(s), pp+share(s)*share(s)
	}
	var excess, at, known float64
	length := float64(r.length())
	deepest, side, most := r.from, 0.0, 0.0
	for i := r.from; i <= r.to; i++ {
		off := f.logs[i] - model.level - math.Log(half+f.sizes[i])
		if off*side < 0 {
			return standing{} // neither slower nor faster
		}
		side = off
		if math.Abs(off) > most {
			deepest, most = i, math.Abs(off)
		}
		excess, at = excess+off/length, at+share(f.sizes[i])/length
		if f.noise != nil {
			known += f.noise[i] * f.noise[i] / length
		}
	}
	lever := 1 / n
	if spread := pp - p*p/n; spread > 1e-9 {
		lever += (at - p/n) * (at - p/n) / spread
	}
	own := max(f.scatter.s, math.Sqrt(known))
	return standing{excess, excess / math.Sqrt(own*own/length+f.scatter.s*f.scatter.s*lever), deepest}
}
