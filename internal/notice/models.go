package notice

import (
	"fmt"

	"busbar/internal/units"
)

// Notices on models of time over message size. docs/analysis.md has how they are fitted.

// TimeModel is the model of a curve: time is latency plus size over bandwidth.
type TimeModel struct {
	Latency   FittedTime       `json:"latency"`
	Kind      string           `json:"bandwidth_kind"` // busbw, or algbw where the collective has no bus bandwidth
	Bandwidth FittedBandwidth  `json:"bandwidth"`
	Half      units.RoughBytes `json:"half_bytes,omitempty"` // the size that reaches half of it
	Changes   []ModelChange    `json:"changes,omitempty"`
}

// FittedTime is a time with its 95 % CI; Value is 0 where the sizes measured do not show it.
type FittedTime struct {
	Value units.Seconds `json:"value_s,omitempty"`
	Lo    units.Seconds `json:"lo_s,omitempty"`
	Hi    units.Seconds `json:"hi_s,omitempty"`
}

func (f FittedTime) String() string {
	return fitted("", f.Value, f.Lo, f.Hi, "under ", f.Hi)
}

// FittedBandwidth is a bandwidth with its 95 % CI; Value is 0 where the sizes measured do not show it.
type FittedBandwidth struct {
	Value units.Bandwidth `json:"value,omitempty"`
	Lo    units.Bandwidth `json:"lo,omitempty"`
	Hi    units.Bandwidth `json:"hi,omitempty"`
}

func (f FittedBandwidth) String() string {
	return fitted("approaches ", f.Value, f.Lo, f.Hi, "over ", f.Lo)
}

// fitted writes a value with half the width of its interval; where the value is unknown, its bound.
func fitted[T interface {
	~float64
	fmt.Stringer
}](known string, value, lo, hi T, beyond string, bound T) string {
	switch {
	case value > 0:
		return fmt.Sprintf("%s%v ±%.1f %%", known, value, 50*float64((hi-lo)/value))
	case bound > 0:
		return beyond + bound.String()
	}
	return "unknown"
}

// ModelChange is a size from which on another model holds.
type ModelChange struct {
	At   units.Bytes  `json:"at_bytes"`
	Jump units.Factor `json:"time_factor,omitempty"` // of the time there; 0 where it is small
}

func (c ModelChange) String() string {
	if c.Jump == 0 {
		return c.At.String()
	}
	return fmt.Sprintf("%v (time × %v)", c.At, c.Jump)
}

// NoModel reports that no model fits a curve.
type NoModel struct {
	Residual units.Share `json:"residual"` // of the best one
}

// ModelBasis is what the intervals of a model are based on.
type ModelBasis struct {
	Basis    RangeBasis `json:"basis,omitempty"` // "" is the residuals of one launch
	Launches int        `json:"launches"`
}

func (b ModelBasis) String() string {
	if b.Basis == "" {
		return "95 % CI from residuals"
	}
	return fmt.Sprintf("%s (%d)", b.Basis, b.Launches)
}
