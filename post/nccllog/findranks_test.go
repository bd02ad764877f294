package nccllog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"

	"github.com/shoenig/test"
)

func fourRanks() *Log {
	return &Log{Communicators: []Communicator{{Name: "comm 1", Ranks: 4}, {Name: "comm 2", Ranks: Unknown}}}
}

func TestDisagreementInFull(t *testing.T) {
	side := func(call string, ranks ...int) nccllogs.Called { return nccllogs.Called{Call: call, Ranks: ranks} }
	log := func(s Sequence) *Log {
		l := fourRanks()
		l.Sequences = []Sequence{{}, s}
		return l
	}
	m := Mismatch{Number: 7, Op: 26, Sides: []nccllogs.Called{side("A", 0, 1, 2), side("B", 3)}}
	two := log(Sequence{Mismatch: &m, Behind: []Behind{{Rank: 3}}})
	test.EqOp(t, "rank 3", expect(t, "two sides", findDisagreement, two)[0].At.Subject)
	expect(t, "in doubt", findDisagreement,
		log(Sequence{Mismatch: &m, Doubt: &nccllogs.Doubt{Cause: nccllogs.CutCalls, A: 2}}))
	many := Mismatch{
		Number: 1,
		Op:     Unknown,
		Sides:  []nccllogs.Called{side("A", 0), side("B", 1), side("C", 2), side("D", 3), side("E", 4)},
	}
	expect(t, "five sides", findDisagreement, log(Sequence{Comm: 1, Mismatch: &many}))
	three := Mismatch{Number: 1, Op: 0, Sides: many.Sides[:3]}
	expect(t, "three sides, not named", findDisagreement, log(Sequence{Comm: Unknown, Mismatch: &three}))
}

func TestStoppedInFull(t *testing.T) {
	l := fourRanks()
	s := Sequence{
		Ranks: []Reached{{Rank: 0, Last: "Z"}, {Rank: 1, Last: "A"}, {Rank: 2}, {Rank: 3, Last: "A"}},
		Behind: []Behind{
			{Rank: 3, Calls: 1, By: 9},
			{Rank: 1, Calls: 1, By: 9},
			{Rank: 2, Calls: 8, By: 2},
			{Rank: 7, Calls: 8, By: 2},
		},
	}
	l.Sequences = []Sequence{s}
	expect(t, "four", findStopped, l)
	l.Sequences[0].Mismatch = &Mismatch{}
	expect(t, "they disagree too", findStopped, l)
}

// A rank that others of its communicator waited for in vain, and one from a partial log.
func TestUnfinishedInFull(t *testing.T) {
	log := func(members ...Member) *Log {
		return &Log{Communicators: []Communicator{{Name: "comm 1", Ranks: 3, Members: members}}}
	}
	begun := func(rank int) Member { return Member{Rank: rank, Started: true} }
	done := Member{Rank: 2, Started: true, Completed: true}
	expect(t, "none", findUnfinished, log(begun(0), begun(1), begun(2)))
	expect(t, "one", findUnfinished, log(begun(0), begun(1), done))
	expect(t, "a part", findUnfinished, log(begun(0)))
	expect(t, "a part of which one did", findUnfinished, log(begun(0), done))
	aborted := log(Member{Rank: 1, Aborted: true}, done)
	expect(t, "aborted", findAborted, aborted)
}

func TestVersionsInFull(t *testing.T) {
	l := twoHosts()
	v := func(library Library, text, cuda, git string, processes ...int) Version {
		return Version{Library: library, Text: text, CUDA: cuda, Git: git, Processes: processes}
	}
	for what, versions := range map[string][]Version{
		"versions":  {v(NCCL, "2.27.7", "12.8", "", 0), v(NCCL, "2.26.2", "", "abc"), v(NCCL, "2.27.7", "12.8", "", 1)},
		"libraries": {v(NCCL, "2.27.7", "", ""), v(RCCL, "2.27.7", "", "")},
		"builds":    {v(NCCL, "2.27.7", "12.8", ""), v(NCCL, "2.27.7", "13.0", "")},
	} {
		l.Versions = versions
		expect(t, what, findVersions, l)
	}
}

// The slowest rank counts, with the three parts that took it longest.
func TestSlowInitInFull(t *testing.T) {
	for _, seconds := range []float64{9.99, 10, 59.99, 60} {
		l := fourRanks()
		slow := &InitTiming{
			Total: seconds,
			Parts: []nccllogs.InitPart{
				{Name: "alloc", Seconds: 1},
				{Name: "topo", Seconds: 3},
				{Name: "rest", Seconds: 2},
				{Name: "kernels", Seconds: 4},
			},
		}
		l.Communicators[0].Members = []Member{{Rank: 0, Init: &InitTiming{Total: 1}}, {Rank: 1, Init: slow}, {Rank: 2}}
		expect(t, fmt.Sprint(seconds, " s"), findInit, l)
	}
}

