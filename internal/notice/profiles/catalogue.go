// Package profiles has the notices on profiler traces and the timelines that are read from them, with advice on a
// training job.
package profiles

import (
	_ "embed" // for catalogue.txt

	"busbar/internal/notice"
)

//go:embed catalogue.txt
var catalogue string

func init() {
	notice.Register(catalogue,
		StepChange{}, NotReplayed{}, ReplayAssumed{}, CUDAGraphs{}, ClocksDisagree{}, StepPatternUnmatched{},
		OnlyCopies{}, SameRank{}, NonBlockingCalls{}, CommunicatorUnclear{}, CallsUnmatched{}, CommunicatorsUnknown{},
		RanksMissing{}, PartialStep{}, NotInBenchmark{}, NothingRan{}, TimeShares{}, OverlapShare{}, NoOverlapAtAll{},
		SharedStreams{}, NoStragglerFound{}, OwnStep{}, ScalingEfficiency{}, AgainstBenchmark{}, Straggler{},
		OwnTrace{}, SeveralDevices{}, NoGPUActivity{}, EmptyGraphs{}, GraphKernelsMissing{}, NCCLCallsMissing{},
		PayloadsMissing{}, KernelsInGraphs{}, NsightWarning{}, TryFirst{}, LittleCompute{}, LastBucket{},
		WideGradients{}, HostBoundStep{}, UnexplainedIdle{}, CopiesAlone{}, ExposedCollective{}, UnevenRanks{},
		BelowBenchmark{}, NoSteps{})
}
