package nccllog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shoenig/test"
)

// Prefixes of launchers, collectors and time stampers do not change the result.
func TestPrefixesOfWholeLogs(t *testing.T) {
	want := len(read(t, wholeLog()).Transports)
	for _, prefix := range []string{
		"[1,mpirank:0,algo-1]<stdout>:", "[0]<stdout>:", "2026-05-01T10:11:12.123456789Z stdout F ", "Jun 03 10:00:00 ",
		"12:34:56 ",
		"mypod-0 pytorch ", "2: ", " 2: ", "[default0]:", "[rank3]: ", "1: p5-dy-gpu-3: ", "[pod/train-worker-0/nccl] ",
		"worker-0  | ", "(train, pid=12) ", "[2026-05-05 06:16:47] ", "\x1b[36m0: \x1b[0m",
		"some-shipper/x-1 [stream]> ",
	} {
		lines := strings.Split(strings.TrimSuffix(wholeLog(), "\n"), "\n")
		l := read(t, prefix+strings.Join(lines, "\n"+prefix)+"\n")
		if l.Reading.Damaged > 0 || len(l.Communicators) != 1 || len(l.Communicators[0].Members) != 4 ||
			len(l.Transports) != want {
			t.Errorf("%q: %+v, %d communicators", prefix, l.Reading, len(l.Communicators))
		}
	}
	var docker strings.Builder
	for line := range strings.Lines(wholeLog()) {
		fmt.Fprintf(&docker, "{\"log\":%q,\"stream\":\"stdout\",\"time\":\"2026-05-01T10:11:12Z\"}\n", line)
	}
	if l := read(t, docker.String()); l.Reading.Damaged > 0 || len(l.Transports) != want {
		t.Errorf("docker: %+v", l.Reading)
	}
}

// A program's own reductions have different numbers per process, and one-sided calls differ between ranks by design.
func TestCallsAllowedToDiffer(t *testing.T) {
	call := func(rank int, text string) string {
		return fmt.Sprintf("n1:%d:%d [%d] NCCL INFO %s comm 0xa%d [nranks=2] stream 0x3\n", 100+rank, 200+rank, rank,
			text, rank)
	}
	begin := func(rank int) string {
		return fmt.Sprintf(
			"n1:%d:%d [%[3]d] NCCL INFO ncclCommInitRankConfig comm 0xa%[3]d rank %[3]d nranks 2 cudaDev %[3]d "+
				"nvmlDev %[3]d busId %[4]d000 commId 0xabc - Init COMPLETE\n",
			100+rank,
			200+rank,
			rank,
			1+rank,
		)
	}
	for name, calls := range map[string][2]string{
		"own reductions": {
			"ReduceScatter: opCount 0 sendbuff 0x1 recvbuff 0x2 count 8 datatype 7 op 731553821 root 0",
			"ReduceScatter: opCount 0 sendbuff 0x1 recvbuff 0x2 count 8 datatype 7 op 1189238774 root 0"},
		"signals": {
			"PutSignal: opCount 0 sendbuff 0x1 recvbuff 0x2 count 1024 datatype 7 op 0 root 1",
			"WaitSignal: opCount 0 sendbuff 0x1 recvbuff 0x2 count 0 datatype 2 op 0 root 1"},
	} {
		l := read(t, begin(0)+begin(1)+call(0, calls[0])+call(1, calls[1]))
		for _, s := range l.Sequences {
			if s.Mismatch != nil {
				t.Errorf("%s: %+v", name, s.Mismatch)
			}
		}
	}
}

// Lines of a program that report an error, and lines that only look like it.
func TestErrorsOfAProgram(t *testing.T) {
	for line, want := range map[string]bool{
		"+ export TORCH_NCCL_ASYNC_ERROR_HANDLING=1": false,
		"step 5 loss error: 0.0":                     false,
		"Mean Squared Error: 0.02":                   false,
		"ProcessGroupNCCL environments: NCCL version: 2.21.5, TORCH_NCCL_ASYNC_ERROR_HANDLING: 3": false,
		"RuntimeError: no GPU":        true,
		"srun: error: node1: task 0":  true,
		"2026-05-01 ERROR main: died": true,
		"torch.distributed.DistBackendError: NCCL error in: x.cpp:1970, unhandled system error (run with " +
			"NCCL_DEBUG=INFO for details), NCCL version 2.21.5": true,
	} {
		l := read(t, wholeLog()+line+"\n")
		test.EqOp(t, want, len(l.Messages) > 0, test.Sprint(line, l.Messages))
	}
}

