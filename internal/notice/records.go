package notice

import (
	"encoding/json"
	"fmt"

	"busbar/internal/units"
)

// Notices on single points and on whole runs, which results files keep.

// TooFewSamples reports a median without a confidence interval.
type TooFewSamples struct {
	Samples int `json:"samples"`
	Needed  int `json:"needed"`
}

// Autocorrelated reports that successive samples depend on each other.
type Autocorrelated struct {
	Samples int `json:"samples"`
	Needed  int `json:"needed"` // for an interval that holds what it promises
}

// Drift reports that times rose or fell while a point was measured.
type Drift struct {
	Change Change `json:"change"` // median of the last third of the samples over that of the first, minus 1
}

// Bimodal reports that times have two modes.
type Bimodal struct {
	Lower      units.Seconds `json:"lower_s"`
	LowerShare units.Share   `json:"lower_share"` // of the samples
	Upper      units.Seconds `json:"upper_s"`
	UpperShare units.Share   `json:"upper_share"`
}

// SamplesNotFinite reports times that are no numbers.
type SamplesNotFinite struct {
	Samples int `json:"samples"`
}

// ValueNotFinite reports that a value of a record was infinite or not a number.
type ValueNotFinite struct{}

// TimerCost reports that reading the clock takes a noticeable part of what is timed.
type TimerCost struct {
	Reading units.Nanoseconds `json:"reading_s"`
	Share   units.Share       `json:"share"` // of the timed interval
}

// TimerResolution reports that the clock's step is too large for percentiles.
type TimerResolution struct {
	Step units.Nanoseconds `json:"step_s"`
}

// EventResolution reports that the step of the device's clock is a noticeable part of what is timed.
type EventResolution struct {
	Step     units.Nanoseconds `json:"step_s"`
	Share    units.Share       `json:"share"` // of the timed interval, at least
	Interval units.Seconds     `json:"interval_s"`
}

// NoCommonClock reports that the ranks' clocks could not be compared.
type NoCommonClock struct{}

// ClockUncertainty reports that the offset between hosts is not known well enough for what is timed.
type ClockUncertainty struct {
	Uncertainty units.Seconds `json:"uncertainty_s"`
	Share       units.Share   `json:"share"` // of the time
}

// PathDiffers reports that ranks chose different algorithms, protocols or channels.
type PathDiffers struct {
	Ranks int    `json:"ranks"` // that differ from rank 0
	World int    `json:"world"`
	Own   string `json:"own"` // of rank 0
	Rank  int    `json:"rank"`
	Host  string `json:"host,omitempty"`
	Other string `json:"other"` // of the first rank that differs
}

// LinkErrors reports that counters of a port rose during a point.
type LinkErrors struct {
	Port     string   `json:"port"`
	Counters []string `json:"counters"` // "3 symbol_error"
}

// LocalRetransmissions reports that TCP sent segments again although all ranks are on one host.
type LocalRetransmissions struct {
	Segments int64 `json:"segments"`
}

// ComputePace reports that the computing part of a training step takes another time than its model.
type ComputePace struct {
	Took  units.Seconds `json:"took_s"`
	Model units.Seconds `json:"model_s"`
}

// TraceNotWritten reports that the trace of a training step could not be written.
type TraceNotWritten struct {
	Problem string `json:"problem"`
}

// Oversubscribed reports that ranks share cores.
type Oversubscribed struct {
	Ranks int       `json:"ranks,omitempty"`
	Cores int       `json:"cores,omitempty"`
	Host  string    `json:"host,omitempty"` // "" where the location has it
	Limit CoreLimit `json:"limit,omitzero"`
	CPUs  RankCPUs  `json:"cpus,omitzero"` // of all ranks of the host; of rank --preflight
	Why   string    `json:"why,omitempty"` // the text of Limit, of older versions
}

// CoreLimit is what keeps ranks from using all cores of a host; zero where they may.
type CoreLimit struct {
	Quota float64 `json:"quota_cpus,omitempty"` // of a control group
	CPUs  string  `json:"bound_to,omitempty"`   // as a list, "0-3,8"
}

func (l CoreLimit) String() string {
	if l.Quota > 0 {
		return fmt.Sprintf("cgroup quota of %.3g CPUs", l.Quota)
	}
	return "bound to CPUs " + l.CPUs
}

// OversubscribedHosts reports further hosts on which ranks share cores.
type OversubscribedHosts struct {
	Hosts int `json:"hosts"`
}

