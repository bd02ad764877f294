package hang_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/hang"
)

// situation is a job whose cause is known.
type situation struct {
	name    string
	make    func(f *Folder)
	verdict string // code, ranks and, unless any will do, confidence
	seq     int64  // 0: any
	lists   string // codes of facts that evidence, contradictions or notes have
}

func reduce() Call         { return Call{Op: "all_reduce"} }
func sized(n int64) Call   { return Call{Op: "all_reduce", In: n, Out: n} }
func gather() Call         { return Call{Op: "all_gather", In: 256, Out: 1024} }
func in(group string) Call { return Call{Op: "all_reduce", Group: group} }
func job(world int) *Job   { return &Job{World: world} }

// stops are the dumps of a job in which a rank makes four calls, and the others one more.
func stops(j *Job, rank int) []*Dump { return j.All(reduce(), 4).Except(reduce(), rank).Run() }

// dumps writes dumps, and file a file.
func dumps(all []*Dump, not ...int) func(*Folder) { return func(f *Folder) { f.Dumps(all, not...) } }
func file(name, text string) func(*Folder)        { return func(f *Folder) { f.File(name, text) } }

func gloo(world int) *Job { return &Job{World: world, Gloo: true} }

// watchdog is what PyTorch prints on a rank that waits, since 2.6.
func watchdog(rank, seq, enqueued int) []string {
	return []string{
		fmt.Sprintf("[rank%d]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank %d] Watchdog caught "+
			"collective operation timeout: WorkNCCL(SeqNum=%d, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, "+
			"Timeout(ms)=600000) ran for 600004 milliseconds before timing out.", rank, rank, seq),
		fmt.Sprintf("[rank%d]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:2303] [PG ID 0 PG GUID 0(default_pg) Rank "+
			"%d]  failure detected by watchdog at work sequence id: %d PG status: last enqueued work: %d, last "+
			"completed work: %d", rank, rank, seq, enqueued, seq-1),
	}
}

// signalled is what PyTorch prints on a rank that another asks for a dump.
func signalled(rank, enqueued int) string {
	return fmt.Sprintf("[rank%d]:[E321 02:07:09.1 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID 0(default_pg) Rank %d] "+
		"Received a dump signal due to a collective timeout from  rank 0 and we will try our best to dump the debug "+
		"info. Last enqueued NCCL work: %d, last completed NCCL work: %d.This is most likely caused by incorrect "+
		"usages of collectives", rank, rank, enqueued, enqueued)
}

const (
	closedByPeer = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:561] Connection closed by " +
		"peer [127.0.0.1]:26777. This is typically caused by a remote worker crashing."
	timedOut = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting " +
		"8000ms for recv operation to complete"
)

func logs(f *Folder, seq, enqueued int, ranks ...int) {
	for _, rank := range ranks {
		f.Log(rank, watchdog(rank, seq, enqueued)...)
	}
}

// silent is a Gloo job in which ranks end without a message.
func silent(f *Folder, ranks ...int) {
	j := gloo(4).All(reduce(), 4).Except(reduce(), ranks...)
	dumps := j.Run()
	for _, d := range dumps {
		if d.Fail(); slices.Contains(ranks, d.Rank) {
			f.Log(d.Rank, "step 4")
		} else {
			f.Log(d.Rank, closedByPeer)
		}
	}
	f.Dumps(dumps, ranks...)
}

