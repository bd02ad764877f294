package profiles

import "busbar/internal/notice"

// NotReplayed reports calls of a training that its sweep leaves out.
type NotReplayed struct {
	Calls int        `json:"calls"`
	Why   ReplayLack `json:"why"`
}

// ReplayLack is why calls cannot be replayed.
type ReplayLack string

// The reasons.
const (
	LacksGroups      ReplayLack = "group"
	LacksOperation   ReplayLack = "operation"
	LacksPeers       ReplayLack = "peers"
	LacksRanks       ReplayLack = "ranks"
	LacksSingleCalls ReplayLack = "several-calls"
	LacksSize        ReplayLack = "size"
	LacksSplits      ReplayLack = "splits"
	LacksType        ReplayLack = "type"
)

func (l ReplayLack) String() string { return notice.TextOf(l) }

// ReplayAssumed reports what the sweep of a training has that the traces do not.
type ReplayAssumed struct{}
