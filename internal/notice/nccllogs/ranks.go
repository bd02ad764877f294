package nccllogs

import (
	"cmp"
	"fmt"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices on what ranks did, from NCCL's logs.

// Called is what some ranks called.
type Called struct {
	Call  string `json:"call"`
	Ranks Ranks  `json:"ranks"`
}

func (c Called) String() string {
	if len(c.Ranks) == 1 {
		return fmt.Sprintf("%v calls %s", c.Ranks, c.Call)
	}
	return fmt.Sprintf("%v call %s", c.Ranks, c.Call)
}

// Sides are the different calls, that of the most ranks first.
type Sides []Called

func (s Sides) String() string { return units.First(s, 3, "other call") }

// Doubt is why a difference between ranks may be of the log alone.
type Doubt struct {
	Cause DoubtCause `json:"cause"`
	A     int64      `json:"a,omitempty"` // numbers of the cause
	B     int64      `json:"b,omitempty"`
}

// DoubtCause is the kind of a doubt.
type DoubtCause string

// The causes of doubts.
const (
	CutCalls     DoubtCause = "cut-calls"      // A cut messages may have been calls
	ComparedUpTo DoubtCause = "compared-up-to" // call A
	SameSize     DoubtCause = "same-size"      // several communicators have this size
	PartOfRanks  DoubtCause = "part-of-ranks"  // A of B ranks wrote their calls
)

func (d Doubt) String() string {
	switch d.Cause {
	case CutCalls:
		return units.Count(int(d.A), "cut message") + " may have been calls"
	case ComparedUpTo:
		return fmt.Sprintf("calls were compared up to number %d", d.A)
	case SameSize:
		return "several communicators have this size; the log distinguishes them by order alone"
	}
	return fmt.Sprintf("%d of %d ranks wrote their calls", d.A, d.B)
}

// OpCount is NCCL's number of a call.
type OpCount int64

func (n OpCount) String() string { return fmt.Sprintf("%d (%x in the log)", int64(n), int64(n)) }

// RanksDisagree reports calls that ranks of one communicator made differently.
type RanksDisagree struct {
	Communicator Communicator `json:"communicator"`
	Call         int64        `json:"call"` // from 1, among the collectives
	Sides        Sides        `json:"sides"`
	OpCount      *OpCount     `json:"op_count,omitempty"`
	Doubt        *Doubt       `json:"doubt,omitempty"`
}

// RanksBehind is ranks that made fewer calls, and the last of them.
type RanksBehind struct {
	Ranks Ranks  `json:"ranks"`
	Calls int64  `json:"calls"`
	By    int64  `json:"by"` // fewer than the furthest rank
	Last  string `json:"last,omitempty"`
}

func (b RanksBehind) String() string {
	text := fmt.Sprintf("%v: %s, %d fewer than the furthest", b.Ranks, units.Count(int(b.Calls), "call"), b.By)
	if b.Last != "" {
		text += "; the last was " + b.Last
	}
	return text
}

// RanksStopped reports ranks that made fewer calls than others.
type RanksStopped struct {
	Communicator Communicator  `json:"communicator"`
	Ranks        Ranks         `json:"ranks"`
	By           int           `json:"by"` // of the rank that is furthest behind
	Each         []RanksBehind `json:"each"`
	Doubt        *Doubt        `json:"doubt,omitempty"`
}

// InitUnfinished reports a communicator that some ranks did not finish creating.
type InitUnfinished struct {
	Communicator Communicator `json:"communicator"`
	Ranks        Ranks        `json:"ranks"`
	Started      int          `json:"started"`
	Completed    Completed    `json:"completed"`
	Silent       int          `json:"silent,omitempty"` // ranks that did not write
	Warned       Warned       `json:"warned"`           // the log has warnings
}

// FirstCollectiveHung reports that all ranks were set up, and the first collective did not finish.
type FirstCollectiveHung struct {
	Operation string `json:"operation"`       // as PyTorch names it
	Pairs     int    `json:"pairs,omitempty"` // of ranks with direct access over PCIe
}

// EndAfterInit reports a log that ends when all ranks are set up.
type EndAfterInit struct {
	Pairs int `json:"pairs"` // of ranks with direct access
}

// RanksTimedOutApart reports ranks that waited for different collectives when PyTorch's watchdog gave up.
type RanksTimedOutApart struct {
	Group  string      `json:"group,omitempty"`
	Waited []WaitedFor `json:"waited"`
}

// WaitedFor is a collective of a process group, and the ranks that waited for it.
type WaitedFor struct {
	Call      int64  `json:"call"`
	Operation string `json:"operation"`
	Elements  int64  `json:"elements,omitempty"`
	Ranks     Ranks  `json:"ranks"`
}

func (w WaitedFor) String() string {
	text := fmt.Sprintf("%v: call %d, %s", w.Ranks, w.Call, w.Operation)
	if w.Elements > 0 {
		text += " of " + units.Count(int(w.Elements), "element")
	}
	return text
}

// Completed is a number of ranks; 0 is written as "no rank".
type Completed int

func (c Completed) String() string {
	if c == 0 {
		return "no rank"
	}
	return units.Count(int(c), "rank")
}

// Warned states where to look next.
type Warned bool

func (w Warned) String() string {
	if w {
		return "look for the first warning of these ranks"
	}
	return "the log has no warning; " + meetCauses +
		"; a rank that did not start, or that loads another version of NCCL"
}

// advicePeersHang is for direct access between GPUs that hangs.
const advicePeersHang = "run once with NCCL_P2P_DISABLE=1: if that works, " + notice.AdviceIOMMU + "; " +
	notice.AdviceACS +
	"; on GeForce and RTX, also update the driver (570 or later)"

// meetCauses are the possible causes where ranks do not reach each other.
const meetCauses = possible + "a wrong interface (docker, veth, VPN, 169.254…, fe80::…): name the right one in " +
	"NCCL_SOCKET_IFNAME on each host; a firewall or security group: " + notice.AdviceOpenTCP +
	", or limit net.ipv4.ip_local_port_range to those that " +
	"are open; a hostname that /etc/hosts resolves to 127.0.1.1; a proxy or sidecar (Istio)"

// CommunicatorAborted reports a communicator that was given up.
type CommunicatorAborted struct {
	Communicator Communicator `json:"communicator"`
	Ranks        Ranks        `json:"ranks"`
	N            int          `json:"aborted"`
	Clean        CleanAbort   `json:"clean,omitempty"`
}

// CleanAbort is that all ranks aborted, and no warning precedes it.
type CleanAbort bool

func (c CleanAbort) String() string { return "All ranks aborted, and no warning precedes it." }

// Advice depends on whether the abort was clean.
func (c CommunicatorAborted) Advice() string {
	if c.Clean {
		return "PyTorch ends communicators like this after a run: it is a fault only if the program ended too early"
	}
	return "the program gave up after an error or a timeout of its own: look for the first message before it"
}

// Build is a build of a library, and who runs it.
type Build struct {
	Library string `json:"library"` // with its version
	CUDA    string `json:"cuda,omitempty"`
	Git     string `json:"git,omitempty"`
	Who     string `json:"who,omitempty" alike:"-"`
}

func (b Build) String() string {
	text := b.Library
	if b.CUDA != "" {
		text += " for CUDA " + b.CUDA
	}
	if b.Git != "" {
		text += ", " + b.Git
	}
	if b.Who != "" {
		text += ": " + b.Who
	}
	return text
}

// MixedLibraryVersions reports processes with different libraries.
type MixedLibraryVersions struct {
	Libraries []string `json:"libraries"`
	Builds    []Build  `json:"builds"`
}

// MixedLibraryBuilds reports processes with different builds of one version.
type MixedLibraryBuilds struct {
	Library string  `json:"library"`
	Builds  []Build `json:"builds"`
}

// InitPart is a part of creating a communicator.
type InitPart struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

func (p InitPart) String() string { return fmt.Sprintf("%s %.2f s", p.Name, p.Seconds) }

// SlowInit reports a communicator that took long to create.
type SlowInit struct {
	Communicator Communicator `json:"communicator"`
	Rank         int          `json:"rank" alike:"-"`
	Took         TenthSeconds `json:"took_s" alike:"-"`
	Parts        []InitPart   `json:"parts" alike:"-"` // the three longest
}

// TenthSeconds is a time in seconds that is written to a tenth.
type TenthSeconds float64

func (s TenthSeconds) String() string { return fmt.Sprintf("%.1f s", float64(s)) }

// FailedCalls reports calls that failed without a warning.
type FailedCalls struct {
	Result ResultCode `json:"result"` // of ncclResult_t
	Lines  []string   `json:"lines" alike:"-"`
}

// ResultCode is a number of ncclResult_t.
type ResultCode string

var resultCodes = map[ResultCode]string{
	"1": "unhandled CUDA error", "2": "unhandled system error", "3": "internal error", "4": "invalid argument",
	"5": "invalid usage", "6": "remote error",
}

func (r ResultCode) String() string { return cmp.Or(resultCodes[r], "code "+string(r)) }

func (RanksDisagree) Code() Code        { return "ranks-disagree" }
func (RanksStopped) Code() Code         { return "ranks-stopped" }
func (InitUnfinished) Code() Code       { return "init-unfinished" }
func (CommunicatorAborted) Code() Code  { return "communicator-aborted" }
func (RanksTimedOutApart) Code() Code   { return "ranks-timed-out-apart" }
func (EndAfterInit) Code() Code         { return "end-after-init" }
func (FirstCollectiveHung) Code() Code  { return "first-collective-hung" }
func (RASMissing) Code() Code           { return "ras-missing-processes" }
func (RASCommunicator) Code() Code      { return "ras-communicator" }
func (RASErrors) Code() Code            { return "ras-errors" }
func (MixedLibraryVersions) Code() Code { return "mixed-library-versions" }
func (MixedLibraryBuilds) Code() Code   { return "mixed-library-builds" }
func (SlowInit) Code() Code             { return "slow-init" }
func (FailedCalls) Code() Code          { return "failed-calls" }

// Sources of several entries.
const (
	ncclSource = "NCCL's source, "
	ncclIssue  = "github.com/NVIDIA/nccl, issue "
)

var exampleOp = OpCount(17)

var ncclRanks = []notice.Entry{
	{
		Example: RanksDisagree{
			Communicator{"comm 1", 4}, 7,
			Sides{{"AllReduce of 1000 float32, sum", Ranks{0, 1, 3}}, {"Broadcast of 8 float32", Ranks{2}}}, &exampleOp,
			&Doubt{PartOfRanks, 3, 4},
		},
		Severity: notice.Error,
		Source: "NCCL documentation, Collective Operations: each rank must call the same, with the same count and " +
			"type",
		Text:    "the ranks of {Communicator} call different operations: at call {Call} {Sides}",
		Details: []string{"[opCount {OpCount}.]", "[In doubt: {Doubt}.]"},
		Advice: `find out why these ranks took another path: a condition that depends on the rank, data of uneven
			length, another version of the program`,
		Doc: `Ranks of a communicator make their nth call with another collective, count, type or operation; the first
			such call is reported. Sends, receives and one-sided calls do not count, and all custom reductions count as
			one. A rank whose first calls are missing in the log is compared from its first opCount on. It is a warning
			where the log may be incomplete.`,
	},
	{
		Example: RanksStopped{
			Communicator{"comm 1", 4}, Ranks{2}, 3, []RanksBehind{{Ranks{2}, 5, 3, "AllReduce of 1000 float32, sum"}},
			&Doubt{CutCalls, 2, 0},
		},
		Severity: notice.Error,
		Source:   "NCCL documentation, Collective Operations",
		Text:     "{Ranks} of {Communicator} stopped calling: {By call} behind the furthest rank",
		Details:  []string{"{Each...}", "[In doubt: {Doubt}.]"},
		Advice: `look at what those ranks did last: their program's own output, or py-spy dump and gdb -p where they
			still run; the other ranks wait for them inside the collective`,
		Doc: `Ranks made fewer calls than others of their communicator. It is a warning if messages were cut, members
			did not write, or the log, before NCCL 2.18, distinguishes communicators of one size by order alone.`,
	},
	{
		Example:  InitUnfinished{Communicator{"comm 1", 4}, Ranks{2, 3}, 4, 2, 1, false},
		Severity: notice.Error,
		Source:   notice.NetworkDoc + ", IP network interfaces",
		Text:     "{Ranks} did not finish creating {Communicator}",
		Details: []string{
			"“Init START” of {Started rank}, “Init COMPLETE” of {Completed}.",
			"[{Silent rank} did not write, so this may be an incomplete log.]",
		},
		Advice: "{Warned}",
		Doc:    "“Init START” without “Init COMPLETE”; a warning if other ranks did not write, as in a part of a log.",
	},
	{
		Example:  CommunicatorAborted{Communicator{"comm 1", 4}, Ranks{0, 1, 2, 3}, 4, true},
		Severity: notice.Error,
		Source:   "NCCL documentation, ncclCommAbort; github.com/pytorch/pytorch, issue 136122",
		Text:     "{Communicator} was aborted by {Ranks}",
		Details:  []string{"“Abort COMPLETE” of {N rank}.", "[{Clean}]"},
		Doc: `Programs abort a communicator after an error or a timeout. PyTorch also does it at the end of a run that
			went well: with all ranks and without a warning it is for information.`,
	},
	{
		Example: RanksTimedOutApart{"ID 0 GUID 0(default_pg)", []WaitedFor{
			{1579, "BROADCAST", 1, Ranks{3}}, {1580, "ALLREDUCE", 25 << 20, Ranks{0, 1, 2}},
		}},
		Severity: notice.Error,
		Source:   "PyTorch documentation, ProcessGroupNCCL Environment Variables",
		Text:     "ranks waited for different collectives[ of process group {Group}] when PyTorch's watchdog gave up",
		Details:  []string{"{Waited...}"},
		Advice: `look at what the ranks with the lowest number did: they are behind, or called something else: a
			condition that depends on the rank, batches of uneven number, or other work on one rank`,
		Doc: "Collectives are numbered within a process group. The first timeout of each rank is compared.",
	},
	{
		Example:  FirstCollectiveHung{"ALLREDUCE", 4},
		Severity: notice.Error,
		Source:   notice.GPUDoc + ", PCI Access Control Services (ACS)",
		Text: `all ranks were set up, and the first {Operation} did not finish: {Pairs pair} of GPUs use direct access
			over PCIe, which does not work on this host`,
		Advice: advicePeersHang,
		Doc: `PyTorch's watchdog ended the first collective of a communicator on one host, whose ranks all finished init
			and whose GPUs access each other over PCIe, without NVLink. An IOMMU or PCIe ACS then usually sends the data
			the wrong way.`,
	},
	{
		Example:  EndAfterInit{4},
		Severity: notice.Info,
		Source:   notice.GPUDoc + ", PCI Access Control Services (ACS)",
		Text: `the log ends after init; {Pairs pair} of GPUs access each other directly, which may not work on this host
			if the run hangs there`,
		Advice: advicePeersHang,
		Doc: `All ranks of one host finished init without NVLink in the topology, and the log ends there. That alone
			is not a fault.`,
	},
	{
		Example:  RASMissing{2, []string{"Process 12 on node n2 managing GPU 1"}},
		Severity: notice.Error,
		Source:   "NCCL documentation, RAS",
		Text:     "{Processes process} did not answer NCCL's RAS: ended, stopped, or their host is down",
		Details:  []string{"{Which...}"},
		Advice:   "look at those processes, and at dmesg of their hosts",
		Doc:      "NCCL's RAS threads watch each other; ncclras prints which processes are missing.",
	},
	{
		Example: RASCommunicator{
			Communicator{"communicator 0x1234", 4}, "mismatch", 1, []CallCount{{"AllReduce", 12, 2, Ranks{0, 1}}},
			[]RankState{{Ranks{2}, "has status FINALIZE"}},
		},
		Severity: notice.Error,
		Source:   "NCCL documentation, RAS",
		Text:     "NCCL's RAS reports {Communicator}: {Status}",
		Details:  []string{"[{Missing rank} missing.]", "{Counts...}", "{States...}"},
		Advice:   "the ranks with fewer calls of a collective are those that the others wait for",
		Doc:      "ncclras lists communicators with errors, missing ranks, or ranks with different states or calls.",
	},
	{
		Example:  RASErrors{[]string{"TIMEOUT: 3 while gathering communicator data"}},
		Severity: notice.Error,
		Source:   "NCCL documentation, RAS",
		Text:     "NCCL's RAS reports errors",
		Details:  []string{"{Errors...}"},
		Advice:   "read what ncclras prints of each communicator and process",
		Doc:      "The output of ncclras has errors that name neither a communicator nor a process.",
	},
	{
		Example: MixedLibraryVersions{
			[]string{"NCCL 2.27.7", "NCCL 2.21.5"},
			[]Build{{"NCCL 2.21.5", "12.4", "", "rank 3 on n2"}},
		},
		Severity: notice.Error,
		Source:   ncclSource + "src/init.cc",
		Text:     "processes run different libraries: {Libraries}; all of one communicator need the same",
		Details:  []string{"{Builds...}"},
		Advice:   notice.AdviceOneLibrary,
		Doc:      "Each process prints the version of its library.",
	},
	{
		Example:  MixedLibraryBuilds{"NCCL 2.27.7", []Build{{"NCCL 2.27.7", "12.4", "abcdef", "rank 3 on n2"}}},
		Severity: notice.Info,
		Source:   ncclSource + "src/init.cc",
		Text:     "processes run different builds of {Library}",
		Details:  []string{"{Builds...}"},
		Advice:   notice.AdviceOneLibrary,
		Doc:      "The versions are equal; the CUDA version or the commit of the build differs.",
	},
	{
		Example:  SlowInit{Communicator{"comm 1", 64}, 3, 14.2, []InitPart{{"bootstrap", 9.1}}},
		Severity: notice.Info,
		Source:   "NCCL's own timings of its init",
		Text:     "creating {Communicator} took {Took} on rank {Rank}",
		Details:  []string{"{Parts...}"},
		Advice: `the parts: kernels loads NCCL's kernels (once per process); bootstrap and allgathers are ranks
			connecting and waiting for the last; connections sets up the links`,
		Doc: `It is reported from 10 s on, and is a warning from 60 s on. The slowest rank and its three longest
			parts are named.`,
	},
	{
		Example:  FailedCalls{"6", []string{"init.cc:1798 -> 6"}},
		Severity: notice.Error,
		Source:   notice.RuntimeDoc + ", Errors",
		Text:     "NCCL calls failed ({Result}) without a warning that states why",
		Details:  []string{"{Lines...}"},
		Advice:   "run again with NCCL_DEBUG=INFO; read what the program itself printed",
		Doc:      "The log has lines such as “init.cc:1798 -> 6”, by which an error is passed on, and no warning.",
	},
}
