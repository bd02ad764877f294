package nccllog

import (
	"fmt"
	"testing"
)

func fourRanks() *Log {
	return &Log{Communicators: []Communicator{{Name: "comm 1", Ranks: 4}, {Name: "comm 2", Ranks: Unknown}}}
}

func TestDisagreementInFull(t *testing.T) {
	side := func(call string, ranks ...int) Called { return Called{Call: call, Ranks: ranks} }
	const advice = " |  | find out why these ranks took another way: a condition that depends on the rank, data of uneven length, another version of the program"
	log := func(s Sequence) *Log {
		l := fourRanks()
		l.Sequences = []Sequence{{}, s}
		return l
	}
	m := Mismatch{Number: 7, Op: 26, Sides: []Called{side("A", 0, 1, 2), side("B", 3)}}
	const says = "Ranks of comm 1 (4 ranks) do not call the same: at call 7 ranks 0-2 call A, rank 3 calls B. | ranks 0-2: A & rank 3: B & opCount 26 (1a as the log writes it)"
	found := findDisagreement(log(Sequence{Mismatch: &m, Behind: []Behind{{Rank: 3}}}))
	expect(t, "two sides", found, "serious | "+says+advice)
	if found[0].Who != "rank 3" {
		t.Errorf("who: %q", found[0].Who)
	}
	expect(t, "in doubt", findDisagreement(log(Sequence{Mismatch: &m, Doubt: "messages are cut"})), "warning | "+says+" & in doubt: messages are cut"+advice)
	many := Mismatch{Number: 1, Op: Unknown, Sides: []Called{side("A", 0), side("B", 1), side("C", 2), side("D", 3), side("E", 4)}}
	expect(t, "five sides", findDisagreement(log(Sequence{Comm: 1, Mismatch: &many})),
		"serious | Ranks of comm 2 do not call the same: at call 1 rank 0 calls A, rank 1 calls B, rank 2 calls C, 2 other ways. | rank 0: A & rank 1: B & rank 2: C & rank 3: D & rank 4: E"+advice)
	three := Mismatch{Number: 1, Op: 0, Sides: many.Sides[:3]}
	expect(t, "three sides, not named", findDisagreement(log(Sequence{Comm: Unknown, Mismatch: &three})),
		"serious | Ranks of a communicator that is not named do not call the same: at call 1 rank 0 calls A, rank 1 calls B, rank 2 calls C. | rank 0: A & rank 1: B & rank 2: C & opCount 0 (0 as the log writes it)"+advice)
}

func TestStoppedInFull(t *testing.T) {
	l := fourRanks()
	s := Sequence{Ranks: []Reached{{Rank: 0, Last: "Z"}, {Rank: 1, Last: "A"}, {Rank: 2}, {Rank: 3, Last: "A"}}, Behind: []Behind{{Rank: 3, Calls: 1, By: 9}, {Rank: 1, Calls: 1, By: 9}, {Rank: 2, Calls: 8, By: 2}, {Rank: 7, Calls: 8, By: 2}}}
	l.Sequences = []Sequence{s}
	const advice = " |  | look at what those ranks did last: their program's own output, or py-spy dump and gdb -p where they still run"
	found := findStopped(l)
	expect(t, "four", found, "serious | Ranks 1-3,7 of comm 1 (4 ranks) stopped calling: 9 calls behind the furthest rank. | "+
		"ranks 1,3: 1 call, 9 fewer than the furthest; the last was A & ranks 2,7: 8 calls, 2 fewer than the furthest"+advice)
	if found[0].Who != "ranks 1-3,7" {
		t.Errorf("who: %q", found[0].Who)
	}
	l.Sequences[0].Mismatch = &Mismatch{}
	expect(t, "they disagree too", findStopped(l))
}

// A rank that others of its communicator waited for in vain, and one of a log that is a part.
func TestUnfinishedInFull(t *testing.T) {
	log := func(members ...Member) *Log {
		return &Log{Communicators: []Communicator{{Name: "comm 1", Ranks: 3, Members: members}}}
	}
	begun := func(rank int) Member { return Member{Rank: rank, Started: true} }
	done := Member{Rank: 2, Started: true, Completed: true}
	const advice = " |  | no warning says why: see that the interfaces that these ranks use reach each other: name the interface that reaches the other hosts: NCCL_SOCKET_IFNAME"
	const says = "began to make comm 1 (3 ranks), and did not finish. | “Init START” of "
	expect(t, "none", findUnfinished(log(begun(0), begun(1), begun(2))), "serious | Ranks 0-2 "+says+"3 ranks, “Init COMPLETE” of none"+advice)
	expect(t, "one", findUnfinished(log(begun(0), begun(1), done)), "serious | Ranks 0-1 "+says+"3 ranks, “Init COMPLETE” of 1"+advice)
	expect(t, "a part", findUnfinished(log(begun(0))), "warning | Rank 0 "+says+"1 rank, “Init COMPLETE” of none & 2 ranks of 3 did not write, so this may be a part of a log"+advice)
	expect(t, "a part of which one did", findUnfinished(log(begun(0), done)), "serious | Rank 0 "+says+"2 ranks, “Init COMPLETE” of 1"+advice)
	aborted := log(Member{Rank: 1, Aborted: true}, done)
	expect(t, "aborted", findAborted(aborted), "serious | Comm 1 (3 ranks) was aborted by rank 1. | “Abort COMPLETE” of 1 rank |  | the program gave up after an error or a time-out of its own: look for the first message before it")
}

