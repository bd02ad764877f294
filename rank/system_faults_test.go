package main

import (
	"strings"
	"testing"

	"busbar/internal/result"
	"busbar/rank/exit"
)

// faulted is a launch with a fault and what follows.
type faulted struct {
	name  string
	fault string   // BUSBAR_REHEARSAL_FAULT
	env   []string // more environment
	args  []string // more flags
	lacks []string // functions that the library lacks
	code  int
	words []string      // expected text
	ok    int           // points that are ok
	point result.Status // status of the current point; "" for no point
}

// The fault matrix of the NCCL backend: each phase with each possible fault, with real processes and simulated NCCL.
// The second of three points has the fault.
func TestFaultMatrix(t *testing.T) {
	t.Parallel()
	const kept = 1 // the point before
	for _, k := range []faulted{
		{name: "load: ranks may share a GPU", env: []string{"CUDA_VISIBLE_DEVICES=0"},
			args: []string{"--allow-shared-gpu"}, code: exit.OK, ok: 3},
		{name: "init: never ends", fault: "init-hang@rank=1", code: exit.Hang,
			words: []string{"in phase NCCL init", "waiting for rank 1"}},
		{name: "init: a fault that is none", fault: "wring@rank=1", code: exit.Failed,
			words: []string{"BUSBAR_REHEARSAL_FAULT"}},

		// The rank never arrives.
		{name: "check: hang", fault: "hang@rank=2,size=4096,phase=check", code: exit.Hang,
			words: []string{"rank 2 on", "(issuing)", "4 KiB", "in phase check"}, ok: kept, point: result.Timeout},
		{name: "warm-up: hang", fault: "hang@rank=1,size=4096,phase=warm-up", code: exit.Hang,
			words: []string{"rank 1 on", "(issuing)", "in phase warm-up"}, ok: kept, point: result.Timeout},
		{name: "measure: hang", fault: "hang@rank=0,size=4096,phase=measure", code: exit.Hang,
			words: []string{"rank 0 on", "(issuing)", "in phase measure"}, ok: kept, point: result.Timeout},
		{name: "measure: hang, latency", fault: "hang@rank=2,size=4096,phase=measure,iteration=3",
			args: []string{"--mode", "latency"}, code: exit.Hang, words: []string{"rank 2 on", "(issuing)"}, ok: kept,
			point: result.Timeout},
		{name: "measure: hang, and the abort hangs", fault: "abort-hang@rank=1;hang@rank=2,size=4096", code: exit.Hang,
			words: []string{"rank 2 on"}, ok: kept, point: result.Timeout},

		// The library reports an error, and all ranks are alive.
		{name: "check: asynchronous error", fault: "async-error@rank=0,size=4096,phase=check", code: exit.Points,
			words: []string{"rank 0 on", "ncclInternalError"}, ok: 2, point: result.Failed},
		{name: "measure: asynchronous error", fault: "async-error@rank=2,size=4096,phase=measure", code: exit.Points,
			words: []string{"rank 2 on", "ncclInternalError"}, ok: 2, point: result.Failed},
		{name: "measure: error between batches", fault: "async-error@rank=1,size=4096,phase=measure,iteration=4",
			args: []string{"--mode", "latency"}, code: exit.Points, words: []string{"rank 1 on"}, ok: 2,
			point: result.Failed},
		{name: "measure: remote error", fault: "remote-error@rank=1,size=4096,phase=measure", code: exit.Points,
			words: []string{"rank 1 on", "ncclRemoteError"}, ok: 2, point: result.Failed},
		{name: "check: out of memory", fault: "oom@size=4096,phase=check", code: exit.Points,
			words: []string{"Failed to CUDA malloc 4096 bytes"}, ok: 2, point: result.OOM},
		{name: "warm-up: out of memory on one rank", fault: "oom@rank=2,size=4096,phase=warm-up", code: exit.Points,
			words: []string{"rank 2 on", "Failed to CUDA malloc 4096 bytes"}, ok: 2, point: result.OOM},
		{name: "recover: the abort hangs", fault: "abort-hang@rank=1;async-error@rank=0,size=4096", code: exit.Hang,
			words: []string{"NCCL abort"}, ok: kept, point: result.Timeout},
		{name: "recover: without an abort", fault: "async-error@rank=0,size=4096", lacks: []string{"ncclCommAbort"},
			code: exit.Failed, words: []string{"ncclCommAbort"}, ok: kept,
			point: result.Failed},

		// The other ranks wait in their first call for the failed rank: only aborting its communicator releases them.
		{name: "check: first operation fails while others connect",
			fault: "oom@rank=1,size=4096,phase=check,iteration=0", env: []string{"BUSBAR_REHEARSAL_CONNECT=1"},
			args: []string{"-b", "4K"}, code: exit.Points, ok: 1, point: result.OOM},
		{name: "check: first operation fails while others connect, graphs",
			fault: "oom@rank=1,size=4096,phase=check,iteration=0", env: []string{"BUSBAR_REHEARSAL_CONNECT=1"},
			args: []string{"-b", "4K", "-G", "2"}, code: exit.Points, ok: 1, point: result.OOM},

		// Wrong data and delays.
		{name: "check: wrong element", fault: "wrong@rank=1,size=4096,phase=check", code: exit.Wrong,
			words: []string{"rank 1 on", "index"}, ok: 2, point: result.Wrong},
		{name: "measure: wrong element", fault: "wrong@rank=2,size=4096,phase=measure", code: exit.Wrong,
			words: []string{"rank 2 on", "index"}, ok: 2, point: result.Wrong},
		{name: "measure: late", fault: "late:5ms@rank=1", code: exit.OK, ok: 3},

		// A process exits.
		{name: "check: crash", fault: "crash@rank=1,size=4096,phase=check", code: -1,
			words: []string{"rank 1 on", "killed"}, ok: kept, point: result.Failed},
		{name: "measure: crash", fault: "crash@rank=2,size=4096,phase=measure", code: -1,
			words: []string{"rank 2 on", "killed"}, ok: kept, point: result.Failed},

		// An alternative replaces a missing function.
		{name: "no alltoall gather scatter", args: []string{"--collective", "alltoall,gather,scatter", "-e", "1K"},
			lacks: []string{"ncclAlltoAll", "ncclGather", "ncclScatter"}, code: exit.OK, ok: 3},
	} {
		for _, launcher := range []string{openMPI, meet} {
			t.Run(k.name+" "+launcher, func(t *testing.T) {
				parallelOn(t, launcher)
				k.check(t, launcher)
			})
		}
	}
}

