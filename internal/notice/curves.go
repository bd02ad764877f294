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
	Once    bool              `json:"one_launch,omitempty"`
}

// Sigma is a distance in standard errors.
type Sigma float64

func (s Sigma) String() string {
	if s > 20 {
		return "more than 20"
	}
	return fmt.Sprintf("%.1f", float64(s))
}

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
	Once      bool         `json:"one_launch,omitempty"`
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
	Groups   string        `json:"groups"`
	Slower   string        `json:"slower"` // "tp alone"
	Factor   units.Factor  `json:"factor"` // of the times, at most
	At       units.Bytes   `json:"at_bytes"`
	Interval Interval      `json:"interval"`
	Both     units.Seconds `json:"both_s"`
	InTurn   units.Seconds `json:"in_turn_s"` // the sum of each kind alone
	Sizes    int           `json:"sizes"`
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
	OneNode  bool            `json:"one_node,omitempty"`
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
	Imported bool          `json:"imported,omitempty"`
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
