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

// OneRankRead reports that one rank alone was recorded.
type OneRankRead struct{}

// Code identifies the notice, as all methods below do.
func (TryFirst) Code() Code          { return "try-first" }
func (LittleCompute) Code() Code     { return "little-compute" }
func (LastBucket) Code() Code        { return "last-bucket" }
func (WideGradients) Code() Code     { return "wide-gradients" }
func (HostBoundStep) Code() Code     { return "host-bound" }
func (UnexplainedIdle) Code() Code   { return "unexplained-idle" }
func (CopiesAlone) Code() Code       { return "copies-alone" }
func (ExposedCollective) Code() Code { return "exposed-collective" }
func (UnevenRanks) Code() Code       { return "uneven-ranks" }
func (BelowBenchmark) Code() Code    { return "below-benchmark" }
func (NoSteps) Code() Code           { return "no-steps" }

// Pages that advice comes from.
const (
	pageDDP      = "PyTorch, DistributedDataParallel"
	pageDDPNotes = "PyTorch, Distributed Data Parallel (notes)"
	pageHooks    = "PyTorch, DDP Communication Hooks"
	pageTuning   = "PyTorch, Performance Tuning Guide"
	pageProfiler = "PyTorch, torch.profiler"
	pageNCCL     = "NVIDIA, NCCL: Environment Variables"
)

const ms = 1e-3

