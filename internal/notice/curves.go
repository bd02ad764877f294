package notice

import (
	"fmt"

	"busbar/internal/units"
)

// Notices on curves: what one library takes for one operation over message sizes. docs/analysis.md has the rules.

// Value is the time and bandwidth at one size.
type Value struct {
	Size  units.Bytes     `json:"size_bytes"`
	BusBW units.Bandwidth `json:"busbw,omitempty"` // bytes per second; 0 where the collective has none
	Time  units.Seconds   `json:"time_s"`
}

// String is "64 KiB: 5.600 GB/s busbw, 12.50 us".
func (v Value) String() string {
	if v.BusBW > 0 {
		return fmt.Sprintf("%v: %v busbw, %v", v.Size, v.BusBW, v.Time)
	}
	return fmt.Sprintf("%v: %v", v.Size, v.Time)
}

// Interval is the uncertainty of a ratio, with what it is based on.
type Interval struct {
	Lo       float64 `json:"lo"`
	Hi       float64 `json:"hi"`
	Launches int     `json:"launches"`          // fewest on either side; 0: no interval
	Range    bool    `json:"range,omitempty"`   // minimum and maximum over launches that are too few for an interval
	Paired   bool    `json:"paired,omitempty"`  // both sides ran in the same launches
	Samples  bool    `json:"samples,omitempty"` // of samples within a launch
}

func (i Interval) String() string {
	if i.Launches == 0 {
		return "no 95 % CI"
	}
	span := units.Times(i.Lo) + " to " + units.Times(i.Hi)
	launches := fmt.Sprintf("at least %d launches of each", i.Launches)
	if i.Paired {
		launches = units.Count(i.Launches, "launch")
	}
	switch {
	case i.Range:
		return "range " + span + " over " + launches
	case !i.Samples:
		return "95 % CI " + span + " over " + launches
	case i.Paired:
		return "95 % CI " + span + " within one launch"
	}
	return "95 % CI " + span + " of one launch each"
}

// Outlier is the parameters of sizes that differ from the trend of their neighbours.
type Outlier struct {
	Depth   units.Share       `json:"depth,omitempty"`  // of the bandwidth; 0 where Slower counts
	Slower  units.Factor      `json:"slower,omitempty"` // of the time, where sizes are too small for bandwidth to count
	At      Value             `json:"at"`               // where it is largest
	Sigma   Sigma             `json:"sigma"`            // standard errors
	Scatter units.Share       `json:"scatter"`          // of the curve
	Chance  units.Probability `json:"chance"`           // that a curve without it shows as much
	Beside  []Value           `json:"beside,omitempty"`
	Once    Once              `json:"one_launch,omitempty"`
}

// Sigma is a distance in standard errors.
type Sigma float64

func (s Sigma) String() string {
	if s > 20 {
		return "more than 20"
	}
	return fmt.Sprintf("%.1f", float64(s))
}

// Once states that a curve was measured in one launch.
type Once bool

func (o Once) String() string { return "Measured in one launch: repeat it before acting on it." }

// Drop reports that bandwidth of a few sizes is below its trend.
type Drop struct{ Outlier }

// Spike reports that bandwidth of a few sizes is above its trend.
type Spike struct{ Outlier }

// Switch reports that time jumps between two sizes, as where a library changes its algorithm or protocol.
type Switch struct {
	Direction string       `json:"direction"` // of the time: up or down
	Factor    units.Factor `json:"factor"`    // at least 1
	Before    Value        `json:"before"`
	After     Value        `json:"after"`
	Path      PathChange   `json:"path"`
	Once      Once         `json:"one_launch,omitempty"`
}

