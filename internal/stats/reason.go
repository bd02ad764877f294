package stats

// StopReason is what ended the sampling of a case, as files have it; "" means that sampling goes on.
type StopReason string

// The reasons.
const (
	Precision StopReason = "precision" // the interval is as narrow as wanted
	Settled   StopReason = "settled"   // more samples no longer narrow the interval
	Budget    StopReason = "budget"    // the time is used up
	Maximum   StopReason = "maximum"   // the largest number of samples is reached
	Fixed     StopReason = "fixed"     // the number was given
)

func (r StopReason) String() string { return string(r) }
