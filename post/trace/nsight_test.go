package trace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

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

// exported writes an export and reads it.
func exported(t testing.TB, e *tracetest.Export) *trace.File {
	t.Helper()
	return readExport(t, writeExport(t, e, "run.sqlite"))
}

func writeExport(t testing.TB, e *tracetest.Export, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := e.Write(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	return path
}

func readExport(t testing.TB, path string) *trace.File {
	t.Helper()
	f, err := trace.Read(t.Context(), path, trace.Options{KeepRange: func(name string) bool { return strings.HasPrefix(name, "iteration") }})
	if err != nil {
		t.Fatal(err)
	}
	return f
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
	e.Called(50, 50, 2_200, 50, 11, "cudaLaunchKernel_v7000")
	e.Ran(main, 3_000, 5_000, 11, "gemm<float>", 0)
	e.NCCL(50, 50, 2_400, 200, "ncclAllReduce", tracetest.Reduced(worldComm, 26_214_400))
	e.Called(50, 50, 2_450, 60, 12, "cudaLaunchKernelExC_v11060")
	e.Ran(tracetest.On{PID: 50, Stream: 20}, 4_000, 6_000, 12, allReduceKernel, 0)
	e.Called(50, 50, 2_700, 30, 13, "cudaMemcpyAsync_v3020")
	e.Copied(main, 8_100, 200, 13, 4096, 1)
	e.WasSet(main, 8_400, 10, 0, 64)
	e.Called(50, 50, 2_800, 9_000, 14, "cudaStreamSynchronize_v3020")
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
			if d.Process != 50 || d.ID != 0 || d.Host != "node7" || d.GPU != "NVIDIA H100 80GB HBM3" || d.Origin != 1_700_000_000_000_000_000-1_000 {
				t.Errorf("device %+v", d)
			}
			var kinds []trace.Kind
			for _, a := range d.Activities {
				kinds = append(kinds, a.Kind)
			}
			if want := []trace.Kind{trace.Kernel, trace.Kernel, trace.MemcpyHostToDevice, trace.Memset}; !slices.Equal(kinds, want) {
				t.Fatalf("kinds %v, want %v", kinds, want)
			}
			gemm, reduce, copied := d.Activities[0], d.Activities[1], d.Activities[2]
			if d.Names[gemm.Name] != "gemm<float>" || gemm.Start != 3_000 || gemm.End != 8_000 || gemm.Launch != 2_200 || gemm.Stream != 7 || gemm.Call != trace.Unknown {
				t.Errorf("computation %+v", gemm)
			}
			if copied.Bytes != 4096 || copied.Launch != 2_700 || d.Activities[3].Launch != trace.NoTime {
				t.Errorf("copy %+v, memset %+v", copied, d.Activities[3])
			}
			if reduce.Launch != 2_450 || reduce.Call != 0 || len(d.Calls) != 1 {
				t.Fatalf("all-reduce %+v, calls %+v", reduce, d.Calls)
			}
			want := trace.Call{Name: "ncclAllReduce", What: coll.AllReduce, Bytes: 26_214_400, Group: 0, Seq: trace.Unknown, Peer: trace.Unknown, Parts: 1}
			group := []trace.Group{{Name: "0xfeedbeefdeadbea7", Size: 8, Rank: 5}}
			if e.WithoutPayloads {
				want.Bytes, want.Group, group = trace.Unknown, trace.Unknown, nil
			}
			if d.Calls[0] != want || !reflect.DeepEqual(d.Groups, group) {
				t.Errorf("call %+v of %+v", d.Calls[0], d.Groups)
			}
			if len(d.Ranges) != 1 || d.Ranges[0] != (trace.Range{Span: trace.Span{Start: 2_000, End: 12_000}, Name: "iteration 1"}) {
				t.Errorf("ranges %+v", d.Ranges)
			}
			if noted := hasNote(f, notice.PayloadsMissing{Command: trace.ExportCommand("run.nsys-rep")}); noted != (e.WithoutPayloads) {
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
		e.Called(50, 50, at+10, 5, i+1, "cudaLaunchKernel")
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
			e.Called(50, 50, at+55+int64(i), 1, call, "cudaLaunchKernel")
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
	none := trace.Unknown
	wants := []trace.Call{
		{Name: "ncclSend+ncclRecv", What: coll.AllToAll, Bytes: 1024, Group: 0, Seq: -1, Peer: none, Parts: 4},
		{Name: "ncclAllReduce", What: coll.AllReduce, Bytes: 3000, Group: 1, Seq: -1, Peer: none, Parts: 3},
		{Name: "ncclAllReduce", What: coll.AllReduce, Bytes: 1000, Group: 1, Seq: -1, Peer: none, Parts: 1},
		{Name: "ncclSend", What: coll.Other, Bytes: 64, Group: 0, Seq: -1, Peer: 1, Parts: 1},
		{Name: "ncclAllReduce+ncclSend", What: coll.Other, Bytes: -1, Group: -1, Seq: -1, Peer: none, Parts: 2},
	}
	for i, a := range d.Activities {
		if a.Call == trace.Unknown || d.Calls[a.Call] != wants[i] {
			t.Errorf("kernel %d: call %d of %+v, want %+v", i, a.Call, d.Calls, wants[i])
		}
	}
	if want := []trace.Group{{Name: "0x1", Size: 2, Rank: 0}, {Name: "0x2", Size: 4, Rank: 3}}; !reflect.DeepEqual(d.Groups, want) {
		t.Errorf("groups %+v", d.Groups)
	}
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
		e.Called(50, 50, int64(160+device), 1, 5+device, "cudaLaunchKernel")
		e.Ran(tracetest.On{PID: 50, Device: device, Stream: 9}, int64(170+device), 30, 5+device, allReduceKernel, 0)
	}
	e.Annotated(50, 50, 90, 200, "iteration of both")
	e.Annotated(50, 52, 95, 200, "iteration of a thread that launches nothing")
	e.NCCL(60, 60, 150, 40, "ncclAllReduce", tracetest.Reduced(7, 800))
	e.Called(60, 60, 160, 1, 5, "cudaLaunchKernel") // the number of a call is that of its process
	e.Ran(tracetest.On{PID: 60, Stream: 9}, 171, 29, 5, allReduceKernel, 0)
	f := exported(t, e)
	if len(f.Devices) != 3 {
		t.Fatalf("%d devices", len(f.Devices))
	}
	for i, d := range f.Devices {
		if d.Rank != i || d.World != 3 || d.RankFrom != "NCCL's communicator of 3 ranks" {
			t.Errorf("device %d of process %d: rank %d of %d from %q", d.ID, d.Process, d.Rank, d.World, d.RankFrom)
		}
		want := trace.Call{Name: "ncclAllReduce", What: coll.AllReduce, Bytes: 800, Seq: -1, Peer: -1, Parts: 1}
		if len(d.Calls) != 1 || d.Calls[0] != want || len(d.Groups) != 1 || d.Groups[0].Rank != i {
			t.Errorf("device %d: calls %+v of %+v", i, d.Calls, d.Groups)
		}
		if launch := []int64{160, 161, 160}[i]; d.Activities[0].Launch != launch {
			t.Errorf("device %d: launched at %d, want %d", i, d.Activities[0].Launch, launch)
		}
		if n := []int{2, 2, 0}[i]; len(d.Ranges) != n {
			t.Errorf("device %d: ranges %v", i, d.Ranges)
		}
	}
}

// TestExportGraphs has a CUDA graph that holds an all-reduce and is launched twice, and one that was recorded as a whole.
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
		e.Called(50, 50, at, 10, 80+i, "cudaGraphLaunch_v10000")
		e.Ran(on, at+50, 100, 80+i, "gemm", 40)
		e.Ran(on, at+150, 100, 80+i, allReduceKernel, 41)
	}
	e.Called(50, 50, 5000, 10, 90, "cudaGraphLaunch_v10000")
	e.WholeGraph(on, 5050, 100, 90, 12)
	e.WholeGraph(on, 0, 0, 91, 12) // whose times could not be had
	f := exported(t, e)
	d := only(t, f)
	if len(d.Activities) != 5 || len(d.Calls) != 2 {
		t.Fatalf("%d activities, calls %+v", len(d.Activities), d.Calls)
	}
	for i, a := range d.Activities {
		if call := []int32{-1, 0, -1, 1, -1}[i]; a.Call != call || !a.Graph || a.Launch != int64(i/2+1)*1000 && a.Launch != 5000 {
			t.Errorf("activity %d: %+v, want call %d", i, a, call)
		}
	}
	if last := d.Activities[4]; last.Kind != trace.GraphTrace || d.Names[last.Name] != "CUDA graph 12" || !hasNote(f, notice.GraphKernelsMissing{Launches: 2}) {
		t.Errorf("graph %+v, notes %v", last, f.Notes)
	}
	if d.Calls[1].Bytes != 800 {
		t.Errorf("second launch: %+v", d.Calls[1])
	}
}

