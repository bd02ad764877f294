package hangs

import (
	"strings"

	"busbar/internal/notice"
)

// RankMissing is that ranks never entered a collective in which others wait.
type RankMissing struct {
	Ranks      Ranks      `json:"ranks"`
	Host       string     `json:"host,omitempty"` // of a single rank
	Call       Call       `json:"call"`
	Waiting    Waiting    `json:"waiting,omitempty"`
	Last       Number     `json:"last_common,omitempty"`
	NotNetwork NotNetwork `json:"not_network,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// CollectiveMismatch is that ranks called different collectives.
type CollectiveMismatch struct {
	Sides      Sides      `json:"sides"`
	Sequence   Number     `json:"sequence,omitempty"`
	Group      string     `json:"group,omitempty"`
	Last       Number     `json:"last_common,omitempty"`
	NotNetwork NotNetwork `json:"not_network,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// SizeMismatch is that ranks called a collective with sizes or types that do not fit together.
type SizeMismatch CollectiveMismatch

// RankDied is that processes ended before the others failed.
type RankDied struct {
	Ranks      Ranks      `json:"ranks,omitempty"`
	Host       string     `json:"host,omitempty"` // of a single rank
	Task       string     `json:"task,omitempty"` // of a launcher, instead of ranks
	How        Death      `json:"how"`
	Call       *Call      `json:"call,omitempty"`
	Last       Number     `json:"last_common,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// AllWaiting is that all ranks entered a collective, and it did not finish.
type AllWaiting struct {
	Ranks      Ranks      `json:"ranks"`
	Call       Call       `json:"call"`
	Last       Number     `json:"last_common,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// NoHang is that all collectives of all ranks finished.
type NoHang struct {
	Ranks      Ranks      `json:"ranks"`
	Confidence Confidence `json:"confidence"`
}

// InsufficientEvidence is that the evidence does not decide.
type InsufficientEvidence struct {
	Absent     Ranks      `json:"absent,omitempty"` // ranks without evidence
	Call       *Call      `json:"call,omitempty"`
	Known      *WaitsIn   `json:"known,omitempty"` // of a group whose members are unknown
	Last       Number     `json:"last_common,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// prefix keeps the codes of verdicts apart from those of messages in logs.
const prefix = "hang-"

// VerdictCode is the code of a verdict as post hang has it in JSON.
func VerdictCode(of notice.Fact) string { return strings.TrimPrefix(string(of.Code()), prefix) }

func (RankMissing) Code() Code          { return prefix + "rank-missing" }
func (CollectiveMismatch) Code() Code   { return prefix + "collective-mismatch" }
func (SizeMismatch) Code() Code         { return prefix + "size-mismatch" }
func (RankDied) Code() Code             { return prefix + "rank-died" }
func (AllWaiting) Code() Code           { return prefix + "all-waiting" }
func (NoHang) Code() Code               { return prefix + "no-hang" }
func (InsufficientEvidence) Code() Code { return prefix + "insufficient-evidence" }

var exampleElements = int64(1000)

var (
	exampleGroup = Call{"all_reduce", 6, "default_pg", &exampleElements, "float32"}
	exampleCall  = Call{"all_reduce", 6, "", &exampleElements, "float32"}
	exampleSides = Sides{{Ranks{0, 1, 3}, exampleCall}, {Ranks{2}, Call{"all_gather", 0, "", &exampleElements,
		"float32"}}}
	halfElements = int64(500)
)

const (
	lastCommon = "[The last collective that all ranks completed is {Last}.]"
	certainty  = "Confidence: {Confidence}."
)

var verdicts = []notice.Entry{
	{
		Example:  RankMissing{Ranks{2}, "node7", exampleGroup, Waiting{0, 1, 3}, 5, true, Certain},
		Severity: notice.Error,
		Text:     `{Ranks}[ ({Host})] never called {Call}[; {Waiting} in it]`,
		Details:  []string{lastCommon, "[{NotNetwork}]", certainty},
		Advice: `look at what {Ranks} did instead: its stack, the end of its log, its data loader, checkpoint or
			evaluation; a branch or a loop length that depends on the rank`,
		Doc: `Ranks wait in a collective that another rank did not enter: the rank's dump, its watchdog line or NCCL's
			RAS ends before it. Of several groups, the one whose missing rank waits nowhere else is the cause.`,
	},
	{
		Example:  CollectiveMismatch{exampleSides, 6, "default_pg", 5, true, Certain},
		Severity: notice.Error,
		Text:     `ranks called different collectives[ as {Sequence}][ of group "{Group}"]: {Sides}`,
		Details:  []string{lastCommon, "[{NotNetwork}]", certainty},
		Advice: `compare the stacks of the calls: a branch that depends on the rank or on data, or another version of
			the program`,
		Doc: `Ranks of a group made the same numbered call with different collectives. The ranks of the verdict are the
			minority; on a tie all ranks are named and the verdict is unclear.`,
	},
	{
		Example: SizeMismatch{
			Sides{{Ranks{0, 1, 3}, exampleCall}, {Ranks{2}, Call{"all_reduce", 0, "", &halfElements, "float32"}}}, 6,
			"default_pg", 5, true, Certain,
		},
		Severity: notice.Error,
		Text: `ranks called a collective with different sizes or types[ as {Sequence}][ of group "{Group}"]:
			{Sides}`,
		Details: []string{lastCommon, "[{NotNetwork}]", certainty},
		Advice:  `make sizes equal: pad the last batch, drop it, or exchange the sizes first`,
		Doc: `Ranks of a group made the same numbered call of one collective with sizes or types that must be equal and
			are not. Gather, scatter and all-to-all may differ between ranks; for all-to-all the sums are compared.`,
	},
	{
		Example:  RankDied{Ranks{3}, "node7", "", Signal, &exampleGroup, 5, Likely},
		Severity: notice.Error,
		Text:     `[{Ranks}][ ({Host})][{Task}] died: {How}[; others failed in {Call}]`,
		Details:  []string{lastCommon, certainty},
		Advice:   `look at the end of its log, and at the kernel messages of its host (out of memory, Xid)`,
		Doc: `A process ended by a signal, by an exception of its own or without a message, and the others lost the
			connection or waited. Ends that follow from a timeout do not count.`,
	},
	{
		Example:  AllWaiting{Ranks{0, 1, 2, 3}, exampleGroup, 5, Likely},
		Severity: notice.Error,
		Text:     `all {Ranks} entered {Call}, and it did not finish`,
		Details:  []string{lastCommon, certainty},
		Advice: `look at the network, the GPUs and NCCL: warnings in NCCL's log, Xid in dmesg, post log for the causes;
			then a kernel that waits behind another stream`,
		Doc: `Each member of the group has evidence that it entered the same call with the same sizes. The cause is then
			the library, the GPU or the network, or another stream of the program.`,
	},
	{
		Example:  NoHang{Ranks{0, 1, 2, 3}, Likely},
		Severity: notice.Info,
		Text:     `no hang: all collectives of {Ranks} finished`,
		Details:  []string{certainty},
		Advice:   `if the job does hang, it hangs outside of collectives: take stacks with py-spy dump`,
		Doc:      `All members have a dump, and no collective was in flight when it was taken.`,
	},
	{
		Example:  InsufficientEvidence{Ranks{2}, &exampleGroup, &WaitsIn{Ranks{0}, exampleGroup}, 5, Unclear},
		Severity: notice.Warning,
		Text: `the evidence does not decide who hung[: nothing of {Absent}][; the others agree up to
			{Call}][: {Known}; the other ranks are unknown]`,
		Details: []string{lastCommon, certainty},
		Advice:  `collect the evidence of all ranks next time`,
		Doc: `A rank without a dump may be dead, or only have written none: no rank is blamed for that. The output
			has the variables to set.`,
	},
}
