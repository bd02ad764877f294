package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test/must"
	"modernc.org/sqlite"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/post/trace"
)

// exported reads an export of lines, and checks that no file is created beside it.
func exported(t testing.TB, lines string) *trace.File {
	t.Helper()
	return exportedAs(t, "run%20?x=#1.sqlite", lines)
}

func exportedAs(t testing.TB, name, lines string) *trace.File {
	t.Helper()
	path := writeExport(t, name, lines)
	f, err := trace.Read(t.Context(), path, trace.Options{KeepRange: func(name string) bool {
		return strings.HasPrefix(name, "iteration")
	}})
	must.NoError(t, err)
	entries, err := os.ReadDir(filepath.Dir(path))
	must.NoError(t, err)
	must.Len(t, 1, entries)
	return f
}

// trainingExport is a step of one process: a computation with an all-reduce in it, a copy to the device, a wait. The
// communicator's hash exceeds a signed number, as half of all hashes do.
const trainingExport = `
system Hostname node7
began 1700000000000000000
details 1000 90000
gpu 3 NVIDIA H100 80GB HBM3
device 3 0 50
nccl 50/51 1100 1600 59 ncclCommInitRankConfig comm=0xfeedbeefdeadbea7 ranks=8 rank=5 device=0
range 50/50 2000 12000 59 iteration 1
range 50/50 2100 2600 59 aten::mm, op_id = 7
call 50/50 2200 2250 11
kernel 50/0 0 7 3000 8000 11 - gemm<float>
nccl 50/50 2400 2600 59 ncclAllReduce comm=0xfeedbeefdeadbea7 bytes=26214400 op=0
call 50/50 2450 2510 12
kernel 50/0 0 20 4000 10000 12 - ncclDevKernel_AllReduce
call 50/50 2700 2730 13
copy 50/0 0 7 8100 8300 13 1 4096
memset 50/0 0 7 8400 8410 - 64
call 50/50 2800 11800 14`

var payload = regexp.MustCompile(`(?m)^(nccl(?: \S+){5}).*$`)

// TestExport reads a complete recording, one with rows in another order, and one without the payloads of NCCL's
// ranges.
func TestExport(t *testing.T) {
	lines := strings.Split(trainingExport, "\n")
	slices.Reverse(lines)
	for name, text := range map[string]string{"whole": trainingExport, "reversed": strings.Join(lines, "\n"),
		"without payloads": payload.ReplaceAllString(trainingExport, "$1 -")} {
		t.Run(name, func(t *testing.T) {
			f := exported(t, text)
			d := only(t, f)
			wantText(t, fmt.Sprintf("%s: %d %d %s %s %d", f.Tool, d.Process, d.ID, d.Host, d.GPU, d.Origin),
				"Nsight Systems 2026.2.1: 50 0 node7 NVIDIA H100 80GB HBM3 1699999999999999000")
			var activities strings.Builder
			for _, a := range d.Activities {
				fmt.Fprintln(&activities, d.Names[a.Name], a.Start, a.End, max(a.Launch, trace.Unknown),
					a.Stream, a.Kind, a.Bytes)
			}
			wantText(t, &activities, `
gemm<float> 3000 8000 2200 7 0 -1
ncclDevKernel_AllReduce 4000 10000 2450 20 0 -1
Memcpy Host-to-Device 8100 8300 2700 7 1 4096
Memset 8400 8410 -1 7 6 64`)
			call, group := "ncclAllReduce all_reduce 26214400  0 -1 -1 1", "[{0xfeedbeefdeadbea7  [] 8 5}]"
			var notes []notice.Fact
			if name == "without payloads" {
				call, group = "ncclAllReduce all_reduce -1  -1 -1 -1 1", "[]"
				notes = []notice.Fact{profiles.PayloadsMissing{Command: trace.ExportCommand("run.nsys-rep")}}
			}
			wantText(t, callsOf(d), "-\n0 "+call+"\n-\n-")
			wantText(t, d.Groups, group)
			wantText(t, d.Ranges, "[{{2000 12000} iteration 1}]")
			noted(t, f, notes...)
		})
	}
}

