package stats

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
