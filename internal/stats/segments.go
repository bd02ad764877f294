package stats

import "math"

const (
	mostSegments = 6
	// perSegment is how many points a segment takes on average: two parameters, where it ends, and one to see how
	// well it fits.
	perSegment = 4
	// perLaw and perRun multiply the penalty that the criterion sets per parameter, for models and for points left out.
	// The criterion assumes given models; this search tries every boundary, and the best of many looks better than it
	// is. Chosen by simulation.
	perLaw, perRun = 1.7, 1.5
	// grid is the step of n½, an eighth of a doubling.
	grid = 1.0905077326652577
	// finest is the noise that times are taken to have at least: tables of other tools are rounded to about as much,
	// and without it times of a formula would be cut into ever more segments.
	finest = 0.002
)

// stretch is a run of points, from the first to the last one; empty where from > to.
type stretch struct{ from, to int }

var noRun = stretch{0, -1}

func (r stretch) length() int { return r.to - r.from + 1 }

// rangeFits gives how well one model t = (n½ + S)/β fits any range of a curve, for a grid of n½, from precomputed sums.
type rangeFits struct {
	sizes []float64
	fits  []gridFit
	n     []int   // points before i that count
	base  [][]int // place in the grid of the best n½ of each stretch, with no run left out
}

// gridFit holds the sums of d = log t − log(n½ + S), and of its squares, over the points before i, for one n½.
type gridFit struct{ sum, squares []float64 }

// newRangeFits makes the sums of the points that are not out. sizes are positive and ascending.
func newRangeFits(sizes, logs []float64, out []bool) *rangeFits {
	count := len(sizes)
	l := &rangeFits{sizes: sizes, n: make([]int, count+1), base: make([][]int, count)}
	for i := range out {
		l.n[i+1] = l.n[i]
		if !out[i] {
			l.n[i+1]++
		}
	}
	smallest, largest := sizes[0], sizes[count-1]
	halves := []float64{smallest / beyond}
	for h := smallest / 64; h < largest*64; h *= grid {
		halves = append(halves, h)
	}
	center := mean(logs) // so that squares are small numbers
	for _, h := range append(halves, largest*beyond) {
		f := gridFit{make([]float64, count+1), make([]float64, count+1)}
		for i, s := range sizes {
			d := 0.0
			if !out[i] {
				d = logs[i] - center - math.Log((h+s)/(h+largest))
			}
			f.sum[i+1], f.squares[i+1] = f.sum[i]+d, f.squares[i]+d*d
		}
		l.fits = append(l.fits, f)
	}
	for i := range l.base {
		l.base[i] = make([]int, count)
		for j := i; j < count; j++ {
			least := math.Inf(1)
			for k := range l.fits {
				if s := l.squares(k, i, j, noRun); s < least {
					l.base[i][j], least = k, s
				}
			}
		}
	}
	return l
}

// over is a sum over points i to j without those of a run, from sums over the points before each.
func over[T int | float64](before []T, i, j int, without stretch) T {
	sum := before[j+1] - before[i]
	if a, b := max(i, without.from), min(j, without.to); a <= b {
		sum -= before[b+1] - before[a]
	}
	return sum
}

// squares is what a model of the k-th n½ leaves of points i to j without those of a run.
func (l *rangeFits) squares(k, i, j int, without stretch) float64 {
	n := over(l.n, i, j, without)
	if n == 0 {
		return 0
	}
	f := &l.fits[k]
	sum := over(f.sum, i, j, without)
	return max(0, over(f.squares, i, j, without)-sum*sum/float64(n))
}

// cost is the sum of squares of the best model of points i to j without those of a run. It descends the grid from the
// best model with the run, and returns the minimum of the parabola through the last three.
func (l *rangeFits) cost(i, j int, without stretch) float64 {
	at := l.base[i][j]
	here := l.squares(at, i, j, without)
	beside := [2]float64{here, here}
	for side, step := range []int{-1, 1} {
		for next := at + step; next >= 0 && next < len(l.fits); next += step {
			s := l.squares(next, i, j, without)
			if beside[side] = s; s >= here {
				break
			}
			beside[1-side], at, here = here, next, s
		}
	}
	bend, slope := beside[0]+beside[1]-2*here, beside[1]-beside[0]
	if bend < 1e-12 || at < 2 || at > len(l.fits)-3 {
		return here
	}
	return max(0, here-slope*slope/8/bend)
}

// cut is a way to cut a curve into segments.
type cut struct {
	segments []stretch
	squares  float64 // left over all points
	score    float64 // BIC; the minimum is the best
}

// best is the cut with the minimum score, searched as far as it may be below beat. extra is the penalty of the points
// outside the models, in parameters.
func (l *rangeFits) best(without stretch, extra int, beat float64) cut {
	count := len(l.sizes)
	n := over(l.n, 0, count-1, without)
	bound := leftBy(beat, n, count, 1, extra)
	// lowest[m][j] is the minimum sum of squares of m+1 segments over the points before j; start is where the last
	// segment begins.
	most := max(1, min(mostSegments, n/perSegment))
	lowest, start := make([][]float64, most), make([][]int, most)
	for m := range most {
		lowest[m], start[m] = make([]float64, count+1), make([]int, count+1)
		for j := range lowest[m] {
			lowest[m][j] = math.Inf(1)
		}
	}
	for i := range count {
		if i > 0 && l.sizes[i] == l.sizes[i-1] {
			continue // one size has one model
		}
		for j := i; j < count; j++ {
			if over(l.n, i, j, without) < minForFit {
				continue
			}
			c := l.cost(i, j, without)
			if c > bound {
				break // and with more points it would be more
			}
			if i == 0 {
				lowest[0][j+1] = c
				continue
			}
			for m := 1; m < most; m++ {
				if s := lowest[m-1][i] + c; s < lowest[m][j+1] {
					lowest[m][j+1], start[m][j+1] = s, i
				}
			}
		}
	}
	best := cut{score: math.Inf(1)}
	chosen := 0
	for m := range most {
		if s := score(lowest[m][count], n, count, m+1, extra); s < best.score {
			best.score, best.squares, chosen = s, lowest[m][count], m
		}
	}
	for m, j := chosen, count; m >= 0 && !math.IsInf(best.score, 1); m-- {
		best.segments = append([]stretch{{start[m][j], j - 1}}, best.segments...)
		j = start[m][j]
	}
	return best
}

// score is the Bayesian information criterion (Schwarz, Annals of Statistics 6, 1978), with n of count points left:
// each of m segments has two parameters, and each but the first a place where it begins.
func score(squares float64, n, count, m, extra int) float64 {
	variance := squares/float64(n) + finest*finest
	return float64(count)*math.Log(variance) + math.Log(float64(count))*(perLaw*float64(parameters(m))+
		perRun*float64(extra))
}

// leftBy is the squares with which score is what is given.
func leftBy(given float64, n, count, m, extra int) float64 {
	return float64(n) * math.Exp((given-score(0, n, count, m, extra))/float64(count)) * finest * finest
}

func parameters(segments int) int { return 3*segments - 1 }
