package profiles

import (
	"fmt"
	"math"

	"busbar/internal/units"
)

// Notices on what changed between the traces of two runs.

// TimePart is a part of the time of a step.
type TimePart string

// The parts; without the step and the pure communication, they add up to the step.
const (
	WholeStep       TimePart = "step"
	Computing       TimePart = "computing"
	PureExposed     TimePart = "exposed-communication"
	WaitingForRanks TimePart = "waiting"
	Copying         TimePart = "copies"
	HostBoundIdle   TimePart = "idle-host-bound"
	LaunchedIdle    TimePart = "idle-waiting"
	UnknownIdle     TimePart = "idle-unknown"
	PureComm        TimePart = "pure-communication"
)

func (p TimePart) String() string {
	return map[TimePart]string{
		WholeStep: "the whole", Computing: "computing", PureExposed: "exposed communication",
		WaitingForRanks: "waiting for other ranks", Copying: "copies", HostBoundIdle: "idle, host-bound",
		LaunchedIdle: "idle, launched", UnknownIdle: "idle, cause unknown",
		PureComm: "pure communication, exposed or not",
	}[p]
}

// ChangedPart is the change of one part.
type ChangedPart struct {
	Part   TimePart      `json:"part"`
	Rank   string        `json:"rank,omitempty"` // that others wait for
	Change units.Seconds `json:"change_s"`
}

// Name is the part, with the rank that others wait for.
func (c ChangedPart) Name() string {
	if c.Rank != "" {
		return "waiting for " + c.Rank
	}
	return c.Part.String()
}

func (c ChangedPart) String() string { return fmt.Sprintf("%s (%s)", c.Name(), signed(c.Change)) }

func signed(s units.Seconds) string {
	if s > 0 {
		return "+" + s.String()
	}
	return units.SignedDuration(float64(s))
}

// ChangedTime is by how much a time became longer.
type ChangedTime float64

func (c ChangedTime) String() string {
	switch size := units.Seconds(math.Abs(float64(c))); {
	case c > 0:
		return size.String() + " longer"
	case c < 0:
		return size.String() + " less"
	}
	return "as long as before"
}

// ChangeInterval is the 95 % confidence interval of a change.
type ChangeInterval struct {
	Lo    units.Seconds `json:"lo_s"`
	Hi    units.Seconds `json:"hi_s"`
	Known bool          `json:"known"`
}

func (c ChangeInterval) String() string {
	if !c.Known {
		return "too few steps for a confidence interval"
	}
	return fmt.Sprintf("95 %% CI %s to %s", units.SignedDuration(float64(c.Lo)), units.SignedDuration(float64(c.Hi)))
}

// StepChange reports how the time of a step changed between two runs.
type StepChange struct {
	Per       Span           `json:"per"`
	Same      bool           `json:"same,omitempty"`
	Change    ChangedTime    `json:"change_s"`
	Computing bool           `json:"beside_computing,omitempty"`
	Interval  ChangeInterval `json:"interval"`
	Before    units.Seconds  `json:"before_s"`
	After     units.Seconds  `json:"after_s"`
	Parts     []ChangedPart  `json:"parts,omitempty"` // significant ones, those that explain most first
	LateRank  string         `json:"late_rank,omitempty"`
	LateParts []ChangedPart  `json:"late_rank_parts,omitempty"` // of that rank, less the mean of the others
}