func TestRASInFull(t *testing.T) {
	log := func(r RAS) *Log { return &Log{RAS: []RAS{r}} }
	for what, ras := range map[string]RAS{
		"processes": {Missing: []string{"n1 pid 7", "n2 pid 8"}, Problems: []string{"x"}},
		"ranks": {Comms: []RASComm{{Status: "RUNNING", Errors: "OK"},
			{ID: "0x7", Ranks: 4, Missing: 1, Status: "INCOMPLETE", Errors: "OK",
				Counts: []nccllogs.CallCount{{Name: "AllReduce", Calls: 1, Many: 2, Ranks: []int{0, 1}}},
				States: []nccllogs.RankState{{State: "stopped", Ranks: []int{2}}}}}},
		"a mismatch": {Comms: []RASComm{{Status: "MISMATCH"}}, Problems: []string{"x"}},
		"an abort":   {Comms: []RASComm{{Status: "ABORT"}}},
		"errors":     {Problems: []string{"x", "y"}},
	} {
		expect(t, what, findRAS, log(ras))
	}
	expect(t, "errors of a second answer", findRAS,
		&Log{RAS: []RAS{{Comms: []RASComm{{ID: "0xc", Ranks: 8, Missing: 2}}},
			{Problems: []string{"TIMEOUT: 3"}}}})
	expect(t, "nothing", findRAS, log(RAS{Comms: []RASComm{{Status: "RUNNING", Errors: "OK"}, {Status: "RUNNING"}}}))
}

func TestProcessesByName(t *testing.T) {
	l := &Log{Processes: []Process{{Host: "n1", PID: 7}, {Host: "n2", PID: 8}, {Host: "n2", PID: 9, Ranks: []int{4}}}}
	for want, of := range map[string][]int{"pid 7 on n1": {0}, "2 processes without a rank on n1, n2": {0, 1},
		"rank 4, pid 8 on n2": {2, 1, 99, -1}, "": {0, 1, 2}} {
		test.EqOp(t, want, l.who(of), test.Sprint(of))
	}
}

// All ranks of a host are set up, but the first collective does not complete: PCIe peer access does not work.
func TestFirstCollectiveHung(t *testing.T) {
	text := `n1:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x5 - Init START
n1:3:4 [1] NCCL INFO comm 0x2 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 2000 commId 0x5 - Init START
n1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC
n1:3:4 [1] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via P2P/IPC
n1:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x5 - Init COMPLETE
n1:3:4 [1] NCCL INFO comm 0x2 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 2000 commId 0x5 - Init COMPLETE
[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=600000) ran ` +
		`for 600004 milliseconds
`
	has := func(text string) bool {
		return slices.ContainsFunc(read(t, text).Findings(), func(n notice.Notice) bool {
			f, is := n.Fact.(nccllogs.FirstCollectiveHung)
			return is && f == nccllogs.FirstCollectiveHung{Operation: "ALLREDUCE", Pairs: 1}
		})
	}
	if !has(text) {
		t.Error("not found")
	}
	for _, other := range []string{
		strings.Replace(text, "SeqNum=1,", "SeqNum=17,", 1),
		strings.ReplaceAll(text, "via P2P/IPC", "via SHM/direct/direct"),
		strings.Replace(text,
			"n1:3:4 [1] NCCL INFO comm 0x2 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 2000 commId 0x5 - Init COMPLETE\n",
			"", 1),
	} {
		if has(other) {
			t.Errorf("found in\n%s", other)
		}
	}
}

// PyTorch numbers the collectives of a process group: ranks that timed out in different ones called different
// collectives.
func TestRanksTimedOutApart(t *testing.T) {
	const out = "[rank%d]:[E ProcessGroupNCCL.cpp:616] [PG ID 0 PG GUID 0(default_pg) Rank %d] Watchdog caught " +
		"collective operation timeout: WorkNCCL(SeqNum=%d, OpType=%s, NumelIn=%d, NumelOut=1, Timeout(ms)=600000) " +
		"ran for 600004 milliseconds\n"
	text := fmt.Sprintf(out, 0, 0, 1580, "ALLREDUCE", 8) + fmt.Sprintf(out, 1, 1, 1580, "ALLREDUCE", 8)
	find := func(text string) (all []nccllogs.RanksTimedOutApart) {
		for _, n := range read(t, text).Findings() {
			if f, is := n.Fact.(nccllogs.RanksTimedOutApart); is {
				all = append(all, f)
			}
		}
		return all
	}
	if got := find(text); got != nil {
		t.Errorf("ranks in one collective: %+v", got)
	}
	got := find(text + fmt.Sprintf(out, 2, 2, 1579, "BROADCAST", 1))
	if len(got) != 1 || len(got[0].Waited) != 2 || !slices.Equal(got[0].Waited[0].Ranks, nccllogs.Ranks{2}) ||
		got[0].Waited[1].String() != "ranks 0-1: call 1580, ALLREDUCE of 8 elements" {
		t.Errorf("%+v", got)
	}
}