// PathChange is the library's algorithm, protocol and channels on both sides of a switch; empty where not recorded.
type PathChange struct {
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

func (p PathChange) String() string {
	switch p.Before {
	case "":
		return "Inferred from the times, as the library's algorithm is not recorded (with NCCL, rank --algorithms " +
			"records it)."
	case p.After:
		return "The library reports the same algorithm on both sides (" + p.Before + "), so something else changes."
	}
	return "The library uses " + p.Before + " before and " + p.After + " after."
}

// Decline reports that bandwidth falls beyond its maximum.
type Decline struct {
	Loss   units.Share `json:"loss"`
	Peak   Value       `json:"peak"`
	Last   Value       `json:"last"`
	Before Value       `json:"before_last"`
}

// PlacementGap reports that one placement is slower than the other.
type PlacementGap struct {
	Slower   string       `json:"slower"` // in-place or out-of-place
	Faster   string       `json:"faster"`
	Factor   units.Factor `json:"factor"` // of the times, at most
	At       units.Bytes  `json:"at_bytes"`
	Interval Interval     `json:"interval"`
	Sizes    int          `json:"sizes"`
	Loss     units.Share  `json:"loss"` // of the bandwidth, the median over sizes
}

// ImbalanceCost reports how long an uneven alltoallv takes compared with the even one of the same volume.
type ImbalanceCost struct {
	Factor   units.Factor `json:"factor"` // of the times, at most
	At       units.Bytes  `json:"at_bytes"`
	Volume   units.Bytes  `json:"volume_bytes"` // what each rank sends of the even one
	Interval Interval     `json:"interval"`
	Least    units.Factor `json:"least"` // factor
	Sizes    int          `json:"sizes"`
}

// GroupInterference reports how much longer groups take at the same time than each alone.
type GroupInterference struct {
	Groups   string          `json:"groups"`
	Slowest  string          `json:"slowest"` // group, that has the largest factor
	Factor   units.Factor    `json:"factor"`  // of its times
	At       units.Bytes     `json:"at_bytes"`
	Interval Interval        `json:"interval"`
	Median   units.Factor    `json:"median"` // over the groups at this size
	Least    units.Factor    `json:"least"`
	Sum      units.Bandwidth `json:"sum_busbw"` // of all groups at the same time
	Apart    units.Bandwidth `json:"apart_busbw"`
	Sizes    int             `json:"sizes"`
}

// DimensionInterference reports how much longer groups of two kinds take at the same time than the slower kind alone.
type DimensionInterference struct {
	Groups        string       `json:"groups"`
	Slower        string       `json:"slower"` // "tp alone"
	Factor        units.Factor `json:"factor"`
	At            units.Bytes  `json:"at_bytes"`
	Interval      Interval     `json:"interval"`
	Turns         units.Factor `json:"in_turn"` // against the sum of both alone
	TurnsInterval Interval     `json:"in_turn_interval"`
	Sizes         int          `json:"sizes"`
}

// PoorScaling reports that a larger world has less bus bandwidth than a smaller one.
type PoorScaling struct {
	Loss     units.Share     `json:"loss"` // of the bus bandwidth, the median over sizes
	Smaller  string          `json:"smaller"`
	At       units.Bytes     `json:"at_bytes"`
	BusBW    units.Bandwidth `json:"busbw"`
	Against  units.Bandwidth `json:"smaller_busbw"`
	Factor   units.Factor    `json:"factor"` // of the times
	Interval Interval        `json:"interval"`
	Others   []WorldLoss     `json:"others,omitempty"`
	OneNode  OneNode         `json:"one_node,omitempty"`
}

// OneNode states that a world is on one node.
type OneNode bool

func (o OneNode) String() string {
	return "Ranks of one node share its memory and links: no setting avoids this loss."
}

// WorldLoss is the loss of another world.
type WorldLoss struct {
	World string      `json:"world"`
	Loss  units.Share `json:"loss"`
}

func (w WorldLoss) String() string { return fmt.Sprintf("%v with %s", w.Loss, w.World) }

// LateRank reports that one rank issues its operations after all others.
type LateRank struct {
	Rank     int           `json:"rank"`
	Hosts    []string      `json:"hosts,omitempty"`
	Records  int           `json:"records"` // in which it is the last
	Of       int           `json:"of"`
	Mode     string        `json:"mode"`
	Lateness units.Seconds `json:"lateness_s"`
	Share    units.Share   `json:"share"` // of the time
}

// SlowRank reports that one rank's own times are the longest.
type SlowRank struct {
	Rank    int         `json:"rank"`
	Hosts   []string    `json:"hosts,omitempty"`
	Records int         `json:"records"`
	Of      int         `json:"of"`
	Excess  units.Share `json:"excess"` // over the median rank
}

// BimodalPoints reports that many points of a world have bimodal times.
type BimodalPoints struct{ WarnedPoints }

// DriftingPoints reports that times of many points of a world drift.
type DriftingPoints struct{ WarnedPoints }

// WarnedPoints counts points with a warning.
type WarnedPoints struct {
	Points  int      `json:"points"`
	Of      int      `json:"of"`
	Where   []string `json:"where"` // by curve
	Example Kept     `json:"example"`
}

// LaunchVariation reports that launches of the same program differ.
type LaunchVariation struct {
	Sizes    int           `json:"sizes"` // at which they differ
	Of       int           `json:"of"`
	Factor   units.Factor  `json:"factor"` // slowest to fastest launch, at most
	At       units.Bytes   `json:"at_bytes"`
	Launches int           `json:"launches"`
	Fastest  units.Seconds `json:"fastest_s"`
	Slowest  units.Seconds `json:"slowest_s"`
	Median   units.Factor  `json:"median_factor"`
	Launch   string        `json:"launch,omitempty"` // the slowest at most sizes
	SlowAt   int           `json:"launch_sizes,omitempty"`
	Host     string        `json:"host,omitempty"` // of its rank 0
	Start    string        `json:"start,omitempty"`
	Imported Files         `json:"imported,omitempty"`
}

// Files states that each imported file counts as a launch.
type Files bool

func (f Files) String() string {
	return "Each imported file counts as one launch; whether all were started the same way is unknown."
}

// BelowPeak reports that the best bus bandwidth is far below the peak of the links.
type BelowPeak struct {
	Best  Value          `json:"best"`
	Share units.Share    `json:"share"`
	Peak  units.LinkRate `json:"peak"`
	What  string         `json:"what"`
}

// ImportedCurve reports that another tool measured a curve.
type ImportedCurve struct {
	Tool string `json:"tool"`
}

// MoreAlike counts findings of the same cause that are not listed.
type MoreAlike struct {
	Findings int `json:"findings"`
}

// Code identifies the notice, as all methods below do.
func (Drop) Code() Code                  { return "bandwidth-drop" }
func (Spike) Code() Code                 { return "bandwidth-spike" }
func (Switch) Code() Code                { return "protocol-switch" }
func (Decline) Code() Code               { return "bandwidth-decline" }
func (PlacementGap) Code() Code          { return "placement-gap" }
func (ImbalanceCost) Code() Code         { return "imbalance-cost" }
func (GroupInterference) Code() Code     { return "group-interference" }
func (DimensionInterference) Code() Code { return "dimension-interference" }
func (PoorScaling) Code() Code           { return "poor-scaling" }
func (LateRank) Code() Code              { return "late-rank" }
func (SlowRank) Code() Code              { return "slow-rank" }
func (BimodalPoints) Code() Code         { return "bimodal-points" }
func (DriftingPoints) Code() Code        { return "drifting-points" }
func (LaunchVariation) Code() Code       { return "launch-variation" }
func (BelowPeak) Code() Code             { return "below-peak" }
func (ImportedCurve) Code() Code         { return "imported-curve" }
func (MoreAlike) Code() Code             { return "more-alike" }

var (
	exampleOutlier = Outlier{
		Depth:   0.33,
		At:      Value{1 << 20, 42.93e9, 45.8e-6},
		Sigma:   12.3,
		Scatter: 0.013,
		Chance:  0.0001,
		Beside:  []Value{{512 << 10, 60e9, 18e-6}, {8 << 20, 110e9, 140e-6}},
		Once:    true,
	}
	exampleWarned = []string{"all_reduce, throughput mode, 8 B to 1 KiB (8 points)"}
)

var outlierDetails = []string{
	`It is {Sigma} standard errors from the trend (scatter of the curve: {Scatter}; false-positive probability:
		{Chance}).`,
	"[Neighbours: {Beside}.]", "[{Once}]"}

const analysisSource = "docs/analysis.md"

var curves = []Entry{
	{Example: Drop{exampleOutlier}, Severity: Warning, Source: analysisSource,
		Text: `[bandwidth is {Depth} below the trend of its neighbours][time is {Slower} times the trend of its
			neighbours] ({At})`,
		Details: outlierDetails,
		Doc: `A few sizes have less bandwidth than the sizes on both sides. Often a library uses an unsuitable
			algorithm or protocol there. Reported from 8 % on; a warning from 10 %, an error from 30 %.`},
	{Example: Spike{exampleOutlier}, Severity: Info, Source: analysisSource,
		Text: `[bandwidth is {Depth} above the trend of its neighbours][time is {Slower} times the trend of its
			neighbours] ({At})`,
		Details: outlierDetails,
		Doc: `A few sizes have more bandwidth than the sizes on both sides: what the library does there may help
			elsewhere, or the values are those of caches.`},
	{
		Example:  Switch{"up", 1.41, Value{32 << 10, 2e9, 20e-6}, Value{64 << 10, 3e9, 30e-6}, PathChange{}, true},
		Severity: Warning,
		Source:   analysisSource,
		Text: `time jumps {Direction} by a factor of {Factor} between two sizes: likely a protocol switch ({Before};
			{After})`,
		Details: []string{"{Path}", "[{Once}]"},
		Doc: `Two models fit below and above, and time jumps between them by more than the size explains. If it jumps
			up, the library switches too early and the sizes just above are slower than necessary; if it jumps down,
			too late.`,
	},
	{
		Example: Decline{
			0.49,
			Value{128 << 20, 184e9, 1e-3},
			Value{1 << 30, 93.76e9, 20e-3},
			Value{512 << 20, 95e9, 10e-3},
		},
		Severity: Warning,
		Source:   analysisSource,
		Text:     "bandwidth drops {Loss} beyond its maximum ({Peak}; {Last})",
		Details: []string{
			`Second-largest size: {Before}. The maximum of many values is biased upwards, so the loss is slightly
				overstated.`,
		},
		Doc: `The largest sizes have less bandwidth than medium ones: memory bandwidth, caches, memory registration,
			or thermal limits. Reported if both of the last two sizes lose 15 % or more.`,
	},
	{
		Example: PlacementGap{
			"in-place",
			"out-of-place",
			1.51,
			16 << 20,
			Interval{Lo: 1.48, Hi: 1.53, Launches: 1, Paired: true, Samples: true},
			11,
			0.33,
		},
		Severity: Warning,
		Source:   analysisSource,
		Text:     "{Slower} takes up to {Factor} times as long as {Faster} ({At}; {Interval})",
		Details: []string{
			"At {Sizes size} {Slower} is slower by 10 % or more; the median loss of bandwidth there is {Loss}.",
		},
		Doc: "The same operation was measured with one buffer and with two, and the times differ.",
	},
	{
		Example: ImbalanceCost{
			1.92,
			16 << 20,
			4 << 20,
			Interval{Lo: 1.88, Hi: 1.95, Launches: 1, Paired: true, Samples: true},
			1.05,
			12,
		},
		Severity: Info,
		Source:   analysisSource,
		Text:     "takes up to {Factor} times as long as an even split of the same volume ({At}; {Interval})",
		Details:  []string{"Even split there: {Volume} per rank. Smallest factor over {Sizes size}: {Least}."},
		Doc: `The slowdown of an alltoallv by the imbalance of its parts, from the same launch. rank measures the even
			split of the same volume for each uneven case.`,
	},
	{
		Example: GroupInterference{
			"4:strided",
			"group 2 (ranks 1, 5, … 29)",
			1.92,
			16 << 20,
			Interval{Lo: 1.88, Hi: 1.95, Launches: 1, Paired: true, Samples: true},
			1.8,
			1.75,
			95e9,
			168e9,
			12,
		},
		Severity: Info,
		Source:   analysisSource,
		Text:     "groups {Groups} at once: {Slowest} takes up to {Factor} times as long as alone ({At}; {Interval})",
		Details: []string{"There, over the groups: median {Median}, minimum {Least}. Sum of their bus bandwidths: " +
			"{Sum}; of each alone: {Apart}. Compared: {Sizes size}."},
		Doc: `The interference of groups of ranks that share links, memory or cores: the ratio of the times at the same
			time to the times alone, from the same launch.`,
	},
	{
		Example: DimensionInterference{
			"tp=8:all_reduce+dp=4:all_gather",
			"tp alone",
			1.42,
			16 << 20,
			Interval{Lo: 1.38, Hi: 1.45, Launches: 1, Paired: true, Samples: true},
			0.83,
			Interval{Lo: 0.81, Hi: 0.86, Launches: 1, Paired: true, Samples: true},
			12,
		},
		Severity: Info,
		Source:   analysisSource,
		Text:     "groups {Groups} at once take up to {Factor} times as long as {Slower} ({At}; {Interval})",
		Details: []string{"There, against one kind after the other: {Turns} times the sum of both ({TurnsInterval}). " +
			"Compared: {Sizes size}."},
		Doc: `The interference of groups of two kinds: the ratio of the time of both at once to that of the slower kind
			alone, and to the sum of both alone, from the same launch.`,
	},
	{
		Example: PoorScaling{
			0.35,
			"16 ranks on 2 nodes",
			256 << 20,
			119.7e9,
			185.5e9,
			1.6,
			Interval{Lo: 1.5, Hi: 1.7, Launches: 1, Samples: true},
			[]WorldLoss{{"64 ranks on 8 nodes", 0.4}},
			true,
		},
		Severity: Warning,
		Source:   analysisSource,
		Text: `bus bandwidth is {Loss} below that of {Smaller} (median over sizes; {At}: {BusBW} instead of
			{Against})`,
		Details: []string{
			`At {At} its time is {Factor} times that of the smaller world ({Interval}). Bus bandwidth already accounts
			for the additional steps of a larger world.`,
			"[Loss of other worlds: {Others}.]",
			"[{OneNode}]",
		},
		Doc: `With equal links, bus bandwidth of large messages stays the same as the world grows. The sizes with at
			least half of the maximum bandwidth are compared. A loss of 15 % or more is reported.`,
	},
	{
		Example:  LateRank{3, []string{"node18"}, 28, 28, "latency", 8.4e-6, 0.4},
		Severity: Warning,
		Source:   analysisSource,
		Text: `rank {Rank}[ on {Hosts}] starts operations last in {Records} of {Of} records in {Mode} mode, {Lateness}
			late (median; {Share} of the time)`,
		Details: []string{
			`The delay exceeds the uncertainty of the clocks. The host's thread is late, not a GPU, NIC or link.`,
		},
		Doc: `Start times of all ranks are compared on a common clock. One rank that is nearly always the last delays
			all others: look for other work, a slow CPU or a wrong binding on its host.`,
	},
	{Example: SlowRank{0, []string{"node17"}, 56, 56, 0.3}, Severity: Warning, Source: analysisSource,
		Text: `rank {Rank}[ on {Hosts}] takes longest in {Records} of {Of} records, {Excess} longer than the median
			rank`,
		Details: []string{
			`The rank may be slow, or wait for another one; rank --pattern pairs finds a slow node or link.`,
		},
		Doc: `One rank's own time is nearly always the longest. In an operation that synchronises, it includes
			waiting for other ranks.`},
	{Example: BimodalPoints{WarnedPoints{8, 28, exampleWarned, Kept{Bimodal{20e-6, 0.6, 40e-6, 0.4}}}}, Severity: Info,
		Source:  analysisSource,
		Text:    "{Points} of {Of} points have bimodal times",
		Details: []string{"{Where}.", "Example: {Example}.", "The slower times occur in applications too."},
		Doc:     "See bimodal-times. A warning where a quarter of the points or more have it."},
	{Example: DriftingPoints{WarnedPoints{8, 28, exampleWarned, Kept{Drift{0.12}}}}, Severity: Info,
		Source: analysisSource,
		Text:   "the times of {Points} of {Of} points drift while they are measured",
		Details: []string{
			"{Where}.",
			"Example: {Example}.",
			"Clocks, temperature or other work changed meanwhile, or the warm-up was too short.",
		},
		Doc: "See drift. A warning where a quarter of the points or more have it."},
	{
		Example: LaunchVariation{
			28,
			28,
			1.81,
			128 << 20,
			6,
			1.359e-3,
			2.458e-3,
			1.79,
			"launch-2",
			28,
			"node17",
			"2026-03-02 12:02 UTC",
			true,
		},
		Severity: Info,
		Source:   analysisSource,
		Text: `launches differ at {Sizes} of {Of} sizes, by a factor of up to {Factor} ({At}: {Fastest} to {Slowest}
			in {Launches launch})`,
		Details: []string{
			`At the median of these sizes the slowest launch takes {Median} times as long as the fastest: one launch
			alone is that uncertain.`,
			`[Launch {Launch} is the slowest at {SlowAt} sizes[ (rank 0 on {Host}, {Start})]: find out what was
			different about it.]`,
			"[{Imported}]",
		},
		Doc: `Two launches of one program differ by more than their samples suggest: placement, clocks, or other
			jobs. Values of one launch are then uncertain by this factor.`,
	},
	{
		Example: BelowPeak{
			Value{1 << 30, 200e9, 9e-3},
			0.44,
			450e9,
			"NVLink 4, 18 links of 25 GB/s in each direction",
		},
		Severity: Warning,
		Source:   analysisSource,
		Text:     "the best bus bandwidth ({Best}) is {Share} of peak ({Peak})",
		Details:  []string{"Peak: {What}."},
		Doc: `Healthy machines reach 75 % of the peak of their slowest link. Reported below 65 % where sizes of 64 MiB
			or more were measured; an error below 50 %.`,
	},
	{Example: ImportedCurve{"nccl-tests 2.17"}, Severity: Info,
		Text: "imported from {Tool}: times of single ranks and the library's settings are unknown",
		Doc: `Other tools record less than rank, so some findings are impossible, and hints may name settings already in
			use.`},
	{Example: MoreAlike{3}, Severity: Info,
		Text: "{Findings more finding} with the same cause",
		Doc:  "Findings that probably have one cause are reported together; the first few are listed."},
}
