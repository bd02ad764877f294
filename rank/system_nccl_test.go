package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/rank/exit"
)

// rehearsed are the flags of a run over the stand-ins.
func rehearsed(args ...string) []string {
	return append([]string{"--rehearse", "--backend", "nccl"}, args...)
}

// Each record says how its data was checked and what that took, and the header what preparing it took.
func TestCostOfChecks(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 2, args: rehearsed(small(out)...)}.mustRun(t)
	f := readOne(t, out)
	checkWhole(t, f, result.OK)
	for _, r := range f.Records {
		if r.Check.Way != "pinned host memory" || r.Check.Seconds <= 0 {
			t.Errorf("%s: checked by %q in %g s", r.Case, r.Check.Way, r.Check.Seconds)
		}
	}
	setup := map[string]float64{}
	for _, s := range f.Run.Setup {
		setup[s.What] = s.Seconds
	}
	if len(setup) != 3 || setup["driver"] <= 0 || setup["checks"] <= 0 || setup["communicator"] <= 0 {
		t.Errorf("set up: %v", f.Run.Setup)
	}
}

// A profiler's NVTX tool that one rank cannot use costs that rank its ranges, not the run.
func TestNVTXToolDeclines(t *testing.T) {
	dir := t.TempDir()
	source, tool := filepath.Join(dir, "tool.c"), filepath.Join(dir, "tool.so")
	text := "#include <stdlib.h>\n#include <string.h>\n" +
		"int InitializeInjectionNvtx2(void *f) { return f && strcmp(getenv(\"OMPI_COMM_WORLD_RANK\"), \"1\"); }\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command("cc", "-shared", "-fPIC", "-o", tool, source).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, said)
	}
	for path, want := range map[string]string{tool: "from ranks 1: ", "/nowhere/tool.so": "from ranks 0-1: "} {
		out := t.TempDir()
		rankRun{mpirun: openMPI, np: 2, args: rehearsed(small(out, "--profile-range")...),
			env: []string{"NVTX_INJECTION64_PATH=" + path}}.mustRun(t)
		f := readOne(t, out)
		checkWhole(t, f, result.OK)
		if notes := strings.Join(f.Run.Backend.Notes, "\n"); !strings.Contains(notes, want) ||
			!strings.Contains(notes, path) {
			t.Errorf("%s: notes %q, wanted %q", path, notes, want)
		}
	}
}

// A minimum of thread blocks goes with a maximum, which NCCL before 2.31 requires.
func TestMinCTAsAlone(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 2, env: []string{"BUSBAR_REHEARSAL_VERSION=21701"},
		args: rehearsed(small(out, "--min-ctas", "4")...)}.mustRun(t)
	f := readOne(t, out)
	checkWhole(t, f, result.OK)
	if c := f.Run.Method.Config; !strings.HasSuffix(c, "minCTAs=4 maxCTAs=1024") {
		t.Errorf("recorded as %q", c)
	}
}

// A communicator on another GPU than the rank's own is refused with both named, whether or not the rank sees the other.
func TestCommunicatorOnAnotherGPU(t *testing.T) {
	parallel(t)
	for gpus, other := range map[string]string{"4": "Rehearsed GPU, 0000:12:00.0, GPU-",
		"2": "not visible to this rank"} {
		o := rankRun{mpirun: openMPI, np: 2,
			env:  []string{killAtOnce, "BUSBAR_REHEARSAL_FAULT=other-gpu@rank=1", "BUSBAR_REHEARSAL_GPUS=" + gpus},
			args: rehearsed(small(t.TempDir())...)}.run(t)
		said := strings.Join(o.messages(), "\n")
		for _, w := range []string{"rank 1 on " + hostName() + ": the communicator", "uses GPU 2 (" + other,
			"uses GPU 1 (Rehearsed GPU, 0000:11:00.0, GPU-"} {
			if o.code != exit.Environment || !strings.Contains(said, w) {
				t.Errorf("%s GPUs: want exit code %d and %q: %s", gpus, exit.Environment, w, o)
			}
		}
	}
}

// NCCL before 2.30 rejects two slices of one GPU, which have its PCI address in common: rank refuses them first, or
// lets them share the GPU. Newer versions accept them with a variable that rank sets.
func TestSlicesOfOneGPU(t *testing.T) {
	parallel(t)
	slices := func(version string) []string {
		return []string{"BUSBAR_REHEARSAL_SLICES=2", "BUSBAR_REHEARSAL_GPUS=2", "BUSBAR_REHEARSAL_VERSION=" + version}
	}
	out := t.TempDir()
	refused(t, rankRun{mpirun: openMPI, np: 2, env: slices("22907"), args: rehearsed(small(out)...)}, out,
		"ranks 0, 1 on", "share one GPU (Rehearsed GPU, 0000:10:00.0, MIG-", "2.29.7 compares PCI addresses",
		"--allow-shared-gpu")
	for _, k := range []struct {
		version string
		args    []string
		shared  bool
	}{{"22907", []string{"--allow-shared-gpu"}, true}, {"23003", nil, false}} {
		out := t.TempDir()
		rankRun{mpirun: openMPI, np: 2, env: slices(k.version), args: rehearsed(small(out, k.args...)...)}.mustRun(t)
		f := readOne(t, out)
		checkWhole(t, f, result.OK)
		if f.Run.Method.Shared != k.shared {
			t.Errorf("%s: recorded as shared: %t", k.version, f.Run.Method.Shared)
		}
	}
}