// SharedThreads reports that library threads and ranks share CPUs.
type SharedThreads struct {
	Host  string `json:"host"`
	CPUs  int    `json:"cpus"`
	Ranks int    `json:"ranks"`
}

// SharedGPU reports that several ranks use one GPU. Results files do not have the parameters.
type SharedGPU struct {
	Ranks   int    `json:"ranks,omitempty"`
	GPU     string `json:"gpu,omitempty"`
	PCI     string `json:"pci,omitempty"`
	UUID    string `json:"uuid,omitempty"`
	Allowed bool   `json:"allowed,omitempty"` // --allow-shared-gpu
}

// Advice depends on whether that was asked for.
func (s SharedGPU) Advice() string {
	switch {
	case s.Allowed:
		return "use the results for correctness only: ranks that share a GPU show no speed"
	case s.Ranks > 0:
		return AdviceOwnGPU + ", or allow it with --allow-shared-gpu, for correctness only"
	}
	return ""
}

// HostLoad reports that other work ran on a host before the run.
type HostLoad struct {
	Host string  `json:"host"`
	Load float64 `json:"load1"` // one-minute load average
}

// CollectiveUnknown reports that another tool's output does not name its collective.
type CollectiveUnknown struct {
	Fits []string `json:"fits,omitempty"` // collectives that the columns fit
}

// DevicesPartlyListed reports that another tool's output lists one device per process.
type DevicesPartlyListed struct {
	Listed int `json:"listed"`
	World  int `json:"world"`
}

// ConcurrentGroups reports that the ranks of another tool's run worked in several groups at once.
type ConcurrentGroups struct{}

// SeparateWorlds reports that processes of another tool did not form one world.
type SeparateWorlds struct {
	Processes int `json:"processes"`
}

// WrongValuesCounted reports that another tool's output ends with a count of wrong values.
type WrongValuesCounted struct {
	Values int64 `json:"values"`
}

// Deduced is what follows from another tool's output, where no line of it states that.
type Deduced struct {
	What       DeducedWhat `json:"what"`
	From       DeducedFrom `json:"from"`
	Collective string      `json:"collective,omitempty"` // of a size
}

// DeducedWhat is what was deduced.
type DeducedWhat string

// What is deduced.
const (
	DeducedRanks      DeducedWhat = "ranks"
	DeducedCollective DeducedWhat = "collective"
	DeducedPlacement  DeducedWhat = "placement"
	DeducedSize       DeducedWhat = "size"
	DeducedIterations DeducedWhat = "iterations"
)

var deducedTexts = map[DeducedWhat]string{
	DeducedRanks:      "the number of ranks",
	DeducedCollective: "the collective",
	DeducedPlacement:  "the placement",
	DeducedSize:       "the size",
	DeducedIterations: "the number of iterations",
}

func (w DeducedWhat) String() string { return deducedTexts[w] }

// DeducedFrom is what something was deduced from.
type DeducedFrom uint8

// What it follows from.
const (
	FromCommand    DeducedFrom = iota // over the table
	FromRatio                         // of the bandwidths
	FromColumns                       // and the ratio of the bandwidths
	FromShare                         // of a rank
	FromTableAbove                    // of the same file
)

var deducedFrom = []struct{ name, text string }{
	{"command", "from the command over the table"},
	{"ratio", "the only one that fits the ratio of busbw to algbw"},
	{"columns", "the only one that fits the columns"},
	{"share", "one rank's share in the table, times the number of ranks"},
	{"table-above", "from the table above"},
}

func (f DeducedFrom) String() string { return deducedFrom[f].text }

// MarshalText returns the name.
func (f DeducedFrom) MarshalText() ([]byte, error) { return []byte(deducedFrom[f].name), nil }

// UnmarshalText accepts a name.
func (f *DeducedFrom) UnmarshalText(text []byte) error {
	for i, d := range deducedFrom {
		if d.name == string(text) {
			*f = DeducedFrom(i)
			return nil
		}
	}
	return fmt.Errorf("%q: unknown origin", text)
}

// ScriptHabits describes what scripts around torch's all_reduce do and their tables do not show.
type ScriptHabits struct{}

// Recorded is a warning of which only the text is known: from an older version of busbar, or from another tool.
type Recorded struct {
	Text string `json:"text"`
}

