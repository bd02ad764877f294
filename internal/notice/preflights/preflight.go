package preflights

import (
	"fmt"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices of rank --preflight on the launch. A check that finds nothing wrong reports what it read as info, and its
// findings have the same parameters. docs/preflight.md has the limits.

// Failed is an error whose parts are known: what failed, the places that were tried, and what to do.
type Failed struct {
	Problem string `json:"problem"`
	Tried   Places `json:"tried,omitempty"` // each with the reason
	Remedy  string `json:"remedy,omitempty"`
}

// Advice is the error's own; "" leaves it to the catalogue.
func (f Failed) Advice() string { return f.Remedy }

// Places are files or folders that were tried.
type Places []string

func (p Places) String() string {
	return units.Count(len(p), "place") + " tried, --format json lists them"
}

// MPIInUse is the MPI library of the run.
type MPIInUse struct {
	Library     string `json:"library"`
	Path        string `json:"path"`
	ThreadLevel string `json:"thread_level"`
	Launcher    string `json:"launcher"`
}

// TCPInUse reports that TCP connects the ranks, without MPI.
type TCPInUse struct {
	Launcher string `json:"launcher"`
}

// OneRankLaunch reports that the launch has one rank.
type OneRankLaunch struct{ MPIInUse }

// ThreadLevel reports an MPI without MPI_THREAD_MULTIPLE.
type ThreadLevel struct{ MPIInUse }

// MPIUnusable reports that the ranks cannot be connected.
type MPIUnusable struct{ Failed }

// BackendUnavailable reports that what --backend asks for cannot be used.
type BackendUnavailable struct{ Failed }

// BackendNotTried reports backends that cannot be opened because of other findings.
type BackendNotTried struct {
	Backends []string `json:"backends"`
}

// SideChannel is the state of the TCP connections to rank 0.
type SideChannel struct {
	State ChannelState `json:"state"`
}

// ChannelState is why the side channel needs no attention.
type ChannelState string

// The states of the side channel.
const (
	ChannelOpen     ChannelState = "open"
	ChannelOff      ChannelState = "off"
	ChannelUnneeded ChannelState = "not-needed"
)

func (s ChannelState) String() string { return notice.TextOf(s) }

// SideChannelClosed reports that rank 0 cannot listen.
type SideChannelClosed struct {
	Host string `json:"host"`
}

// SideChannelIncomplete reports ranks that cannot connect to rank 0.
type SideChannelIncomplete struct {
	Ranks int    `json:"ranks"`
	Of    int    `json:"of"`
	Host  string `json:"host"` // of rank 0
}

// OneClock states that all ranks share a clock.
type OneClock struct {
	Reading units.Nanoseconds `json:"reading_s"`
}

// ClocksCompared is how well the clocks of the hosts are known.
type ClocksCompared struct {
	Hosts       int           `json:"hosts"`
	Uncertainty units.Seconds `json:"uncertainty_s"`
}

// ClocksUncertain reports clocks that are known too roughly for delays of ranks.
type ClocksUncertain struct{ ClocksCompared }

// CollectiveCorrect states that a collective worked on all ranks.
type CollectiveCorrect struct {
	Case  string `json:"case"`
	Ranks int    `json:"ranks"`
}

// CollectiveWrong reports that a collective returned wrong data.
type CollectiveWrong struct {
	Case  string      `json:"case"`
	Cause notice.Kept `json:"cause"`
}

// CollectiveFailed reports a collective without a result.
type CollectiveFailed struct {
	Case   string      `json:"case"`
	Status string      `json:"status"`
	Cause  notice.Kept `json:"cause"`
}

// PreflightStopped reports that the checks ended early.
type PreflightStopped struct {
	Cause notice.Kept `json:"cause"`
}

// RankValue is a value with the ranks that have it.
type RankValue struct {
	Value string              `json:"value"`
	Ranks []notice.PlacedRank `json:"ranks"`
}

// String is "ranks 0 on node1, 1 on node1: 2.27.7".
func (v RankValue) String() string {
	const most = 4
	var list []string
	for _, r := range v.Ranks[:min(most, len(v.Ranks))] {
		list = append(list, fmt.Sprintf("%d on %s", r.Rank, r.Host))
	}
	text := strings.Join(list, ", ")
	if n := len(v.Ranks) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	noun := "ranks "
	if len(v.Ranks) == 1 {
		noun = "rank "
	}
	value := []rune(v.Value)
	if len(value) == 0 {
		value = []rune("unknown")
	}
	const longest = 200
	if len(value) > longest {
		value = append(value[:longest:longest], '…')
	}
	return noun + text + ": " + string(value)
}

// RankValues are all values of a property, the most frequent first.
type RankValues []RankValue

// String lists the first three.
func (all RankValues) String() string {
	const most = 3
	var parts []string
	for _, v := range all[:min(most, len(all))] {
		parts = append(parts, v.String())
	}
	if n := len(all) - most; n > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(parts, "; ")
}
