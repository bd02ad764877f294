package stats

import (
	"cmp"
	"math"
	"slices"
)

// MinForTrend is the minimum number of sizes of a trend: with four, a model with one outlier is as good as any other.
const MinForTrend = 5

// MinForAnomaly is the minimum number of sizes for anomalies: with fewer, two or three sizes would predict the rest.
const MinForAnomaly = 8

// Segment is a range of sizes with one model: a protocol, or an algorithm. From and To are the indices of its first and
// last size.
type Segment struct {
	From, To int
	Fit
}

// Trend is a curve of times over sizes: consecutive models, and deviations from them.
type Trend struct {
	// Segments are by size; none of fewer sizes than MinForTrend. The protocol switches between To of one and From of
	// the next.
	Segments []Segment
	Noise    float64 // standard deviation of log t around the models: 0.02 is 2 %
	// Anomalies are drops and spikes, by size. They are outside all models.
	Anomalies []Anomaly
	// Out are the sizes outside all models: those of anomalies, and at most two first or last sizes, which are too few
	// to distinguish a drop from another model.
	Out []bool
}

// Switch is the boundary between two models.
type Switch struct {
	After int // index of the last size of the model before
	// ratio of the times of the next model and the one before, halfway between both sizes: 1.2 is 20 % slower
	Step float64
}

// Switches are the places between segments. sizes are those of FindTrend.
func (t Trend) Switches(sizes []float64) []Switch {
	var found []Switch
	for k := 1; k < len(t.Segments); k++ {
		before, after := t.Segments[k-1], t.Segments[k]
		middle := math.Sqrt(sizes[before.To] * sizes[after.From])
		found = append(found, Switch{before.To, after.Time(middle) / before.Time(middle)})
	}
	return found
}

// FindTrend finds the models of a curve, and the deviations from them: times in seconds of sizes in bytes, positive, by
// ascending size. noise is the standard error of each time's logarithm (of launches, or of the samples of one), or 0 if
// unknown; nil if unknown for all.
//
// Models are α + S/β, in segments of at least three sizes. Their boundaries and number minimize the Bayesian
// information criterion (segments.go). FindTrend leaves up to five neighbouring sizes out of the models where that
// improves the same criterion and their deviation is significant (Anomaly). It repeats this until none is left. So an
// anomaly does not distort the model that it is compared with.
func FindTrend(sizes, times, noise []float64) (t Trend) {
	n := len(sizes)
	if n < MinForTrend {
		return t
	}
	f := finder{sizes: sizes, logs: logsOf(times), noise: noise, out: make([]bool, n)}
	f.leaveOut()
	t.Segments, t.Noise, t.Out = f.segments(), f.scatter.s, f.out
	for _, r := range f.runs {
		if r.from > 0 && r.to < n-1 {
			t.Anomalies = append(t.Anomalies, f.anomaly(r))
		}
	}
	slices.SortFunc(t.Anomalies, func(a, b Anomaly) int { return cmp.Compare(a.From, b.From) })
	return t
}

// finder cuts a curve into segments and leaves anomalies out of them.
type finder struct {
	sizes, logs, noise []float64
	out                []bool
	runs               []stretch // that are out
	refused            []stretch // that must not be
	cut                cut
	scatter            scatter // of the points that are not
}

// tried is the maximum number of candidate runs, best first.
const tried = 4

// leaveOut takes out one run after the other, the best first. It restores runs that are no longer significant: once
// another run is out, one may be shorter, or disappear.
func (f *finder) leaveOut() {
	for looks := 0; ; looks++ {
		ranges := newRangeFits(f.sizes, f.logs, f.out)
		f.use(ranges.best(noRun, f.extra(), math.Inf(1)))
		if len(f.sizes) < MinForAnomaly || looks == len(f.sizes) || len(f.runs) >= max(1, len(f.sizes)/4) {
			return
		}
		now := f.cut
		if !slices.ContainsFunc(f.candidates(ranges), f.takeIf) {
			f.use(now)
			return
		}
		f.runs = slices.DeleteFunc(f.runs, func(r stretch) bool {
			framed := f.framed(r)
			if !framed {
				f.refused = append(f.refused, r)
			}
			if framed && f.standsOut(r) {
				return false
			}
			f.mark(r, false)
			return true
		})
	}
}