// NCCL does not reduce 8-bit floats below compute capability 9.0, and before 2.28 does not gather them either. Such
// points are unsupported, with NCCL's reason, and the sweep goes on with the same communicator: giving it up would
// hang here.
func TestFloat8OnOldGPU(t *testing.T) {
	parallel(t)
	for version, gathers := range map[string]result.Status{"22707": result.Unsupported, "23003": result.OK} {
		out := t.TempDir()
		o := rankRun{mpirun: openMPI, np: 2,
			env: []string{"BUSBAR_REHEARSAL_CAPABILITY=8.0", "BUSBAR_REHEARSAL_VERSION=" + version,
				"BUSBAR_REHEARSAL_FAULT=abort-hang"},
			args: rehearsed("--collective", "all_reduce,all_gather,sendrecv", "-d", "float8e4m3,float8e5m2,float32",
				"-b", "4K", "-e", "4K", "-n", "3",
				"--mode", "throughput", "--deadline", "5s", "--out", out)}.run(t)
		f := readOne(t, out)
		if len(f.Records) != 9 {
			t.Errorf("%s: %d points: %s", version, len(f.Records), o)
		}
		for _, r := range f.Records {
			want := result.OK
			if r.Type.Size() == 1 && r.Collective != coll.SendRecv {
				want = gathers
				if r.Collective == coll.AllReduce {
					want = result.Unsupported
				}
			}
			if r.Status != want || want == result.Unsupported &&
				!strings.Contains(r.Reason, "FP8 reduction support begins with sm90") {
				t.Errorf("%s: %s: %s (%s), wanted %s", version, r.Case, r.Status, r.Reason, want)
			}
		}
	}
}

// The buffers of --like nccl-tests move, and each place is checked; a graph moves through them too.
func TestBuffersMoveAsInNCCLTests(t *testing.T) {
	parallel(t)
	for name, more := range map[string][]string{"calls": nil, "graph": {"-G", "2"}, "one place": {"--rotate", "0"}} {
		out := t.TempDir()
		rankRun{mpirun: openMPI, np: 2,
			args: append(rehearsed("--like", "nccl-tests", "--collective", "all_reduce", "-b", "4K",
				"-e", "64K", "-f", "4", "--placement", "out", "--out", out), more...)}.mustRun(t)
		f := readOne(t, out)
		checkWhole(t, f, result.OK)
		moves := name != "one place"
		if m := f.Run.Method; m.Packed != moves || moves && m.Rotate != 64<<10 || m.Alloc != "nccl" {
			t.Errorf("%s: the header has %+v", name, m)
		}
		for _, r := range f.Records {
			places := int64(1)
			if moves {
				places = 64 << 10 / r.SizeBytes
			}
			each := r.Count * 2 // over ranks
			if got := r.Check.Elements; got != 2*places*each {
				t.Errorf("%s: %s: %d elements compared, want those of %d places before and after timing", name, r.Case,
					got, places)
			}
		}
	}
}

// Windows have one size on all ranks, though roots have larger buffers than the others.
func TestWindowsOfRoots(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 3, args: rehearsed("--register", "window", "--rotate", "256K", "--collective",
		"gather,scatter,broadcast,reduce",
		"--placement", "out,in", "-b", "48K", "-e", "48K", "-n", "7", "-w", "1", "-c", "1", "--mode", "throughput",
		"--out", out)}.mustRun(t)
	f := readOne(t, out)
	for _, r := range f.Records {
		if r.Status != result.OK || r.Check.Result != "ok" {
			t.Errorf("%s: %s %s", r.Case, r.Status, r.Reason)
		}
	}
	if len(f.Records) != 8 {
		t.Errorf("%d points", len(f.Records))
	}
}

// NCCL keeps its last words for ever: a size that runs out of memory once more, in the same words, has run out of
// memory.
func TestOutOfMemoryTwice(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	o := rankRun{mpirun: openMPI, np: 2, env: []string{"BUSBAR_REHEARSAL_FAULT=oom@rank=1,size=4096"},
		args: rehearsed("--collective", "all_reduce",
			"--placement", "out,in", "-b", "4K", "-e", "8K", "-n", "3", "--mode", "throughput", "--out", out)}.run(t)
	if o.code == 0 {
		t.Error("the run ended as if nothing was")
	}
	for _, r := range readOne(t, out).Records {
		want := result.OOM
		if r.SizeBytes != 4096 {
			want = result.OK
		}
		if r.Status != want {
			t.Errorf("%s: %s %s", r.Case, r.Status, r.Reason)
		}
	}
}
