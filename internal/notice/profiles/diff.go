package profiles

import (
	"encoding"
	"fmt"
	"math"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices on what changed between the traces of two runs.

// TimePart is a part of the time of a step.
type TimePart uint8

// The parts. Those up to UnknownIdle add up to the step.
const (
	Computing TimePart = iota
	PureExposed
	WaitingForRanks
	Copying
	HostBoundIdle
	LaunchedIdle
	UnknownIdle
	WholeStep
	PureComm // hidden or not
)

var _ encoding.TextMarshaler = TimePart(0)

var timeParts = []struct{ name, text string }{
	{"computing", "computing"},
	{"exposed-communication", "exposed communication"},
	{"waiting", "waiting for other ranks"},
	{"copies", "copies"},
	{"idle-host-bound", "idle, host-bound"},
	{"idle-waiting", "idle, launched"},
	{"idle-unknown", "idle, cause unknown"},
	{"step", "the whole"},
	{"pure-communication", "pure communication, hidden or not"},
}

func (p TimePart) String() string { return timeParts[p].name }

// Text is how tables and sentences name the part.
func (p TimePart) Text() string { return timeParts[p].text }

// MarshalText returns the name.
func (p TimePart) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText accepts a name.
func (p *TimePart) UnmarshalText(text []byte) error {
	for i, k := range timeParts {
		if k.name == string(text) {
			*p = TimePart(i)
			return nil
		}
	}
	return fmt.Errorf("unknown part of a step %q", text)
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
	return c.Part.Text()
}

func (c ChangedPart) String() string { return fmt.Sprintf("%s (%s)", c.Name(), signed(c.Change)) }

func signed(s units.Seconds) string {
	if s > 0 {
		return "+" + s.String()
	}
	return units.SignedDuration(float64(s))
}

// ChangedParts are the significant ones, those that explain most first.
type ChangedParts []ChangedPart

func (all ChangedParts) String() string {
	if len(all) == 0 {
		return "no single part changed significantly"
	}
	return units.First(all, 3, "more part")
}

// ChangeInterval is the 95 % confidence interval of a change.
type ChangeInterval struct {
	Lo    units.Seconds `json:"lo_s"`
	Hi    units.Seconds `json:"hi_s"`
	Known bool          `json:"known"`
}

func (c ChangeInterval) String() string {
	if c.Lo > 0 {
		return fmt.Sprintf("95 %% CI %v to %v", c.Lo, c.Hi)
	}
	return fmt.Sprintf("95 %% CI %s to %s", signed(c.Lo), signed(c.Hi))
}

// RankItself is what the rank that others wait for does longer, against the mean of the others.
type RankItself struct {
	Rank  string       `json:"rank,omitempty"`
	Parts ChangedParts `json:"parts,omitempty"`
}

func (l RankItself) String() string {
	return fmt.Sprintf("On %s itself, against the other ranks: %v", l.Rank, l.Parts)
}

// Untested states that there are too few steps for a confidence interval.
type Untested bool

func (Untested) String() string {
	return "There are too few steps for a confidence interval: significance is unknown."
}

// BesideComputing states that the change leaves out computing, which rank --step calibrates in each launch.
type BesideComputing bool

func (BesideComputing) String() string { return "beside computing" }

// StepChange is how the time of a step changed between two runs.
type StepChange struct {
	Per       Span            `json:"per"`
	Change    units.Seconds   `json:"change_s"` // its size
	Interval  ChangeInterval  `json:"interval,omitzero"`
	Before    units.Seconds   `json:"before_s"`
	After     units.Seconds   `json:"after_s"`
	Parts     ChangedParts    `json:"parts"`
	Late      RankItself      `json:"late_rank,omitzero"`
	Computing BesideComputing `json:"beside_computing,omitempty"`
	Untested  Untested        `json:"untested,omitempty"`
}

// size is the interval of an amount that is reported without its sign.
func (s StepChange) size() StepChange {
	if s.Change < 0 {
		s.Interval.Lo, s.Interval.Hi = -s.Interval.Hi, -s.Interval.Lo
	}
	s.Change = units.Seconds(math.Abs(float64(s.Change)))
	return s
}

// StepLonger reports a step that became longer.
type StepLonger StepChange

// StepShorter reports a step that became shorter.
type StepShorter StepChange

// StepShifted reports parts that changed in a step that takes as long as before.
type StepShifted struct {
	Per       Span            `json:"per"`
	Interval  ChangeInterval  `json:"interval,omitzero"`
	Before    units.Seconds   `json:"before_s"`
	After     units.Seconds   `json:"after_s"`
	Parts     ChangedParts    `json:"parts"`
	Late      RankItself      `json:"late_rank,omitzero"`
	Computing BesideComputing `json:"beside_computing,omitempty"`
	Untested  Untested        `json:"untested,omitempty"`
}

// StepUnchanged reports that nothing changed significantly.
type StepUnchanged struct {
	Per       Span            `json:"per"`
	Interval  ChangeInterval  `json:"interval,omitzero"`
	Before    units.Seconds   `json:"before_s"`
	After     units.Seconds   `json:"after_s"`
	Computing BesideComputing `json:"beside_computing,omitempty"`
	Untested  Untested        `json:"untested,omitempty"`
}

// FactOf returns the notice on a change, by whether the whole changed significantly.
func FactOf(s StepChange, significant bool) notice.Fact {
	switch {
	case significant && s.Change > 0:
		return StepLonger(s)
	case significant:
		return StepShorter(s.size())
	case len(s.Parts) > 0:
		return StepShifted{s.Per, s.Interval, s.Before, s.After, s.Parts, s.Late, s.Computing, s.Untested}
	}
	return StepUnchanged{s.Per, s.Interval, s.Before, s.After, s.Computing, s.Untested}
}

// OneSided reports kernels that only one of two runs has.
type OneSided struct {
	Side    string      `json:"side"` // before or after
	Kernels KernelNames `json:"kernels"`
}

// KernelNames are names of kernels, those with most time first.
type KernelNames []string

func (k KernelNames) String() string {
	return strings.ReplaceAll(units.First(k, 8, "more"), "mores", "more")
}

func (StepLonger) Code() notice.Code    { return "step-longer" }
func (StepShorter) Code() notice.Code   { return "step-shorter" }
func (StepShifted) Code() notice.Code   { return "step-shifted" }
func (StepUnchanged) Code() notice.Code { return "step-unchanged" }
func (OneSided) Code() notice.Code      { return "one-sided-kernels" }

var changeDetails = []string{"[{Late}.]", "[{Untested}]"}

var changedStep = StepChange{
	"step", 12.3 * ms, ChangeInterval{11.9 * ms, 12.8 * ms, true}, 0.1, 0.1123,
	ChangedParts{{WaitingForRanks, "rank 3", 11.8 * ms}},
	RankItself{"rank 3", ChangedParts{{Computing, "", 11.7 * ms}}}, true, true,
}

var changes = []notice.Entry{
	{
		Example: StepLonger(changedStep), Severity: notice.Warning,
		Text:    "a {Per} takes {Change} longer[ {Computing}][ ({Interval})]: {Parts}",
		Details: append([]string{"It takes {After} instead of {Before}."}, changeDetails...),
		Doc: `The change is significant over steps (family-wise false-positive rate 5 %) and at least 2 % of the step, 30
			% for busbar's own steps on CPUs, whose computing is not compared: each launch calibrates it. Parts that
			changed significantly follow, the largest first.`,
	},
	{
		Example: StepShorter(changedStep), Severity: notice.Info,
		Text:    "a {Per} takes {Change} less[ {Computing}][ ({Interval})]: {Parts}",
		Details: append([]string{"It takes {After} instead of {Before}."}, changeDetails...),
		Doc:     "As step-longer, for a step that became shorter.",
	},
	{
		Example: StepShifted{
			"step", changedStep.Interval, 0.1, 0.1, changedStep.Parts, changedStep.Late, true, true,
		},
		Severity: notice.Info,
		Text:     "a {Per} takes as long as before[ {Computing}][ ({Interval})], but its parts changed: {Parts}",
		Details:  append([]string{"It takes {After}, and took {Before}."}, changeDetails...),
		Doc:      "Parts changed by as much as step-longer requires, and the step did not.",
	},
	{
		Example: StepUnchanged{"step", ChangeInterval{-0.2 * ms, 0.3 * ms, true}, 0.1, 0.1, true, true}, Severity: notice.Info,
		Text:    "no significant difference[ {Computing}]: a {Per} takes {After}, and took {Before}[ (difference: {Interval})]",
		Details: changeDetails[1:],
		Doc:     "Neither the step nor a part of it changed as much as step-longer requires.",
	},
	{
		Example: OneSided{"after", KernelNames{"fused_adam"}}, Severity: notice.Info,
		Text: "kernels only in the run {Side}: {Kernels}",
		Doc:  "Both runs have the same collectives, and other kernels: another version, or a fusion.",
	},
}
