package trace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/post/trace"
	"busbar/post/trace/tracetest"
)

const (
	allReduceKernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	sendRecvKernel  = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
	worldComm       = 0xfeedbeefdeadbea7 // above what a signed number holds, as half of all hashes are
)

// exported writes an export and reads it. Nothing is made beside it, whatever its name.
func exported(t testing.TB, e *tracetest.Export) *trace.File {
	t.Helper()
	return exportedAs(t, e, "run%20?x=#1.sqlite")
}

func exportedAs(t testing.TB, e *tracetest.Export, name string) *trace.File {
	t.Helper()
	path := writeExport(t, e, name)
	f, err := trace.Read(t.Context(), path, trace.Options{KeepRange: func(name string) bool {
		return strings.HasPrefix(name, "iteration")
	}})
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("beside the file: %v, %v", entries, err)
	}
	return f
}

func writeExport(t testing.TB, e *tracetest.Export, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := e.Write(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// trainingExport is a step of one process: a computation, an all-reduce in it, a copy to the device, a wait.
func trainingExport(changes ...func(*tracetest.Export)) *tracetest.Export {
	e := tracetest.NewExport()
	for _, change := range changes {
		change(e)
	}
	e.Session("node7", 1_700_000_000_000_000_000, 1_000, 90_000)
	e.GPU(50, 0, 3, "NVIDIA H100 80GB HBM3")
	main := tracetest.On{PID: 50, Stream: 7}
	e.NCCL(50, 51, 1_100, 500, "ncclCommInitRankConfig", tracetest.Joined(worldComm, 8, 5, 0))
	e.Annotated(50, 50, 2_000, 10_000, "iteration 1")
	e.Annotated(50, 50, 2_100, 500, "aten::mm, op_id = 7")
	e.Called(50, 50, 2_200, 50, 11)
	e.Ran(main, 3_000, 5_000, 11, "gemm<float>", 0)
	e.NCCL(50, 50, 2_400, 200, "ncclAllReduce", tracetest.Reduced(worldComm, 26_214_400))
	e.Called(50, 50, 2_450, 60, 12)
	e.Ran(tracetest.On{PID: 50, Stream: 20}, 4_000, 6_000, 12, allReduceKernel, 0)
	e.Called(50, 50, 2_700, 30, 13)
	e.Copied(main, 8_100, 200, 13, 4096, 1)
	e.WasSet(main, 8_400, 10, 0, 64)
	e.Called(50, 50, 2_800, 9_000, 14)
	return e
}

// TestExport reads a recording whole, with shuffled rows, and without what NCCL's ranges carry.
func TestExport(t *testing.T) {
	for name, change := range map[string]func(*tracetest.Export){
		"whole": func(*tracetest.Export) {}, "shuffled": func(e *tracetest.Export) { e.Shuffled = true },
		"without payloads": func(e *tracetest.Export) { e.WithoutPayloads = true },
	} {
		t.Run(name, func(t *testing.T) {
			e := trainingExport(change)
			f := exported(t, e)
			d := only(t, f)
			wantText(t, fmt.Sprintf("%s: %d %d %s %s %d", f.Tool, d.Process, d.ID, d.Host, d.GPU, d.Origin),
				"Nsight Systems 2026.2.1: 50 0 node7 NVIDIA H100 80GB HBM3 1699999999999999000")
			var activities strings.Builder
			for _, a := range d.Activities {
				fmt.Fprintln(
					&activities,
					d.Names[a.Name],
					a.Start,
					a.End,
					max(a.Launch, trace.Unknown),
					a.Stream,
					a.Kind,
					a.Bytes,
				)
			}
			wantText(t, &activities, `
gemm<float> 3000 8000 2200 7 0 -1
`+allReduceKernel+` 4000 10000 2450 20 0 -1
Memcpy Host-to-Device 8100 8300 2700 7 1 4096
Memset 8400 8410 -1 7 6 64`)
			call, group := "ncclAllReduce all_reduce 26214400  0 -1 -1 1", "[{0xfeedbeefdeadbea7  [] 8 5}]"
			if e.WithoutPayloads {
				call, group = "ncclAllReduce all_reduce -1  -1 -1 -1 1", "[]"
			}
			wantText(t, callsOf(d), "-\n0 "+call+"\n-\n-")
			wantText(t, d.Groups, group)
			wantText(t, d.Ranges, "[{{2000 12000} iteration 1}]")
			missing := notice.PayloadsMissing{Command: trace.ExportCommand("run.nsys-rep")}
			if hasNote(f, missing) != e.WithoutPayloads {
				t.Errorf("notes %v", f.Notes)
			}
		})
	}
}

func hasNote(f *trace.File, fact notice.Fact) bool { return slices.Contains(f.Notes, fact) }

// TestExportSizes gives each operation the size that nccl-tests would, from that which NCCL's range carries.
func TestExportSizes(t *testing.T) {
	e := tracetest.NewExport()
	e.NCCL(50, 50, 1, 5, "ncclCommInitRank", tracetest.Joined(worldComm, 4, 1, 0))
	wants := []struct {
		name  string
		what  coll.Collective
		bytes int64
		peer  int
		carry []tracetest.Field
	}{
		{"ncclAllReduce", coll.AllReduce, 1024, -1, tracetest.Reduced(worldComm, 1024)},
		{"ncclAllGather", coll.AllGather, 4096, -1, tracetest.Sized(worldComm, 1024)},
		{"ncclReduceScatter", coll.ReduceScatter, 4096, -1, tracetest.Reduced(worldComm, 1024)},
		{"ncclBroadcast", coll.Broadcast, 1024, -1, tracetest.Sized(worldComm, 1024)},
		{"ncclReduce", coll.Reduce, 1024, -1, tracetest.Reduced(worldComm, 1024)},
		{"ncclAlltoAll", coll.AllToAll, 4096, -1, tracetest.Sized(worldComm, 1024)},
		{"ncclGather", coll.Gather, 4096, -1, tracetest.Sized(worldComm, 1024)},
		{"ncclScatter", coll.Scatter, 4096, -1, tracetest.Sized(worldComm, 1024)},
		{"ncclSend", coll.Other, 1024, 3, tracetest.WithPeer(worldComm, 1024, 3)},
		{"ncclAllGather", coll.AllGather, -1, -1, tracetest.Sized(0xabc, 1024)}, // nobody says how many ranks 0xabc has
		{"ncclAllReduce", coll.AllReduce, 1024, -1, tracetest.Reduced(0xabc, 1024)},
	}
	for i, w := range wants {
		at := int64(100 * (i + 1))
		e.NCCL(50, 50, at, 50, w.name, w.carry)
		e.Called(50, 50, at+10, 5, i+1)
		e.Ran(tracetest.On{PID: 50, Stream: 9}, at+30, 20, i+1, allReduceKernel, 0)
	}
	f := exported(t, e)
	d := only(t, f)
	if len(d.Calls) != len(wants) {
		t.Fatalf("%d calls, want %d", len(d.Calls), len(wants))
	}
	for i, w := range wants {
		c := d.Calls[d.Activities[i].Call]
		if c.Name != w.name || c.What != w.what || c.Bytes != w.bytes || c.Peer != w.peer {
			t.Errorf("%s: %+v, want %v of %d bytes", w.name, c, w.what, w.bytes)
		}
	}
	if !hasNote(f, notice.GroupSizesMissing{}) {
		t.Errorf("notes %v", f.Notes)
	}
}

// TestExportGroups tells what kernels of groups do.
func TestExportGroups(t *testing.T) {
	e := tracetest.NewExport()
	e.Shuffled = true
	e.NCCL(50, 50, 1, 5, "ncclCommInitRank", tracetest.Joined(1, 2, 0, 0))
	e.NCCL(50, 50, 7, 5, "ncclCommInitRank", tracetest.Joined(2, 4, 3, 0))
	on, call := tracetest.On{PID: 50, Stream: 9}, 0
	group := func(at int64, kernels []string, calls func()) {
		e.NCCL(50, 50, at, 2, "ncclGroupStart", nil)
		calls()
		e.NCCL(50, 50, at+50, 40, "ncclGroupEnd", nil)
		for i, k := range kernels {
			call++
			e.Called(50, 50, at+55+int64(i), 1, call)
			e.Ran(on, at+60+int64(i)*10, 5, call, k, 0)
		}
	}
	group(100, []string{sendRecvKernel}, func() { // as PyTorch writes all_to_all
		for peer := range 2 {
			e.NCCL(50, 50, 105+int64(peer)*4, 1, "ncclSend", tracetest.WithPeer(1, 512, peer))
			e.NCCL(50, 50, 107+int64(peer)*4, 1, "ncclRecv", tracetest.WithPeer(1, 512, peer))
		}
	})
	group(200, []string{allReduceKernel}, func() {
		for i := range int64(3) {
			e.NCCL(50, 50, 205+i*2, 1, "ncclAllReduce", tracetest.Reduced(2, 1000))
		}
	})
	group(300, []string{allReduceKernel, sendRecvKernel}, func() { // of two communicators
		e.NCCL(50, 50, 305, 1, "ncclAllReduce", tracetest.Reduced(2, 1000))
		e.NCCL(50, 50, 307, 1, "ncclSend", tracetest.WithPeer(1, 64, 1))
	})
	group(400, []string{"ncclDevKernel_Generic_1"}, func() { // which does not tell which of them it does
		e.NCCL(50, 50, 405, 1, "ncclAllReduce", tracetest.Reduced(2, 1000))
		e.NCCL(50, 50, 407, 1, "ncclSend", tracetest.WithPeer(1, 64, 1))
	})
	d := only(t, exported(t, e))
	wantText(t, callsOf(d), `
0 ncclSend+ncclRecv alltoall 1024  0 -1 -1 4
1 ncclAllReduce all_reduce 3000  1 -1 -1 3
2 ncclAllReduce all_reduce 1000  1 -1 -1 1
3 ncclSend other 64  0 -1 1 1
4 ncclAllReduce+ncclSend other -1  -1 -1 -1 2`)
	wantText(t, d.Groups, "[{0x1  [] 2 0} {0x2  [] 4 3}]")
}

// TestExportOfManyDevices has one process with two devices, as nccl-tests -g 2 is, and another process with one.
func TestExportOfManyDevices(t *testing.T) {
	e := tracetest.NewExport()
	e.Environment("RANK", "3") // of the launcher: of no device here
	for device := range 2 {
		e.NCCL(50, 50, int64(1+device), 1, "ncclCommInitRankConfig", tracetest.Joined(7, 3, device, device))
	}
	e.NCCL(60, 60, 1, 1, "ncclCommInitRankConfig", tracetest.Joined(7, 3, 2, 0))
	e.NCCL(50, 50, 100, 2, "ncclGroupStart", nil)
	for device := range 2 {
		e.NCCL(50, 50, int64(110+10*device), 2, "ncclAllReduce", tracetest.Reduced(7, 800))
	}
	e.NCCL(50, 50, 150, 40, "ncclGroupEnd", nil)
	for device := range 2 {
		e.Called(50, 50, int64(160+device), 1, 5+device)
		e.Ran(tracetest.On{PID: 50, Device: device, Stream: 9}, int64(170+device), 30, 5+device, allReduceKernel, 0)
	}
	e.Annotated(50, 50, 90, 200, "iteration of both")
	e.Annotated(50, 52, 95, 200, "iteration of a thread that launches nothing")
	e.NCCL(60, 60, 150, 40, "ncclAllReduce", tracetest.Reduced(7, 800))
	e.Called(60, 60, 160, 1, 5) // the number of a call is that of its process
	e.Ran(tracetest.On{PID: 60, Stream: 9}, 171, 29, 5, allReduceKernel, 0)
	f := exported(t, e)
	var got strings.Builder
	for _, d := range f.Devices {
		fmt.Fprintln(
			&got,
			d.Process,
			d.ID,
			d.Rank,
			d.World,
			d.RankFrom,
			d.Calls,
			d.Groups,
			d.Activities[0].Launch,
			len(d.Ranges),
		)
	}
	wantText(t, &got, `
50 0 0 3 NCCL's communicator of 3 ranks [{ncclAllReduce all_reduce 800  0 -1 -1 1}] [{0x7  [] 3 0}] 160 2
50 1 1 3 NCCL's communicator of 3 ranks [{ncclAllReduce all_reduce 800  0 -1 -1 1}] [{0x7  [] 3 1}] 161 2
60 0 2 3 NCCL's communicator of 3 ranks [{ncclAllReduce all_reduce 800  0 -1 -1 1}] [{0x7  [] 3 2}] 160 0`)
}

// TestExportGraphs has a CUDA graph that holds an all-reduce and is launched twice, and one that was recorded as a
// whole.
func TestExportGraphs(t *testing.T) {
	e := tracetest.NewExport()
	e.Shuffled = true
	on := tracetest.On{PID: 50, Stream: 9}
	e.NCCL(50, 50, 100, 50, "ncclAllReduce", tracetest.Reduced(7, 800))
	e.Node(50, 50, 60, 30, 0)
	e.Node(50, 50, 120, 31, 0)
	e.Node(50, 50, 200, 40, 30)
	e.Node(50, 50, 201, 41, 31)
	for i := range 2 {
		at := int64(1000 * (i + 1))
		e.Called(50, 50, at, 10, 80+i)
		e.Ran(on, at+50, 100, 80+i, "gemm", 40)
		e.Ran(on, at+150, 100, 80+i, allReduceKernel, 41)
	}
	e.Called(50, 50, 5000, 10, 90)
	e.WholeGraph(on, 5050, 100, 90, 12)
	e.WholeGraph(on, 0, 0, 91, 12) // whose times could not be had
	f := exported(t, e)
	d := only(t, f)
	var launches []int64
	for _, a := range d.Activities {
		if launches = append(launches, a.Launch); !a.Graph {
			t.Errorf("activity %+v is of a graph", a)
		}
	}
	wantText(t, launches, "[1000 1000 2000 2000 5000]")
	wantText(t, callsOf(d), `
-
0 ncclAllReduce all_reduce 800  0 -1 -1 1
-
1 ncclAllReduce all_reduce 800  0 -1 -1 1
-`)
	if last := d.Activities[4]; last.Kind != trace.GraphTrace || d.Names[last.Name] != "CUDA graph 12" ||
		!hasNote(f, notice.GraphKernelsMissing{Launches: 2}) {
		t.Errorf("graph %+v, notes %v", last, f.Notes)
	}
}

// TestExportLaunchedElsewhere has kernels of NCCL that no call of it launched, and says so: nothing else tells why
// they have no size.
func TestExportLaunchedElsewhere(t *testing.T) {
	e := trainingExport()
	if f := exported(t, e); len(f.Notes) > 0 {
		t.Errorf("of calls that launch: %v", f.Notes)
	}
	on := tracetest.On{PID: 50, Stream: 20}
	e.Called(50, 77, 20_000, 50, 21)
	e.Ran(on, 21_000, 500, 21, allReduceKernel, 0)
	e.Called(50, 50, 22_000, 50, 22)
	e.Ran(on, 23_000, 500, 22, allReduceKernel, 9)
	f := exported(t, e)
	if !hasNote(f, notice.KernelsOutsideCalls{Kernels: 1, Of: 3}) ||
		!hasNote(f, notice.KernelsInGraphs{Kernels: 1, Of: 3}) {
		t.Errorf("notes %v", f.Notes)
	}
	if d := only(t, f); d.Activities[len(d.Activities)-1].Call != trace.Unknown || len(d.Calls) != 1 {
		t.Errorf("calls %+v", d.Calls)
	}
}

// TestExportCopyEngine has a collective that is made of copies, and copies that only serve one made by a kernel.
func TestExportCopyEngine(t *testing.T) {
	e := tracetest.NewExport()
	on := tracetest.On{PID: 50, Stream: 9}
	e.NCCL(50, 50, 100, 50, "ncclAllGather", tracetest.Sized(7, 800))
	e.NCCL(50, 50, 300, 50, "ncclAllReduce", tracetest.Reduced(7, 800))
	for i, c := range []struct {
		at   int64
		kind int
	}{{110, 1}, {112, 10}, {114, 8}, {310, 8}, {400, 10}} {
		e.Called(50, 50, c.at, 1, i+1)
		e.Copied(on, c.at+20, 5, i+1, 800, c.kind)
	}
	e.Called(50, 50, 320, 1, 9)
	e.Ran(on, 350, 20, 9, allReduceKernel, 0)
	d := only(t, exported(t, e))
	wantText(t, callsOf(d), `
-
0 ncclAllGather all_gather -1  0 -1 -1 1
0 ncclAllGather all_gather -1  0 -1 -1 1
-
1 ncclAllReduce all_reduce 800  0 -1 -1 1
-`)
}

// TestExportRanks finds the rank in each place where it may stand.
func TestExportRanks(t *testing.T) {
	joined := tracetest.Joined(7, 3, 2, 0)
	for _, test := range []struct {
		file, environment string
		mpi               int
		comm              []tracetest.Field
		want              string
	}{
		{"run.sqlite", "", 0, nil, "-1 0 "},
		{"rank_1.sqlite", "WORLD_SIZE=16 RANK=12", 0, nil, "12 16 environment variable RANK"},
		{"run.sqlite", "SLURM_PROCID=2", 0, nil, "2 0 environment variable SLURM_PROCID"},
		{"run.sqlite", "LOCAL_RANK=2 WORLD_SIZE=16", 0, nil, "-1 0 "},
		{"rank_1.sqlite", "", 6, nil, "6 0 MPI's rank in the file"},
		{"rank_1.sqlite", "", 0, nil, "1 0 file name"},
		{"run.sqlite", "", 0, joined, "2 3 NCCL's communicator of 3 ranks"},
		{"run.sqlite", "WORLD_SIZE=9", 0, joined, "-1 0 "},
	} {
		e := tracetest.NewExport()
		e.Ran(tracetest.On{PID: 50}, 10, 5, 1, "gemm", 0)
		for _, variable := range strings.Fields(test.environment) {
			name, value, _ := strings.Cut(variable, "=")
			e.Environment(name, value)
		}
		if test.mpi > 0 {
			e.MPIRank(50, test.mpi)
		}
		if test.comm != nil {
			e.NCCL(50, 50, 1, 1, "ncclCommInitAll", test.comm)
		}
		d := only(t, exportedAs(t, e, test.file))
		wantText(t, fmt.Sprintln(d.Rank, d.World, d.RankFrom), test.want)
	}
}

func TestExportLostEvents(t *testing.T) {
	e := tracetest.NewExport()
	e.Ran(tracetest.On{PID: 50}, 10, 5, 1, "gemm", 0)
	e.Diagnostic(1, "Number of CUDA events collected: 17.")
	e.Diagnostic(1, "Not all CUDA events might have been collected.")
	e.Diagnostic(2, "CPU sampling is not possible.")
	f := exported(t, e)
	if !hasNote(f, notice.NsightWarning{Text: "Not all CUDA events might have been collected", Lost: true}) ||
		!hasNote(f, notice.NsightWarning{Text: "CPU sampling is not possible"}) || len(f.Notes) != 2 {
		t.Errorf("notes %v", f.Notes)
	}
}

// TestExportUnfinished has a range that did not end, of a program that was still running.
func TestExportUnfinished(t *testing.T) {
	e := tracetest.NewExport()
	e.Session("node7", 1_700_000_000_000_000_000, 0, 90_000)
	e.Ran(tracetest.On{PID: 50}, 10, 5, 1, "gemm", 0)
	e.Annotated(50, 50, 100, -1, "iteration 3")
	e.Annotated(50, 50, 50, 20, "ProfilerStep#7, op_id = 12")
	d := only(t, exported(t, e))
	wantText(t, d.Ranges, "[{{50 70} ProfilerStep#7} {{100 90000} iteration 3}]")
}

func TestReportNamesItsCommand(t *testing.T) {
	for path, content := range map[string]string{
		"my run.nsys-rep": "anything", "noext": "NVIDIA Tegra Profiler Report 2026@2@1@210v0.\n",
	} {
		var report *trace.ReportError
		if _, err := readAs(t, path, []byte(content), trace.Options{}); !errors.As(err, &report) {
			t.Errorf("%s: %v", path, err)
		}
	}
	wantText(t, trace.ExportCommand("my run.nsys-rep"), "nsys export --type=sqlite --include-blobs=true "+
		"--force-overwrite=true --output='my run.sqlite' 'my run.nsys-rep'")
}

// TestUnreadableExports has a database without the table of strings, which every export has, and an export that is cut.
func TestUnreadableExports(t *testing.T) {
	b, err := os.ReadFile(writeExport(t, trainingExport(), "run.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	var damage *sqlite.Error
	if _, err := readAs(t, "cut.sqlite", b[:len(b)/2], trace.Options{}); !errors.As(err, &damage) {
		t.Errorf("of a cut file: %v", err)
	}
	b = bytes.ReplaceAll(b, []byte("StringIds"), []byte("StringUds"))
	if _, err := readAs(t, "other.sqlite", b, trace.Options{}); !errors.Is(err, trace.ErrNotTrace) {
		t.Errorf("of another database: %v", err)
	}
}

func FuzzExport(f *testing.F) {
	b, err := os.ReadFile(writeExport(f, trainingExport(), "run.sqlite"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if file, err := readAs(t, "run.sqlite", b, trace.Options{}); err == nil {
			for _, d := range file.Devices {
				checkPromises(t, d)
			}
		}
	})
}
