package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/result"
	"busbar/rank/exit"
)

// The matrix of faults of NCCL's backend: each phase with each fault that can strike in it, with real processes over
// the rehearsal. Three points, of which the second is struck.
func TestFaultMatrix(t *testing.T) {
	t.Parallel()
	const kept = 1 // the point before
	for _, k := range []struct {
		name  string
		fault string   // BUSBAR_REHEARSAL_FAULT
		env   []string // more of the environment
		args  []string // more of the command line
		lacks []string // symbols that the library of --nccl, the last argument, does not have
		np    int      // 3 unless said
		code  int
		words []string      // that must be said
		ok    int           // points that are ok in the end
		point result.Status // what became of the point in hand; "" for no point
	}{
		// Before there are figures.
		{name: "load: no driver", args: []string{"--cuda", "/nowhere/libcuda.so.1"}, code: exit.Environment,
			words: []string{"/nowhere/libcuda.so.1", "libcuda.so.1 comes with NVIDIA's driver"}},
		{name: "load: no NCCL", args: []string{"--nccl", "/nowhere/libnccl.so.2"}, code: exit.Environment,
			words: []string{"/nowhere/libnccl.so.2", "--nccl PATH"}},
		{name: "load: a symbol is missing", args: []string{"--nccl"}, lacks: []string{"ncclCommInitRank"},
			code: exit.Environment, words: []string{"ncclCommInitRank"}},
		{name: "load: ranks have different versions", env: []string{"BUSBAR_TEST_VERSIONS=1"}, code: exit.Environment,
			words: []string{"rank 1 on", "2.21.5", "2.27.7"}},
		{name: "load: no GPU is visible", env: []string{"CUDA_VISIBLE_DEVICES="}, code: exit.Environment,
			words: []string{"CUDA_ERROR_NO_DEVICE", "CUDA_VISIBLE_DEVICES=\"\""}},
		{name: "load: ranks share a GPU", env: []string{"CUDA_VISIBLE_DEVICES=0"}, code: exit.Environment,
			words: []string{"ranks 0, 1, 2 on", "share one GPU", "--allow-shared-gpu"}},
		{name: "load: ranks may share a GPU", env: []string{"CUDA_VISIBLE_DEVICES=0"},
			args: []string{"--allow-shared-gpu"}, code: exit.OK, ok: 3},
		{name: "init: never ends", fault: "init-hang@rank=1", code: exit.Hang,
			words: []string{"in phase NCCL init", "waiting for rank 1"}},
		{name: "init: a fault that is none", fault: "wring@rank=1", code: exit.Failed,
			words: []string{"BUSBAR_REHEARSAL_FAULT"}},

		{name: "load: no ncclMemAlloc", args: []string{"--alloc", "nccl", "--nccl"}, lacks: []string{"ncclMemAlloc"},
			code: exit.Environment, words: []string{"no ncclMemAlloc", "leave --alloc out"}},

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

		// The library reports an error, and every rank lives.
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
		{name: "recover: without an abort", fault: "async-error@rank=0,size=4096", args: []string{"--nccl"},
			lacks: []string{"ncclCommAbort"}, code: exit.Failed, words: []string{"ncclCommAbort"}, ok: kept,
			point: result.Failed},

		// The others wait inside their first call for the rank that failed: only the end of its communicator brings
		// them out.
		{name: "check: first operation fails while others connect",
			fault: "oom@rank=1,size=4096,phase=check,iteration=0", env: []string{"BUSBAR_REHEARSAL_CONNECT=1"},
			args: []string{"-b", "4K"}, code: exit.Points, ok: 1, point: result.OOM},
		{name: "check: first operation fails while others connect, graphs",
			fault: "oom@rank=1,size=4096,phase=check,iteration=0", env: []string{"BUSBAR_REHEARSAL_CONNECT=1"},
			args: []string{"-b", "4K", "-G", "2"}, code: exit.Points, ok: 1, point: result.OOM},

		{name: "measure: an error that passes", fault: "async-error@rank=1,size=4096,phase=measure,iteration=0",
			args: []string{"--retry", "2"}, code: exit.OK, ok: 3},
		{name: "measure: an error that stays", fault: "async-error@rank=1,size=4096,phase=measure",
			args: []string{"--retry", "1"}, code: exit.Points, ok: 2, point: result.Failed},

		// Wrong and late.
		{name: "check: wrong element", fault: "wrong@rank=1,size=4096,phase=check", code: exit.Wrong,
			words: []string{"rank 1 on", "index"}, ok: 2, point: result.Wrong},
		{name: "measure: wrong element", fault: "wrong@rank=2,size=4096,phase=measure", code: exit.Wrong,
			words: []string{"rank 2 on", "index"}, ok: 2, point: result.Wrong},
		{name: "measure: late", fault: "late:5ms@rank=1", code: exit.OK, ok: 3},

		// A process ends.
		{name: "check: crash", fault: "crash@rank=1,size=4096,phase=check", code: -1,
			words: []string{"rank 1 on", "is gone"}, ok: kept, point: result.Failed},
		{name: "measure: crash", fault: "crash@rank=2,size=4096,phase=measure", code: -1,
			words: []string{"rank 2 on", "is gone"}, ok: kept, point: result.Failed},

		// What a short library lacks is done another way, or is no figure.
		{name: "no alltoall gather scatter",
			args:  []string{"--collective", "alltoall,gather,scatter", "-e", "1K", "--nccl"},
			lacks: []string{"ncclAlltoAll", "ncclGather", "ncclScatter"}, code: exit.OK, ok: 3},
		{name: "no 8-bit send", args: []string{"--collective", "sendrecv", "--nccl"}, lacks: []string{"ncclSend"},
			code: exit.OK},
	} {
		t.Run(k.name, func(t *testing.T) {
			parallel(t)
			out := t.TempDir()
			if k.lacks != nil {
				k.args = append(k.args, lacking(t, k.lacks...))
			}
			if k.code == exit.Environment {
				k.env = append(k.env, killAtOnce)
			}
			deadline := "60s" // that of a row without a hang is not tried: a busy machine may take its time
			if k.code == exit.Hang {
				deadline = hangDeadline
			}
			l := rankRun{mpirun: openMPI, np: max(3, k.np), env: append(k.env, "BUSBAR_REHEARSAL_FAULT="+k.fault),
				args: append([]string{"--rehearse", "--backend", "nccl",
					"--collective", "all_reduce", "-b", "1K", "-e", "16K", "-f", "4", "-n", "10", "--deadline",
					deadline,
					"--out", out}, k.args...)}
			if len(k.env) > 0 && strings.HasPrefix(k.env[0], "BUSBAR_TEST_VERSIONS") {
				l.program, l.args = oddOneOut(t), append([]string{compiled(t).rank}, l.args...)
			}
			o := l.run(t)
			if o.code != k.code && (k.code >= 0 || o.code == 0) {
				t.Errorf("want exit code %d: %s", k.code, o)
			}
			said := strings.ReplaceAll(o.stdout, "\n#   ", " ") + strings.Join(o.messages(), "\n") + o.stderr
			for _, w := range k.words {
				if !strings.Contains(said, w) {
					t.Errorf("%q is not said: %s", w, o)
				}
			}
			if k.code == exit.Environment {
				if names, _ := filepath.Glob(out + "/*"); len(names) > 0 {
					t.Errorf("there are files: %v", names)
				}
				return
			}
			if k.ok == 0 {
				return
			}
			f := readOne(t, out)
			count := map[result.Status]int{}
			for _, r := range f.Records {
				count[r.Status]++
			}
			if count[result.OK] != k.ok || k.point != "" && count[k.point] != 1 {
				t.Errorf("points are %v, wanted %d ok and one %q: %s", count, k.ok, k.point, o)
			}
			if f.End == nil {
				t.Error("the file has no end")
			}
			checkMerges(t, out)
		})
	}
}

