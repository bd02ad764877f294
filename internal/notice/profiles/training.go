package profiles

import (
	"cmp"
	"fmt"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices with advice on a training job, from its timeline. Times are per step, or per recording where it has no steps.

// Span is what times are per: "step" or "recording".
type Span string

// Gain is what a piece of advice can save at most; zero where that is unknown.
type Gain struct {
	Time units.Seconds `json:"time_s"`
	Per  Span          `json:"per"`
}

func (g Gain) String() string {
	if g.Time == 0 {
		return ""
	}
	return fmt.Sprintf("saves at most %v per %s", g.Time, g.Per)
}

// Waiting is how much of the time of communication may be waiting for other ranks.
type Waiting uint8

// The cases.
const (
	WaitingExcluded  Waiting = iota
	WaitingPossible          // no collective was matched across ranks
	WaitingForOthers         // for ranks that were not read
)

func (w Waiting) String() string {
	return []string{"without waiting for other ranks", "which may include waiting for other ranks",
		"which may include waiting for ranks that were not read"}[w]
}

// TryFirst is the advice on a timeline with the largest gain.
type TryFirst struct {
	Advice AdviceOf `json:"advice"`
	Gain   *Gain    `json:"gain,omitempty"` // nil: unknown
}

// AdviceOf is a fact whose advice is stated.
type AdviceOf struct{ notice.Kept }

func (a AdviceOf) String() string { return notice.Advice(a.Fact) }

// LittleCompute reports that there is less to compute than to communicate.
type LittleCompute struct {
	Compute units.Seconds `json:"compute_s"`
	Comm    units.Seconds `json:"comm_s"`
	Waiting Waiting       `json:"waiting"`
	Per     Span          `json:"per"`
}

// LastBucket reports that DDP's last bucket is most of what is exposed.
type LastBucket struct {
	Exposed units.Seconds    `json:"exposed_s"`
	Last    units.Seconds    `json:"last_exposed_s"`
	Bucket  units.RoughBytes `json:"last_bytes"`
	Median  units.RoughBytes `json:"median_bytes"`
	Cap     int64            `json:"bucket_cap_mb"`
}

// WideGradients reports that float32 gradients are exposed.
type WideGradients struct {
	Time    units.Seconds `json:"time_s"`
	Exposed units.Seconds `json:"exposed_s"`
	Waiting Waiting       `json:"waiting"`
	Per     Span          `json:"per"`
}

// HostBoundStep reports that GPUs wait for their hosts.
type HostBoundStep struct {
	Idle units.Seconds `json:"idle_s"`
	Span units.Seconds `json:"span_s"`
	Per  Span          `json:"per"`
}

// UnexplainedIdle reports that GPUs are idle for a reason that the trace does not contain.
type UnexplainedIdle struct {
	Idle     units.Seconds `json:"idle_s"`
	Span     units.Seconds `json:"span_s"`
	Per      Span          `json:"per"`
	Launched units.Seconds `json:"launched_s,omitempty"` // that part of it in which the next kernel was launched
}

// CopiesAlone reports that GPUs copy while nothing else runs.
type CopiesAlone struct {
	Copies units.Seconds `json:"copies_s"`
	Span   units.Seconds `json:"span_s"`
	Per    Span          `json:"per"`
}

// ExposedCollective reports the operation that is most of the exposed communication.
type ExposedCollective struct {
	Collective string        `json:"collective"`
	Exposed    units.Seconds `json:"exposed_s"`
	Total      units.Seconds `json:"total_exposed_s"`
	Per        Span          `json:"per"`
	Waiting    Waiting       `json:"waiting"`
}

// Advice is that for the operation: each comes from another kind of parallel training.
func (e ExposedCollective) Advice() string {
	return cmp.Or(overlapAdvice[e.Collective],
		"find work that does not need the result of "+e.Collective+", and run it at the same time")
}

const microBatches = "use more micro-batches or an interleaved pipeline schedule, so that stages wait less for each " +
	"other"

var overlapAdvice = map[string]string{
	"alltoall": "split the batch in two, so that one half computes while the other is exchanged; for embedding " +
		"tables, TorchRec's TrainPipelineSparseDist does this",
	"all_gather": "gather parameters earlier: FSDP's forward_prefetch=True and backward_prefetch=BACKWARD_PRE; or " +
		"keep them after the forward pass (reshard_after_forward=False) if memory allows",
	"reduce_scatter": "wrap each layer with FSDP on its own, so that its gradients leave during the backward pass",
	"all_reduce": "start all_reduce during the backward pass, as DDP does; under tensor parallelism, overlap it with " +
		"matrix multiplications (asynchronous tensor parallelism)",
	"sendrecv": microBatches, "send": microBatches, "recv": microBatches,
}

// UnevenRanks reports that ranks wait for each other, and none is a straggler.
type UnevenRanks struct {
	Waiting units.Seconds `json:"waiting_s"`
	Per     Span          `json:"per"`
	Spread  units.Share   `json:"spread,omitempty"` // of the computation between ranks, at most
	Step    string        `json:"step,omitempty"`   // in which
}

// BelowBenchmark reports that a collective is slower in training than in a benchmark.
type BelowBenchmark struct {
	Collective string           `json:"collective"`
	Size       units.RoughBytes `json:"size_bytes"`
	Share      units.Share      `json:"share"`
	BusBW      units.Bandwidth  `json:"busbw"`
	Benchmark  units.Bandwidth  `json:"benchmark_busbw"`
}

// NoSteps reports that steps are not marked.
type NoSteps struct{}
