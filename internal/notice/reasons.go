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
type LineNotImported struct {
	Text string `json:"text"`
}

func (TooSmall) Code() Code            { return "too-small" }
func (TakesTooLong) Code() Code        { return "takes-too-long" }
func (TimeOver) Code() Code            { return "time-limit-reached" }
func (MemoryInsufficient) Code() Code  { return "memory-insufficient" }
func (MemoryRefused) Code() Code       { return "memory-refused" }
func (NotSupported) Code() Code        { return "not-supported" }
func (AverageUnderflows) Code() Code   { return "average-underflows" }
func (ProgressUnsupported) Code() Code { return "progress-unsupported" }
func (LibraryLacks) Code() Code        { return "library-lacks" }
func (RankFailed) Code() Code          { return "rank-failed" }
func (PointAborted) Code() Code        { return "point-aborted" }
func (DataWrong) Code() Code           { return "point-wrong" }
func (CutOff) Code() Code              { return "cut-off" }
func (SourceCountsWrong) Code() Code   { return "source-counts-wrong" }
func (SourceErrorLarge) Code() Code    { return "source-error-too-large" }
func (SourceReports) Code() Code       { return "source-reports" }
func (RanksContradicted) Code() Code   { return "ranks-contradicted" }
func (RowTorn) Code() Code             { return "row-torn" }
func (LineNotImported) Code() Code     { return "line-not-imported" }

const importDoc = "docs/import.md has the layouts that post import reads."

var reasons = []Entry{
	{
		Example: TooSmall{8}, Severity: Info,
		Text: "too small: each of {Ranks rank} would have less than 16 bytes",
		Doc:  "As in nccl-tests, bytes per rank are rounded down to a multiple of 16. 0 bytes are not measured.",
	},
	{
		Example: TakesTooLong{100, 200, 60}, Severity: Info,
		Text:   "{Operations operation} would take about {Takes}, and --time-limit leaves {Left}",
		Advice: "increase --time-limit, or reduce the number of iterations (-n)",
		Doc:    "With a fixed number of iterations (-n) the time is estimated from the warm-up.",
	},
	{
		Example: TimeOver{300}, Severity: Info,
		Text:   "left out to keep the run within --time-limit {Limit}",
		Advice: "measure it with rank --resume, with the same --out",
		Doc:    "A run with --time-limit leaves out points evenly, so that all sizes and collectives are covered.",
	},
	{
		Example: MemoryInsufficient{
			16 << 30, MemoryLimit{0, "node1", 3 << 30, "MemAvailable", 16 << 30, 4, 32 << 20, 2, 2},
		},
		Severity: Info,
		Text:     "needs {Needed} for buffers per rank; {Limit}",
		Advice:   "start fewer ranks per host, or ask for more memory (srun --mem=0)",
		Doc:      "The plan uses the free memory of all hosts before the first point.",
	},
	{
		Example: MemoryRefused{3, "node1", "cannot allocate memory"}, Severity: Warning,
		Text: "rank {Rank} on {Host} could not allocate buffers that should fit[: {Problem}]",
		Doc:  "Other processes took memory after it was planned. The largest points are skipped first.",
	},
	{
		Example: NotSupported{"Gloo", "bfloat16"}, Severity: Info,
		Text: "{Library} does not support {What}",
		Doc:  "The library lacks the data type or reduction.",
	},
	{
		Example: AverageUnderflows{512, "float8_e4m3"}, Severity: Info,
		Text: "the average over {Ranks rank} is 0 in {Type}: NCCL multiplies by 1/n, which rounds to 0",
		Doc:  "NCCL multiplies each input by 1/n in the data type before it adds them.",
	},
	{
		Example: ProgressUnsupported{"Gloo", "async", []string{"thread"}, "its operations block"}, Severity: Info,
		Text: `{Library} does not support[ {Progress}] progress during computation[, only {Has}][: {Why}]`,
		Doc:  "docs/step.md describes the kinds of progress.",
	},
	{
		Example: LibraryLacks{"no such algorithm"}, Severity: Info,
		Text: "{Problem}",
		Doc:  "The message of the library, or of its binding, for an unsupported operation.",
	},
	{
		Example: RankFailed{3, "node1", "connection reset"}, Severity: Error,
		Text: "rank {Rank}[ on {Host}]: {Problem}",
		Doc:  "The lowest rank that reports an error is named, with the text of the library or the system.",
	},
	{
		Example: PointAborted{Cause: Kept{RankFailed{3, "node1", "connection reset"}}}, Severity: Error,
		Text: "[{Cause}][{Problem}]",
		Doc:  "The run ended while this point was measured. The end of the run has the same cause.",
	},
	{
		Example:  DataWrong{3, 1024, "bucket 1", WrongElement{3, "node1", 17, "2", "1"}},
		Severity: Error,
		Text: `wrong data: {Wrong} of {Elements element}; first on rank {Rank}[ on {Host}] at index {Index}[ of {Of}]:
			expected {Want}, got {Got}`,
		Advice: "do not use this configuration until the cause is known",
		Doc:    "Each element is compared on each rank. The values of a wrong point are kept, and never plotted.",
	},
	{
		Example: CutOff{4}, Severity: Info,
		Text: "the run ended after {Rounds round}; values cover only these",
		Doc:  "A run of training steps was cut off. Its rounds are valid.",
	},
	{
		Example: SourceCountsWrong{3}, Severity: Error,
		Text:   "the imported file counts wrong elements[ ({Elements})]",
		Advice: "look for the cause before using the times of this run: a GPU, a link or the library corrupts data",
		Doc:    importDoc,
	},
	{
		Example: SourceErrorLarge{}, Severity: Error,
		Text: "the imported file marks the error as larger than allowed",
		Doc:  importDoc,
	},
	{Example: SourceReports{"Fail"}, Severity: Error, Text: "the imported file reports {Text}", Doc: importDoc},
	{
		Example: RanksContradicted{"93.1", "53.2", 1.75, 4, 1.5}, Severity: Warning,
		Text: `busbw/algbw contradicts the number of ranks: {BusBW}/{AlgBW} = {Ratio}, but {Ranks rank} give
			{Expected}`,
		Doc: `The ratio of the two bandwidths of a collective follows from the number of ranks. The point is kept
			without its time.`,
	},
	{
		Example: RowTorn{`"1048576 26"`}, Severity: Warning,
		Text: "an incomplete row: {Text}",
		Doc:  "The row has fewer or other columns than its table.",
	},
	{
		Example: LineNotImported{`"all done"`}, Severity: Warning,
		Text: "not part of a known layout: {Text}",
		Doc:  importDoc,
	},
}