// lacking builds a stand-in of NCCL without some of its functions.
func lacking(t *testing.T, symbols ...string) string {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command("../scripts/rehearsal.sh")
	c.Env = append(os.Environ(), "OUT="+dir, "CFLAGS=-O0", "WITHOUT="+strings.Join(symbols, " "))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "libnccl.so.2")
}

// oddOneOut is a program that starts another one, with an older NCCL on rank 1.
func oddOneOut(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "rank.sh")
	text := "#!/bin/sh\nif [ \"$OMPI_COMM_WORLD_RANK\" = 1 ]; then export BUSBAR_REHEARSAL_VERSION=22105; fi\nexec " +
		"\"$@\"\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// A rank that is stopped while NCCL runs is named, whatever the others wait in.
func TestStoppedRankUnderNCCL(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	r := rankRun{mpirun: openMPI, np: 3,
		args: endless(out, "--deadline", hangDeadline, "--rehearse", "--backend", "nccl")}.start(t)
	before := r.awaitPoints(out, 3)
	victim := r.pid(1)
	r.signal(1, syscall.SIGSTOP)
	o := r.wait()
	if want := fmt.Sprintf("rank 1 on %s (pid %d)", hostName(), victim); o.code != exit.Hang ||
		!strings.Contains(o.stderr, want) {
		t.Errorf("want exit code %d and %q: %s", exit.Hang, want, o)
	}
	f := readOne(t, out)
	checkEnd(t, f, result.Aborted, exit.Hang)
	checkKept(t, f, before)
}
