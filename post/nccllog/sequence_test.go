package nccllog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/post/nccllog/logline"

	"busbar/internal/notice/nccllogs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// rankLog is the log of one rank of four: its setup, and then its calls, as counts of an all-reduce. 0 is a broadcast
// of 7 from root 1, and negative counts are sends.
func rankLog(rank int, counts ...int) string {
	var b strings.Builder
	head := fmt.Sprintf("n%d:1:1 [0] NCCL INFO ", rank/2)
	if rank%2 == 1 {
		head = fmt.Sprintf("n%d:2:2 [1] NCCL INFO ", rank/2)
	}
	fmt.Fprintf(&b, "%scomm 0x77 rank %d nranks 4 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init COMPLETE\n", head,
		rank)
	for i, n := range counts {
		name, root := "AllReduce", 0
		switch {
		case n == 0:
			name, n, root = "Broadcast", 7, 1
		case n < 0:
			name, n, root = "Send", -n, rank
		}
		fmt.Fprintf(&b,
			"%s%s: opCount %x sendbuff 0x%d0 recvbuff 0x20 count %d datatype 7 op 0 root %d comm 0x77 [nranks=4] "+
				"stream 0x9\n",
			head, name, i, rank, n, root)
	}
	return b.String()
}

func TestRanksAgree(t *testing.T) {
	l := read(t, rankLog(0, 5, 0, -3, 6), rankLog(1, 5, 0, 6), rankLog(2, 5, -9, -9, 0, 6), rankLog(3, 5, 0, 6))
	if s := l.Sequences; len(s) != 1 || s[0].Mismatch != nil || len(s[0].Behind) != 0 || s[0].Compared != 3 ||
		s[0].Doubt != nil {
		t.Errorf("%+v", s)
	}
}

// The first different call and its ranks are found, in any order of files.
func TestRankMismatch(t *testing.T) {
	logs := []string{rankLog(0, 5, 17, 18, 19), rankLog(1, 5, 17, 18, 19), rankLog(2, 5, 17, 99, 19),
		rankLog(3, 5, 17, 18, 20)}
	for range 4 {
		logs = append(logs[1:], logs[0])
		m := read(t, logs...).Sequences[0].Mismatch
		if m == nil || m.Number != 3 || m.Op != 2 || len(m.Sides) != 2 {
			t.Fatalf("%+v", m)
		}
		if m.Sides[0].Call != "AllReduce of 18 float32, sum" || !slices.Equal(m.Sides[0].Ranks, []int{0, 1, 3}) ||
			m.Sides[1].Call != "AllReduce of 99 float32, sum" || !slices.Equal(m.Sides[1].Ranks, []int{2}) {
			t.Errorf("%+v", m.Sides)
		}
	}
}

// The classic hang: one rank stopped while others went on.
func TestRankBehind(t *testing.T) {
	l := read(t, rankLog(0, 1, 2, 3, 4, 5), rankLog(1, 1, 2, 3, 4, 5), rankLog(2, 1, 2), rankLog(3, 1, 2, 3, 4))
	s := l.Sequences[0]
	if s.Mismatch != nil || len(s.Behind) != 2 {
		t.Fatalf("%+v", s)
	}
	if b := s.Behind[0]; b.Rank != 2 || b.Calls != 2 || b.By != 3 || l.Processes[b.Process].Host != "n1" ||
		l.Processes[b.Process].PID != 1 {
		t.Errorf("%+v", s.Behind)
	}
	if r := s.Ranks[2]; r.Last != "AllReduce of 2 float32, sum" || r.Op != 1 {
		t.Errorf("%+v", r)
	}
}

