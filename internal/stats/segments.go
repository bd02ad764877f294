package stats

import "math"

const (
	mostSegments = 6
	// perSegment is how many points a segment takes on average: two parameters, where it ends, and one to see how
	// well it fits.
	perSegment = 4
	// perLaw and perRun are how many times what the criterion asks for a parameter is asked, of laws and of points
	// that are left out. It was made for models that are given; here bounds are looked for in every place, and the
	// best of so many looks better than it is. Chosen by simulation.
	perLaw, perRun = 1.7, 1.5
	// grid is the step of n½, a fourth of a doubling, and gridStep half of its logarithm.
	grid     = 1.189207115002721
	gridStep = 0.25 / 2 * math.Ln2
	// finest is the noise that times are taken to have at least: tables of other tools are rounded to about as much,
	// and without it times of a formula would be cut into ever more segments.
	finest = 0.002
)

// stretch is a run of points, from the first to the last one; empty where from > to.
type stretch struct{ from, to int }

var noRun = stretch{0, -1}

func (r stretch) length() int { return r.to - r.from + 1 }

// laws tells how well one law t = (n½ + S)/β fits any stretch of a curve, for a grid of n½, from sums that are made
// once.
type laws struct {
	sizes, logs []float64
	halves      []float64 // the grid
	sums        [][]sums  // by n½, over the points before i
	n           []int     // points before i that count
	base        [][]cost  // of each stretch, with no run left out
}

// cost is the sum of squares that the best law leaves, and its place in the grid.
type cost struct {
	squares float64
	half    int
}

// sums are those of d = log t − log(n½ + S), and of its derivative by log n½, p = −n½/(n½ + S).
type sums struct{ d, dd, p, pp, dp float64 }

func (s sums) plus(d, p float64) sums {
	return sums{s.d + d, s.dd + d*d, s.p + p, s.pp + p*p, s.dp + d*p}
}

func (s sums) minus(o sums) sums {
	return sums{s.d - o.d, s.dd - o.dd, s.p - o.p, s.pp - o.pp, s.dp - o.dp}
}

// newLaws makes the sums of the points that are not out. sizes are positive and ascending.
func newLaws(sizes, logs []float64, out []bool) *laws {
	count := len(sizes)
	l := &laws{sizes: sizes, logs: logs, n: make([]int, count+1)}
	smallest, largest := sizes[0], sizes[count-1]
	l.halves = append(l.halves, smallest/beyond)
	for h := smallest / 64; h < largest*64; h *= grid {
		l.halves = append(l.halves, h)
	}
	l.halves = append(l.halves, largest*beyond)
	center := mean(logs) // so that squares are small numbers
	l.sums = make([][]sums, len(l.halves))
	for k, h := range l.halves {
		at := make([]sums, count+1)
		for i, s := range sizes {
			at[i+1] = at[i]
			if !out[i] {
				at[i+1] = at[i].plus(logs[i]-center-math.Log((h+s)/(h+largest)), -h/(h+s))
			}
		}
		l.sums[k] = at
	}
	for i := range out {
		l.n[i+1] = l.n[i]
		if !out[i] {
			l.n[i+1]++
		}
	}
	l.base = make([][]cost, count)
	for i := range l.base {
		l.base[i] = make([]cost, count)
		start := len(l.halves) / 2
		for j := i; j < count; j++ {
			l.base[i][j] = l.search(i, j, noRun, start, 8)
			start = l.base[i][j].half
		}
	}
	return l
}

// between are the sums over points i to j without those of a run, and how many they are.
func (l *laws) between(k, i, j int, without stretch) (sums, float64) {
	at := l.sums[k]
	s, n := at[j+1].minus(at[i]), l.n[j+1]-l.n[i]
	if a, b := max(i, without.from), min(j, without.to); a <= b {
		s, n = s.minus(at[b+1].minus(at[a])), n-(l.n[b+1]-l.n[a])
	}
	return s, float64(n)
}