var training = []notice.Entry{
	{
		Example: TryFirst{
			AdviceOf{notice.Kept{Fact: HostBoundStep{Idle: 0.03, Span: 0.1, Per: "step"}}},
			&Gain{0.01, "step"},
		},
		Severity: notice.Info,
		Text:     "to try first: {Advice}[ ({Gain})]",
		Doc:      "The piece of advice on the timeline with the largest gain. Its own code has the details.",
	},
	{Example: LittleCompute{20 * ms, 76 * ms, WaitingExcluded, "step"}, Severity: notice.Warning, Source: pageDDP,
		Text: `a {Per} computes for {Compute} and communicates for {Comm} ({Waiting}): more than computation can
			hide`,
		Advice: "increase the computation of each step relative to its communication",
		How: `Use a larger batch per GPU, or accumulate gradients of several batches (no_sync() of DDP). No setting
			increases the overlap for so small a model.`,
		Doc: "Communication can overlap only with computation."},
	{Example: LastBucket{23 * ms, 20 * ms, 30 << 20, 26 << 20, 13}, Severity: notice.Warning, Source: pageDDPNotes,
		Text:   "communication is exposed for {Exposed} per step, that of the last bucket ({Bucket}) for {Last}",
		Advice: "make DDP's buckets smaller: bucket_cap_mb={Cap}",
		How: `No backward pass is left to overlap with the last bucket. The median bucket is now {Median}; the default
			is 25 MiB.`,
		Doc: "The last bucket is sent when the backward pass is over."},
	{Example: WideGradients{19 * ms, 11.4 * ms, WaitingExcluded, "step"}, Severity: notice.Warning, Source: pageHooks,
		Text:   "float32 gradients of 1 MiB or more take {Time} per {Per}, of which {Exposed} are exposed ({Waiting})",
		Advice: "halve the bytes: communicate gradients in bfloat16 or float16",
		How: `DDP: register_comm_hook with bf16_compress_hook or fp16_compress_hook; FSDP:
			MixedPrecision(reduce_dtype=...). This changes how gradients are rounded: check the loss.`,
		Doc: "Half the bytes take about half the time, for large messages."},
	{Example: HostBoundStep{15 * ms, 100 * ms, "step"}, Severity: notice.Warning, Source: pageTuning,
		Text:   "the GPU is idle for {Idle} of {Span} per {Per} because its host has not launched work yet",
		Advice: "keep the GPU supplied with work",
		How: `Remove from the step what makes the host wait for the GPU (.item(), .cpu(), printing a loss,
			torch.cuda.synchronize()), load data ahead (num_workers, pin_memory, non_blocking=True), and launch less
			(torch.compile, CUDA graphs).`,
		Doc: `Reported where GPUs are idle for a tenth of the time because nothing was launched, or for 2 % where no
			other loss is larger.`},
	{Example: UnexplainedIdle{138 * ms, 216 * ms, "step", 90 * ms}, Severity: notice.Warning, Source: pageProfiler,
		Text: `the GPU is idle for {Idle} of {Span} per {Per}, and the trace does not contain the cause[; for {Launched}
			of it the next kernel was already launched, and waited for an event, its stream or the device]`,
		Advice: "find out what the GPU waits for",
		How: `Look in the trace at what ends the longest gaps. Gaps of a few microseconds between kernels are the cost
			of launching: CUDA graphs or larger kernels reduce it. Waits for other streams are recorded by
			torch.profiler with experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True), and by Nsight
			Systems. A kernel that was not recorded looks like idle time too.`,
		Doc: `Idle time without a known cause. Reported from a tenth of the time on, or from 2 % where no other loss is
			larger.`},
	{Example: CopiesAlone{15 * ms, 100 * ms, "step"}, Severity: notice.Warning, Source: pageTuning,
		Text:   "the GPU only copies for {Copies} of {Span} per {Per}",
		Advice: "overlap copies with computation, or avoid them",
		How: `Load batches from pinned memory (pin_memory=True) with non_blocking=True; keep on the GPU what is used in
			every step; run offloading on a stream of its own.`,
		Doc: `Copies while nothing computes or communicates. Reported from a tenth of the time on, or from 2 % where no
			other loss is larger.`},
	{Example: ExposedCollective{"alltoall", 60 * ms, 88 * ms, "step", WaitingExcluded}, Severity: notice.Warning,
		Text: `{Collective} is exposed for {Exposed} per {Per} ({Waiting}), the largest part of the {Total} of exposed
			communication`,
		Doc: `The operation with the most exposed time, where no other advice names the cause of it. Reported where
			communication is exposed for a tenth of the time, or for 2 % where no other loss is larger.`},
	{Example: UnevenRanks{12 * ms, "step", 0.02, "ProfilerStep#1"}, Severity: notice.Warning,
		Text: `a rank waits {Waiting} per {Per} for others, and no rank is last significantly often[; computation
			differs by up to {Spread}][ in {Step}]`,
		Advice: "balance the work of ranks within a step",
		How: `Use batches of similar length (bucketing by length) and steps without additional work on single ranks,
			and load data ahead. The late rank changes, or is unknown.`,
		Doc: "Ranks wait for each other in turn."},
	{Example: BelowBenchmark{"all_reduce", 25 << 20, 0.25, 50e9, 200e9}, Severity: notice.Warning, Source: pageNCCL,
		Text:   "{Collective} {Size} runs at {Share} of the benchmark ({BusBW} instead of {Benchmark})",
		Advice: "find out why communication is slower than in the benchmark on this machine",
		How: `Run rank --preflight on these nodes, nvidia-smi topo -m (NV# is NVLink; PHB, NODE and SYS pass the
			processor), and post log on a run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,ENV,TUNING. Kernels that
			compute at the same time take processors and memory bandwidth from communication, and lower these values
			too.`,
		Doc: `Collectives of 1 MiB or more are compared with the same collective, type, ranks and size in --results.
			Those below 80 % are reported.`},
	{Example: NoSteps{}, Severity: notice.Info, Source: pageProfiler,
		Text:   "steps are not marked, so values cover the whole recording, also before and after training",
		Advice: "mark steps",
		How: `Call profiler.step() at the end of each with torch.profiler, or put NVTX ranges of one name around each
			(torch.cuda.nvtx.range_push) and use --step-pattern.`,
		Doc: "Values per step are more useful than those of a recording."},
}
