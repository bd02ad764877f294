package notice

import (
	"fmt"

	"busbar/internal/units"
)

// Notices on why a point has no valid value: the cause in its record. docs/file-format.md has the statuses.

// TooSmall is that ranks have nothing to send.
type TooSmall struct {
	Ranks int `json:"ranks"`
}

// TakesTooLong is that a fixed number of operations does not fit the time limit.
type TakesTooLong struct {
	Operations int           `json:"operations"`
	Takes      units.Seconds `json:"takes_s"`
	Left       units.Seconds `json:"left_s"`
}

// TimeOver is that a point was left out for the time limit.
type TimeOver struct {
	Limit units.Seconds `json:"limit_s"`
}

// MemoryInsufficient is that the buffers of a point do not fit.
type MemoryInsufficient struct {
	Needed units.RoughBytes `json:"needed_bytes"` // of a rank
	Limit  MemoryLimit      `json:"limit"`
}

// MemoryLimit is the memory that each rank may have, and what limits it.
type MemoryLimit struct {
	Rank      int              `json:"rank"` // with the minimum
	Host      string           `json:"host"`
	Bytes     units.RoughBytes `json:"bytes"`
	Bound     string           `json:"bound,omitempty"` // "MemAvailable", a control group; "": free memory is unknown
	Free      units.RoughBytes `json:"free_bytes"`      // of Bound
	Ranks     int              `json:"ranks,omitempty"` // that share Bound
	Kept      units.RoughBytes `json:"kept_bytes"`      // for each of them, besides a tenth
	Libraries int              `json:"libraries,omitempty"`
	Groups    int              `json:"groups,omitempty"`
}

// String is the whole limit.
func (m MemoryLimit) String() string {
	if m.Bound == "" {
		return "free memory is unknown"
	}
	return fmt.Sprintf("rank %d on %s may use %v for buffers: %s", m.Rank, m.Host, m.Bytes, m.Basis())
}

// Basis is what limits it.
func (m MemoryLimit) Basis() string {
	text := fmt.Sprintf("%s leaves %v", m.Bound, m.Free)
	if m.Ranks > 1 {
		text += fmt.Sprintf(" for %d ranks", m.Ranks)
	}
	text += fmt.Sprintf(", less a tenth and %v per rank", m.Kept)
	if m.Libraries > 1 {
		text += fmt.Sprintf("; %d interleaved backends share it", m.Libraries)
	}
	if m.Groups > 1 {
		text += fmt.Sprintf("; %d groups on one host share it", m.Groups)
	}
	return text
}

// MemoryRefused is that the system refused buffers that should fit.
type MemoryRefused struct {
	Rank    int    `json:"rank"`
	Host    string `json:"host"`
	Problem string `json:"problem,omitempty"`
}

// NotSupported is that a library lacks a type, a reduction or a way to go on beside computing.
type NotSupported struct {
	Library string `json:"library"`
	What    string `json:"what"`
}

// AverageUnderflows is that NCCL's average is 0 in a type.
type AverageUnderflows struct {
	Ranks int    `json:"ranks"`
	Type  string `json:"type"`
}

// ProgressUnsupported is that a library does not support a way of progress beside computing.
type ProgressUnsupported struct {
	Library  string   `json:"library"`
	Progress string   `json:"progress,omitempty"` // "": of any kind but Has
	Has      []string `json:"has,omitempty"`
	Why      string   `json:"why,omitempty"`
}

// LibraryLacks is what a library reports that it does not support.
type LibraryLacks struct {
	Problem string `json:"problem"`
}

// RankFailed is that a point failed on a rank.
type RankFailed struct {
	Rank    int    `json:"rank"`
	Host    string `json:"host,omitempty"`
	Problem string `json:"problem"`
}

// PointAborted is that the run ended at a point.
type PointAborted struct {
	Cause   Kept   `json:"cause,omitzero"`    // that of the end of the run
	Problem string `json:"problem,omitempty"` // its text, of older versions
}

// DataWrong is that ranks received wrong data.
type DataWrong struct {
	Wrong    int64  `json:"wrong"`
	Elements int64  `json:"elements"`
	Of       string `json:"of,omitempty"` // a bucket, of a training step
	WrongElement
}

// CutOff is that a run ended within a training step's rounds.
type CutOff struct {
	Rounds int `json:"rounds"`
}

// SourceCountsWrong is that an imported file counts wrong elements.
type SourceCountsWrong struct {
	Elements int64 `json:"elements,omitempty"` // 0: not how many
}

// SourceErrorLarge is that an imported file marks an error as larger than allowed.
type SourceErrorLarge struct{}

// SourceReports is what an imported file reports for a point.
type SourceReports struct {
	Text string `json:"text"`
}

// RanksContradicted is that imported bandwidths do not fit the number of ranks.
type RanksContradicted struct {
	BusBW    string `json:"busbw"` // as printed
	AlgBW    string `json:"algbw"`
	Ratio    Ratio3 `json:"ratio"`
	Ranks    int    `json:"ranks"`
	Expected Ratio3 `json:"expected_ratio"`
}

// Ratio3 is a ratio with three digits after the point.
type Ratio3 float64

func (r Ratio3) String() string { return fmt.Sprintf("%.3f", float64(r)) }

// RowTorn is an imported row that was cut off or garbled.
type RowTorn struct {
	Text string `json:"text"`
}

// LineNotImported is a line of a file to import that is no part of a known layout.
type LineNotImported RowTorn
