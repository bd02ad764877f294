package stats

import "fmt"

// StopReason is what ended the sampling of a case. Its text is one of precision, settled, budget, maximum, fixed.
type StopReason uint8

// The reasons. The zero value means that sampling goes on.
const (
	Precision StopReason = iota + 1 // the interval is as narrow as wanted
	Settled                         // more samples no longer narrow the interval
	Budget                          // the time is used up
	Maximum                         // the largest number of samples is reached
	Fixed                           // the number was given
)

var reasons = []string{"", "precision", "settled", "budget", "maximum", "fixed"}

// StopReasons lists all reasons.
func StopReasons() []StopReason { return []StopReason{Precision, Settled, Budget, Maximum, Fixed} }

func (r StopReason) String() string {
	if int(r) >= len(reasons) {
		return fmt.Sprintf("StopReason(%d)", uint8(r))
	}
	return reasons[r]
}

// MarshalText writes the word; a value that is none of the reasons is an error.
func (r StopReason) MarshalText() ([]byte, error) {
	if int(r) >= len(reasons) {
		return nil, fmt.Errorf("stop reason %d does not exist", uint8(r))
	}
	return []byte(r.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (r *StopReason) UnmarshalText(text []byte) error {
	for i, word := range reasons {
		if word == string(text) {
			*r = StopReason(i)
			return nil
		}
	}
	return fmt.Errorf("unknown stop reason %q (known: precision, settled, budget, maximum, fixed)", text)
}