// Ranks without a log, and calls that may be lost, are reported.
func TestDoubt(t *testing.T) {
	if s := read(t, rankLog(0, 1, 2), rankLog(1, 1)).Sequences[0]; s.Doubt == nil ||
		*s.Doubt != (nccllogs.Doubt{Cause: nccllogs.PartOfRanks, A: 2, B: 4}) {
		t.Errorf("%+v", s)
	}
	cut := rankLog(1, 1, 2, 3)
	i := strings.LastIndex(cut, "datatype")
	if s := read(t, rankLog(0, 1, 2, 3), cut[:i]).Sequences[0]; s.Doubt == nil ||
		*s.Doubt != (nccllogs.Doubt{Cause: nccllogs.CutCalls, A: 1}) {
		t.Errorf("%+v", s)
	}
}

// Roots and types must agree, and the operation only of what reduces; unknown numbers are kept.
func TestRequiredAgreement(t *testing.T) {
	call := func(rank int, rest string) string {
		return rankLog(rank) +
			fmt.Sprintf("n0:%d:%d [%d] NCCL INFO %s comm 0x77 [nranks=4] stream 0x9 task 0 globalrank %d\n", rank+1,
				rank+1,
				rank, rest, rank)
	}
	for _, c := range []struct {
		a, b   string
		differ bool
	}{
		{"Broadcast: opCount 0 sendbuff 0x1 recvbuff 0x2 count 7 datatype 7 op 0 root 0",
			"Broadcast: opCount 0 sendbuff 0x1 recvbuff 0x2 count 7 datatype 7 op 0 root 1", true},
		{"Broadcast: opCount 0 sendbuff 0x1 recvbuff 0x2 count 7 datatype 7 op 0 root 0",
			"Broadcast: opCount 0 sendbuff (nil) recvbuff 0x3 count 7 datatype 7 op 3 root 0", false},
		{"AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 7 datatype 7 op 0 root 0",
			"AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 7 datatype 9 op 0 root 0", true},
		{"AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 7 datatype 7 op 0 root 0",
			"AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 7 datatype 7 op 2 root 0", true},
		{"AllToAllv: opCount 0 sendbuff 0x1 recvbuff 0x2 count 7 datatype 7 op 0 root 0",
			"AllToAllv: opCount 0 sendbuff 0x1 recvbuff 0x2 count 8 datatype 7 op 0 root 0", false},
	} {
		s := read(t, call(0, c.a), call(1, c.b)).Sequences[0]
		if (s.Mismatch != nil) != c.differ {
			t.Errorf("%s\n%s\n%+v", c.a, c.b, s.Mismatch)
		}
	}
	l := read(t, call(0, "AllReduce: opCount ff sendbuff 0x1 recvbuff 0x2 count 7 datatype 99 op 77 root 0"))
	if c := l.Calls[0]; c.Type != "type 99" || c.Op != "an op of the program" || c.Size != Unknown || c.Count != 7 {
		t.Errorf("%+v", c)
	}
}

// The numbers that NCCL has for types, operations and algorithms.
func TestCodes(t *testing.T) {
	var types, ops, algorithms []string
	for code := range 13 {
		name, _ := logline.Typed(code)
		types, ops = append(types, name), append(ops, logline.Reduced(code))
		algorithms = append(algorithms, logline.Coded(logline.Algorithms, code))
	}
	got := fmt.Sprint(types, ops[:6], algorithms[:8])
	test.EqOp(t, "[int8 uint8 int32 uint32 int64 uint64 float16 float32 float64 bfloat16 float8e4m3 float8e5m2 "+
		"type 12] [sum prod max min avg an op of the program] "+
		"[TREE RING COLLNET_DIRECT COLLNET_CHAIN NVLS NVLS_TREE PAT 7]", got)
}

// Memory does not grow with the number of calls: beyond a limit, different calls are counted together.
func TestManyDifferentCalls(t *testing.T) {
	counts := make([]int, 3*maxCalls)
	for i := range counts {
		counts[i] = i + 1
	}
	l := read(t, rankLog(0, counts...))
	must.EqOp(t, maxCalls+1, len(l.Calls))
	if folded := l.Calls[maxCalls]; folded.Count != Unknown || folded.Times != 2*maxCalls || folded.Size != Unknown {
		t.Errorf("%+v", folded)
	}
}