// TestExportCalls checks the calls of kernels: sizes are as in nccl-tests.
func TestExportCalls(t *testing.T) {
	var lines strings.Builder
	for i, calls := range []string{
		"ncclAllReduce comm=9 bytes=1024 op=0", "ncclAllGather comm=9 bytes=1024",
		"ncclReduceScatter comm=9 bytes=1024",
		"ncclBroadcast comm=9 bytes=1024", "ncclAlltoAll comm=9 bytes=1024", "ncclGather comm=9 bytes=1024",
		"ncclScatter comm=9 bytes=1024", "ncclSend comm=9 bytes=1024 peer=3",
		// no call has the number of ranks of 0xabc
		"ncclAllGather comm=0xabc bytes=1024", "ncclAllReduce comm=0xabc bytes=1024",
		// groups: PyTorch's all_to_all, of one operation, of two communicators
		"ncclSend comm=2 bytes=512 peer=0;ncclRecv comm=2 bytes=512 peer=0;" +
			"ncclSend comm=2 bytes=512 peer=1;ncclRecv comm=2 bytes=512 peer=1",
		"ncclAllReduce comm=9 bytes=1000;ncclAllReduce comm=9 bytes=1000",
		"ncclAllReduce comm=9 bytes=1000;ncclSend comm=2 bytes=64 peer=1",
	} {
		at := 1000 * (i + 1)
		begin, end, grouped := at, at+100, strings.Contains(calls, ";")
		if grouped {
			fmt.Fprintln(&lines, "nccl 50/50", at, at+1, "59 ncclGroupStart -")
			fmt.Fprintln(&lines, "nccl 50/50", at+200, at+300, "59 ncclGroupEnd -")
			begin, end = at+2, at+3
		}
		for call := range strings.SplitSeq(calls, ";") {
			fmt.Fprintln(&lines, "nccl 50/50", begin, end, 59, call)
			begin, end = begin+2, end+2
		}
		launch := at + 10
		if grouped {
			launch = at + 210
		}
		fmt.Fprintln(&lines, "call 50/50", launch, launch+1, i+1)
		fmt.Fprintln(&lines, "kernel 50/0 0 9", at+400, at+500, i+1, "- ncclDevKernel_Generic")
	}
	f := exported(t, "nccl 50/50 1 6 59 ncclCommInitRank comm=9 ranks=4 rank=1 device=0\n"+
		"nccl 50/50 8 9 59 ncclCommInitRank comm=2 ranks=2 rank=0 device=0\n"+lines.String())
	wantText(t, callsOf(only(t, f)), `
0 ncclAllReduce all_reduce 1024  0 -1 -1 1
1 ncclAllGather all_gather 4096  0 -1 -1 1
2 ncclReduceScatter reduce_scatter 4096  0 -1 -1 1
3 ncclBroadcast broadcast 1024  0 -1 -1 1
4 ncclAlltoAll alltoall 4096  0 -1 -1 1
5 ncclGather gather 4096  0 -1 -1 1
6 ncclScatter scatter 4096  0 -1 -1 1
7 ncclSend other 1024  0 -1 3 1
8 ncclAllGather all_gather -1  1 -1 -1 1
9 ncclAllReduce all_reduce 1024  1 -1 -1 1
10 ncclSend+ncclRecv alltoall 1024  2 -1 -1 4
11 ncclAllReduce all_reduce 2000  0 -1 -1 2
12 ncclAllReduce+ncclSend other -1  -1 -1 -1 2`)
	wantText(t, f.Devices[0].Groups, "[{0x9  [] 4 1} {0xabc  [] 0 -1} {0x2  [] 2 0}]")
}