var plain = []situation{
	{name: "a rank stops calling", verdict: "rank-missing [5] certain",
		make: func(f *Folder) {
			f.Dumps(job(8).All(reduce(), 10).Except(reduce(), 5).Run())
			logs(f, 11, 11, 0, 3)
			f.Log(5, signalled(5, 10))
		}},
	{name: "two ranks stop calling, and no log", verdict: "rank-missing [2 6] likely",
		make: dumps(job(8).All(reduce(), 10).Except(reduce(), 2, 6).Run())},
	{name: "a rank calls another collective", verdict: "collective-mismatch [3] certain",
		make: dumps(job(8).All(reduce(), 4).All(gather(), 1, 3).Except(reduce(), 3).Run())},
	{name: "a rank passes another size", verdict: "size-mismatch [7] likely",
		make: dumps(job(8).All(reduce(), 4).All(sized(512), 1, 7).Except(sized(1000), 7).Run())},
	{name: "a rank is killed", verdict: "rank-died [2] certain",
		make: func(f *Folder) {
			f.Dumps(stops(job(4), 2), 2)
			f.File("slurm-1.out", "step 4\nsrun: error: node7: task 2: Killed\n")
		}},
	{name: "a rank raises an exception", verdict: "rank-died [1] certain",
		make: func(f *Folder) {
			f.Dumps(stops(job(4), 1), 1)
			f.Log(1, "Traceback (most recent call last):", `  File "train.py", line 3, in <module>`,
				"ValueError: batch is empty")
			logs(f, 5, 5, 0, 2, 3)
			f.File("torchrun.txt", "Root Cause (first observed failure):\n  rank      : 1 (local_rank: 1)\n"+
				"  exitcode  : 1 (pid: 4711)\n")
		}},
	{name: "the network fails", verdict: "all-waiting []",
		make: func(f *Folder) {
			j := job(4).All(reduce(), 6)
			j.Stuck = true
			f.Dumps(j.Run())
			f.Log(0, "node1:10:20 [0] transport/net_ib.cc:94 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<1> "+
				"with error 12, opcode 0, len 0, vendor err 129")
			logs(f, 6, 6, 1, 2, 3)
		}},
	{name: "nothing hangs", verdict: "no-hang [] certain",
		make: dumps(job(4).All(reduce(), 6).Run())},
	{name: "only lines of watchdogs", verdict: "rank-missing [2]",
		make: func(f *Folder) {
			logs(f, 6, 9, 0, 1, 3)
			f.Log(2, signalled(2, 5))
		}},
	{name: "only watchdogs, of different collectives", verdict: "collective-mismatch [1]",
		make: func(f *Folder) {
			logs(f, 6, 9, 0, 2, 3)
			f.Log(1, strings.ReplaceAll(strings.Join(watchdog(1, 6, 6), "\n"), "ALLREDUCE", "BROADCAST"))
		}},
	{name: "only watchdogs, which gave up on different numbers", verdict: "collective-mismatch [0] unclear",
		make: func(f *Folder) {
			f.Log(0, strings.ReplaceAll(watchdog(0, 532341, 532341)[0], "ALLREDUCE", "_ALLGATHER_BASE"))
			for _, rank := range []int{1, 2} {
				f.Log(rank, strings.ReplaceAll(watchdog(rank, 532339, 532339)[0], "ALLREDUCE", "BROADCAST"))
			}
		}},
	{name: "monitored_barrier", verdict: "rank-missing [4 5 6 7]",
		make: func(f *Folder) {
			f.Log(0, "RuntimeError: [Rank 0]: Ranks 4, 5, 6, 7 failed to pass monitoredBarrier in 2000000 ms")
			f.Log(1, "RuntimeError: Rank 1 successfully reached monitoredBarrier, but received errors while waiting "+
				"for send/recv from rank 0. Please check rank 0 logs for faulty rank.")
		}},
	{name: "RAS lists the ranks that are ahead",
		verdict: "rank-missing [0 1 2 3 4 5 6 7 8 9 10 11 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31]",
		make:    file("ras.txt", rasText)},
	{name: "two snapshots of RAS with equal counts", verdict: "rank-missing [1] likely",
		make: func(f *Folder) {
			f.File("ras1.json", rasJSON(7, 5)).File("ras2.json", rasJSON(7, 5))
		}},
	{name: "two snapshots of RAS, and the job runs", verdict: "rank-missing [1] unclear",
		lists: "one-snapshot",
		make: func(f *Folder) {
			f.File("ras1.json", rasJSON(7, 5)).File("ras2.json", rasJSON(9, 8))
		}},
	{name: "RAS reports a dead rank", verdict: "rank-died [3] likely",
		make: func(f *Folder) {
			f.File("ras.json", `{"nccl_version": "2.28.7", "communicators": [{"hash": "0x1", "size": 4,
				"missing_ranks_count": 1, "ranks": [{"rank": 0, "host": "a", "pid": 1}], "missing_ranks": [{"rank": 3,
				"host": "b", "pid": 2, "status": {"unresponsive": true, "considered_dead": true}}]}]}`)
		}},
	{name: "calls in NCCL's log", verdict: "collective-mismatch [2] likely",
		make: func(f *Folder) {
			for rank := range 4 {
				name := "AllReduce"
				if rank == 2 {
					name = "Broadcast"
				}
				f.File(fmt.Sprintf("nccl.%d", rank), fmt.Sprintf("a:%[1]d:%[1]d [%[2]d] NCCL INFO ncclCommInitRank "+
					"comm 0x9 "+
					"rank %[2]d nranks 4 cudaDev %[2]d nvmlDev %[2]d busId %[2]d0 commId 0x5 - Init COMPLETE\n"+
					"a:%[1]d:%[1]d [%[2]d] NCCL INFO %[3]s: opCount 0 sendbuff 0x1 recvbuff 0x2 count 8 datatype 7 op "+
					"0 "+
					"root 0 comm 0x9 [nranks=4] stream 0x3\n", 100+rank, rank, name))
			}
		}},
	{name: "busbar's own diagnosis", verdict: "rank-missing [1] certain",
		make: func(f *Folder) {
			f.File("run.jsonl", ownRun(notice.RunHung{Problem: "x", Ranks: []notice.HungRank{{
				PlacedRank: notice.PlacedRank{Rank: 1, Host: "b"}, Standing: notice.StandingBehind, Case: "all_reduce",
			}}}))
		}},
	{name: "a rank of busbar's own run died", verdict: "rank-died [2] certain",
		make: file("run.jsonl", ownRun(notice.RankGone{PlacedRank: notice.PlacedRank{Rank: 2, Host: "b"}}))},
	{name: "a tie", verdict: "collective-mismatch [0 1] unclear",
		make: dumps(job(2).All(reduce(), 4).All(gather(), 1, 1).All(reduce(), 1, 0).Run())},
	{name: "sums of an all-to-all differ", verdict: "size-mismatch [0 1 2 3] unclear",
		make: func(f *Folder) {
			j := job(4).All(reduce(), 2)
			for rank := range 4 {
				j.All(Call{Op: "all_to_all", In: 100 + int64(rank), Out: 100}, 1, rank)
			}
			j.Stuck = true
			f.Dumps(j.Run())
		}},
	{name: "groups in different order", verdict: "collective-mismatch [0 1] unclear",
		make: func(f *Folder) {
			j := gloo(2)
			j.Groups = map[string][]int{"a": {0, 1}, "b": {0, 1}}
			f.Dumps(j.All(reduce(), 3).All(in("a"), 1, 0).All(in("b"), 1, 1).Run())
		}},
}

