package notice

import (
	"fmt"
	"strings"

	"busbar/internal/ranges"
	"busbar/internal/units"
)

// Notices that a report begins with: what invalidates values, how fast each contender is, and what is missing.

// Runs are some of the runs of a document, by their numbers.
type Runs struct {
	Numbers []int `json:"runs"` // ascending, from 1
	Of      int   `json:"of"`
}

// mostRanges is how many ranges of runs are named one by one.
const mostRanges = 12

// String is "the run", "all runs", "run 3", "runs 1-4, 7".
func (r Runs) String() string {
	switch {
	case r.Of == 1:
		return "the run"
	case len(r.Numbers) == r.Of:
		return "all runs"
	}
	return r.Some()
}

// Some is "run 3" or "runs 1-4, 7"; "" where these are all runs.
func (r Runs) Some() string {
	if len(r.Numbers) == r.Of {
		return ""
	}
	parts := strings.Split(ranges.Format(r.Numbers), ",")
	if n := len(parts) - mostRanges; n > 0 {
		parts = append(parts[:mostRanges], fmt.Sprintf("and %d more", n))
	}
	if len(r.Numbers) == 1 {
		return "run " + parts[0]
	}
	return "runs " + strings.Join(parts, ", ")
}

// World is the ranks of a launch.
type World struct {
	Ranks int `json:"ranks"`
	Nodes int `json:"nodes,omitempty"`
}

// String is "16 ranks on 2 nodes".
func (w World) String() string {
	if w.Nodes > 1 {
		return units.Count(w.Ranks, "rank") + " on " + units.Count(w.Nodes, "node")
	}
	return units.Count(w.Ranks, "rank")
}

// WrongElement is the first element of a collective's data that differs from the expected value.
type WrongElement struct {
	Rank  int    `json:"rank"`
	Host  string `json:"host,omitempty"`
	Index int64  `json:"index"`
	Got   string `json:"got"`
	Want  string `json:"want"`
}

func (w WrongElement) String() string {
	return fmt.Sprintf("rank %d (%s), element %d: %s, not %s", w.Rank, w.Host, w.Index, w.Got, w.Want)
}

// WrongValue is why a point is wrong.
type WrongValue struct{ WrongElement }

// MemoryNeeded is why a point was not measured.
type MemoryNeeded struct {
	Bytes units.Bytes `json:"bytes"` // of a rank
}

// WrongData reports points at which ranks received wrong data.
type WrongData struct {
	Points int          `json:"points"`
	Where  string       `json:"where,omitempty"` // of the first, with its operation and size
	First  WrongElement `json:"first,omitzero"`
	Cause  Kept         `json:"cause,omitzero"` // where no element is recorded
}

// SimulatedRuns reports runs of a simulation.
type SimulatedRuns struct {
	Runs Runs `json:"runs,omitzero"` // zero where the location has the run
}

// OversubscribedRuns reports runs whose ranks or threads share cores or a GPU.
type OversubscribedRuns struct {
	Runs   Runs           `json:"runs"`
	Cause  Kept           `json:"cause"`
	Effect CrowdedVerdict `json:"effect"`
}

// CrowdedVerdict is what results of runs that share cores are good for.
type CrowdedVerdict string

// The verdicts.
const (
	NoSpeed        CrowdedVerdict = "no-speed"
	ThisHostAlone  CrowdedVerdict = "this-host-alone"
	NoSpeedOrSteps CrowdedVerdict = "no-speed-or-steps"
)

var crowdedTexts = map[CrowdedVerdict]string{
	NoSpeed:       "No verdict about speed is based on them.",
	ThisHostAlone: "Results of training steps hold for such a machine alone.",
}

func (c CrowdedVerdict) String() string {
	if c == NoSpeedOrSteps {
		return crowdedTexts[NoSpeed] + " " + crowdedTexts[ThisHostAlone]
	}
	return crowdedTexts[c]
}

// ImportedRuns reports runs that other tools measured.
type ImportedRuns struct {
	Runs  Runs     `json:"runs"`
	Tools []string `json:"tools"`
}

// RecordsCombined reports that several records are one point of a curve.
type RecordsCombined struct {
	Records int `json:"records"`
	Points  int `json:"points"`
}

// EndNotRecorded reports runs that are still going on or were killed.
type EndNotRecorded struct {
	Runs Runs `json:"runs"`
}

// PointsOpen reports points that a resumed run can still measure.
type PointsOpen struct {
	Points  OpenPoints `json:"points"`
	Runs    Runs       `json:"runs"`
	Command string     `json:"command,omitempty"` // of the first of them, without its launcher
}

// OpenPoints counts them.
type OpenPoints struct {
	Left   int `json:"left"`   // planned, without a record
	Failed int `json:"failed"` // or unfinished
}