// framed reports whether the model that goes on behind a long run has two points at least on each side of it. One alone
// is as likely to be of the model that comes next, and the run of another in between.
func (f *finder) framed(r stretch) bool {
	for _, s := range f.cut.segments {
		if r.length() >= longRun && s.from < r.from && r.to < s.to {
			before, _ := f.counted(stretch{s.from, r.from - 1})
			behind, _ := f.counted(stretch{r.to + 1, s.to})
			return len(before) > 1 && len(behind) > 1
		}
	}
	return true
}

// candidate is a run that may be left out next, with the best cut without it.
type candidate struct {
	run    stretch
	cut    cut
	slower bool // only if it is slower than what is around it
}

// candidates are the runs that pay for themselves, the best first, and after them the segments of the present cut that
// are short enough to be runs.
func (f *finder) candidates(ranges *rangeFits) (found []candidate) {
	last, extra := len(f.sizes)-1, f.extra()
	var segments []candidate
	for from := range f.sizes {
		// Up to the next that is out.
		for to := from; to <= last && to < from+longestRun && !f.out[to]; to++ {
			r := stretch{from, to}
			atEnd := from == 0 || to == last
			if atEnd && r.length() > longestEnd || slices.Contains(f.refused, r) {
				continue
			}
			c := candidate{run: r, cut: ranges.best(r, extra+r.length()+1, f.cut.score)}
			switch {
			case c.cut.score < f.cut.score:
				found = append(found, c)
			case !atEnd && slices.Contains(f.cut.segments, r):
				segments = append(segments, candidate{r, ranges.best(r, extra+r.length()+1, math.Inf(1)), true})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.cut.score, b.cut.score) })
	return append(found[:min(len(found), tried)], segments...)
}

// takeIf takes a run out if it is then significant.
func (f *finder) takeIf(c candidate) bool {
	f.mark(c.run, true)
	f.use(c.cut)
	if f.standsOut(c.run) && (!c.slower || f.standing(c.run).excess > 0) {
		f.runs = append(f.runs, c.run)
		return true
	}
	f.mark(c.run, false)
	return false
}

func (f *finder) mark(r stretch, out bool) {
	for i := r.from; i <= r.to; i++ {
		f.out[i] = out
	}
}

// extra is the number of parameters of the runs that are out: one for each point, and one for the start of each run.
func (f *finder) extra() int { return len(f.runs) + len(f.sizes) - f.kept() }

// kept is the number of points that are not out.
func (f *finder) kept() (n int) {
	for _, out := range f.out {
		if !out {
			n++
		}
	}
	return n
}

// use makes a cut the present one, and measures the noise around it.
func (f *finder) use(c cut) {
	f.cut = c
	f.scatter = scatter{df: max(1, f.kept()-parameters(len(c.segments)))}
	f.scatter.s = max(finest, math.Sqrt(c.squares/float64(f.scatter.df)))
	// The factor by which so few degrees of freedom exceed the known noise by chance.
	if own := f.ownNoise(); f.scatter.s <= own*(1+2/math.Sqrt(2*float64(f.scatter.df))) {
		f.scatter = scatter{max(own, finest), max(f.scatter.df, wellKnown)}
	}
}

// wellKnown is the degrees of freedom of a noise that the times came with.
const wellKnown = 60

// ownNoise is that of the times themselves, where it is known of all; 0 otherwise. Where it explains how the curve
// scatters, the scatter need not be guessed from few points.
func (f *finder) ownNoise() float64 {
	var squares, n float64
	for i, s := range f.noise {
		if s <= 0 {
			return 0
		}
		if !f.out[i] {
			squares, n = squares+s*s, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return math.Sqrt(squares / n)
}

// segments fits the models of the cut.
func (f *finder) segments() (all []Segment) {
	for _, r := range f.cut.segments {
		sizes, logs := f.counted(r)
		all = append(all, Segment{r.from, r.to, fitLaw(sizes, logs, f.scatter)})
	}
	return all
}

// counted are the points of a stretch that are not out.
func (f *finder) counted(r stretch) (sizes, logs []float64) {
	for i := r.from; i <= r.to; i++ {
		if !f.out[i] {
			sizes, logs = append(sizes, f.sizes[i]), append(logs, f.logs[i])
		}
	}
	return sizes, logs
}