// TestExportLaunchedElsewhere has kernels of NCCL that no call of it launched, and says so: nothing else tells why they have no size.
func TestExportLaunchedElsewhere(t *testing.T) {
	e := trainingExport()
	if f := exported(t, e); len(f.Notes) > 0 {
		t.Errorf("of calls that launch: %v", f.Notes)
	}
	on := tracetest.On{PID: 50, Stream: 20}
	e.Called(50, 77, 20_000, 50, 21, "cudaLaunchKernelExC_v11060")
	e.Ran(on, 21_000, 500, 21, allReduceKernel, 0)
	e.Called(50, 50, 22_000, 50, 22, "cudaGraphLaunch_v10000")
	e.Ran(on, 23_000, 500, 22, allReduceKernel, 9)
	f := exported(t, e)
	if !hasNote(f, notice.KernelsOutsideCalls{Kernels: 1, Of: 3}) || !hasNote(f, notice.KernelsInGraphs{Kernels: 1, Of: 3}) {
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
		e.Called(50, 50, c.at, 1, i+1, "cudaMemcpyAsync")
		e.Copied(on, c.at+20, 5, i+1, 800, c.kind)
	}
	e.Called(50, 50, 320, 1, 9, "cudaLaunchKernel")
	e.Ran(on, 350, 20, 9, allReduceKernel, 0)
	d := only(t, exported(t, e))
	var calls []int32
	for _, a := range d.Activities {
		calls = append(calls, a.Call)
	}
	if want := []int32{-1, 0, 0, -1, 1, -1}; !slices.Equal(calls, want) {
		t.Errorf("calls of activities %v, want %v", calls, want)
	}
}