func TestVersionsInFull(t *testing.T) {
	l := twoHosts()
	v := func(library Library, text, cuda, git string, processes ...int) Version {
		return Version{Library: library, Text: text, CUDA: cuda, Git: git, Processes: processes}
	}
	const advice = " |  | give all hosts the same one: --nccl PATH on a shared filesystem, or the same image"
	for what, c := range map[string]struct {
		versions []Version
		want     string
	}{
		"versions":  {[]Version{v(NCCL, "2.27.7", "12.8", "", 0), v(NCCL, "2.26.2", "", "abc"), v(NCCL, "2.27.7", "12.8", "", 1)}, "serious | Processes run different libraries: NCCL 2.27.7, NCCL 2.26.2; those of one communicator must not. | NCCL 2.27.7 for CUDA 12.8: ranks 0-1 on n1 & NCCL 2.26.2, abc & NCCL 2.27.7 for CUDA 12.8: ranks 2-3 on n2"},
		"libraries": {[]Version{v(NCCL, "2.27.7", "", ""), v(RCCL, "2.27.7", "", "")}, "serious | Processes run different libraries: NCCL 2.27.7, RCCL 2.27.7; those of one communicator must not. | NCCL 2.27.7 & RCCL 2.27.7"},
		"builds":    {[]Version{v(NCCL, "2.27.7", "12.8", ""), v(NCCL, "2.27.7", "13.0", "")}, "note | Processes run different builds of NCCL 2.27.7. | NCCL 2.27.7 for CUDA 12.8 & NCCL 2.27.7 for CUDA 13.0"},
	} {
		l.Versions = c.versions
		expect(t, what, findVersions(l), c.want+advice)
	}
}

// The slowest rank counts, with the three parts that took it longest.
func TestSlowInitInFull(t *testing.T) {
	const advice = " |  | kernels is loading NCCL's kernels (once a process)"
	for seconds, severity := range map[float64]Severity{9.99: "", 10: Note, 59.99: Note, 60: Warning} {
		l := fourRanks()
		l.Communicators[0].Members = []Member{{Rank: 0, Init: &InitTiming{Total: 1}}, {Rank: 1, Init: &InitTiming{Total: seconds, Parts: []Part{{"alloc", 1}, {"topo", 3}, {"rest", 2}, {"kernels", 4}}}}, {Rank: 2}}
		if severity == "" {
			expect(t, "short", findInit(l))
			continue
		}
		expect(t, "long", findInit(l), fmt.Sprintf("%s | Making comm 1 (4 ranks) took %.1f s on rank 1. | kernels 4.00 s & topo 3.00 s & rest 2.00 s", severity, seconds)+advice)
	}
}

func TestRASInFull(t *testing.T) {
	log := func(r RAS) *Log { return &Log{RAS: []RAS{r}} }
	for what, c := range map[string]struct {
		ras  RAS
		want string
	}{
		"processes": {RAS{Missing: []string{"n1 pid 7", "n2 pid 8"}, Problems: []string{"x"}}, "serious | 2 processes do not answer NCCL's RAS: ended, stopped, or the host is down. | n1 pid 7 & n2 pid 8 |  | look at those processes, and at dmesg of their hosts"},
		"ranks": {RAS{Comms: []RASComm{{Status: "RUNNING", Errors: "OK"}, {ID: "0x7", Ranks: 4, Missing: 1, Status: "INCOMPLETE", Errors: "OK", Counts: []RASCount{{Name: "AllReduce", Calls: 1, Ranks: []int{0, 1}}}, States: []RASMessage{{Says: "stopped", Ranks: []int{2}}}}}},
			"serious | RAS finds communicator 0x7 incomplete. | 1 rank of 4 missing & AllReduce: 1 call by ranks 0-1 & rank 2: stopped |  | the ranks with fewer calls of a collective are those that the others wait for"},
		"a mismatch": {RAS{Comms: []RASComm{{Status: "MISMATCH"}}, Problems: []string{"x"}}, "serious | RAS finds a communicator mismatch. |  |  | the ranks with fewer calls of a collective are those that the others wait for"},
		"an abort":   {RAS{Comms: []RASComm{{Status: "ABORT"}}}, "serious | RAS finds a communicator abort. |  |  | the ranks with fewer calls of a collective are those that the others wait for"},
		"errors":     {RAS{Problems: []string{"x", "y"}}, "serious | NCCL's RAS reports errors. | x & y |  | see what it says of each communicator and process"},
	} {
		expect(t, what, findRAS(log(c.ras)), c.want)
	}
	expect(t, "nothing", findRAS(log(RAS{Comms: []RASComm{{Status: "RUNNING", Errors: "OK"}, {Status: "RUNNING"}}})))
}

func TestProcessesByName(t *testing.T) {
	l := &Log{Processes: []Process{{Host: "n1", PID: 7}, {Host: "n2", PID: 8}, {Host: "n2", PID: 9, Ranks: []int{4}}}}
	for want, of := range map[string][]int{"pid 7 on n1": {0}, "2 processes without a rank on n1, n2": {0, 1}, "rank 4, pid 8 on n2": {2, 1, 99, -1}, "": {0, 1, 2}} {
		if got := l.who(of); got != want {
			t.Errorf("%v are %q, want %q", of, got, want)
		}
	}
}
