package nccllog

import (
	"cmp"
	"slices"
)

// Severity is how much a finding matters.
type Severity string

// The severities: data or the run are at stake; speed is; good to know.
const (
	Serious Severity = "serious"
	Warning Severity = "warning"
	Note    Severity = "note"
)

var severities = []Severity{Serious, Warning, Note}

// Kind is what sort of thing was found; docs/log.md has a row for each.
type Kind string

// The kinds.
const (
	Disagree      Kind = "ranks disagree"
	Stopped       Kind = "rank stopped"
	Unfinished    Kind = "init not finished"
	Aborted       Kind = "communicator aborted"
	Answered      Kind = "RAS problem"
	Warned        Kind = "message"
	OverTCP       Kind = "TCP between nodes"
	NoDirect      Kind = "no GPUDirect RDMA"
	OneCard       Kind = "one network card"
	FarCard       Kind = "far network card"
	WrongProvider Kind = "libfabric provider"
	ThroughHost   Kind = "host memory between GPUs"
	ThroughNet    Kind = "network within a host"
	FarPeers      Kind = "GPUs far apart"
	SharedGPU     Kind = "ranks share a GPU"
	FewChannels   Kind = "few channels"
	IdleChannels  Kind = "idle channels"
	Latency       Kind = "LL for large messages"
	NoMulticast   Kind = "no NVLink SHARP"
	NoPlugin      Kind = "plugin not found"
	BadInterface  Kind = "virtual interface"
	SetSlow       Kind = "setting"
	SetDiffers    Kind = "settings differ"
	VersionDiffer Kind = "versions differ"
	SlowInit      Kind = "slow init"
	TopologyFile  Kind = "topology from a file"
)

// Finding is one thing to know about a run, from its log.
type Finding struct {
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	Says     string   `json:"says"`     // one sentence that stands for itself
	Who      string   `json:"who"`      // "ranks 0-3 on node01"; "" where it is about all
	Evidence []string `json:"evidence"` // what it rests on, with counts; the library's words among it
	Advice   string   `json:"advice"`   // what to do
	Source   string   `json:"source"`   // where that is written
	Variable string   `json:"variable"` // that has to do with it; "" for none

	follows bool // from something that was told elsewhere: it stands behind findings as grave
}

// Findings are what is wrong, or worth knowing, the gravest first. What a log does not tell is not judged.
func (l *Log) Findings() []Finding {
	var all []Finding
	for _, find := range []func(*Log) []Finding{
		findDisagreement, findVersions, findMessages, findRAS, findStopped, findUnfinished, findAborted,
		findNetwork, findDirect, findCards, findProvider, findInterface,
		findShared, findWithinHost, findPaths, findChannels, findChoices, findMulticast,
		findPlugins, findSettings, findDiffering, findInit,
	} {
		all = append(all, find(l)...)
	}
	l.suited(all)
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)), cmp.Compare(ones(a.follows), ones(b.follows)))
	})
	return all
}

func ones(b bool) int {
	if b {
		return 1
	}
	return 0
}