// check runs a launch with the fault.
func (k faulted) check(t *testing.T, launcher string) {
	out := t.TempDir()
	if k.lacks != nil {
		k.args = append(k.args, "--nccl", lacking(t, k.lacks...))
	}
	deadline := "60s" // rows without a hang need no short deadline: the machine may be busy
	if k.code == exit.Hang {
		deadline = hangDeadline
	}
	o := rankRun{mpirun: launcher, np: 3, env: append(k.env, "BUSBAR_REHEARSAL_FAULT="+k.fault),
		args: append(simulated("--collective", "all_reduce", "-b", "1K", "-e", "16K", "-f", "4", "-n", "10",
			"--deadline", deadline, "--out", out), k.args...)}.run(t)
	if o.code != k.code && (k.code >= 0 || o.code == 0) {
		t.Errorf("want exit code %d: %s", k.code, o)
	}
	has(t, strings.ReplaceAll(o.stdout, "\n#   ", " ")+o.stderr, k.words...)
	if k.ok == 0 {
		return
	}
	f := readOne(t, out)
	count := map[result.Status]int{}
	for _, r := range f.Records {
		count[r.Status]++
	}
	if count[result.OK] != k.ok || k.point != "" && count[k.point] != 1 || f.End == nil {
		t.Errorf("points are %v, wanted %d ok and one %q, and an end: %s", count, k.ok, k.point, o)
	}
}