// TestExportOfManyDevices has one process with two devices, as nccl-tests -g 2, and another process with one. Call
// numbers are per process.
func TestExportOfManyDevices(t *testing.T) {
	f := exported(t, `
capture PROCESS_0:ENVIRONMENT_VARIABLE RANK="3"
nccl 50/50 1 2 59 ncclCommInitRankConfig comm=7 ranks=3 rank=0 device=0
nccl 50/50 3 4 59 ncclCommInitRankConfig comm=7 ranks=3 rank=1 device=1
nccl 60/60 1 2 59 ncclCommInitRankConfig comm=7 ranks=3 rank=2 device=0
nccl 50/50 100 102 59 ncclGroupStart -
nccl 50/50 110 112 59 ncclAllReduce comm=7 bytes=800
nccl 50/50 120 122 59 ncclAllReduce comm=7 bytes=800
nccl 50/50 150 190 59 ncclGroupEnd -
call 50/50 160 161 5
call 50/50 161 162 6
kernel 50/0 0 9 170 200 5 - ncclDevKernel_AllReduce
kernel 50/0 1 9 171 201 6 - ncclDevKernel_AllReduce
range 50/50 90 290 59 iteration of both
range 50/52 95 295 59 iteration of a thread that launches nothing
nccl 60/60 150 190 59 ncclAllReduce comm=7 bytes=800
call 60/60 160 161 5
kernel 60/0 0 9 171 200 5 - ncclDevKernel_AllReduce`)
	var got strings.Builder
	for _, d := range f.Devices {
		fmt.Fprintln(&got, d.Process, d.ID, d.Rank, d.World, d.Calls, d.Groups, d.Activities[0].Launch,
			len(d.Ranges))
	}
	wantText(t, &got, `
50 0 0 3 [{ncclAllReduce all_reduce 800  0 -1 -1 1 <nil>}] [{0x7  [] 3 0}] 160 2
50 1 1 3 [{ncclAllReduce all_reduce 800  0 -1 -1 1 <nil>}] [{0x7  [] 3 1}] 161 2
60 0 2 3 [{ncclAllReduce all_reduce 800  0 -1 -1 1 <nil>}] [{0x7  [] 3 2}] 160 0`)
}

// TestExportGraphs covers a CUDA graph with recorded nodes, and one recorded as a whole, once without times.
func TestExportGraphs(t *testing.T) {
	f := exported(t, `
nccl 50/50 100 150 59 ncclAllReduce comm=7 bytes=800
call 50/50 1000 1010 80
kernel 50/0 0 9 1050 1150 80 40 gemm
kernel 50/0 0 9 1150 1250 80 41 ncclDevKernel_AllReduce
call 50/50 5000 5010 90
graph 50/0 0 9 5050 5150 90 12
graph 50/0 0 9 0 0 91 12`)
	d := only(t, f)
	var launches []int64
	for _, a := range d.Activities {
		launches = append(launches, a.Launch)
		must.True(t, a.Graph && a.Call == trace.Unknown)
	}
	must.Eq(t, []int64{1000, 1000, 5000}, launches)
	must.EqOp(t, trace.GraphTrace, d.Activities[2].Kind)
	must.EqOp(t, "CUDA graph 12", d.Names[d.Activities[2].Name])
	noted(t, f, profiles.GraphKernelsMissing{Launches: 2}, profiles.KernelsInGraphs{Kernels: 1, Of: 1})
}

// TestExportCopyEngine covers a collective of copies, and copies that serve a kernel's collective.
func TestExportCopyEngine(t *testing.T) {
	d := only(t, exported(t, `
nccl 50/50 100 150 59 ncclAllGather comm=7 bytes=800
nccl 50/50 300 350 59 ncclAllReduce comm=7 bytes=800
call 50/50 110 111 1
call 50/50 112 113 2
call 50/50 310 311 3
call 50/50 320 321 4
copy 50/0 0 9 130 135 1 1 800
copy 50/0 0 9 140 145 2 10 800
copy 50/0 0 9 330 335 3 8 800
kernel 50/0 0 9 350 370 4 - ncclDevKernel_AllReduce`))
	wantText(t, callsOf(d), `
-
0 ncclAllGather all_gather -1  0 -1 -1 1
-
1 ncclAllReduce all_reduce 800  0 -1 -1 1`)
}

