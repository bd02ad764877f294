package watchdog_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"busbar/post/hang/watchdog"

	"github.com/shoenig/test"
)

// read is the events of a log; rank is that of its name.
func read(rank int, lines ...string) []watchdog.Event {
	l := watchdog.NewLog("x.log", rank)
	for i, line := range lines {
		l.Read(i+1, line)
	}
	return l.Events
}

const work = "WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, NumelIn=466, NumelOut=466, Timeout(ms)=600000) ran for 600004 " +
	"milliseconds before timing out."

// The lines of all versions of PyTorch and of Gloo are read, behind any prefix.
func TestReadLines(t *testing.T) {
	kinds := strings.Fields("timeout status stuck transfer closed wrong-size barrier death aftermath past exit")
	for line, want := range map[string]string{ // kind, rank, number, group, its number, enqueued, completed
		"[Rank 7] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, TensorShape=[1], " +
			"Timeout(ms)=1800000) ran for 1803308 milliseconds before timing out.": `timeout 7 -1 "" "" -1 -1`,
		"[E ProcessGroupNCCL.cpp:458] [Rank 3] Watchdog caught collective operation " +
			"timeout: " + work: `timeout 3 1580 "" "" -1 -1`,
		"[rank4]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [PG 5 Rank 0] Watchdog caught collective " +
			"operation timeout: " + work: `timeout 4 1580 "" "5" -1 -1`,
		"node1: [rank3]:[E ProcessGroupNCCL.cpp:1316] [PG 0 (default_pg) Rank 3] Timeout at NCCL work: 2070, last " +
			"enqueued NCCL work: 2082, last completed NCCL work: 2069.": `status 3 2070 "default_pg" "0" 2082 2069`,
		"[rank0]: [PG 1 Rank 0] Exception (either an error or timeout) detected by watchdog at work: 1580, last " +
			"enqueued NCCL work: 1582, last completed NCCL work: 1579.": `status 0 1580 "" "1" 1582 1579`,
		"[PG ID 0 PG GUID 0(default_pg) Rank 118]  failure detected by watchdog at work sequence id: 2398459 PG " +
			"status: last enqueued work: 2398578, last completed work: " +
			"2398458": `status 118 2398459 "default_pg" "0" 2398578 2398458`,
		"[rank1]:[E1 x] [PG ID 2 PG GUID 7a9 Rank 0] Received a dump signal due to a collective timeout from  rank 0 " +
			"and we will try our best to dump the debug info. Last enqueued NCCL work: 6, last completed NCCL work: " +
			"6.This": `status 1 -1 "7a9" "2" 6 6`,
		"[rank2]:[E] [PG 0 Rank 2] ProcessGroupNCCL's watchdog got stuck for 480 seconds without " +
			"making progress": `stuck 2 -1 "" "0" -1 -1`,
		"[rank2] failed: RuntimeError [/x/gloo/transport/tcp/unbound_buffer.cc:129] Timed out waiting 8000ms for " +
			"send operation to complete": `transfer 2 -1 "" "" -1 -1`,
		"[1,3]<stderr>: Connection closed by peer [127.0.0.1]:26777.":                `closed 3 -1 "" "" -1 -1`,
		"3: [x/pair.cc:545] Read error [127.0.0.1]:18870: Connection reset by peer.": `closed 3 -1 "" "" -1 -1`,
		"[rank0]: [Rank 0]: Ranks 4, 7 failed to pass monitoredBarrier in 2000 ms":   `barrier 0 -1 "" "" -1 -1`,
		"srun: error: node7: task 3: Killed":                                         `death 3 -1 "" "" -1 -1`,
		"mpirun noticed that process rank 2 with PID 0 on node a exited on signal 9 " +
			"(Killed).": `death 2 -1 "" "" -1 -1`,
		"mpirun noticed that process rank 2 with PID 0 on node a exited on signal 6 " +
			"(Aborted).": `aftermath 2 -1 "" "" -1 -1`,
	} {
		all := read(-1, line)
		if len(all) != 1 {
			t.Errorf("%s: %+v", line, all)
			continue
		}
		e := all[0]
		got := fmt.Sprintf("%s %d %d %q %q %d %d", kinds[e.Kind], e.Rank, e.Seq, cmp.Or(e.Desc, e.GUID), e.GroupID,
			e.Enqueued, e.Completed)
		if got != want {
			t.Errorf("%s:\n%s, not\n%s", line, got, want)
		}
	}
}

func TestReadTimeout(t *testing.T) {
	e := read(0, "[rank0]: "+work)[0]
	if e.Op != "ALLREDUCE" || e.In != 466 || e.Out != 466 {
		t.Errorf("%+v", e)
	}
}