// squares is what a law of the k-th n½ leaves of points i to j without those of a run.
func (l *laws) squares(k, i, j int, without stretch) float64 {
	at := l.sums[k]
	from, to := &at[i], &at[j+1]
	d, dd, n := to.d-from.d, to.dd-from.dd, l.n[j+1]-l.n[i]
	if a, b := max(i, without.from), min(j, without.to); a <= b {
		from, to = &at[a], &at[b+1]
		d, dd, n = d-(to.d-from.d), dd-(to.dd-from.dd), n-(l.n[b+1]-l.n[a])
	}
	if n == 0 {
		return 0
	}
	return max(0, dd-d*d/float64(n))
}

// search walks down the grid from a start.
func (l *laws) search(i, j int, without stretch, start, step int) cost {
	last := len(l.halves) - 1
	at, here := start, l.squares(start, i, j, without)
	for ; step > 0; step /= 2 {
		for moved := true; moved; {
			moved = false
			for _, next := range []int{at - step, at + step} {
				if next < 0 || next > last {
					continue
				}
				if s := l.squares(next, i, j, without); s < here {
					at, here, moved = next, s, true
				}
			}
		}
	}
	return cost{max(0, here-l.gain(at, i, j, without)), at}
}

// gain is by how much the squares become less between the grid's values: one step of Gauss and Newton, no longer than
// to halfway.
func (l *laws) gain(k, i, j int, without stretch) float64 {
	s, n := l.between(k, i, j, without)
	if n < minForFit {
		return 0
	}
	bend, slope := s.pp-s.p*s.p/n, s.dp-s.d*s.p/n
	if bend < 1e-12 {
		return 0
	}
	step := min(max(-slope/bend, -gridStep), gridStep)
	return max(0, -step*(2*slope+step*bend))
}

// of is the cost of a stretch without a run.
func (l *laws) of(i, j int, without stretch) cost {
	base := l.base[i][j]
	if without.to < i || without.from > j {
		return base
	}
	return l.search(i, j, without, base.half, 2)
}

// counted is the number of points of a stretch that a law is asked to explain.
func (l *laws) counted(i, j int, without stretch) int {
	n := l.n[j+1] - l.n[i]
	if a, b := max(i, without.from), min(j, without.to); a <= b {
		n -= l.n[b+1] - l.n[a]
	}
	return n
}

// cut is a way to cut a curve into segments.
type cut struct {
	segments []stretch
	squares  float64 // left over all points
	score    float64 // BIC; the least is the best
}

// best is the cut with the least score, looked for as far as it may be under beat. extra is what the points that no law
// explains cost, in parameters.
func (l *laws) best(without stretch, extra int, beat float64) cut {
	count := len(l.sizes)
	n := l.counted(0, count-1, without)
	bound := leftBy(beat, n, count, 1, extra)
	// least[m][j] is the least sum of squares of m+1 segments over the points before j, and start where the last one
	// begins.
	most := max(1, min(mostSegments, n/perSegment))
	least, start := make([][]float64, most), make([][]int, most)
	for m := range most {
		least[m], start[m] = make([]float64, count+1), make([]int, count+1)
		for j := range least[m] {
			least[m][j] = math.Inf(1)
		}
	}
	for i := range count {
		if i > 0 && l.sizes[i] == l.sizes[i-1] {
			continue // one size has one law
		}
		for j := i; j < count; j++ {
			if l.counted(i, j, without) < minForFit {
				continue
			}
			c := l.of(i, j, without).squares
			if c > bound {
				break // and with more points it would be more
			}
			if i == 0 {
				least[0][j+1] = c
				continue
			}
			for m := 1; m < most; m++ {
				if s := least[m-1][i] + c; s < least[m][j+1] {
					least[m][j+1], start[m][j+1] = s, i
				}
			}
		}
	}
	best := cut{score: math.Inf(1)}
	chosen := 0
	for m := range most {
		if s := score(least[m][count], n, count, m+1, extra); s < best.score {
			best.score, best.squares, chosen = s, least[m][count], m
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
