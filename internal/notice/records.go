package notice

import (
	"encoding/json"
	"fmt"

	"busbar/internal/units"
)

// Notices on single points and on whole runs, which results files keep.

// TooFewSamples reports a median without a confidence interval.
type TooFewSamples struct {
	Samples int `json:"samples"`
	Needed  int `json:"needed"`
}

// Autocorrelated reports that successive samples depend on each other, and how many an interval needs that holds what
// it promises.
type Autocorrelated TooFewSamples

// Drift reports that times rose or fell while a point was measured.
type Drift struct {
	Change Change `json:"change"` // median of the last third of the samples over that of the first, minus 1
}

// Bimodal reports that times have two modes.
type Bimodal struct {
	Lower      units.Seconds `json:"lower_s"`
	LowerShare units.Share   `json:"lower_share"` // of the samples
	Upper      units.Seconds `json:"upper_s"`
	UpperShare units.Share   `json:"upper_share"`
}

// SamplesNotFinite reports times that are no numbers.
type SamplesNotFinite struct {
	Samples int `json:"samples"`
}

// ValueNotFinite reports that a value of a record was infinite or not a number.
type ValueNotFinite struct{}

// TimerCost reports that reading the clock takes a noticeable part of what is timed.
type TimerCost struct {
	Reading units.Nanoseconds `json:"reading_s"`
	Share   units.Share       `json:"share"` // of the timed interval
}

// TimerResolution reports that the clock's step is too large for percentiles.
type TimerResolution struct {
	Step units.Nanoseconds `json:"step_s"`
}

// EventResolution reports that the step of the device's clock is a noticeable part of what is timed.
type EventResolution struct {
	Step     units.Nanoseconds `json:"step_s"`
	Share    units.Share       `json:"share"` // of the timed interval, at least
	Interval units.Seconds     `json:"interval_s"`
}

// NoCommonClock reports that the ranks' clocks could not be compared.
type NoCommonClock struct{}

// ClockUncertainty reports that the offset between hosts is not known well enough for what is timed.
type ClockUncertainty struct {
	Uncertainty units.Seconds `json:"uncertainty_s"`
	Share       units.Share   `json:"share"` // of the time
}

// PathDiffers reports that ranks chose different algorithms, protocols or channels.
type PathDiffers struct {
	Ranks int    `json:"ranks"` // that differ from rank 0
	World int    `json:"world"`
	Own   string `json:"own"` // of rank 0
	Rank  int    `json:"rank"`
	Host  string `json:"host,omitempty"`
	Other string `json:"other"` // of the first rank that differs
}

// LinkErrors reports that counters of a port rose during a point.
type LinkErrors struct {
	Port     string   `json:"port"`
	Counters []string `json:"counters"` // "3 symbol_error"
}

// LocalRetransmissions reports that TCP sent segments again although all ranks are on one host.
type LocalRetransmissions struct {
	Segments int64 `json:"segments"`
}

// ComputePace reports that the computing part of a training step takes another time than its model.
type ComputePace struct {
	Took  units.Seconds `json:"took_s"`
	Model units.Seconds `json:"model_s"`
}

// TraceNotWritten reports that the trace of a training step could not be written.
type TraceNotWritten struct {
	Problem string `json:"problem"`
}

// Oversubscribed reports that ranks share cores.
type Oversubscribed struct {
	Ranks int       `json:"ranks,omitempty"`
	Cores int       `json:"cores,omitempty"`
	Host  string    `json:"host,omitempty"` // "" where the location has it
	Limit CoreLimit `json:"limit,omitzero"`
	CPUs  RankCPUs  `json:"cpus,omitzero"` // of all ranks of the host; of rank --preflight
	Why   string    `json:"why,omitempty"` // the text of Limit, of older versions
}

// CoreLimit is what keeps ranks from using all cores of a host; zero where they may.
type CoreLimit struct {
	Quota float64 `json:"quota_cpus,omitempty"` // of a control group
	CPUs  string  `json:"bound_to,omitempty"`   // as a list, "0-3,8"
}

func (l CoreLimit) String() string {
	if l.Quota > 0 {
		return fmt.Sprintf("cgroup quota of %.3g CPUs", l.Quota)
	}
	return "bound to CPUs " + l.CPUs
}

// OversubscribedHosts reports further hosts on which ranks share cores.
type OversubscribedHosts struct {
	Hosts int `json:"hosts"`
}

// SharedThreads reports that library threads and ranks share CPUs.
type SharedThreads struct {
	Host  string `json:"host"`
	CPUs  int    `json:"cpus"`
	Ranks int    `json:"ranks"`
}

// SharedGPU reports that several ranks use one GPU. Results files do not have the parameters.
type SharedGPU struct {
	Ranks   int    `json:"ranks,omitempty"`
	GPU     string `json:"gpu,omitempty"`
	PCI     string `json:"pci,omitempty"`
	UUID    string `json:"uuid,omitempty"`
	Allowed bool   `json:"allowed,omitempty"` // --allow-shared-gpu
}