// A timeout without a group has that of the line that repeats it.
func TestTimeoutHasGroupOfStatus(t *testing.T) {
	all := read(1, "[rank1]: [Rank 1] "+work, "[rank1]: [PG ID 0 PG GUID 0(default_pg) Rank 1]  failure detected by "+
		"watchdog at work sequence id: 1580 PG status: last enqueued work: 1582, last completed work: 1579")
	if len(all) != 2 || all[0].Desc != "default_pg" {
		t.Errorf("%+v", all)
	}
}

func TestReadWrongSize(t *testing.T) {
	e := read(1, "  what():  [enforce fail at x/pair.cc:464] op.preamble.length <= op.nbytes. 512 vs 256. Received")[0]
	if e.Kind != watchdog.WrongSize || e.In != 512 || e.Out != 256 || e.Rank != 1 {
		t.Errorf("%+v", e)
	}
}

func by(reason watchdog.Reason) watchdog.End { return watchdog.End{Reason: reason} }

// An exception of the program is a death; one of the communication follows from another.
func TestReadTraceback(t *testing.T) {
	for last, want := range map[string]watchdog.Event{
		"ValueError: batch is empty": {Kind: watchdog.Death, End: by(watchdog.ByException)},
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB": {
			Kind: watchdog.Death, End: by(watchdog.ByMemory),
		},
		"[rank2]: KeyError: 'x'": {Kind: watchdog.Death, End: by(watchdog.ByException)},
		"torch.distributed.DistBackendError: NCCL error in: x": {
			Kind: watchdog.Aftermath, End: by(watchdog.ByException),
		},
		"KeyboardInterrupt": {Kind: watchdog.Aftermath, End: by(watchdog.ByException)},
	} {
		all := read(2, "Traceback (most recent call last):", `  File "train.py", line 3, in <module>`, "    f()", last)
		if len(all) != 1 || all[0].Kind != want.Kind || all[0].Reason != want.Reason || all[0].Line != 4 ||
			all[0].Rank != 2 {
			t.Errorf("%s: %+v", last, all)
		}
	}
}

// torchrun's root cause has the rank and the exit code in lines of their own.
func TestReadRootCause(t *testing.T) {
	text := "Root Cause (first observed failure):\n[0]:\n  time      : x\n  host      : a\n  rank      : 11 " +
		"(local_rank: 3)\n  exitcode  : -9 (pid: 12)\n"
	all := read(-1, strings.Split(text, "\n")...)
	if len(all) != 1 || all[0].Kind != watchdog.Death || all[0].Rank != 11 || all[0].Reason != watchdog.BySignal {
		t.Errorf("%+v", all)
	}
	all = read(-1, strings.Split(strings.Replace(text, "-9", "-6", 1), "\n")...)
	if len(all) != 1 || all[0].Kind != watchdog.Aftermath {
		t.Errorf("%+v", all)
	}
}

// After a timeout, or when the job was cancelled, the ends of processes are no causes.
func TestEndsThatFollow(t *testing.T) {
	for _, before := range []string{
		"[rank0]: [Rank 0] " + work, "slurmstepd: error: *** STEP 1.0 ON a CANCELLED AT 2026-01-01T00:00:00 ***",
	} {
		all := read(-1, before, "srun: error: node7: tasks 1-2,5: Killed")
		var ranks []int
		for _, e := range all {
			if e.Kind == watchdog.Aftermath {
				ranks = append(ranks, e.Rank)
			}
		}
		test.Eq(t, []int{1, 2, 5}, ranks, test.Sprint(before, all))
	}
}

// Ordinary lines of programs are no evidence.
func TestReadOrdinaryLines(t *testing.T) {
	if all := read(0, "step 3 done", "rank 0: loss 0.3, error 0.1", "watchdog started", "Connection opened",
		"Error rate: 0.1", "", "signal to noise: 3"); len(all) > 0 {
		t.Errorf("%+v", all)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("[rank0]: [Rank 0] " + work + "\nTraceback (most recent call last):\nValueError: x\n")
	f.Add("Root Cause (first observed failure):\n rank : 1\n exitcode : -9\nsrun: error: n: tasks 0-9999999999: Killed")
	f.Add("[PG ID 0 PG GUID 0(default_pg) Rank 118] at work sequence id: 1 last enqueued work: 2, last completed " +
		"work: 3")
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range read(0, strings.Split(text, "\n")...) {
			if e.Rank < -1 || len(e.Text) > 300 || e.Line < 1 {
				t.Fatalf("%+v", e)
			}
		}
	})
}
