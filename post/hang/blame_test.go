package hang_test

import (
	"fmt"
	"strings"
	"testing"
)

// traceback is an exception of a program.
func traceback(last string) []string {
	return []string{"Traceback (most recent call last):", `  File "train.py", line 3, in <module>`, last}
}

// stopped is a job of 4 ranks in which rank 2 does not enter the fifth collective, and the others time out.
func stopped(f *Folder, without ...int) {
	f.Dumps(stops(job(4), 2), without...)
	logs(f, 5, 5, 1, 3)
}

// blame are situations in which a rank looks guilty.
var blame = []situation{
	{name: "a rank catches an exception and times out later", verdict: "rank-missing [2]",
		make: func(f *Folder) {
			stopped(f)
			caught := append(traceback("ModuleNotFoundError: No module named flash_attn"), "falling back", "step 1")
			f.Log(0, append(caught, watchdog(0, 5, 5)...)...)
		}},
	{name: "all ranks catch an exception", verdict: "insufficient-evidence []",
		lists: "rank-without-evidence",
		make: func(f *Folder) {
			f.Dumps(stops(job(4), 2), 2)
			for rank := range 4 {
				f.Log(rank, append(traceback("ModuleNotFoundError: No module named flash_attn"), "falling back")...)
			}
		}},
	{name: "the launcher ends the missing rank", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			stopped(f, 2)
			f.Log(2, append([]string{"step 4", "W0101 02:07:10 torch/distributed/elastic/multiprocessing/api.py:897] " +
				"Sending process 123 closing signal SIGTERM"},
				traceback("RuntimeError: unable to read a batch")...)...)
		}},
	{name: "a worker of the data loader is ended", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			stopped(f, 2)
			f.Log(2, traceback("RuntimeError: DataLoader worker (pid 4711) is killed by signal: Terminated. ")...)
		}},
	{name: "a rank catches an exception and tries again", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			stopped(f, 2)
			f.Log(2, append(traceback("OSError: [Errno 5] Input/output error"), "retrying", "retry 3, waiting")...)
		}},
	{name: "an exception while another is handled", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			stopped(f, 2)
			lines := append(traceback("KeyError: 'x'"), "", "During handling of the above exception, another "+
				"exception occurred:", "")
			f.Log(2, append(lines, traceback("torch.distributed.DistBackendError: NCCL was aborted")...)...)
		}},
	{name: "an exception that no launcher reports", verdict: "rank-died [2] likely",
		make: func(f *Folder) {
			stopped(f, 2)
			f.Log(2, append(traceback("RuntimeError: CUDA error: device-side assert triggered"),
				"CUDA kernel errors might be asynchronously reported at some other API call",
				"[rank2]:[W321 02:07:08.4 ProcessGroupNCCL.cpp:1250] Warning: process group has not been destroyed")...)
		}},
	{name: "an exception in a log whose name has a number", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			stopped(f, 2)
			f.File("run2.log", strings.Join(traceback("ValueError: batch is empty"), "\n"))
		}},
	{name: "an exception of a local rank", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			stopped(f, 2)
			f.File("nodeB/attempt_0/2/stderr.log", strings.Join(traceback("ValueError: batch is empty"), "\n"))
		}},
	{name: "a task of several ranks is killed", verdict: "rank-died [] likely",
		lists: "task-ended",
		make: func(f *Folder) {
			f.Dumps(job(8).All(reduce(), 4).Except(reduce(), 4, 5, 6, 7).Run(), 4, 5, 6, 7)
			f.File("slurm-1.out", "srun: error: node1: task 1: Out Of Memory\n")
		}},
	{name: "a task of several ranks is killed, and only lines of watchdogs", verdict: "rank-died [] likely",
		make: func(f *Folder) {
			var lines []string
			for _, rank := range []int{0, 2, 3} {
				lines = append(lines, watchdog(rank, 5, 5)...)
			}
			f.File("slurm-1.out", strings.Join(lines, "\n"))
			f.File("launcher.txt", "srun: error: node1: task 1: Out Of Memory\n")
		}},
	{name: "a task is killed whose log shows the rank", verdict: "rank-died [2] certain",
		make: func(f *Folder) {
			logs(f, 5, 5, 0, 1, 3)
			f.Log(2, "step 4")
			f.File("launcher.txt", "srun: error: node1: task 2: Killed\n")
		}},
	{name: "a rank has no log, and a file of its name", verdict: "rank-missing [2] likely",
		make: func(f *Folder) {
			stopped(f)
			f.Log(0, watchdog(0, 5, 5)...).File("config_rank2.txt", "batch: 7\n")
		}},
	{name: "a status of another group", verdict: "rank-missing [2] likely",
		make: func(f *Folder) {
			stopped(f)
			f.Log(0, watchdog(0, 5, 5)...)
			f.Log(2, strings.Replace(signalled(2, 3), "PG ID 0 PG GUID 0(default_pg)", "PG ID 4 PG GUID 4(ep)", 1))
		}},
	{name: "a rank left nothing, and others time out and close connections", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			f.Dumps(stops(gloo(4), 3), 3)
			f.Log(0, closedByPeer).Log(1, timedOut).Log(2, closedByPeer)
		}},
	{name: "a rank left nothing, and others lose connections", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			f.Dumps(stops(gloo(4), 3), 3)
			f.Log(0, closedByPeer).Log(1, closedByPeer).Log(2, closedByPeer)
		}},
	{name: "groups without a description", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			for rank := range 4 {
				pair := fmt.Sprintf("PG ID 1 PG GUID %d(undefined) Rank", 1+rank/2)
				lines := strings.Join(watchdog(rank, 5+10*(rank/2), 5+10*(rank/2)), "\n")
				lines = strings.ReplaceAll(lines, "PG ID 0 PG GUID 0(default_pg) Rank", pair)
				f.Log(rank, strings.ReplaceAll(lines, fmt.Sprintf("[Rank %d]", rank), "["+pair+" 0]"))
			}
		}},
	{name: "groups of dumps without a description", verdict: "rank-missing [2] certain",
		make: func(f *Folder) {
			j := job(3)
			j.Groups = map[string][]int{"1": {0, 1}, "2": {0, 2}}
			f.Dumps(j.All(in("1"), 4, 0, 1).All(in("2"), 6, 0, 2).All(in("2"), 1, 0).Run())
			f.Log(0, strings.ReplaceAll(strings.Join(watchdog(0, 7, 7), "\n"), "PG ID 0 PG GUID 0(default_pg) Rank",
				"PG ID 2 PG GUID 2(undefined) Rank"))
			f.Log(2, strings.Replace(signalled(2, 6), "PG ID 0 PG GUID 0(default_pg)",
				"PG ID 2 PG GUID 2(undefined)", 1))
		}},
	{name: "logs go on after a restart", verdict: "rank-missing [1]",
		make: func(f *Folder) {
			f.Log(0, append(watchdog(0, 500, 500), append([]string{"restart"}, watchdog(0, 7, 7)...)...)...)
			f.Log(1, append(watchdog(1, 500, 500), "restart", signalled(1, 6))...)
		}},
	{name: "monitored_barrier of a group", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			f.Log(8, "[rank8]: RuntimeError: [Rank 0]: Rank 1 failed to pass monitoredBarrier in 30000 ms")
		}},
}

// The rank in a group is no global rank.
func TestRanksOfGroups(t *testing.T) {
	f := NewFolder(t)
	pair := strings.NewReplacer("[rank0]:", "", "[rank1]:", "", "PG ID 0 PG GUID 0(default_pg)", "PG 5")
	f.File("job.out", strings.Replace(watchdog(1, 5, 5)[1], "[rank1]:", "", 1)+"\n"+
		pair.Replace(strings.Join(watchdog(0, 5, 5), "\n")))
	of, _ := read(t, f)
	if events := of.Logs[0].Events; len(events) != 3 || events[0].Rank != 1 || events[1].Rank >= 0 ||
		events[2].Rank >= 0 {
		t.Errorf("%+v", events)
	}
}