var misleading = []situation{
	{name: "a rank enters late, and looks matched", verdict: "rank-missing [2]",
		lists: "entered-late",
		make: func(f *Folder) {
			j := job(4).All(reduce(), 5).Except(reduce(), 2)
			j.All(Call{Op: "all_reduce", Late: 700}, 1, 2)
			j.Stuck = true
			f.Dumps(j.Run())
			logs(f, 6, 6, 0, 1, 3)
		}},
	{name: "a ring lost the group's calls", verdict: "rank-missing [1]",
		lists: "ring-overwritten",
		make: func(f *Folder) {
			j := job(4)
			j.Groups = map[string][]int{"dp": {2, 3}}
			dumps := j.All(reduce(), 5).Except(reduce(), 1).Run()
			dumps[3].Entries = append(dumps[3].Entries, Entry{Group: "dp", Op: "all_reduce", In: 8, Out: 8,
				Seq:    1,
				Record: 90, Created: dumps[3].Entries[0].Created, Done: true, Retired: true})
			dumps[3].Keep(1)
			f.Dumps(dumps)
		}},
	{name: "a rank left no dump, and nothing else", verdict: "insufficient-evidence [] unclear",
		lists: "rank-without-evidence",
		make:  dumps(job(4).All(reduce(), 5).Except(reduce(), 2).Run(), 2)},
	{name: "others time out after a rank was killed", verdict: "rank-died [3]",
		make: func(f *Folder) {
			f.Dumps(stops(job(4), 3), 3)
			logs(f, 5, 5, 0, 1, 2)
			f.File("torchrun.txt", "Root Cause (first observed failure):\n[0]:\n  time      : 2026-01-01_10:00:00\n"+
				"  host      : node1\n  rank      : 3 (local_rank: 3)\n  exitcode  : -9 (pid: 4711)\n"+
				"  traceback : Signal 9 (SIGKILL) received by PID 4711\n")
		}},
	{name: "the launcher kills the missing rank at last", verdict: "rank-missing [2]",
		make: func(f *Folder) {
			f.Dumps(stops(job(4), 2))
			logs(f, 5, 5, 0, 1, 3)
			f.File("slurm-1.out", strings.Join(watchdog(0, 5, 5), "\n")+"\nsrun: error: node7: task 2: Killed\n"+
				"srun: error: node7: task 0: Aborted\n")
		}},
	{name: "Gloo retires what failed", verdict: "rank-missing [2]",
		lists: "collective-timed-out",
		make: func(f *Folder) {
			dumps := stops(gloo(4), 2)
			for _, d := range dumps {
				d.Fail()
			}
			f.Dumps(dumps)
			for _, rank := range []int{0, 1, 3} {
				f.Log(rank, timedOut)
			}
		}},
	{name: "Gloo retires what failed, and no log", verdict: "rank-missing [2] unclear",
		lists: "retired-or-failed",
		make: func(f *Folder) {
			dumps := stops(gloo(4), 2)
			for _, d := range dumps {
				d.Fail()
			}
			f.Dumps(dumps)
		}},
	{name: "a rank skipped one call, and all later ones differ", verdict: "size-mismatch [1]",
		lists: "calls-shifted",
		make: func(f *Folder) {
			j := job(4).All(reduce(), 4).Except(sized(10), 1)
			for _, n := range []int64{20, 30, 40} {
				j.All(sized(n), 1)
			}
			f.Dumps(j.Run())
		}},
	{name: "an uneven all-to-all is legal", verdict: "rank-missing [0]",
		make: func(f *Folder) {
			j := job(4).All(reduce(), 2)
			for rank := range 4 {
				j.All(Call{Op: "all_to_all", In: 100 + int64(rank), Out: 103 - int64(rank)}, 1, rank)
			}
			f.Dumps(j.Except(Call{Op: "all_to_all", In: 7, Out: 7}, 0).Run())
		}},
	{name: "a pipeline whose first stage stops", verdict: "rank-missing [0]",
		make: func(f *Folder) {
			j := gloo(4).All(reduce(), 2)
			for rank := range 3 {
				j.All(Call{Op: "recv", Peer: rank}, 1, rank+1)
				if rank > 0 {
					j.All(Call{Op: "send", Peer: rank + 1}, 1, rank)
				}
			}
			f.Dumps(j.Run())
		}},
	{name: "coalesced calls, of which parts have no state", verdict: "rank-missing [3]",
		make: func(f *Folder) {
			j := job(4)
			for range 3 {
				j.All(Call{Op: "ALLGATHER_coalesced", Part: true}, 2).All(Call{Op: "coalesced"}, 1)
			}
			j.Except(Call{Op: "ALLGATHER_coalesced", Part: true}, 3).Except(Call{Op: "coalesced"}, 3)
			dumps := j.Run()
			for _, d := range dumps {
				for i := range d.Entries {
					if d.Entries[i].Op != "coalesced" {
						d.Entries[i].Done = false
					}
				}
			}
			f.Dumps(dumps)
		}},
	{name: "a hang in one group makes others wait", verdict: "rank-missing [1]",
		lists: "hang-consequence",
		make: func(f *Folder) {
			j := gloo(4)
			j.Groups = map[string][]int{"tp0": {0, 1}, "tp1": {2, 3}, "dp0": {0, 2}, "dp1": {1, 3}}
			for range 3 {
				j.All(in("tp0"), 1, 0, 1).All(in("tp1"), 1, 2, 3).All(in("dp0"), 1, 0, 2).All(in("dp1"), 1, 1, 3)
			}
			j.All(in("tp0"), 1, 0).All(in("tp1"), 1, 2, 3).All(in("dp0"), 1, 0, 2).All(in("dp1"), 1, 3)
			f.Dumps(j.Run())
		}},
	{name: "a dump was taken too early", verdict: "insufficient-evidence [] unclear",
		lists: "dump-too-early",
		make: func(f *Folder) {
			j := job(4).All(reduce(), 9)
			j.Stuck = true
			dumps := j.Run()
			dumps[2].Until(3)
			f.Dumps(dumps)
		}},
	{name: "a dump was taken just before its rank entered", verdict: "all-waiting []",
		make: func(f *Folder) {
			j := job(4).All(reduce(), 6)
			j.Stuck = true
			dumps := j.Run()
			dumps[2].Until(5)
			f.Dumps(dumps)
			logs(f, 6, 6, 0, 1, 2, 3)
		}},
	{name: "Gloo retires what failed on all ranks", verdict: "all-waiting []",
		make: func(f *Folder) {
			j := gloo(4).All(reduce(), 5)
			j.Stuck = true
			for _, d := range j.Run() {
				f.Dumps([]*Dump{d.Fail()}).Log(d.Rank, timedOut)
			}
		}},
	{name: "an uneven all-to-all in which all wait", verdict: "all-waiting []",
		make: func(f *Folder) {
			j := job(4).All(reduce(), 2)
			for rank := range 4 {
				j.All(Call{Op: "all_to_all", In: 100 + int64(rank), Out: 103 - int64(rank)}, 1, rank)
			}
			j.Stuck = true
			f.Dumps(j.Run())
		}},
	{name: "a rank ends without a message", verdict: "rank-died [2] likely",
		lists: "log-ends-silently peer-connection-closed",
		make:  func(f *Folder) { silent(f, 2) }},
	{name: "two ranks end without a message", verdict: "rank-died [1 2] unclear",
		make: func(f *Folder) { silent(f, 1, 2) }},
	{name: "a rank is killed after it wrote its dump", verdict: "rank-missing [2]",
		make: func(f *Folder) {
			f.Dumps(stops(job(4), 2))
			f.File("slurm-1.out", "srun: error: node7: task 2: Killed\n")
		}},
	{name: "a rank is killed after it failed", verdict: "rank-missing [2]",
		make: func(f *Folder) {
			f.Dumps(stops(job(4), 2), 0)
			logs(f, 5, 5, 0, 1, 3)
			f.File("slurm-1.out", "srun: error: node7: task 0: Killed\n")
		}},
	{name: "a message that was sent and did not arrive", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			dumps := job(2).All(Call{Op: "send", Peer: 1}, 3, 0).All(Call{Op: "recv"}, 3, 1).Run()
			dumps[1].Entries[2].Done, dumps[1].Entries[2].Retired = false, false
			f.Dumps(dumps)
		}},
	{name: "the root completes a broadcast that a rank never entered", verdict: "rank-missing [2]", seq: 6,
		make: func(f *Folder) {
			j := job(4).All(reduce(), 5).Except(Call{Op: "broadcast"}, 2).Except(reduce(), 2)
			dumps := j.Run()
			for _, d := range dumps {
				if d.Rank != 2 {
					d.Entries[5].Done, d.Entries[5].Retired = true, true
				}
			}
			f.Dumps(dumps)
		}},
	{name: "a dump of another time", verdict: "collective-mismatch [3] likely",
		make: func(f *Folder) {
			dumps := job(4).All(reduce(), 4).All(gather(), 1, 3).Except(reduce(), 3).Run()
			for i := range dumps[3].Entries {
				dumps[3].Entries[i].Created += 603e9
			}
			f.Dumps(dumps)
		}},
	{name: "dumps of active collectives only", verdict: "rank-missing [1]", seq: 6,
		make: func(f *Folder) {
			dumps := job(4).All(reduce(), 5).Except(reduce(), 1).Run()
			for _, d := range dumps {
				d.Enqueued, d.Completed = 6, 5
				if d.Keep(1); d.Rank == 1 {
					d.Entries, d.Enqueued = nil, 5
				}
			}
			f.Dumps(dumps)
		}},
	{name: "a dump without entries and without status", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			dumps := job(4).All(reduce(), 5).Except(reduce(), 1).Run()
			dumps[2].Entries, dumps[1].Entries = nil, nil
			f.Dumps(dumps)
		}},
	{name: "watchdogs of point-to-point operations", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			for rank, seq := range []int{6, 40} {
				f.Log(rank, strings.ReplaceAll(strings.Join(watchdog(rank, seq, seq), "\n"), "ALLREDUCE", "SEND"))
			}
		}},
	{name: "two groups with one number in the watchdogs' lines", verdict: "insufficient-evidence [] unclear",
		lists: "group-members-unknown",
		make: func(f *Folder) {
			for rank := range 4 {
				named := watchdog(rank, 6, 6)[1]
				f.Log(rank, strings.ReplaceAll(named, "PG ID 0 PG GUID 0(default_pg) Rank", "PG 1 Rank"),
					strings.Replace(watchdog(rank, 6, 6)[0], "[Rank", "[PG 1 Rank", 1))
			}
		}},
	{name: "dumps of an earlier run", verdict: "rank-missing [3]",
		lists: "dump-of-other-run",
		make: func(f *Folder) {
			old := job(8).All(reduce(), 4).Except(reduce(), 1).Run()
			for _, d := range old {
				for i := range d.Entries {
					d.Entries[i].Created -= 1e15
				}
				f.File(fmt.Sprintf("old/trace_%d", d.Rank), string(d.Pickle()))
			}
			f.Dumps(job(4).All(reduce(), 5).Except(reduce(), 3).Run())
		}},
	{name: "truncated pickles", verdict: "rank-missing [1]",
		lists: "file-unreadable",
		make: func(f *Folder) {
			dumps := stops(job(4), 1)
			f.Dumps(dumps, 3)
			whole := dumps[3].Pickle()
			f.File("trace_3", string(whole[:len(whole)/2]))
		}},
}

