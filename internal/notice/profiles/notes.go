package profiles

import (
	"fmt"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices on what values of a timeline depend on. docs/timeline.md has the rules.

// CUDAGraphs reports CUDA graphs of which a trace has no kernels.
type CUDAGraphs struct {
	Time units.Seconds `json:"time_s"`
}

// ClocksDisagree reports activities that ran before they were launched.
type ClocksDisagree struct {
	Early int `json:"early"`
	Of    int `json:"of"`
}

// StepPatternUnmatched reports a --step-pattern that matches nothing.
type StepPatternUnmatched struct {
	Pattern string `json:"pattern"`
}

// OnlyCopies reports a device without kernels.
type OnlyCopies struct{}

// RankClash is recordings that are named as one rank, and cannot be.
type RankClash struct {
	Rank  int      `json:"rank"`
	Files []string `json:"files"`
}

func (c RankClash) String() string { return fmt.Sprintf("rank %d (%s)", c.Rank, units.Some(c.Files)) }

// SameRank reports recordings that are named as one rank, and cannot be.
type SameRank struct {
	Ranks []RankClash `json:"ranks"`
}

// Advice has braces, which a template cannot.
func (SameRank) Advice() string {
	return "give each file the rank of the world, not the local one, and one job at a time: nsys profile -o " +
		"name_rank%q{RANK}, or torch.distributed.get_rank() in the name"
}

// NonBlockingCalls reports operations whose own time is not in the trace.
type NonBlockingCalls struct{}

// CommunicatorUnclear reports calls whose communicator several groups of ranks may have.
type CommunicatorUnclear struct {
	Name  string `json:"communicator"`
	Size  int    `json:"size"`
	Ranks int    `json:"ranks"`           // that have one of this name
	World int    `json:"world,omitempty"` // 0: more ranks than the communicator has
}

// CallsUnmatched reports that no call could be matched across ranks.
type CallsUnmatched struct {
	Calls int `json:"calls"`
}

// CommunicatorsUnknown reports that alike calls of several communicators may have been matched.
type CommunicatorsUnknown struct{}

// RanksMissing reports that not all ranks were read.
type RanksMissing struct {
	Read  int `json:"read"`
	World int `json:"world"`
}

// PartialStep reports a step that was not recorded whole.
type PartialStep struct {
	Kernels int     `json:"kernels"`
	Typical float64 `json:"typical"`
}

// Percent is a share in percent.
type Percent float64

func (p Percent) String() string { return fmt.Sprintf("%.1f %%", float64(p)) }

// MatchedBy is how calls were matched across ranks, and how many.
type MatchedBy struct {
	How   MatchMethod `json:"by"`
	Calls int         `json:"calls"`
}

// MatchMethod is how calls were matched.
type MatchMethod string

// The methods.
const (
	ByNumber MatchMethod = "number"
	ByStep   MatchMethod = "step-order"
)

var matchTexts = map[MatchMethod]string{
	ByNumber: "the number of each call in its communicator",
	ByStep:   "their order in a step and a communicator",
}

func (m MatchMethod) String() string { return matchTexts[m] }

// MatchedByAll are all methods of one timeline.
type MatchedByAll []MatchedBy

// String follows the word "by".
func (all MatchedByAll) String() string {
	var texts []string
	for _, m := range all {
		if len(all) == 1 {
			return m.How.String()
		}
		texts = append(texts, fmt.Sprintf("%v (%d)", m.How, m.Calls))
	}
	if texts == nil {
		return "nothing"
	}
	return strings.Join(texts, ", and by ")
}

// NotInBenchmark reports collectives that the benchmark lacks.
type NotInBenchmark struct {
	Missing []MissingCurve `json:"missing"`
}

// MissingCurve is a collective of the training that cannot be compared.
type MissingCurve struct {
	Collective string           `json:"collective"`
	Type       string           `json:"type"`
	Ranks      int              `json:"ranks"`
	Size       units.RoughBytes `json:"size_bytes,omitempty"` // outside of From and To
	From       units.RoughBytes `json:"from_bytes,omitempty"`
	To         units.RoughBytes `json:"to_bytes,omitempty"`
}

func (m MissingCurve) String() string {
	if m.To > 0 {
		return fmt.Sprintf("%s %v %s over %s: the benchmark has %v to %v only", m.Collective, m.Size, m.Type,
			units.Count(m.Ranks, "rank"), m.From, m.To)
	}
	return fmt.Sprintf("the benchmark has no measured %s %s of NCCL over %s", m.Collective, m.Type,
		units.Count(m.Ranks, "rank"))
}

// Advice is the command that measures what is missing.
func (n NotInBenchmark) Advice() string {
	var all []string
	for _, m := range n.Missing {
		all = units.AddOnce(all, fmt.Sprintf("%s -d %s with %s", m.Collective, m.Type, units.Count(m.Ranks, "rank")))
	}
	return "measure on the same machine: rank --backend nccl --placement in -b 1M -e 1G -f 2 --collective " +
		strings.Join(all, ", and ")
}

func (CUDAGraphs) Code() Code           { return "cuda-graphs-without-kernels" }
func (ClocksDisagree) Code() Code       { return "clocks-disagree" }
func (StepPatternUnmatched) Code() Code { return "step-pattern-unmatched" }
func (OnlyCopies) Code() Code           { return "only-copies" }
func (SameRank) Code() Code             { return "same-rank" }
func (NonBlockingCalls) Code() Code     { return "non-blocking-calls" }
func (CommunicatorUnclear) Code() Code  { return "communicator-unclear" }
func (CallsUnmatched) Code() Code       { return "calls-unmatched" }
func (CommunicatorsUnknown) Code() Code { return "communicators-unknown" }
func (RanksMissing) Code() Code         { return "ranks-missing" }
func (PartialStep) Code() Code          { return "partial-step" }
func (NotInBenchmark) Code() Code       { return "not-in-benchmark" }

var timelineNotes = []notice.Entry{
	{
		Example: CUDAGraphs{0.012}, Severity: notice.Warning,
		Text: "{Time} of CUDA graphs recorded without kernels: all of it counts as computation, communication in " +
			"it is unknown",
		Advice: "record with nsys profile --cuda-graph-trace=node",
		Doc:    "Nsight Systems records graphs as a whole unless asked for their nodes.",
	},
	{
		Example: ClocksDisagree{120, 4000}, Severity: notice.Warning,
		Text:    "{Early} of {Of} activities ran before the host launched them: the clocks of host and device disagree",
		Details: []string{"The cause of idle time, and which step an activity belongs to, are uncertain."},
		Doc:     "It is reported if more than 1 % of the activities begin before their launch.",
	},
	{
		Example: StepPatternUnmatched{"^iteration"}, Severity: notice.Warning,
		Text:   "no range of the host matches the step pattern {Pattern}",
		Advice: "check --step-pattern against the names of NVTX ranges in the trace",
		Doc:    "Without steps, times are of the whole recording.",
	},
	{
		Example: OnlyCopies{}, Severity: notice.Info,
		Text: "no kernel ran on this device, only copies: it is left out of medians, headlines and charts",
		Doc:  "Medians are of devices that compute or communicate.",
	},
	{
		Example: SameRank{[]RankClash{{3, []string{"a.json", "b.json"}}}}, Severity: notice.Warning,
		Text:    "recordings of different processes have the same rank: {Ranks}",
		Details: []string{"The rank of each is unknown, and each counts as a rank of its own."},
		Doc: "One rank may be recorded several times, one recording after another; these are of several hosts or " +
			"processes, or overlap in time.",
	},
	{
		Example: NonBlockingCalls{}, Severity: notice.Info,
		Text: "operations are non-blocking: each time runs from the call that begins it to the call that detects its " +
			"end",
		Details: []string{"Several run at once, so time, bandwidth and waiting of a single operation are unknown."},
		Doc:     "A step of busbar itself with non-blocking operations of MPI or Gloo.",
	},
	{
		Example: CommunicatorUnclear{"tp", 4, 8, 16}, Severity: notice.Warning,
		Text: "calls of communicator {Name} ({Size rank}) were not matched across ranks: {Ranks rank} have a " +
			"communicator of this name",
		Details: []string{
			"[The world has {World rank}; the traces do not state which of them belong together.]",
		},
		Doc: "Several groups of ranks may have communicators of one name, such as those of tensor parallelism.",
	},
	{
		Example: CallsUnmatched{1200}, Severity: notice.Warning,
		Text:    "none of {Calls call} of communication could be matched across ranks",
		Details: []string{"Their order fits in several ways or in none, so waiting for other ranks is unknown."},
		Advice:  "record the same steps on all ranks, with profiler.step() or ranges around steps",
		Doc:     "Calls are matched by sequence number, or by order within a step and a communicator.",
	},
	{
		Example: CommunicatorsUnknown{}, Severity: notice.Warning,
		Text:    "the traces name no communicator, and not all ranks were read",
		Details: []string{"Equal calls were matched, although the ranks may be in different communicators."},
		Doc:     "Calls of one operation and size were matched by their order.",
	},
	{
		Example: RanksMissing{2, 8}, Severity: notice.Warning,
		Text: "{Read} of {World rank} were read",
		Details: []string{
			"A straggler may be among the others; communication times then include waiting for it.",
		},
		Advice: "record all ranks, and pass the folder of all their traces",
		Doc:    "The traces state a larger world size than the number of ranks that were read.",
	},
	{
		Example: PartialStep{12, 340}, Severity: notice.Info,
		Text: "{Kernels kernel} were launched in it, a typical step has {Typical}: recorded incompletely, or a " +
			"different step",
		Doc: "A step with less than half of the median number of kernels does not count.",
	},
	{
		Example:  NotInBenchmark{[]MissingCurve{{Collective: "all_reduce", Type: "bfloat16", Ranks: 8}}},
		Severity: notice.Info,
		Text:     "not compared with the benchmark: {Missing}",
		Doc: `Collectives of a training are compared with results of NCCL of the same operation, type and number of
			ranks, between the smallest and the largest size measured.`,
	},
}
