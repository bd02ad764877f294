package preflights

import (
	"fmt"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices of rank --preflight on the launch. A check that finds nothing wrong reports what it read as info, and its
// findings have the same parameters. docs/preflight.md has the limits.

// Failed is an error whose parts are known: what failed, the places that were tried, and what to do.
type Failed struct {
	Problem string `json:"problem"`
	Tried   Places `json:"tried,omitempty"` // each with the reason
	Remedy  string `json:"remedy,omitempty"`
}

// Advice is the error's own; "" leaves it to the catalogue.
func (f Failed) Advice() string { return f.Remedy }

// Places are files or folders that were tried.
type Places []string

func (p Places) String() string {
	return units.Count(len(p), "place") + " tried, --format json lists them"
}

// MPIInUse is the MPI library of the run.
type MPIInUse struct {
	Library     string `json:"library"`
	Path        string `json:"path"`
	ThreadLevel string `json:"thread_level"`
	Launcher    string `json:"launcher"`
}

// TCPInUse reports that TCP connects the ranks, without MPI.
type TCPInUse struct {
	Launcher string `json:"launcher"`
}

// OneRankLaunch reports that the launch has one rank.
type OneRankLaunch struct{ MPIInUse }

// ThreadLevel reports an MPI without MPI_THREAD_MULTIPLE.
type ThreadLevel struct{ MPIInUse }

// MPIUnusable reports that the ranks cannot be connected.
type MPIUnusable struct{ Failed }

// BackendUnavailable reports that what --backend asks for cannot be used.
type BackendUnavailable struct{ Failed }

// BackendNotTried reports backends that cannot be opened because of other findings.
type BackendNotTried struct {
	Backends []string `json:"backends"`
}

// SideChannel is the state of the TCP connections to rank 0.
type SideChannel struct {
	State ChannelState `json:"state"`
}

// ChannelState is why the side channel needs no attention.
type ChannelState string

// The states of the side channel.
const (
	ChannelOpen     ChannelState = "open"
	ChannelOff      ChannelState = "off"
	ChannelUnneeded ChannelState = "not-needed"
)

var channelStates = map[ChannelState]string{
	ChannelOpen:     "every rank is connected to rank 0 by TCP",
	ChannelOff:      "off (BUSBAR_SIDE_CHANNEL=off): hangs are diagnosed from the shared memory of each host",
	ChannelUnneeded: "one rank needs no side channel",
}

func (s ChannelState) String() string { return channelStates[s] }

// SideChannelClosed reports that rank 0 cannot listen.
type SideChannelClosed struct {
	Host string `json:"host"`
}

// SideChannelIncomplete reports ranks that cannot connect to rank 0.
type SideChannelIncomplete struct {
	Ranks int    `json:"ranks"`
	Of    int    `json:"of"`
	Host  string `json:"host"` // of rank 0
}

// OneClock states that all ranks share a clock.
type OneClock struct {
	Reading units.Nanoseconds `json:"reading_s"`
}

// ClocksCompared is how well the clocks of the hosts are known.
type ClocksCompared struct {
	Hosts       int           `json:"hosts"`
	Uncertainty units.Seconds `json:"uncertainty_s"`
}

// ClocksUncertain reports clocks that are known too roughly for delays of ranks.
type ClocksUncertain struct{ ClocksCompared }

// CollectiveCorrect states that a collective worked on all ranks.
type CollectiveCorrect struct {
	Case  string `json:"case"`
	Ranks int    `json:"ranks"`
}

// CollectiveWrong reports that a collective returned wrong data.
type CollectiveWrong struct {
	Case  string      `json:"case"`
	Cause notice.Kept `json:"cause"`
}

// CollectiveFailed reports a collective without a result.
type CollectiveFailed struct {
	Case   string      `json:"case"`
	Status string      `json:"status"`
	Cause  notice.Kept `json:"cause"`
}

// PreflightStopped reports that the checks ended early.
type PreflightStopped struct {
	Cause notice.Kept `json:"cause"`
}

// RankValue is a value with the ranks that have it.
type RankValue struct {
	Value string              `json:"value"`
	Ranks []notice.PlacedRank `json:"ranks"`
}

// String is "ranks 0 on node1, 1 on node1: 2.27.7".
func (v RankValue) String() string {
	const most = 4
	var list []string
	for _, r := range v.Ranks[:min(most, len(v.Ranks))] {
		list = append(list, fmt.Sprintf("%d on %s", r.Rank, r.Host))
	}
	text := strings.Join(list, ", ")
	if n := len(v.Ranks) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	noun := "ranks "
	if len(v.Ranks) == 1 {
		noun = "rank "
	}
	value := []rune(v.Value)
	if len(value) == 0 {
		value = []rune("unknown")
	}
	const longest = 200
	if len(value) > longest {
		value = append(value[:longest:longest], '…')
	}
	return noun + text + ": " + string(value)
}

// RankValues are all values of a property, the most frequent first.
type RankValues []RankValue

// String lists the first three.
func (all RankValues) String() string {
	const most = 3
	var parts []string
	for _, v := range all[:min(most, len(all))] {
		parts = append(parts, v.String())
	}
	if n := len(all) - most; n > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(parts, "; ")
}

func (MPIInUse) Code() Code              { return "mpi-in-use" }
func (TCPInUse) Code() Code              { return "tcp-in-use" }
func (OneRankLaunch) Code() Code         { return "one-rank" }
func (ThreadLevel) Code() Code           { return "mpi-thread-level" }
func (MPIUnusable) Code() Code           { return "mpi-unusable" }
func (BackendUnavailable) Code() Code    { return "backend-unavailable" }
func (BackendNotTried) Code() Code       { return "backend-not-tried" }
func (SideChannel) Code() Code           { return "side-channel" }
func (SideChannelClosed) Code() Code     { return "side-channel-closed" }
func (SideChannelIncomplete) Code() Code { return "side-channel-incomplete" }
func (OneClock) Code() Code              { return "one-clock" }
func (ClocksCompared) Code() Code        { return "clocks-compared" }
func (ClocksUncertain) Code() Code       { return "clocks-uncertain" }
func (CollectiveCorrect) Code() Code     { return "collective-correct" }
func (CollectiveWrong) Code() Code       { return "collective-wrong" }
func (CollectiveFailed) Code() Code      { return "collective-failed" }
func (PreflightStopped) Code() Code      { return "preflight-stopped" }

// exampleMPI is a library for the documentation.
var exampleMPI = MPIInUse{"Open MPI 4.1.4", "/usr/lib/libmpi.so.40", "multiple", "srun"}

const (
	mpiText    = "{Library} ({Path}), thread level {ThreadLevel}; launcher: {Launcher}"
	failedText = "{Problem}[ ({Tried})]"
	openTCP    = notice.AdviceOpenTCP + "; without it hangs are diagnosed from the shared memory of each host, and a " +
		"signal reaches only its own rank"
	sameFailure = "a run would fail in the same way; correct this first"
)

var preflights = []notice.Entry{
	{Example: exampleMPI, Text: mpiText, Doc: "The MPI library, its thread level, and what started the ranks."},
	{Example: TCPInUse{"torchrun"}, Text: "TCP connects the ranks, without MPI; launcher: {Launcher}",
		Doc: "The backend mpi is not available; docs/bootstrap.md has the rules."},
	{
		Example:  OneRankLaunch{MPIInUse{"Open MPI 4.1.4", "/usr/lib/libmpi.so.40", "multiple", "none"}},
		Severity: notice.Warning,
		Text:     mpiText + "; one rank communicates with no other",
		Advice:   "start several ranks: mpirun -np N rank --preflight, or srun -n N",
		Doc:      "No launcher started the rank, so that no communication can be checked.",
	},
	{
		Example:  ThreadLevel{MPIInUse{"Open MPI 4.1.4", "/usr/lib/libmpi.so.40", "funneled", "srun"}},
		Severity: notice.Warning,
		Text:     "{Library} ({Path}) grants thread level {ThreadLevel} only; launcher: {Launcher}",
		Advice: "use an MPI with MPI_THREAD_MULTIPLE, so that the watchdog can end a job that hangs; with this one " +
			"you may have to kill the launcher",
		Doc: "Below the thread level multiple no second thread may call MPI_Abort while the first one hangs in MPI.",
	},
	{Example: MPIUnusable{Failed{"no MPI shim could be loaded (--mpi auto)", Places{"/lib/busbar-mpi.so: not found"},
		"build it with: make mpi-shim"}}, Severity: notice.Error,
		Text: failedText, Advice: "correct this first; nothing else could be checked",
		Doc: `MPI cannot be loaded or started, its world has one rank although the launcher started several, or the
			ranks differ in their build, MPI library or command line.`},
	{Example: BackendUnavailable{
		Failed{"rank 1 on node2: Gloo could not be loaded", nil, "build it with: make gloo-shim"}},
		Severity: notice.Error, Text: failedText, Advice: sameFailure + ", or choose another backend with --backend",
		Doc: "The backend that --backend selects cannot be used. A run ends with the same message."},
	{Example: BackendNotTried{[]string{"nccl"}}, Severity: notice.Error,
		Text:   "{Backends} cannot be opened: no collective was tried",
		Advice: "correct the problems above first",
		Doc:    "GPUs or libraries have problems, so no collective was tried."},
	{Example: SideChannel{ChannelOpen}, Text: "{State}",
		Doc: "When MPI hangs, rank 0 queries the other ranks over the side channel."},
	{Example: SideChannelClosed{"node1"}, Severity: notice.Warning,
		Text: "rank 0 on {Host} cannot listen on a TCP port", Advice: openTCP,
		Doc: "The side channel, which identifies the cause of a hang immediately, cannot be opened."},
	{Example: SideChannelIncomplete{2, 8, "node1"}, Severity: notice.Warning,
		Text: "{Ranks rank} of {Of} cannot open a TCP connection to rank 0 on {Host}", Advice: openTCP,
		Doc: "Most likely a firewall between the hosts refuses connections."},
	{Example: OneClock{21e-9}, Text: "one host, one clock; a reading takes {Reading}",
		Doc: "The ranks share a kernel, and so a clock."},
	{Example: ClocksCompared{4, 1.5e-6},
		Text: "the clocks of {Hosts host} are aligned by messages to within {Uncertainty}",
		Doc: "Offsets of the hosts' clocks by ping-pong. Delays of ranks below the uncertainty cannot be " +
			"distinguished."},
	{Example: ClocksUncertain{ClocksCompared{4, 300e-6}}, Severity: notice.Warning,
		Text: "the clocks of {Hosts host} are aligned only to within {Uncertainty}: shorter delays of ranks cannot " +
			"be measured",
		Advice: "let MPI use the fast network (UCX_NET_DEVICES, OMPI_MCA_btl_tcp_if_include, FI_PROVIDER), on hosts " +
			"without other work",
		Doc: "The uncertainty of the hosts' clock offsets exceeds 100 us."},
	{Example: CollectiveCorrect{"all_reduce float32 sum 1 MiB", 8},
		Text: "{Case}: all elements are correct on {Ranks rank}",
		Doc:  "A small collective of the backend in a world of all ranks; every element is checked on every rank."},
	{Example: CollectiveWrong{"all_reduce float32 sum 1 MiB",
		notice.Kept{
			Fact: notice.DataWrong{
				Wrong:        1,
				Elements:     1024,
				Of:           "",
				WrongElement: notice.WrongElement{Rank: 1, Host: "node1", Index: 7, Got: "3", Want: "2"},
			},
		}}, Severity: notice.Error,
		Text: "{Case}: {Cause}",
		Advice: "data is corrupted on its way: try another transport (UCX_TLS, OMPI_MCA_pml, NCCL_P2P_DISABLE=1, " +
			"NCCL_SHM_DISABLE=1) and another version of the library to find which part does it",
		Doc: "A collective returned an element that differs from the exact result."},
	{Example: CollectiveFailed{"all_reduce float32 sum 8 B", "oom",
		notice.Kept{
			Fact: notice.RankFailed{Rank: 1, Host: "node1", Problem: "Failed to CUDA malloc"},
		}}, Severity: notice.Error,
		Text:   "{Case}: {Status}: {Cause}",
		Advice: "a run would fail in the same way; see what the library prints on stderr",
		Doc:    "The library refused a collective, or an operation failed."},
	{Example: PreflightStopped{notice.Kept{Fact: notice.RunHung{
		Ranks: []notice.HungRank{
			{PlacedRank: notice.PlacedRank{Rank: 3, Host: "node7"}, Standing: notice.StandingSilent},
		},
		Problem: "rank 3 on node7 does not answer"}}},
		Severity: notice.Error, Text: "{Cause}",
		Advice: "see the rank and host that are named: its log, its network, and whether the others can reach it; " +
			"later checks were skipped",
		Doc: "The ranks hung or one crashed while they were checked."},
}