// Advice depends on whether that was asked for.
func (s SharedGPU) Advice() string {
	switch {
	case s.Allowed:
		return "use the results for correctness only: ranks that share a GPU show no speed"
	case s.Ranks > 0:
		return Phrase("AdviceOwnGPU") + ", or allow it with --allow-shared-gpu, for correctness only"
	}
	return ""
}

// HostLoad reports that other work ran on a host before the run.
type HostLoad struct {
	Host string  `json:"host"`
	Load float64 `json:"load1"` // one-minute load average
}

// CollectiveUnknown reports that another tool's output does not name its collective.
type CollectiveUnknown struct {
	Fits []string `json:"fits,omitempty"` // collectives that the columns fit
}

// DevicesPartlyListed reports that another tool's output lists one device per process.
type DevicesPartlyListed struct {
	Listed int `json:"listed"`
	World  int `json:"world"`
}

// ConcurrentGroups reports that the ranks of another tool's run worked in several groups at once.
type ConcurrentGroups struct{}

// SeparateWorlds reports that processes of another tool did not form one world.
type SeparateWorlds struct {
	Processes int `json:"processes"`
}

// WrongValuesCounted reports that another tool's output ends with a count of wrong values.
type WrongValuesCounted struct {
	Values int64 `json:"values"`
}

// Deduced is what follows from another tool's output, where no line of it states that.
type Deduced struct {
	What       DeducedWhat `json:"what"`
	From       DeducedFrom `json:"from"`
	Collective string      `json:"collective,omitempty"` // of a size
}

// DeducedWhat is what was deduced.
type DeducedWhat string

// What is deduced.
const (
	DeducedRanks      DeducedWhat = "ranks"
	DeducedCollective DeducedWhat = "collective"
	DeducedPlacement  DeducedWhat = "placement"
	DeducedSize       DeducedWhat = "size"
	DeducedIterations DeducedWhat = "iterations"
)

func (w DeducedWhat) String() string { return TextOf(w) }

// DeducedFrom is what something was deduced from.
type DeducedFrom uint8

// What it follows from.
const (
	FromCommand    DeducedFrom = iota // over the table
	FromRatio                         // of the bandwidths
	FromColumns                       // and the ratio of the bandwidths
	FromShare                         // of a rank
	FromTableAbove                    // of the same file
)

var deducedFrom = []struct{ name, text string }{
	{"command", "from the command over the table"},
	{"ratio", "the only one that fits the ratio of busbw to algbw"},
	{"columns", "the only one that fits the columns"},
	{"share", "one rank's share in the table, times the number of ranks"},
	{"table-above", "from the table above"},
}

func (f DeducedFrom) String() string { return deducedFrom[f].text }

// MarshalText returns the name.
func (f DeducedFrom) MarshalText() ([]byte, error) { return []byte(deducedFrom[f].name), nil }

// UnmarshalText accepts a name.
func (f *DeducedFrom) UnmarshalText(text []byte) error {
	for i, d := range deducedFrom {
		if d.name == string(text) {
			*f = DeducedFrom(i)
			return nil
		}
	}
	return fmt.Errorf("%q: unknown origin", text)
}

// ScriptHabits describes what scripts around torch's all_reduce do and their tables do not show.
type ScriptHabits struct{}

// Recorded is a warning of which only the text is known: from an older version of busbar, or from another tool.
type Recorded struct {
	Text string `json:"text"`
}

// Unknown is a fact of a newer version.
type Unknown struct {
	Of         Code            `json:"code"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Change is a relative change: "+12.3 %", "a factor of 4.00".
type Change float64

func (c Change) String() string {
	if ratio := 1 + float64(c); ratio >= 3 || ratio <= 1.0/3 {
		return "a factor of " + units.Times(ratio)
	}
	return fmt.Sprintf("%+.1f %%", 100*float64(c))
}

// RankCPUs is which CPUs the ranks of a host may use.
type RankCPUs struct {
	Ranks   int     `json:"ranks"`
	CPUs    int     `json:"cpus"`
	Binding Binding `json:"binding"`
}

func (c RankCPUs) String() string { return Message(c) }

// Binding is to how many CPUs the ranks of a host are bound: 0 if that is unknown.
type Binding struct {
	Min  int  `json:"min_cpus"`
	Max  int  `json:"max_cpus"`
	Free bool `json:"unbound,omitempty"` // to no part of the host
}

func (b Binding) String() string {
	switch {
	case b.Min == 0:
		return "binding unknown"
	case b.Free:
		return "not bound"
	case b.Min == b.Max:
		return fmt.Sprintf("bound to %d each", b.Min)
	}
	return fmt.Sprintf("bound to %d to %d each", b.Min, b.Max)
}