// TestExportRanks finds the rank in each place where it may stand.
func TestExportRanks(t *testing.T) {
	for name, test := range map[string]struct {
		file  string
		add   func(e *tracetest.Export)
		rank  int
		world int
		from  string
	}{
		"nothing":      {"run.sqlite", func(*tracetest.Export) {}, trace.Unknown, 0, ""},
		"torchrun":     {"rank_1.sqlite", func(e *tracetest.Export) { e.Environment("WORLD_SIZE", "16"); e.Environment("RANK", "12") }, 12, 16, "environment variable RANK"},
		"Slurm":        {"run.sqlite", func(e *tracetest.Export) { e.Environment("SLURM_PROCID", "2") }, 2, 0, "environment variable SLURM_PROCID"},
		"local":        {"run.sqlite", func(e *tracetest.Export) { e.Environment("LOCAL_RANK", "2"); e.Environment("WORLD_SIZE", "16") }, trace.Unknown, 0, ""},
		"MPI":          {"rank_1.sqlite", func(e *tracetest.Export) { e.MPIRank(50, 6) }, 6, 0, "MPI's rank in the file"},
		"file":         {"rank_1.sqlite", func(*tracetest.Export) {}, 1, 0, "file name"},
		"communicator": {"run.sqlite", func(e *tracetest.Export) { e.NCCL(50, 50, 1, 1, "ncclCommInitAll", tracetest.Joined(7, 3, 2, 0)) }, 2, 3, "NCCL's communicator of 3 ranks"},
		"other world": {"run.sqlite", func(e *tracetest.Export) {
			e.NCCL(50, 50, 1, 1, "ncclCommInitAll", tracetest.Joined(7, 3, 2, 0))
			e.Environment("WORLD_SIZE", "9")
		}, trace.Unknown, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := tracetest.NewExport()
			e.Ran(tracetest.On{PID: 50}, 10, 5, 1, "gemm", 0)
			test.add(e)
			d := only(t, readExport(t, writeExport(t, e, test.file)))
			if d.Rank != test.rank || d.World != test.world || d.RankFrom != test.from {
				t.Errorf("rank %d of %d from %q, want %d of %d from %q", d.Rank, d.World, d.RankFrom, test.rank, test.world, test.from)
			}
		})
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
	if want := []trace.Range{{Span: trace.Span{Start: 50, End: 70}, Name: "ProfilerStep#7"}, {Span: trace.Span{Start: 100, End: 90_000}, Name: "iteration 3"}}; !slices.Equal(d.Ranges, want) {
		t.Errorf("ranges %+v, want %+v", d.Ranges, want)
	}
}

