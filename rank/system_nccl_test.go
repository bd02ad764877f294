package main

import (
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/rank/exit"

	"github.com/shoenig/test"
)

// NCCL does not reduce 8-bit floats below compute capability 9.0, and before 2.28 does not gather them either. Such
// points are unsupported, with NCCL's reason. The sweep continues with the same communicator: closing it would hang
// here.
func TestFloat8OnOldGPU(t *testing.T) {
	t.Parallel()
	for version, gathers := range map[string]result.Status{"22707": result.Unsupported, "23003": result.OK} {
		out := t.TempDir()
		o := rankRun{env: []string{"BUSBAR_REHEARSAL_CAPABILITY=8.0", "BUSBAR_REHEARSAL_VERSION=" + version,
			"BUSBAR_REHEARSAL_FAULT=abort-hang"},
			args: simulated("--collective all_reduce,all_gather,sendrecv -d float8e4m3,float8e5m2,float32 -b 4K",
				"-e 4K -n 3 --mode throughput --deadline 5s --out", out)}.run(t)
		f := readOne(t, out)
		test.Len(t, 9, f.Records, test.Sprint(version, o))
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

// Windows have the same size on all ranks, although roots have larger buffers.
func TestWindowsOfRoots(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	rankRun{np: 3, args: simulated("--register window --rotate 256K --collective gather,scatter,broadcast,reduce",
		"--placement out,in -b 48K -e 48K -n 7 -w 1 -c 1 --mode throughput --out", out)}.mustRun(t)
	f := readOne(t, out)
	for _, r := range f.Records {
		if r.Status != result.OK || r.Check.Result != "ok" {
			t.Errorf("%s: %s %s", r.Case, r.Status, r.Reason)
		}
	}
	test.Len(t, 8, f.Records)
}

// NCCL keeps its last error message: a second message of the same text is out of memory again.
func TestRepeatedOutOfMemory(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	o := rankRun{env: []string{"BUSBAR_REHEARSAL_FAULT=oom@rank=1,size=4096"},
		args: simulated("--collective all_reduce --placement out,in -b 4K -e 8K -n 3 --mode throughput --out",
			out)}.run(t)
	if o.code == 0 {
		t.Error("the run reported success")
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

// The header records the NCCL options of flags and environment, and the points are correct.
func TestNCCLOptions(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		args, env string
		ok        func(m result.Method) bool
	}{
		{"--min-ctas 2 --max-ctas 4", "", func(m result.Method) bool {
			return strings.Contains(m.Config, "minCTAs=2 maxCTAs=4")
		}},
		{"--min-ctas 4", "BUSBAR_REHEARSAL_VERSION=21701",
			func(m result.Method) bool { // NCCL 2.17 requires a maximum
				return strings.HasSuffix(m.Config, "minCTAs=4 maxCTAs=1024")
			}},
		{"--allow-shared-gpu", "BUSBAR_REHEARSAL_SLICES=2", func(m result.Method) bool { return m.Shared }},
		{"", "BUSBAR_REHEARSAL_SLICES=2 BUSBAR_REHEARSAL_VERSION=23003",
			func(m result.Method) bool { return !m.Shared }},
		{"--profile-range", "NVTX_INJECTION64_PATH=/nowhere/tool.so", func(m result.Method) bool { return true }},
	} {
		f, _ := rankRun{args: simulated(append(flags(k.args), few...)...),
			env: append(strings.Fields(k.env), "BUSBAR_REHEARSAL_GPUS=2")}.measured(t)
		checkWhole(t, f, result.OK)
		if !k.ok(f.Run.Method) {
			t.Errorf("%s %s: %+v", k.args, k.env, f.Run.Method)
		}
		for _, r := range f.Records {
			if r.Check.Way != "pinned host memory" || r.Check.Seconds <= 0 {
				t.Errorf("%s: checked by %q in %g s", r.Case, r.Check.Way, r.Check.Seconds)
			}
		}
		for _, s := range f.Run.Setup {
			if s.Seconds <= 0 {
				t.Errorf("%s: %+v", k.args, s)
			}
		}
	}
}

// The buffers of --like nccl-tests move, also in a graph; each position is checked.
func TestNCCLTestsOutput(t *testing.T) {
	t.Parallel()
	for more, moves := range map[string]bool{"-m 1": true, "-G 2": true, "--rotate 0": false} {
		f, _ := rankRun{args: simulated(append(flags(more), "--like", "nccl-tests", "--collective",
			"all_reduce",
			"-b", "4K", "-e", "64K", "-f", "4", "--placement", "out")...)}.measured(t)
		checkWhole(t, f, result.OK)
		if m := f.Run.Method; m.Packed != moves || moves && m.Rotate != 64<<10 || m.Alloc != "nccl" {
			t.Errorf("%s: the header has %+v", more, m)
		}
		for _, r := range f.Records {
			places := int64(1)
			if moves {
				places = 64 << 10 / r.SizeBytes
			}
			if got := r.Check.Elements; got != 2*places*2*r.Count { // before and after timing, over both ranks
				t.Errorf("%s: %s: %d elements compared of %d places", more, r.Case, got, places)
			}
		}
	}
}

// Every version of NCCL's profiler interface reports the path of a point; an older library reports none.
func TestPath(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		nccl             string
		atMost, alltoall bool // channels is a maximum; sends and receives have channels
		args             string
	}{
		{nccl: "22105"}, {nccl: "22304", atMost: true}, {nccl: "22501", atMost: true}, {nccl: "22606", atMost: true},
		{nccl: "22707", alltoall: true}, {nccl: "22809", alltoall: true, args: "-m 4 -c 0"},
		{nccl: "23007", alltoall: true, args: "-G 2"},
		{nccl: "23007", alltoall: true, args: "--placement both --mode latency"},
	} {
		t.Run(k.nccl+k.args, func(t *testing.T) {
			t.Parallel()
			f, _ := rankRun{np: 3, env: []string{"BUSBAR_REHEARSAL_VERSION=" + k.nccl},
				args: append(pathArgs, flags(k.args)...)}.measured(t)
			checkWhole(t, f, result.OK)
			for _, r := range f.Records {
				want := &result.Path{Algorithm: "TREE", Protocol: "LL", Channels: 2, AtMost: k.atMost}
				if r.SizeBytes > 64<<10 {
					want = &result.Path{Algorithm: "RING", Protocol: "SIMPLE", Channels: 16, AtMost: k.atMost}
				}
				if r.Collective == coll.AllToAll {
					want.Algorithm, want.Protocol = "", ""
					if r.SizeBytes < 1<<20 && want.Channels == 16 {
						want.Channels = 8 // rounded down
					}
				}
				if k.nccl == "22105" || r.Collective == coll.AllToAll && !k.alltoall {
					want = nil
				}
				test.Eq(t, want, r.Path, test.Sprint(r.Case, r.Warnings))
			}
		})
	}
}

// pathArgs are the flags of a small and a large all_reduce and alltoall with --algorithms.
var pathArgs = simulated("--path --collective all_reduce,alltoall -b 1K -e 1M -f 1024 -n 10")

// A failure of the operation that --algorithms observes affects only its point.
func TestFaultWithAlgorithms(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	o := rankRun{np: 3, args: append(pathArgs, "--out", out),
		env: []string{"BUSBAR_REHEARSAL_FAULT=oom@rank=1,collective=all_reduce,size=1024,phase=path"}}.run(t)
	f := readOne(t, out)
	if o.code != exit.Points || f.Records[0].Status != result.OOM || f.Records[0].Path != nil {
		t.Fatalf("%s, path %v: %s", f.Records[0].Status, f.Records[0].Path, o)
	}
	for _, r := range f.Records[1:] {
		if r.Status != result.OK || r.Path == nil {
			t.Errorf("after it %s is %s, path %v", r.Case, r.Status, r.Path)
		}
	}
}