// Unknown is a fact of a newer version.
type Unknown struct {
	Of         Code            `json:"code"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Change is a relative change: "+12.3 %", "a factor of 4.00".
type Change float64

func (c Change) String() string {
	if ratio := 1 + float64(c); ratio >= 3 || ratio <= 1.0/3 {
		return "a factor of " + units.Times(ratio)
	}
	return fmt.Sprintf("%+.1f %%", 100*float64(c))
}

// Code identifies the notice, as all methods below do.
func (TooFewSamples) Code() Code        { return "too-few-samples" }
func (Autocorrelated) Code() Code       { return "autocorrelated-samples" }
func (Drift) Code() Code                { return "drift" }
func (Bimodal) Code() Code              { return "bimodal-times" }
func (SamplesNotFinite) Code() Code     { return "samples-not-finite" }
func (ValueNotFinite) Code() Code       { return "value-not-finite" }
func (TimerCost) Code() Code            { return "timer-cost" }
func (TimerResolution) Code() Code      { return "timer-resolution" }
func (EventResolution) Code() Code      { return "event-resolution" }
func (NoCommonClock) Code() Code        { return "no-common-clock" }
func (ClockUncertainty) Code() Code     { return "clock-uncertainty" }
func (PathDiffers) Code() Code          { return "path-differs" }
func (LinkErrors) Code() Code           { return "link-errors" }
func (LocalRetransmissions) Code() Code { return "local-retransmissions" }
func (ComputePace) Code() Code          { return "compute-pace" }
func (TraceNotWritten) Code() Code      { return "trace-not-written" }
func (Oversubscribed) Code() Code       { return "oversubscribed" }
func (OversubscribedHosts) Code() Code  { return "oversubscribed-hosts" }
func (SharedThreads) Code() Code        { return "shared-threads" }
func (SharedGPU) Code() Code            { return "shared-gpu" }
func (HostLoad) Code() Code             { return "host-load" }
func (CollectiveUnknown) Code() Code    { return "collective-unknown" }
func (DevicesPartlyListed) Code() Code  { return "devices-partly-listed" }
func (ConcurrentGroups) Code() Code     { return "concurrent-groups" }
func (SeparateWorlds) Code() Code       { return "separate-worlds" }
func (WrongValuesCounted) Code() Code   { return "wrong-values-counted" }
func (Deduced) Code() Code              { return "deduced" }
func (ScriptHabits) Code() Code         { return "script-habits" }
func (Recorded) Code() Code             { return "recorded-warning" }
func (Unknown) Code() Code              { return "unknown-notice" }

var records = []Entry{
	{
		Example: RankCPUs{4, 8, Binding{2, 2, false}},
		Text:    "{Ranks rank} on {CPUs CPU}, {Binding}",
		Doc:     "How many CPUs the ranks of a host may use.",
	},
	{Example: TooFewSamples{3, 6}, Severity: Warning,
		Text:   "too few samples ({Samples}): a 95 % CI of the median needs at least {Needed}",
		Advice: "raise --budget or -n",
		Doc: `The confidence interval of the median uses order statistics, which need at least 6 samples. The value is
			valid; its uncertainty is unknown.`},
	{Example: Autocorrelated{200, 900}, Severity: Warning,
		Text:   "95 % CI may be too narrow: the {Samples} samples are autocorrelated, about {Needed} are needed",
		Advice: "raise --budget, or compare several launches",
		Doc: `Successive samples are not independent and carry less information than independent ones. The number needed
			is computed from their autocorrelation.`},
	{Example: Drift{0.123}, Severity: Warning,
		Text:   "times drift: the median changes by {Change} from the first to the last third of the samples",
		Advice: "warm up longer (--warmup-iters), and look for changing clocks, temperature or other work",
		Doc: `The medians of the first and the last third of the samples differ significantly. The median of all
			samples then depends on the length of the measurement.`},
	{Example: Bimodal{12.5e-6, 0.6, 25e-6, 0.4}, Severity: Warning,
		Text: `bimodal times: {LowerShare} of the samples are near {Lower}, {UpperShare} near {Upper}; the median
			represents at most one group`,
		Advice: "bind ranks to cores, and look for other work on the hosts",
		Doc:    "The samples form two groups with a gap between them. Both occur in applications."},
	{Example: SamplesNotFinite{2}, Severity: Warning,
		Text: "{Samples sample} infinite or not a number, excluded from all statistics",
		Doc:  "This is a defect of a clock or of busbar. Please report it."},
	{Example: ValueNotFinite{}, Severity: Warning,
		Text: "a value was infinite or not a number: the point has no values",
		Doc:  "JSON cannot hold such values. This is a defect of a clock or of busbar. Please report it."},
	{Example: TimerCost{25e-9, 0.07}, Severity: Warning,
		Text:   "timer cost: one clock reading ({Reading}) is {Share} of the timed interval",
		Advice: "use throughput mode or -m for such small sizes",
		Doc: `Each sample contains one clock reading. Where that is a noticeable part of what is timed, the value is
			too large by about this share.`},
	{Example: TimerResolution{1e-6}, Severity: Warning,
		Text: `timer resolution: no percentiles, because one clock step ({Step}) exceeds a tenth of the timed interval`,
		Doc:  "With so coarse a clock, percentiles would only show the clock's steps."},
	{Example: EventResolution{32e-9, 0.05, 500e-9}, Severity: Warning,
		Text: "event resolution: one step of the device clock ({Step}) is over {Share} of the timed {Interval}",
		Doc: `GPU events have the resolution of the device's clock. The time from events is uncertain by about one
			step.`},
	{Example: NoCommonClock{}, Severity: Warning,
		Text: "no common clock: times end when each rank finishes, not when the last one does",
		Doc: `Rooted operations are timed until the last rank finishes. This needs the clock offsets of all hosts,
			which could not be measured.`},
	{Example: ClockUncertainty{2e-6, 0.2}, Severity: Warning,
		Text: "clock uncertainty: clock offsets between hosts are uncertain by {Uncertainty}, {Share} of the time",
		Doc: `Clocks of hosts are compared by round trips; the shortest one bounds the uncertainty. Times until the
			last rank finishes are uncertain by as much.`},
	{Example: PathDiffers{2, 16, "Ring, Simple, 24 channels", 8, "node2", "Tree, LL, 12 channels"}, Severity: Warning,
		Text: `{Ranks} of {World} ranks use another algorithm than rank 0 ({Own}); first: rank {Rank}[ on {Host}]
			({Other})`,
		Advice: "give all ranks the same environment and library",
		Doc: `Each rank chooses algorithm, protocol and channels itself. Collectives need the same choice on all
			ranks.`},
	{Example: LinkErrors{"mlx5_0/1", []string{"3 symbol_error"}}, Severity: Warning,
		Text:   "link errors: {Port} counted {Counters} during this point; a bad link or congestion may have slowed it",
		Advice: AdviceCable,
		Doc: `Error counters of the host's ports are read before and after each point. Link errors always count, drops
			and retransmissions from 10 on.`},
	{Example: LocalRetransmissions{40}, Severity: Warning,
		Text:   "TCP retransmitted {Segments} segments during this point although all ranks are on one host",
		Advice: AdviceCores,
		Doc: `No link inside a host loses segments. Most likely a rank got no CPU to reply in time, or other
			connections of this host are the cause.`},
	{Example: ComputePace{12e-3, 10e-3}, Severity: Warning,
		Text: `computation alone takes {Took} instead of {Model}: other work disturbed the calibration or the run`,
		Doc: `Computation of a training step is calibrated to the model before the run. If it deviates by more than
			25 %, the shares of communication do not apply to the model.`},
	{Example: TraceNotWritten{"disk full"}, Severity: Warning,
		Text: "the trace was not written: {Problem}",
		Doc:  "The values of the step are complete; only the trace files for a timeline are missing."},
	{Example: Oversubscribed{Ranks: 4, Cores: 2, Host: "node17"}, Severity: Warning,
		Text:    "oversubscribed[: {Ranks rank} share {Cores core}[ on {Host}]][ ({Limit})][ ({Why})][; {CPUs}]",
		Details: []string{"Times show waiting for a core, not the speed of communication."},
		Advice:  AdviceCores,
		Doc: `More ranks than cores, a CPU quota, or ranks that are bound to overlapping sets of cores: an operation
			takes as long as the scheduler needs to run all ranks in turn. rank --preflight finds it before a run;
			values of such a run get no verdict and no peak.`},
	{Example: OversubscribedHosts{5}, Severity: Warning,
		Text:   "oversubscribed: {Hosts more host} as well",
		Advice: AdviceCores,
		Doc:    "Only the first hosts with too few cores are named one by one."},
	{Example: SharedThreads{"node17", 4, 4}, Severity: Warning,
		Text: `shared CPUs: Gloo needs two threads per rank, and {Host} has {CPUs CPU} for {Ranks rank}; small
			messages may take milliseconds`,
		Advice: "start fewer ranks, or give each two cores (mpirun --map-by slot:PE=2 --bind-to core)",
		Doc: `Each rank of Gloo has a thread that waits for the network. Where it shares a CPU with its rank, each
			small message waits for the scheduler.`},
	{Example: SharedGPU{2, "NVIDIA H100", "0000:0a:00.0", "GPU-5d2c", false}, Severity: Warning,
		Text:    "ranks share a GPU[: {Ranks rank} use {GPU} at {PCI} ({UUID})]",
		Details: []string{"Times show waiting for the GPU, not the speed of communication."},
		Advice:  AdviceOwnGPU,
		Doc: `Several ranks of a run use one GPU, known by its UUID. rank --preflight reports an error, with
			--allow-shared-gpu a warning; values of such a run get no verdict and no peak.`},
	{Example: HostLoad{"node17", 3.5}, Severity: Warning,
		Text:   "{Host} had a load average of {Load} before the run: other work disturbs the results",
		Advice: "end other work, or ask for whole nodes (srun --exclusive)",
		Doc:    "The one-minute load average of each host is read before the first point."},
	{Example: CollectiveUnknown{[]string{"all_gather", "reduce_scatter"}}, Severity: Warning,
		Text:   "the imported file does not name its collective[; its columns fit {Fits}]",
		Advice: "import the tool's whole output, or name the collective with --collective",
		Doc:    "Bus bandwidth depends on the collective. Without its name only times and sizes are imported."},
	{Example: DevicesPartlyListed{2, 16}, Severity: Warning,
		Text: "the imported file lists {Listed} of {World} ranks: the first of each process",
		Doc:  "Hosts and devices of the other ranks are unknown."},
	{Example: ConcurrentGroups{}, Severity: Warning,
		Text: "ranks ran in several groups at the same time: each time covers all groups together",
		Doc:  "nccl-tests splits its ranks with NCCL_TESTS_SPLIT. Bandwidth of one group alone is not in such a file."},
	{Example: SeparateWorlds{8}, Severity: Warning,
		Text:   "rank 0 is listed {Processes} times: {Processes} processes ran separately",
		Advice: "build nccl-tests with MPI=1",
		Doc: `A build of nccl-tests without MPI measures one world per process. The values are not those of all GPUs
			together.`},
	{Example: WrongValuesCounted{3}, Severity: Warning,
		Text:   "the imported file counts {Values wrong value} (out of bounds)",
		Advice: "look for the cause before using the times of this run: a GPU, a link or the library corrupts data",
		Doc: `nccl-tests checks the data of each row and ends with the number of wrong values. Layouts before 2022 do
			not mark the rows, so that only the count shows the defect.`},
	{
		Example: Deduced{DeducedSize, FromShare, "all_gather"}, Severity: Info,
		Text: "{What}[ of {Collective}] ({From})",
		Doc:  "docs/import.md lists the fields that are deduced, and those that stay empty.",
	},
	{
		Example: ScriptHabits{}, Severity: Info,
		Text: "each operation is awaited; all_reduce is torch's, in place, float32 unless a column names the type",
		Doc:  "Assumptions about scripts around torch's all_reduce. " + importDoc,
	},
	{Example: Recorded{"load: 12.5 on 8 cores"}, Severity: Warning,
		Text: "{Text}",
		Doc: `The text of a warning that an older version of busbar or another tool recorded; it has no code of its
			own.`},
	{Example: Unknown{Of: "a-newer-code"}, Severity: Warning,
		Text:   "notice {Of} of a newer version of busbar",
		Advice: "read the file with the version of busbar that wrote it, or a later one",
		Doc:    "A results file has a code that this version does not know. All values are read."},
}

// RankCPUs is which CPUs the ranks of a host may use.
type RankCPUs struct {
	Ranks   int     `json:"ranks"`
	CPUs    int     `json:"cpus"`
	Binding Binding `json:"binding"`
}

func (c RankCPUs) String() string { return Message(c) }

// Binding is to how many CPUs the ranks of a host are bound: 0 if that is unknown.
type Binding struct {
	Min  int  `json:"min_cpus"`
	Max  int  `json:"max_cpus"`
	Free bool `json:"unbound,omitempty"` // to no part of the host
}

func (b Binding) String() string {
	switch {
	case b.Min == 0:
		return "binding unknown"
	case b.Free:
		return "not bound"
	case b.Min == b.Max:
		return fmt.Sprintf("bound to %d each", b.Min)
	}
	return fmt.Sprintf("bound to %d to %d each", b.Min, b.Max)
}

// Code identifies the notice.
func (RankCPUs) Code() Code { return "rank-cpus" }