// TestExportWithoutGPU and others that have nothing to read.
func TestExportWithoutGPU(t *testing.T) {
	e := tracetest.NewExport()
	e.Annotated(50, 50, 100, 5, "iteration 3")
	if f := exported(t, e); len(f.Devices) != 0 || !hasNote(f, notice.NoGPUActivity{Format: notice.Nsight}) {
		t.Errorf("%d devices, notes %v", len(f.Devices), f.Notes)
	}
}

// TestExportWhereNothingIsWritten reads a file with an awkward name in a folder that nothing can be written to, and leaves it as it was.
func TestExportWhereNothingIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a ?b#c%41 d")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "run%20?x=#1.sqlite")
	if err := trainingExport().Write(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Chmod(path, 0o444), os.Chmod(dir, 0o555)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	if d := only(t, readExport(t, path)); len(d.Activities) != 4 {
		t.Errorf("%d activities", len(d.Activities))
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the file: %v, %v", entries, err)
	}
}

func TestReportSaysItsCommand(t *testing.T) {
	for path, content := range map[string]string{"my run.nsys-rep": "anything", "noext": "NVIDIA Tegra Profiler Report 2026@2@1@210v0.\n"} {
		path = filepath.Join(t.TempDir(), path)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := trace.Read(t.Context(), path, trace.Options{})
		var report *trace.ReportError
		if !errors.As(err, &report) || !strings.Contains(err.Error(), "nsys export --type=sqlite --include-blobs=true --force-overwrite=true --output=") {
			t.Errorf("%v", err)
		}
	}
	if got, want := trace.ExportCommand("my run.nsys-rep"), "--output='my run.sqlite' 'my run.nsys-rep'"; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want … %s", got, want)
	}
}

func TestOtherDatabaseIsNoTrace(t *testing.T) {
	path := writeExport(t, trainingExport(), "run.sqlite")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The table of strings, which every export has, under another name in the list of tables.
	b = []byte(strings.ReplaceAll(string(b), "StringIds", "StringUds"))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := trace.Read(t.Context(), path, trace.Options{}); !errors.Is(err, trace.ErrNotTrace) {
		t.Errorf("%v", err)
	}
}

func TestExportIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := writeExport(t, trainingExport(), "run.sqlite")
	if _, err := trace.Read(ctx, path, trace.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
