// Package nccllogs has the notices on logs of NCCL: what went wrong in a job, how NCCL was configured, and how two
// logs differ.
package nccllogs

import (
	_ "embed" // for catalogue.txt

	"busbar/internal/notice"
)

//go:embed catalogue.txt
var catalogue string

func init() {
	notice.Register(catalogue,
		KnownDefect{}, LogDifference{}, LogsAlike{}, WorldsDiffer{}, SettingsNotRecorded{}, HostMemoryBetweenGPUs{},
		NetworkWithinHost{}, RanksShareGPU{}, GPUsFar{}, FewChannels{}, LLForLarge{}, Unexplained{}, TCPBetweenNodes{},
		NoGPUDirect{}, GPUDirectDisabled{}, OneNIC{}, NetworksDiffer{}, LibfabricTCP{}, UnreachableInterface{},
		PluginNotFound{}, NICFar{}, RanksDisagree{}, RanksStopped{}, InitUnfinished{}, CommunicatorAborted{},
		RanksTimedOutApart{}, FirstCollectiveHung{}, EndAfterInit{}, RASMissing{}, RASCommunicator{}, RASErrors{},
		MixedLibraryVersions{}, MixedLibraryBuilds{}, SlowInit{}, FailedCalls{}, SettingAffectsSpeed{},
		TopologyFromFile{}, SettingsDiffer{})
	registerCauses()
}

// Code identifies a notice.
type Code = notice.Code