// TestExportRanks covers each source of the rank.
func TestExportRanks(t *testing.T) {
	joined := "nccl 50/50 1 2 59 ncclCommInitAll comm=7 ranks=3 rank=2 device=0\n"
	variable := func(name, value string) string {
		return fmt.Sprintf("capture PROCESS_0:ENVIRONMENT_VARIABLE %s=%q\n", name, value)
	}
	for _, test := range []struct{ file, lines, want string }{
		{"run.sqlite", "", "-1 0"},
		{"rank_1.sqlite", variable("WORLD_SIZE", "16") + variable("RANK", "12"), "12 16"},
		{"run.sqlite", variable("SLURM_PROCID", "2"), "2 0"},
		{"run.sqlite", variable("LOCAL_RANK", "2"), "-1 0"},
		{"rank_1.sqlite", "mpi 50/50 6", "6 0"},
		{"rank_1.sqlite", "", "1 0"},
		{"run.sqlite", joined, "2 3"},
		{"run.sqlite", joined + variable("WORLD_SIZE", "9"), "-1 0"},
	} {
		d := only(t, exportedAs(t, test.file, "kernel 50/0 0 9 10 15 1 - gemm\n"+test.lines))
		wantText(t, fmt.Sprintln(d.Rank, d.World), test.want)
	}
}

func TestExportDiagnostics(t *testing.T) {
	noted(t, exported(t, `
kernel 50/0 0 9 10 15 1 - gemm
message 1 Number of CUDA events collected: 17.
message 1 Not all CUDA events might have been collected.
message 2 CPU sampling is not possible.`),
		profiles.NsightWarning{Text: "Not all CUDA events might have been collected", Lost: true},
		profiles.NsightWarning{Text: "CPU sampling is not possible"})
}

// TestExportUnfinished has an open range of a running program.
func TestExportUnfinished(t *testing.T) {
	d := only(t, exported(t, `
details 0 90000
kernel 50/0 0 9 10 15 1 - gemm
range 50/50 100 - 59 iteration 3
range 50/50 50 70 59 ProfilerStep#7, op_id = 12`))
	wantText(t, d.Ranges, "[{{50 70} ProfilerStep#7} {{100 90000} iteration 3}]")
}

func TestReportErrorHasCommand(t *testing.T) {
	for path, content := range map[string]string{
		"my run.nsys-rep": "anything", "noext": "NVIDIA Tegra Profiler Report 2026@2@1@210v0.\n",
	} {
		var report *trace.ReportError
		_, err := readAs(t, path, []byte(content), trace.Options{})
		must.True(t, errors.As(err, &report), must.Sprint(path, err))
	}
	must.EqOp(t, "nsys export --type=sqlite --include-blobs=true --force-overwrite=true --output='my run.sqlite' "+
		"'my run.nsys-rep'", trace.ExportCommand("my run.nsys-rep"))
}

// TestUnreadableExports has a database without the table of strings, which every export has, and a truncated export.
func TestUnreadableExports(t *testing.T) {
	b, err := os.ReadFile(writeExport(t, "run.sqlite", trainingExport))
	must.NoError(t, err)
	var damage *sqlite.Error
	_, err = readAs(t, "cut.sqlite", b[:len(b)/2], trace.Options{})
	must.True(t, errors.As(err, &damage), must.Sprint(err))
	b = bytes.ReplaceAll(b, []byte("StringIds"), []byte("StringUds"))
	_, err = readAs(t, "other.sqlite", b, trace.Options{})
	must.ErrorIs(t, err, trace.ErrNotTrace)
}

func FuzzExport(f *testing.F) {
	b, err := os.ReadFile(writeExport(f, "run.sqlite", trainingExport))
	must.NoError(f, err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if file, err := readAs(t, "run.sqlite", b, trace.Options{}); err == nil {
			for _, d := range file.Devices {
				checkPromises(t, d)
			}
		}
	})
}
