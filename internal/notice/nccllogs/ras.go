package nccllogs

import (
	"cmp"
	"fmt"

	"busbar/internal/units"
)

// RASMissing reports processes that did not answer NCCL's RAS.
type RASMissing struct {
	Processes int      `json:"processes"`
	Which     []string `json:"which" alike:"-"`
}

// RASCommunicator reports a communicator in which RAS found a fault.
type RASCommunicator struct {
	Communicator Communicator `json:"communicator"`
	Status       string       `json:"status"`
	Missing      int          `json:"missing,omitempty"`
	Counts       []CallCount  `json:"counts,omitempty"`
	States       []RankState  `json:"states,omitempty"`
}

// CallCount is how many calls of a collective some ranks made.
type CallCount struct {
	Name  string `json:"name"`
	Calls int64  `json:"calls" alike:"-"`
	Many  int    `json:"many"`  // how many ranks
	Ranks Ranks  `json:"ranks"` // which; none where they are not known
}

func (c CallCount) String() string {
	who := units.Count(c.Many, "rank")
	if len(c.Ranks) > 0 {
		who = c.Ranks.String()
	}
	return fmt.Sprintf("%s: %s by %s", cmp.Or(c.Name, "collectives"), units.Count(int(c.Calls), "call"), who)
}

// RankState is what RAS prints of some ranks.
type RankState struct {
	Ranks Ranks  `json:"ranks"`
	State string `json:"state"`
}

func (s RankState) String() string { return fmt.Sprintf("%v: %s", s.Ranks, s.State) }

// RASErrors reports errors of RAS without a communicator.
type RASErrors struct {
	Errors []string `json:"errors"`
}
