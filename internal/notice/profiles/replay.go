package profiles

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

var lackTexts = map[ReplayLack]string{
	LacksGroups:      "the ranks of the group are unknown, or neither adjacent nor every Nth",
	LacksOperation:   "the operation is unknown, or not a collective",
	LacksPeers:       "sends and receives are not matched",
	LacksRanks:       "the number of ranks is unknown",
	LacksSingleCalls: "several calls ran as one",
	LacksSize:        "the size is unknown",
	LacksSplits: "the split lists are incomplete (they require the traces of all ranks, and torch cuts lists of more " +
		"than 30)",
	LacksType: "the data type is unknown, or rank does not have it",
}

func (l ReplayLack) String() string { return lackTexts[l] }

// ReplayAssumed reports what the sweep of a training has that the traces do not.
type ReplayAssumed struct{}