// Containers may have one host name on several nodes: no conclusion follows.
func TestNodesWithSameName(t *testing.T) {
	log := strings.NewReplacer("n2:", "n1:", "nNodes 2 localRanks 2", "nNodes 4 localRanks 1", "localRank 1",
		"localRank 0",
		"busId 2000", "busId 1000", "busId 3000", "busId 1000", "busId 4000", "busId 1000", "via P2P/CUMEM",
		"[send] via NET/IB/0/GDRDMA").
		Replace(wholeLog())
	for _, f := range read(t, log).Findings() {
		if f.Code() == "communicator-shares-gpu" || strings.Contains(f.Message(), "one host") {
			t.Errorf("%s: %s", f.Code(), f.Message())
		}
	}
}

// LL is correct if a ring step moves little data, which depends on the number of ranks.
func TestChoicesPerCommunicator(t *testing.T) {
	for name, c := range map[string]struct {
		ranks int
		line  string
		found bool
	}{
		"16 KiB of a rank over 1024 ranks": {1024, "AllGather: 16384 Bytes", false},
		"1 MiB of a step over 64 ranks":    {64, "AllReduce: 67108864 Bytes", true},
	} {
		const head = "n1:100:200 [0] NCCL INFO "
		l := read(
			t,
			fmt.Sprintf("%scomm 0xa rank 0 nranks %d cudaDev 0 busId 1000 commId 0xb - Init COMPLETE\n%s%s -> "+
				"Algo RING proto LL channel{Lo..Hi}={0..15}\n", head, c.ranks, head, c.line),
		)
		in := &findings{Log: l}
		if findChoices(in); len(in.all) > 0 != c.found || l.Choices[0].Comm != 0 {
			t.Errorf("%s: %v, %+v", name, in.all, l.Choices)
		}
	}
}

// Since NCCL 2.22 connections are made with the first operation. A process with several communicators then names only
// the rank; a line that fits only one communicator belongs to it.
func TestLateConnections(t *testing.T) {
	var log strings.Builder
	for rank := range 4 {
		node, local := rank/2, rank%2
		head := fmt.Sprintf("node%d:%d:%d [%d] NCCL INFO ", node, 100+rank, 200+rank, local)
		const init = "%scomm 0x%s%d rank %d nranks %d cudaDev %d nvmlDev 0 busId %d commId 0x%s - Init COMPLETE\n"
		fmt.Fprintf(&log, init, head, "a", rank, rank, 4, local, local, "abc")
		fmt.Fprintf(&log, init, head, "b", rank, local, 2, local, local, fmt.Sprint("de", node))
		if local == 0 {
			fmt.Fprintf(&log, "%sChannel 00/0 : 0[0] -> 1[1] via %s\n", head,
				[]string{"P2P/CUMEM", "SHM/direct/direct"}[node])
		}
	}
	l := read(t, log.String())
	if len(l.Transports) != 2 {
		t.Fatalf("%+v", l.Transports)
	}
	for _, v := range l.Transports {
		wantHost := map[string]string{"p2p": "node0", "shm": "node1"}[v.Kind]
		if v.Comm < 0 && l.endHost(v) != wantHost || v.Comm >= 0 && l.endHost(v) != wantHost ||
			v.Kind == "shm" && v.Comm < 0 {
			t.Errorf("%+v on %q, want %s", v, l.endHost(v), wantHost)
		}
	}
	if a, b := pairOf(l.Transports[0]), pairOf(l.Transports[1]); a == b {
		t.Errorf("pairs of two hosts are one: %+v", a)
	}
}