// rasJSON is an answer of RAS about two ranks that called all_reduce so often.
func rasJSON(first, second int) string {
	return fmt.Sprintf(`{"nccl_version": "2.28.7", "communicators": [{"hash": "0x1", "size": 2, "ranks_count": 2,
		"ranks": [
		{"rank": 0, "host": "a", "pid": 1, "collective_counts": {"AllReduce": %d}},
		{"rank": 1, "host": "b", "pid": 2, "collective_counts": {"AllReduce": %d}}]}], "ras": {}}`, first, second)
}

// ownRun is the results file of a run that ended for a cause.
func ownRun(cause notice.Fact) string {
	var b strings.Builder
	w, err := result.NewBulk(&b, result.Run{ID: "x"}, nil)
	if err == nil {
		err = w.End(result.End{Outcome: result.Aborted, Why: result.Because(cause)})
	}
	if err != nil {
		panic(err)
	}
	return b.String()
}

const rasText = `NCCL version 2.26.2 compiled with CUDA 12.6
CUDA runtime version 12060, driver version 12060

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      4          8            1         32       32

Communicators... (0.00s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         4         8        32        32   RUNNING  MISMATCH

Errors
======

Warnings
========

#0-0 (cf264af53edbe986) MISMATCH
  Communicator ranks have different AllGather operation counts
  30 ranks have launched up to operation 640
  2 ranks have launched up to operation 641
  Rank 12 -- GPU 4 managed by process 323032 on node 10.137.190.124
  Rank 13 -- GPU 5 managed by process 323033 on node 10.137.190.124

`

func TestSituations(t *testing.T) {
	for _, s := range slices.Concat(plain, misleading, blame, unusual) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f := NewFolder(t)
			s.make(f)
			evidence, notes := read(t, f)
			found := hang.Analyze(*evidence)
			v := found.Verdict
			t.Log(v, notice.Message(found.Cause))
			got := fmt.Sprint(v.Code, " ", v.Ranks, " ", v.Confidence)
			if !strings.HasPrefix(got, s.verdict) || s.seq > 0 && v.Sequence != s.seq {
				t.Errorf("%s; wanted %s", got, s.verdict)
			}
			all := codes(slices.Concat(found.Evidence, found.Contradictions, notes))
			for _, want := range strings.Fields(s.lists) {
				if !slices.Contains(all, notice.Code(want)) {
					t.Errorf("no %s in %v", want, all)
				}
			}
		})
	}
}