func (o OpenPoints) String() string {
	var words []string
	if o.Left > 0 {
		words = append(words, units.Count(o.Left, "planned point")+" not measured")
	}
	if o.Failed > 0 {
		words = append(words, units.Count(o.Failed, "point")+" failed or unfinished")
	}
	return strings.Join(words, ", ")
}

// ImportedUnfinished reports imported runs that did not complete.
type ImportedUnfinished struct {
	Runs Runs `json:"runs"`
}

// PlanUnknown reports points of files that do not record what was planned.
type PlanUnknown struct {
	Points int `json:"points"`
}

// NoValues reports that no point has a value.
type NoValues struct{}

// OneRankRun reports that no result has more than one rank.
type OneRankRun struct{}

// BestBandwidth is the largest bus bandwidth that a contender reaches.
type BestBandwidth struct {
	Who       string          `json:"who"`
	Operation string          `json:"operation"`
	World     World           `json:"world"`
	BusBW     units.Bandwidth `json:"busbw"`
	At        units.Bytes     `json:"at_bytes"`
	Placement string          `json:"placement,omitempty"`
	Interval  BandwidthRange  `json:"interval"`
	Share     units.Share     `json:"share,omitempty"` // of the peak
	Limit     units.LinkRate  `json:"peak,omitempty"`
	Peak      Kept            `json:"peak_source,omitzero"`
	Exceeded  Kept            `json:"peak_exceeded,omitzero"` // by the possible peak
	Unknown   Kept            `json:"peak_unknown,omitzero"`
	Lower     int             `json:"lower,omitempty"` // other contenders, which are not listed
}

// SmallMessage is what the smallest message of a contender takes.
type SmallMessage struct {
	Who       string        `json:"who"`
	Operation string        `json:"operation"`
	World     World         `json:"world"`
	Latency   units.Seconds `json:"latency_s"`
	At        units.Bytes   `json:"at_bytes"`
	Placement string        `json:"placement,omitempty"`
	Mode      string        `json:"mode"`
}

// Advice is what to do about an unknown peak.
func (b BestBandwidth) Advice() string {
	if b.Unknown.Fact == nil {
		return ""
	}
	return Advice(b.Unknown.Fact)
}

// BandwidthRange is the uncertainty of a bandwidth.
type BandwidthRange struct {
	Lo    units.Bandwidth `json:"lo"`
	Hi    units.Bandwidth `json:"hi"`
	Basis RangeBasis      `json:"basis"`
}

// RangeBasis is what an uncertainty is based on; "" is unknown.
type RangeBasis string

// The bases.
const (
	WithinLaunch  RangeBasis = "within-launch"
	LaunchesRange RangeBasis = "range-over-launches"
	OverLaunches  RangeBasis = "over-launches"
)

var rangeBasisTexts = map[RangeBasis]string{
	WithinLaunch:  "95 % CI within the launch",
	LaunchesRange: "minimum and maximum over launches",
	OverLaunches:  "95 % CI over launches",
}

func (r RangeBasis) String() string { return rangeBasisTexts[r] }

func (r BandwidthRange) String() string {
	if r.Basis == "" {
		return "no 95 % CI"
	}
	return fmt.Sprintf("%s: %s to %s", r.Basis, units.Gigabytes(float64(r.Lo)), units.Gigabytes(float64(r.Hi)))
}

// Code identifies the notice, as all methods below do.
func (WrongValue) Code() Code         { return "wrong-value" }
func (MemoryNeeded) Code() Code       { return "memory-needed" }
func (WrongData) Code() Code          { return "wrong-data" }
func (SimulatedRuns) Code() Code      { return "simulated-runs" }
func (OversubscribedRuns) Code() Code { return "oversubscribed-runs" }
func (ImportedRuns) Code() Code       { return "imported-runs" }
func (RecordsCombined) Code() Code    { return "records-combined" }
func (EndNotRecorded) Code() Code     { return "end-not-recorded" }
func (PointsOpen) Code() Code         { return "points-open" }
func (ImportedUnfinished) Code() Code { return "imported-unfinished" }
func (PlanUnknown) Code() Code        { return "plan-unknown" }
func (NoValues) Code() Code           { return "no-values" }
func (OneRankRun) Code() Code         { return "world-of-one" }
func (BestBandwidth) Code() Code      { return "best-bandwidth" }
func (SmallMessage) Code() Code       { return "small-message-latency" }

var exampleRuns = Runs{[]int{1, 2, 3, 5}, 9}

