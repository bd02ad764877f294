package stats

import "fmt"

// WarningKind is what a figure has to be read with.
type WarningKind string

// The warnings.
const (
	TooFewSamples WarningKind = "too_few_samples" // no interval exists
	Correlated    WarningKind = "correlated"      // the interval may be too narrow
	Drift         WarningKind = "drift"           // the samples rose or fell while they were taken
	Bimodal       WarningKind = "bimodal"         // two populations: the median stands for neither
	NotFinite     WarningKind = "not_finite"      // samples were NaN or infinite
)

// Warning is one thing to know about a Summary, with the figures it rests on.
type Warning struct {
	Kind   WarningKind
	N      int     // TooFewSamples, Correlated: samples there were; NotFinite: samples left out
	Wanted int     // Correlated: samples that an honest interval would take
	Change float64 // Drift: median of the last third over that of the first, minus 1
	Modes  [2]Mode // Bimodal: the lower and the upper mode
}

// manifold is where a ratio is easier read than a percentage.
const manifold = 3.0

func times(ratio float64) string {
	if ratio < 10 {
		return fmt.Sprintf("%.1f", ratio)
	}
	return fmt.Sprintf("%.0f", ratio)
}

// Mode is one of two populations.
type Mode struct {
	At    float64 // its median, in the unit of the samples
	Share float64 // of the samples, 0 to 1
}

// String is the warning as a sentence, with bare numbers.
func (w Warning) String() string {
	return w.Text(func(v float64) string { return fmt.Sprintf("%.4g", v) })
}

// Text is the warning as a sentence; format writes a value of the samples with its unit.
func (w Warning) Text(format func(float64) string) string {
	switch w.Kind {
	case TooFewSamples:
		return fmt.Sprintf("too few samples (%d): a 95 %% interval of the median takes at least %d", w.N, MinForInterval)
	case Correlated:
		return fmt.Sprintf("successive samples resemble each other: the interval may be too narrow (%d samples, about %d would do)",
			w.N, w.Wanted)
	case Drift:
		switch ratio := 1 + w.Change; {
		case ratio >= manifold:
			return fmt.Sprintf("drift within the case: the last third of the samples is %s times the first", times(ratio))
		case ratio > 0 && ratio <= 1/manifold:
			return fmt.Sprintf("drift within the case: the first third of the samples is %s times the last", times(1/ratio))
		}
		return fmt.Sprintf("drift within the case: the last third of the samples is %+.1f %% from the first", 100*w.Change)
	case Bimodal:
		lower, upper := w.Modes[0], w.Modes[1]
		return fmt.Sprintf("two modes: %s (%.0f %% of samples) and %s (%.0f %%); the median stands for one of them at most",
			format(lower.At), 100*lower.Share, format(upper.At), 100*upper.Share)
	case NotFinite:
		return fmt.Sprintf("%d samples are not finite numbers and are left out of every figure", w.N)
	}
	return string(w.Kind)
}
