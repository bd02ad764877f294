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

func (c CrowdedVerdict) String() string {
	if c == NoSpeedOrSteps {
		return TextOf(NoSpeed) + " " + TextOf(ThisHostAlone)
	}
	return TextOf(c)
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
type ImportedUnfinished EndNotRecorded

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

func (r RangeBasis) String() string { return TextOf(r) }

func (r BandwidthRange) String() string {
	if r.Basis == "" {
		return "no 95 % CI"
	}
	return fmt.Sprintf("%s: %s to %s", r.Basis, units.Gigabytes(float64(r.Lo)), units.Gigabytes(float64(r.Hi)))
}
