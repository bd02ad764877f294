package notice

import (
	"cmp"
	"fmt"

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
	return fmt.Sprintf("worth at most %v per %s", g.Time, g.Per)
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

// LittleCompute reports that there is less to compute than to communicate.
type LittleCompute struct {
	Compute units.Seconds `json:"compute_s"`
	Comm    units.Seconds `json:"comm_s"`
	Waiting Waiting       `json:"waiting"`
	Per     Span          `json:"per"`
}

// OneBucket reports that all gradients are one bucket of DDP.
type OneBucket struct {
	Bucket  units.RoughBytes `json:"bucket_bytes"`
	Exposed units.Seconds    `json:"exposed_s"`
	Cap     int64            `json:"bucket_cap_mb"` // to try
}

// LastBucket reports that DDP's last bucket is most of what is exposed.
type LastBucket struct {
	Exposed units.Seconds    `json:"exposed_s"`
	Last    units.Seconds    `json:"last_exposed_s"`
	Bucket  units.RoughBytes `json:"last_bytes"`
	Median  units.RoughBytes `json:"median_bytes"`
	Cap     int64            `json:"bucket_cap_mb"`
}

// SmallBuckets reports that DDP's buckets are small.
type SmallBuckets struct {
	Buckets int              `json:"buckets"`
	Median  units.RoughBytes `json:"median_bytes"`
	Total   units.RoughBytes `json:"total_bytes"`
	Exposed units.Seconds    `json:"exposed_s"`
}

// SmallCollectives reports that many small collectives take time.
type SmallCollectives struct {
	Calls   int           `json:"calls"`
	Exposed units.Seconds `json:"exposed_s"`
	Waiting Waiting       `json:"waiting"`
	Per     Span          `json:"per"`
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

const microBatches = "use more micro-batches or an interleaved pipeline schedule, so that stages wait less for each other"

var overlapAdvice = map[string]string{
	"alltoall": "split the batch in two, so that one half computes while the other is exchanged; for embedding tables, " +
		"TorchRec's TrainPipelineSparseDist does this",
	"all_gather": "gather parameters earlier: FSDP's forward_prefetch=True and backward_prefetch=BACKWARD_PRE; or keep them " +
		"after the forward pass (reshard_after_forward=False) if memory allows",
	"reduce_scatter": "wrap each layer with FSDP on its own, so that its gradients leave during the backward pass",
	"all_reduce": "start all_reduce during the backward pass, as DDP does; under tensor parallelism, overlap it with matrix " +
		"multiplications (asynchronous tensor parallelism)",
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

// NoBenchmark reports that a collective has no benchmark to be compared with.
type NoBenchmark struct {
	Collective string           `json:"collective"`
	Type       string           `json:"type"`
	Size       units.RoughBytes `json:"size_bytes"`
	BusBW      units.Bandwidth  `json:"busbw"`
	Pure       Pure             `json:"pure"` // without waiting; otherwise at its fastest
	Largest    string           `json:"largest"`
	Ranks      int              `json:"ranks"`
}

// Pure is whether a bandwidth excludes waiting for other ranks.
type Pure bool

func (p Pure) String() string {
	if p {
		return "without waiting for other ranks"
	}
	return "at its fastest"
}

// LongCall reports a call that a watchdog may end.
type LongCall struct {
	Rank string        `json:"rank"`
	Time units.Seconds `json:"time_s"`
}

// SizesNotRecorded reports that most collectives have no size.
type SizesNotRecorded struct {
	Share units.Share `json:"share"` // of the time of collectives
}

// NsightSizesNotRecorded reports the same of a recording of Nsight Systems.
type NsightSizesNotRecorded struct {
	Share units.Share `json:"share"`
}

// NoSteps reports that steps are not marked.
type NoSteps struct{}

// FewStepsRecorded reports that few steps were recorded.
type FewStepsRecorded struct {
	Steps int `json:"steps"`
}

// RanksNotRead reports that traces of ranks are missing.
type RanksNotRead struct {
	Read  int `json:"read"`
	World int `json:"world"`
}

// OneRankRead reports that one rank alone was recorded.
type OneRankRead struct{}

// Code identifies the notice, as all methods below do.
func (LittleCompute) Code() Code          { return "little-compute" }
func (OneBucket) Code() Code              { return "one-bucket" }
func (LastBucket) Code() Code             { return "last-bucket" }
func (SmallBuckets) Code() Code           { return "small-buckets" }
func (SmallCollectives) Code() Code       { return "small-collectives" }
func (WideGradients) Code() Code          { return "wide-gradients" }
func (HostBoundStep) Code() Code          { return "host-bound" }
func (UnexplainedIdle) Code() Code        { return "unexplained-idle" }
func (CopiesAlone) Code() Code            { return "copies-alone" }
func (ExposedCollective) Code() Code      { return "exposed-collective" }
func (UnevenRanks) Code() Code            { return "uneven-ranks" }
func (BelowBenchmark) Code() Code         { return "below-benchmark" }
func (NoBenchmark) Code() Code            { return "no-benchmark" }
func (LongCall) Code() Code               { return "long-call" }
func (SizesNotRecorded) Code() Code       { return "sizes-not-recorded" }
func (NsightSizesNotRecorded) Code() Code { return "nsight-sizes-not-recorded" }
func (NoSteps) Code() Code                { return "no-steps" }
func (FewStepsRecorded) Code() Code       { return "few-steps" }
func (RanksNotRead) Code() Code           { return "ranks-not-read" }
func (OneRankRead) Code() Code            { return "one-rank-read" }

// Pages that advice comes from.
const (
	pageDDP      = "PyTorch, DistributedDataParallel"
	pageDDPNotes = "PyTorch, Distributed Data Parallel (notes)"
	pageHooks    = "PyTorch, DDP Communication Hooks"
	pageTuning   = "PyTorch, Performance Tuning Guide"
	pageVars     = "PyTorch, ProcessGroupNCCL Environment Variables"
	pageProfiler = "PyTorch, torch.profiler"
	pageNCCL     = "NVIDIA, NCCL: Environment Variables"
	pageNsight   = "NVIDIA, Nsight Systems User Guide"
)

const ms = 1e-3

var training = []Entry{
	{Example: LittleCompute{20 * ms, 76 * ms, WaitingExcluded, "step"}, Severity: Warning, Source: pageDDP,
		Text:   "a {Per} computes for {Compute} and communicates for {Comm} ({Waiting}): more than it can hide",
		Advice: "give each step more to compute for what it communicates",
		How: `Use a larger batch per GPU, or accumulate gradients of several batches (no_sync() of DDP). No setting
			hides more for so small a model.`,
		Doc: "Communication can be hidden only behind computation."},
	{Example: OneBucket{100 << 20, 25 * ms, 25}, Severity: Warning, Source: pageDDP,
		Text:   "all gradients ({Bucket}) are one bucket, of which {Exposed} per step are exposed",
		Advice: "make DDP's buckets smaller: bucket_cap_mb={Cap}",
		How: `A bucket is sent when its last gradient is ready, so a single bucket starts when the backward pass is
			over.`,
		Doc: "DDP overlaps the communication of a bucket with the rest of the backward pass."},
	{Example: LastBucket{23 * ms, 20 * ms, 30 << 20, 26 << 20, 13}, Severity: Warning, Source: pageDDPNotes,
		Text:   "buckets are exposed for {Exposed} per step, the last one ({Bucket}) for {Last}",
		Advice: "make DDP's buckets smaller: bucket_cap_mb={Cap}",
		How: `No backward pass is left to hide the last bucket behind. Now the median is {Median}; the default is 25
			MiB.`,
		Doc: "The last bucket is sent when the backward pass is over."},
	{Example: SmallBuckets{12, 100 << 10, 1200 << 10, 24 * ms}, Severity: Warning, Source: pageDDP,
		Text:   "{Buckets bucket} of {Median} (median, {Total} in all) leave {Exposed} per step exposed",
		Advice: "make DDP's buckets larger (bucket_cap_mb is 25 by default)",
		How:    "Below a mebibyte the time of a collective is its latency.",
		Doc:    "Many small buckets cost a latency each."},
	{Example: SmallCollectives{20, 7.6 * ms, WaitingExcluded, "step"}, Severity: Warning,
		Text:   "{Calls collective} below 64 KiB per {Per} leave {Exposed} exposed ({Waiting})",
		Advice: "combine small collectives",
		How:    "Use one for all values; communicate what only logging needs every few steps. Their time is latency.",
		Doc:    "Small collectives outside of gradient buckets cost a latency each."},
	{Example: WideGradients{19 * ms, 11.4 * ms, WaitingExcluded, "step"}, Severity: Warning, Source: pageHooks,
		Text:   "float32 gradients of 1 MiB or more take {Time} per {Per}, of which {Exposed} are exposed ({Waiting})",
		Advice: "halve the bytes: communicate gradients in bfloat16 or float16",
		How: `DDP: register_comm_hook with bf16_compress_hook or fp16_compress_hook; FSDP:
			MixedPrecision(reduce_dtype=...). This changes how gradients are rounded: check the loss.`,
		Doc: "Half the bytes take about half the time, for large messages."},
	{Example: HostBoundStep{15 * ms, 100 * ms, "step"}, Severity: Warning, Source: pageTuning,
		Text:   "the GPU is idle for {Idle} of {Span} per {Per} because its host has not launched work yet",
		Advice: "keep the GPU supplied with work",
		How: `Remove from the step what makes the host wait for the GPU (.item(), .cpu(), printing a loss,
			torch.cuda.synchronize()), load data ahead (num_workers, pin_memory, non_blocking=True), and launch less
			(torch.compile, CUDA graphs).`,
		Doc: `Reported where GPUs are idle for a tenth of the time because nothing was launched, or for 2 % where no other
			loss is larger.`},
	{Example: UnexplainedIdle{138 * ms, 216 * ms, "step", 90 * ms}, Severity: Warning, Source: pageProfiler,
		Text: `the GPU is idle for {Idle} of {Span} per {Per}, and the trace does not contain the cause[; for {Launched} of
			it the next kernel was already launched, and waited for an event, its stream or the device]`,
		Advice: "find out what the GPU waits for",
		How: `Look in the trace at what ends the longest gaps. Gaps of a few microseconds between kernels are the cost of
			launching: CUDA graphs or larger kernels reduce it. Waits for other streams are recorded by torch.profiler
			with experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True), and by Nsight Systems. A
			kernel that was not recorded looks like idle time too.`,
		Doc: `Idle time of which the host is not known to be the cause. Reported from a tenth of the time on, or from 2 %
			where no other loss is larger.`},
	{Example: CopiesAlone{15 * ms, 100 * ms, "step"}, Severity: Warning, Source: pageTuning,
		Text:   "the GPU only copies for {Copies} of {Span} per {Per}",
		Advice: "overlap copies with computation, or avoid them",
		How: `Load batches from pinned memory (pin_memory=True) with non_blocking=True; keep on the GPU what is used in
			every step; run offloading on a stream of its own.`,
		Doc: `Copies while nothing computes or communicates. Reported from a tenth of the time on, or from 2 % where no
			other loss is larger.`},
	{Example: ExposedCollective{"alltoall", 60 * ms, 88 * ms, "step", WaitingExcluded}, Severity: Warning,
		Text: `{Collective} is exposed for {Exposed} per {Per} ({Waiting}), the largest part of the {Total} of exposed
			communication`,
		Doc: `The operation with the most exposed time, where no other advice names the cause of it. Reported where
			communication is exposed for a tenth of the time, or for 2 % where no other loss is larger.`},
	{Example: UnevenRanks{12 * ms, "step", 0.02, "ProfilerStep#1"}, Severity: Warning,
		Text: `a rank waits {Waiting} per {Per} for others, and no rank is last more often than chance explains[;
			computation differs by up to {Spread}][ in {Step}]`,
		Advice: "balance the work of ranks within a step",
		How: `Use batches of similar length (bucketing by length) and steps without additional work on single ranks,
			and load data ahead. Which rank is late changes, or is unknown.`,
		Doc: "Ranks wait for each other in turn."},
	{Example: BelowBenchmark{"all_reduce", 25 << 20, 0.25, 50e9, 200e9}, Severity: Warning, Source: pageNCCL,
		Text:   "{Collective} {Size} runs at {Share} of the benchmark ({BusBW} instead of {Benchmark})",
		Advice: "find out why communication is slower than in the benchmark on this machine",
		How: `Run rank --preflight on these nodes, nvidia-smi topo -m (NV# is NVLink; PHB, NODE and SYS pass the
			processor), and post log on a run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,ENV,TUNING. Kernels
			that compute at the same time take processors and memory bandwidth from communication, which shows here
			too.`,
		Doc: `Compared are collectives of 1 MiB or more with the same collective, type, ranks and size in --results;
			reported below 80 %.`},
	{Example: NoBenchmark{"all_reduce", "float32", 25 << 20, 180e9, true, "32M", 2}, Severity: Info,
		Text:   "{Collective} {Size} reaches {BusBW} ({Pure}), and no benchmark shows how much is possible",
		Advice: "measure what this machine can do",
		How: `Run rank --backend nccl --collective {Collective} -d {Type} -b 1M -e {Largest} -f 2 --placement in with
			{Ranks rank} on it, and post timeline --results FOLDER. nvidia-smi topo -m shows whether GPUs are
			connected by NVLink (NV#) or PCIe.`,
		Doc: "Without a benchmark, the bandwidth in training cannot be judged."},
	{Example: LongCall{"rank 1", 60}, Severity: Warning, Source: pageVars,
		Text:   "a call on {Rank} took {Time}",
		Advice: "find out which rank is so late before a timeout is raised",
		How: `TORCH_NCCL_TRACE_BUFFER_SIZE=2000 with TORCH_NCCL_DUMP_ON_TIMEOUT=1 records what each rank was doing,
			and this report names a straggler if all ranks were recorded. PyTorch's watchdog ends such a run;
			init_process_group(timeout=...) raises its limit. There is no NCCL_TIMEOUT, and NCCL_IB_TIMEOUT is for
			InfiniBand packets.`,
		Doc: "Calls of 30 s and more come close to the timeout of a watchdog."},
	{Example: SizesNotRecorded{0.9}, Severity: Info, Source: pageProfiler,
		Text:   "collectives with {Share} of the time have no size, so there is no bus bandwidth",
		Advice: "record the sizes of collectives",
		How: `Use torch.profiler with record_shapes=True, in PyTorch 2.2 or later; or NCCL_DEBUG=INFO
			NCCL_DEBUG_SUBSYS=INIT,COLL,TUNING, and post log.`,
		Doc: "Bus bandwidth needs the sizes of collectives."},
	{Example: NsightSizesNotRecorded{0.9}, Severity: Info, Source: pageNsight,
		Text:   "collectives with {Share} of the time have no size, so there is no bus bandwidth",
		Advice: "export what NCCL records about its calls",
		How: `Use nsys export --type=sqlite --include-blobs=true FILE.nsys-rep (NCCL 2.16.2 or
			later, and --trace=cuda,nvtx when recording).`,
		Doc: "Bus bandwidth needs the sizes of collectives, which NCCL writes into NVTX payloads."},
	{Example: NoSteps{}, Severity: Info, Source: pageProfiler,
		Text:   "steps are not marked, so values are of the whole recording, with what precedes and follows training",
		Advice: "mark steps",
		How: `Call profiler.step() at the end of each with torch.profiler, or put NVTX ranges of one name around each
			(torch.cuda.nvtx.range_push) and use --step-pattern.`,
		Doc: "Values per step are more useful than those of a recording."},
	{Example: FewStepsRecorded{2}, Severity: Info, Source: pageProfiler,
		Text: "only {Steps step} recorded",
		Advice: `record three steps or more, after some that warm up: torch.profiler.schedule(wait=1, warmup=2,
			active=5)`,
		Doc: "Few steps do not show what varies."},
	{Example: RanksNotRead{2, 8}, Severity: Info, Source: pageProfiler,
		Text:   "{Read} of {World rank} were read, so waiting for the others cannot be separated from communication",
		Advice: "record all ranks",
		How: `Use torch.profiler on each with its rank in the file's name, or nsys profile with the rank in the name
			(-o), and pass the folder.`,
		Doc: "Only matched calls of all ranks show who waits for whom."},
	{Example: OneRankRead{}, Severity: Info, Source: pageProfiler,
		Text:   "with one rank alone, waiting for others cannot be separated from communication",
		Advice: "record all ranks",
		How:    "Pass the folder of their traces.",
		Doc:    "Only matched calls of several ranks show who waits for whom."},
}