var headlines = []Entry{
	{Example: WrongValue{WrongElement{3, "node2", 0, "2", "1"}}, Severity: Error,
		Text: "rank {Rank} ({Host}), element {Index}: {Got}, not {Want}",
		Doc:  "The first wrong element of a point; see wrong-data."},
	{Example: MemoryNeeded{8 << 30}, Severity: Info, Text: "needs {Bytes} per rank",
		Doc: "The buffers of the point do not fit the memory of a rank or its GPU."},
	{
		Example: WrongData{3, "all_reduce float32; 1 MiB", WrongElement{3, "node2", 0, "2", "1"},
			Kept{SourceCountsWrong{3}}},
		Severity: Error,
		Text:     "WRONG DATA at {Points point}: results differ from the correct values",
		Details:  []string{"[First: {Where}: {First}.]", "[First: {Where}: {Cause}.]"},
		Advice:   "do not use this configuration until the cause is known",
		Doc: `The data of a rank differs from the correct result. Data quality has the points and one element of each
			kind.`,
	},
	{
		Example:  SimulatedRuns{exampleRuns},
		Severity: Warning,
		Text:     "SIMULATED[ ({Runs})]: no device was measured; these values are not about hardware",
		Details:  []string{"They have no peak and no findings."},
		Doc:      "The runs used --simulate: a model took the place of devices.",
	},
	{
		Example: OversubscribedRuns{exampleRuns, Kept{Oversubscribed{Ranks: 4, Cores: 2, Host: "node17"}},
			NoSpeedOrSteps},
		Severity: Warning,
		Text:     "OVERSUBSCRIBED ({Runs}): times show waiting for a core or GPU, not the speed of communication",
		Details:  []string{"Cause: {Cause}.", "{Effect}"},
		Doc:      "Ranks or threads of these runs share cores or a GPU. The cause is that of the first of them.",
	},
	{
		Example:  ImportedRuns{exampleRuns, []string{"nccl-tests 2.17"}},
		Severity: Info,
		Text: `imported from {Tools} ({Runs}): confidence intervals, times of single ranks and the synchronisation
			of ranks may not be recorded`,
		Doc: "Files of other tools contain less than those of rank.",
	},
	{
		Example:  RecordsCombined{14, 7},
		Severity: Info,
		Text:     "{Records record} combined into {Points point} of curves",
		Doc: `Records of one message size, from several launches, cycles or rows of a table, are one point of a
			curve.`,
	},
	{
		Example:  EndNotRecorded{exampleRuns},
		Severity: Warning,
		Text:     "no end recorded for {Runs}: still running, or killed",
		Doc:      "Every run records its end, also an interrupted one.",
	},
	{
		Example:  PointsOpen{OpenPoints{12, 3}, exampleRuns, "rank --backend mpi --resume"},
		Severity: Warning,
		Text:     "{Points} ({Runs})",
		Advice:   "repeat the same launch with --resume[: … {Command}]",
		Doc:      "The runs were interrupted, or points of them failed, and no later run continues them.",
	},
	{
		Example:  ImportedUnfinished{exampleRuns},
		Severity: Warning,
		Text:     "incomplete import: {Runs}",
		Doc:      "The files of another tool end early.",
	},
	{
		Example:  PlanUnknown{7},
		Severity: Info,
		Text:     "{Points point} from files of other tools, which do not record the plan",
		Doc:      "Only runs of rank record their plan.",
	},
	{
		Example:  NoValues{},
		Severity: Warning,
		Text:     "no point has a value; data quality lists the reasons",
		Doc:      "All points failed, were skipped, or have no time that belongs to a curve.",
	},
	{
		Example:  OneRankRun{},
		Severity: Info,
		Text:     "world size 1: no data crosses a link, so speed is not judged",
		Doc:      "A library copies within the memory of the one rank, or, in place, does nothing.",
	},
	{
		Example: BestBandwidth{"nccl", "all_reduce float32 sum", World{16, 2}, 360e9, 1 << 30, "out-of-place",
			BandwidthRange{358e9, 362e9, OverLaunches}, 0.9, 400e9,
			Kept{PeakNetwork{[]string{"8 x InfiniBand 400 Gbit/s"}, 0}}, Kept{PeakExceeded{Hierarchical, 787.5e9}},
			Kept{PeakUnknown{UnknownGPU, "NVIDIA A30"}}, 2},
		Severity: Info,
		Text: `{Who} reaches {BusBW} busbw[ ({Share} of peak)] at {At} with {World}: {Operation}[, {Placement}];
			{Interval}[; peak {Limit}: {Peak}][; {Exceeded}][; peak unknown ({Unknown})][; {Lower other} lower]`,
		Doc: `The largest bus bandwidth of each contender in throughput mode, with the largest world of its first
			collective. Shared cores and simulations are left out.`,
	},
	{
		Example:  SmallMessage{"nccl", "all_reduce float32 sum", World{16, 2}, 21.5e-6, 8, "out-of-place", "latency"},
		Severity: Info,
		Text:     "{Who} takes {Latency} at {At} with {World}: {Operation}[, {Placement}], {Mode} mode",
		Doc: `The time of the smallest message of each contender, with the world and the collective of its
			best-bandwidth: in latency mode, or in throughput mode if that is all there is.`,
	},
}
