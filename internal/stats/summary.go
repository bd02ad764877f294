// Package stats is the statistics of measurements: confidence intervals of medians, autocorrelation, bimodality, and
// when to stop sampling.
//
// It works on []float64 in time order and knows no unit, file or library. Nothing assumes a normal distribution:
// network times have a minimum and a long tail. The samples of one launch do not predict the next launch, so a Ratio
// records what its bounds are computed from.
package stats

// Confidence is the nominal coverage of every interval of this package.
const Confidence = 0.95

// Summary describes one series of samples. Its values have the unit of the samples.
type Summary struct {
	N      int // finite samples, all of them used
	Min    float64
	Max    float64
	Median float64

	// Lo and Hi bound the median with Confidence, valid when HasInterval is true. They are order statistics of the
	// samples or, when the samples are correlated, of medians of consecutive batches.
	Lo, Hi      float64
	HasInterval bool // false below MinForInterval samples

	P90 float64 // 0 below MinForP90 samples
	P99 float64 // 0 below MinForP99 samples

	Outliers  int     // samples outside Tukey's fences; counted, never dropped
	AutoCorr  float64 // lag-1 correlation, outliers pulled in to Tukey's fences; −1 to 1
	BatchSize int     // samples per batch of Lo and Hi; 1 when samples are treated as independent

	Warnings []Warning
}

// A quantile is claimed when at least one sample is expected above it.
const (
	MinForP90 = 10
	MinForP99 = 100
)

// Summarise describes x, which is in time order and is not modified. It leaves NaN and infinite samples out of every
// value and adds a NotFinite warning. An empty x gives the zero Summary with a TooFewSamples warning.
func Summarise(x []float64) Summary {
	x, bad := finite(x)
	s := Summary{N: len(x), BatchSize: 1}
	if bad > 0 {
		s.Warnings = append(s.Warnings, Warning{Kind: NotFinite, N: bad})
	}
	if len(x) < MinForInterval {
		s.Warnings = append(s.Warnings, Warning{Kind: TooFewSamples, N: len(x)})
	}
	if len(x) == 0 {
		return s
	}

	sorted := sortedCopy(x)
	s.Min, s.Max = sorted[0], sorted[len(sorted)-1]
	s.Median = quantile(sorted, 0.5)
	if len(x) >= MinForP90 {
		s.P90 = quantile(sorted, 0.90)
	}
	if len(x) >= MinForP99 {
		s.P99 = quantile(sorted, 0.99)
	}
	s.Outliers = outliers(sorted)

	var w workspace
	iv := w.interval(x, sorted)
	s.AutoCorr, s.BatchSize = iv.autoCorr, iv.batch
	if len(x) >= MinForInterval {
		s.Lo, s.Hi, s.HasInterval = iv.lo, iv.hi, true
	}

	if iv.correlated {
		s.Warnings = append(s.Warnings, Warning{Kind: Correlated, N: len(x), Wanted: iv.wanted})
	}
	if change, ok := drift(x); ok {
		s.Warnings = append(s.Warnings, Warning{Kind: Drift, Change: change})
	}
	if modes, ok := bimodal(sorted); ok {
		s.Warnings = append(s.Warnings, Warning{Kind: Bimodal, Modes: modes})
	}
	return s
}

// WarningKind is a reservation about a value.
type WarningKind string

// The warnings.
const (
	TooFewSamples WarningKind = "too_few_samples" // no interval exists
	Correlated    WarningKind = "correlated"      // the interval may be too narrow
	Drift         WarningKind = "drift"           // the samples rose or fell while they were taken
	Bimodal       WarningKind = "bimodal"         // bimodal: the median represents neither mode
	NotFinite     WarningKind = "not_finite"      // samples were NaN or infinite
)

// Warning is one reservation about a Summary, with its numbers.
type Warning struct {
	Kind   WarningKind
	N      int     // TooFewSamples, Correlated: samples there were; NotFinite: samples left out
	Wanted int     // Correlated: samples that an honest interval would take
	Change float64 // Drift: median of the last third over that of the first, minus 1
	Modes  [2]Mode // Bimodal: the lower and the upper mode
}

// Mode is one of two populations.
type Mode struct {
	At    float64 // its median, in the unit of the samples
	Share float64 // of the samples, 0 to 1
}
