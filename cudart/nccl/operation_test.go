//go:build cgo

package nccl

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"busbar/cudart"
	"busbar/internal/loop"
)

// prepare makes an operation that is closed with the test.
func prepare(t *testing.T, c *Comm, s OpSpec) *Operation {
	t.Helper()
	o, err := c.Prepare(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

func TestCalls(t *testing.T) {
	const group, end = "ncclGroupStart", "ncclGroupEnd"
	for _, k := range []struct {
		flag string
		spec OpSpec
		rank int // of 3
		want []string
		note string
	}{
		{"", OpSpec{Kind: AllReduce, Op: Max}, 1, []string{"ncclAllReduce(10000, 20000, 5, type 7, op 2, rank 1)"}, ""},
		{"", OpSpec{Kind: AllGather}, 1, []string{"ncclAllGather(10000, 20000, 5, type 7, rank 1)"}, ""},
		{"", OpSpec{Kind: ReduceScatter, Op: Avg}, 1,
			[]string{"ncclReduceScatter(10000, 20000, 5, type 7, op 4, rank 1)"}, ""},
		{"", OpSpec{Kind: Broadcast, Root: 2}, 1, []string{"ncclBroadcast(10000, 20000, 5, type 7, root 2, rank 1)"},
			""},
		{"", OpSpec{Kind: Reduce, Op: Prod, Root: 2}, 1,
			[]string{"ncclReduce(10000, 20000, 5, type 7, op 1, root 2, rank 1)"}, ""},
		{"", OpSpec{Kind: AllToAll}, 1, []string{"ncclAlltoAll(10000, 20000, 5, type 7, rank 1)"}, "by ncclAlltoAll"},
		{"-DOTHER", OpSpec{Kind: AllToAll}, 1, []string{"ncclAllToAll(10000, 20000, 5, type 7, rank 1)"},
			"by ncclAllToAll"},
		{"", OpSpec{Kind: Gather, Root: 2}, 1, []string{"ncclGather(10000, 20000, 5, type 7, root 2, rank 1)"},
			"by ncclGather"},
		{"", OpSpec{Kind: Scatter, Root: 2}, 1, []string{"ncclScatter(10000, 20000, 5, type 7, root 2, rank 1)"},
			"by ncclScatter"},
		{"-DNO_NATIVE", OpSpec{Kind: AllToAll}, 1, []string{group,
			"ncclSend(10000, 5, type 7, to 0, rank 1)", "ncclRecv(20000, 5, type 7, from 0, rank 1)",
			"ncclSend(10014, 5, type 7, to 1, rank 1)", "ncclRecv(20014, 5, type 7, from 1, rank 1)",
			"ncclSend(10028, 5, type 7, to 2, rank 1)", "ncclRecv(20028, 5, type 7, from 2, rank 1)", end},
			"by grouped ncclSend and ncclRecv: the library has no ncclAlltoAll"},
		{"-DNO_NATIVE", OpSpec{Kind: Gather, Root: 2}, 1,
			[]string{group, "ncclSend(10000, 5, type 7, to 2, rank 1)", end},
			"by grouped ncclSend and ncclRecv: the library has no ncclGather"},
		{"-DNO_NATIVE", OpSpec{Kind: Gather, Root: 2}, 2, []string{group, "ncclSend(10000, 5, type 7, to 2, rank 2)",
			"ncclRecv(20000, 5, type 7, from 0, rank 2)", "ncclRecv(20014, 5, type 7, from 1, rank 2)",
			"ncclRecv(20028, 5, type 7, from 2, rank 2)", end},
			"by grouped ncclSend and ncclRecv: the library has no ncclGather"},
		{"-DNO_NATIVE", OpSpec{Kind: Scatter, Root: 0}, 1,
			[]string{group, "ncclRecv(20000, 5, type 7, from 0, rank 1)", end},
			"by grouped ncclSend and ncclRecv: the library has no ncclScatter"},
		{"-DNO_NATIVE", OpSpec{Kind: Scatter, Root: 1}, 1, []string{group, "ncclSend(10000, 5, type 7, to 0, rank 1)",
			"ncclSend(10014, 5, type 7, to 1, rank 1)", "ncclSend(10028, 5, type 7, to 2, rank 1)",
			"ncclRecv(20000, 5, type 7, from 1, rank 1)", end},
			"by grouped ncclSend and ncclRecv: the library has no ncclScatter"},
		{"", OpSpec{Kind: SendRecv}, 0, []string{group, "ncclSend(10000, 5, type 7, to 1, rank 0)",
			"ncclRecv(20000, 5, type 7, from 2, rank 0)", end}, ""},
		{"", OpSpec{Kind: SendRecv}, 2, []string{group, "ncclSend(10000, 5, type 7, to 0, rank 2)",
			"ncclRecv(20000, 5, type 7, from 1, rank 2)", end}, ""},
	} {
		f := load(t, strings.Fields(k.flag)...)
		c := f.comm(k.rank, 3, Config{})
		k.spec.Count = 5
		o := prepare(t, c, f.stand(k.spec))
		if err := run(t, o, 1, 1); err != nil {
			t.Errorf("%s: %v", k.spec.Kind, err)
		}
		if got, want := f.streamless(f.calls()), strings.Join(k.want, "\n"); got != want {
			t.Errorf("%s of rank %d %s:\n%s\nwanted:\n%s", k.spec.Kind, k.rank, k.flag, got, want)
		}
		if notes := strings.Join(o.Notes(), "\n"); notes != k.note {
			t.Errorf("%s: notes %q, wanted %q", k.spec.Kind, notes, k.note)
		}
	}
}

// NCCL's numbers of types and reductions, and the factor of PreMulSum in every type.
func TestNumbers(t *testing.T) {
	f := load(t)
	c := f.comm(0, 1, Config{})
	for typ, k := range map[Type]struct {
		number int
		size   int64
		two    string
	}{
		Int8: {0, 1, "02"}, UInt8: {1, 1, "02"}, Int32: {2, 4, "02000000"}, UInt32: {3, 4, "02000000"},
		Int64: {4, 8, "0200000000000000"}, UInt64: {5, 8, "0200000000000000"}, Float16: {6, 2, "0040"},
		Float32: {7, 4, "00000040"}, Float64: {8, 8, "0000000000000040"}, BFloat16: {9, 2, "0040"},
		Float8E4M3: {10, 1, "40"}, Float8E5M2: {11, 1, "40"},
	} {
		if typ.Size() != k.size {
			t.Errorf("%s has %d bytes", typ, typ.Size())
		}
		o := prepare(t, c, f.stand(OpSpec{Kind: AllReduce, Type: typ, Op: PreMulSum, Count: 1}))
		if err := errors.Join(run(t, o, 1, 1), o.Close()); err != nil {
			t.Error(err)
		}
		want := fmt.Sprintf("ncclRedOpCreatePreMulSum(%s, type %d, residence 1)\nncclAllReduce(10000, 20000, 1, type "+
			"%d, op 17, rank 0)\nncclRedOpDestroy(17)",
			k.two, k.number, k.number)
		if got := f.streamless(f.calls()); got != want {
			t.Errorf("%s:\n%s\nwanted:\n%s", typ, got, want)
		}
		if len(o.Notes()) != 1 || !strings.Contains(o.Notes()[0], "times 2") {
			t.Errorf("notes %q", o.Notes())
		}
	}
	for op, number := range map[Op]int{Sum: 0, Prod: 1, Max: 2, Min: 3, Avg: 4} {
		o := prepare(t, c, f.stand(OpSpec{Kind: AllReduce, Op: op, Count: 1}))
		if err := run(t, o, 1, 1); err != nil {
			t.Error(err)
		}
		if want := fmt.Sprintf(", op %d,", number); !strings.Contains(f.calls(), want) {
			t.Errorf("%s is not %s", op, want)
		}
	}
}

// Operation i uses slot i mod Slots, through groups and batches; counts have 64 bits.
func TestSlotsAndGroups(t *testing.T) {
	f := load(t)
	c := f.comm(0, 2, Config{})
	spec := f.stand(OpSpec{Kind: AllReduce, Type: Int8, Count: 1 << 33, Slots: 3, SendStride: 0x100,
		RecvStride: 0x1000})
	call := func(slot int) string {
		return fmt.Sprintf("ncclAllReduce(%x, %x, 8589934592, type 0, op 0, rank 0)", 0x10000+0x100*slot,
			0x20000+0x1000*slot)
	}
	o := prepare(t, c, spec)
	if err := run(t, o, 2, 2); err != nil {
		t.Fatal(err)
	}
	want := []string{call(0), call(1), call(2), call(0)}
	if got := f.streamless(f.calls()); got != strings.Join(want, "\n") {
		t.Errorf("slots:\n%s", got)
	}
	spec.Aggregate = 2
	o = prepare(t, c, spec)
	f.set(inGroup, 0)
	if err := run(t, o, 1, 2); err != nil {
		t.Fatal(err)
	}
	want = []string{"ncclGroupStart", call(0), call(1), "ncclGroupEnd", "ncclGroupStart", call(2), call(0),
		"ncclGroupEnd"}
	if got := f.streamless(f.calls()); got != strings.Join(want, "\n") {
		t.Errorf("groups:\n%s", got)
	}
}

func TestGraph(t *testing.T) {
	f := load(t)
	c := f.comm(0, 2, Config{})
	spec := f.stand(OpSpec{Kind: AllReduce, Count: 1, Slots: 2, SendStride: 0x10, Graph: 2, Aggregate: 2})
	s := hex(uint32(uintptr(spec.Stream)))
	o := prepare(t, c, spec)
	f.wants() // nothing is captured before all ranks issue it
	if err := run(t, o, 1, 3); err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	group := []string{"ncclGroupStart", "ncclAllReduce(10000, 20000, 1, type 7, op 0, rank 0)",
		"ncclAllReduce(10010, 20000, 1, type 7, op 0, rank 0)", "ncclGroupEnd"}
	launch := "launch aa on " + s
	want := slices.Concat([]string{"begin capture of " + s + ", mode 1"}, group, group,
		[]string{"end capture of " + s, "instantiate 99, flags 0", "destroy 99", launch, launch, launch,
			"destroy exec aa"})
	if got := f.streamless(f.calls()); got != strings.Join(want, "\n") {
		t.Errorf("graph:\n%s\nwanted:\n%s", got, strings.Join(want, "\n"))
	}
	if notes := strings.Join(o.Notes(), ""); !strings.Contains(notes, "graph of 4 operations") {
		t.Errorf("notes %q", notes)
	}

	// What fails inside a capture ends it and leaves no graph.
	f.set(result, 3)
	spec.Aggregate = 0
	o = prepare(t, c, spec)
	var e *Error
	if err := run(t, o, 1, 1); !errors.As(err, &e) || e.Code != 3 {
		t.Errorf("error %v", err)
	}
	f.wants("begin capture of "+s+", mode 1", "ncclAllReduce(10000, 20000, 1, type 7, op 0, rank 0, stream "+s+")",
		"end capture of "+s, "destroy 99")
	f.set(result, 0)
	f.set(capture, 900)
	var driver *cudart.Error
	if err := run(t, o, 1, 1); !errors.As(err, &driver) || driver.Code != 900 {
		t.Errorf("error %v", err)
	}
	spec.Cuda = f.symbol("fake_cuda_old")
	var lacks *UnsupportedError
	if _, err := c.Prepare(spec); !errors.As(err, &lacks) || !strings.Contains(err.Error(), "CUDA 11.4") {
		t.Errorf("a driver without graphs: %v", err)
	}
}

func TestSync(t *testing.T) {
	f := load(t)
	spec := f.stand(OpSpec{Kind: AllReduce, Count: 1})
	c := f.comm(0, 2, Config{})
	if prepare(t, c, spec).Steps().Sync != nil {
		t.Error("a sync of nothing")
	}
	spec.Sync, spec.SyncContext = loop.Step(f.symbol("fake_sync")), f.symbol("fake_sync_context")
	if err := run(t, prepare(t, c, spec), 2, 1); err != nil {
		t.Fatal(err)
	}
	call := "ncclAllReduce(10000, 20000, 1, type 7, op 0, rank 0)"
	if got, want := f.streamless(f.calls()), strings.Join([]string{"sync of ranks 0", call, "sync of ranks 1", call},
		"\n"); got != want {
		t.Errorf("calls:\n%s", got)
	}
}

func TestWait(t *testing.T) {
	f := load(t)
	c := f.comm(0, 2, Config{})
	o := prepare(t, c, f.stand(OpSpec{Kind: AllReduce, Count: 1}))
	f.set(notReady, 1000)
	if err := run(t, o, 1, 1); err != nil {
		t.Errorf("a stream that is ready in the end: %v", err)
	}

	// The communicator is asked while the stream is not ready; that it is in progress is no error.
	f.set(state, 7)
	f.set(notReady, 20000)
	if err := run(t, o, 1, 1); err != nil {
		t.Errorf("a communicator that is in progress: %v", err)
	}
	f.set(state, 6)
	f.set(notReady, -1)
	var e *Error
	at, err := stage(t, o, 1, 1)
	if !errors.As(err, &e) || at != loop.Wait || e.Name != "ncclRemoteError" || e.Op != "ncclAllReduce" ||
		e.Unsupported() {
		t.Errorf("a remote error: %v, %v", at, err)
	}
	f.set(state, 0)
	f.set(notReady, 0)
	f.set(query, 700)
	var driver *cudart.Error
	if err := run(t, o, 1, 1); !errors.As(err, &driver) || driver.Code != 700 ||
		driver.Name != "CUDA_ERROR_ILLEGAL_ADDRESS" ||
		!strings.Contains(err.Error(), "an illegal memory access") || !strings.Contains(err.Error(), "ncclAllReduce") {
		t.Errorf("an error of the stream: %v", err)
	}
	f.set(query, 701)
	if err := run(t, o, 1, 1); !errors.As(err, &driver) || driver.Code != 701 || driver.Name == "" {
		t.Errorf("an error without a name: %v", err)
	}
	f.set(query, 0)
	f.set(result, 4)
	if err := run(t, o, 1, 1); !errors.As(err, &e) || !e.Unsupported() || e.Last == "" {
		t.Errorf("an operation that the library refuses: %v", err)
	}
	if err := o.Error(0); err != nil {
		t.Error(err)
	}
}

func TestInterrupt(t *testing.T) {
	f := load(t)
	c := f.comm(0, 2, Config{NonBlocking: true})
	other := f.comm(0, 2, Config{})
	o := prepare(t, c, f.stand(OpSpec{Kind: AllReduce, Count: 1}))
	l, err := loop.New(o.Steps(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f.set(notReady, -1)
	go func() {
		for {
			if _, stage := l.Position(); stage == loop.Wait {
				c.Interrupt()
				return
			}
			runtime.Gosched()
		}
	}()
	_, err = l.Run(1, 1)
	var step *loop.StepError
	if !errors.As(err, &step) || step.Stage != loop.Wait || !errors.Is(o.Error(step.Code), ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	// It holds for what comes later, also where a call is in progress, and not for other communicators.
	f.set(polls, math.MaxInt32)
	if err := run(t, o, 1, 1); !errors.Is(err, ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	if _, err := c.Split(0, 0, Config{}); !errors.Is(err, ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	f.set(polls, 0)
	f.set(notReady, 100)
	if err := run(t, prepare(t, other, f.stand(OpSpec{Kind: AllReduce, Count: 1})), 1, 1); err != nil {
		t.Error(err)
	}
}

// Calls of a communicator that does not block are done when it says so.
func TestInProgress(t *testing.T) {
	f := load(t)
	c := f.comm(0, 2, Config{NonBlocking: true})
	for _, s := range []OpSpec{{Kind: AllReduce}, {Kind: AllReduce, Slots: 2}, {Kind: AllReduce, Aggregate: 2},
		{Kind: SendRecv}, {Kind: AllReduce, Graph: 1}} {
		s.Count = 1
		o := prepare(t, c, f.stand(s))
		f.set(polls, 20)
		if err := run(t, o, 1, 1); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
		if left := f.left(polls); left != 0 {
			t.Errorf("%+v: went on while in progress, %d polls early", s, left)
		}
		f.set(polls, 3)
		f.set(state, 1)
		var e *Error
		if err := run(t, o, 1, 1); s.Graph == 0 && (!errors.As(err, &e) || e.Code != 1) {
			t.Errorf("%+v: error %v", s, err)
		}
		f.set(polls, 0)
		f.set(state, 0)
	}
}

// A group is ended whatever goes wrong in it, and what went wrong first is what is said.
func TestGroupsEnd(t *testing.T) {
	f := load(t, "-DNO_NATIVE")
	c := f.comm(0, 2, Config{})
	for _, s := range []OpSpec{{Kind: AllToAll}, {Kind: Gather}, {Kind: Scatter}, {Kind: SendRecv},
		{Kind: AllReduce, Aggregate: 3}} {
		s.Count = 1
		o := prepare(t, c, f.stand(s))
		f.set(result, 5)
		f.set(inGroup, 1)
		var e *Error
		if err := run(t, o, 1, 1); !errors.As(err, &e) || e.Code != 5 {
			t.Errorf("%s: %v", s.Kind, err)
		}
		f.set(result, 0)
		if calls := strings.Split(f.calls(), "\n"); len(calls) != 3 || calls[2] != "ncclGroupEnd" {
			t.Errorf("%s: %q", s.Kind, calls)
		}
	}
}

func TestRefused(t *testing.T) {
	f := load(t)
	c := f.comm(0, 3, Config{})
	for _, k := range []struct {
		spec OpSpec
		want string
	}{
		{OpSpec{Kind: 99}, "no operation (99)"},
		{OpSpec{Kind: AllReduce, Type: 13}, "no type (13)"},
		{OpSpec{Kind: AllReduce, Op: 7}, "(7) is none"},
		{OpSpec{Kind: AllToAll, Send: 64, Recv: 64, Count: 1}, "in place"},
		{OpSpec{Kind: SendRecv, Send: 64, Recv: 64, Count: 1}, "in place"},
		{OpSpec{Kind: AllGather, Count: math.MaxInt64 / 8}, "more than 2⁶³ bytes"},
		{OpSpec{Kind: AllReduce, Count: -1}, "-1 elements"},
	} {
		_, err := c.Prepare(f.stand(k.spec))
		var lacks *UnsupportedError
		if !errors.As(err, &lacks) || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%+v: %v", k.spec, err)
		}
	}
	for _, root := range []int{-1, 3} {
		if _, err := c.Prepare(f.stand(OpSpec{Kind: Gather, Root: root, Count: 1})); err == nil ||
			!strings.Contains(err.Error(), "none of 3 ranks") {
			t.Errorf("root %d: %v", root, err)
		}
	}
	if _, err := c.Prepare(OpSpec{Kind: AllReduce, Type: Int8, Op: Sum, Stream: unsafe.Pointer(nil)}); err == nil ||
		!strings.Contains(err.Error(), "OpSpec.Cuda") {
		t.Errorf("without a driver: %v", err)
	}
	f.set(result, 3)
	var e *Error
	if _, err := c.Prepare(f.stand(OpSpec{Kind: AllReduce, Op: PreMulSum, Count: 1})); !errors.As(err, &e) ||
		e.Op != "preparing ncclAllReduce" {
		t.Errorf("a reduction that cannot be made: %v", err)
	}
}

// Each batch lies between two events; the first is set outside of the timed part, and times come of the batches since
// they were last asked for.
func TestTimes(t *testing.T) {
	f := load(t)
	c := f.comm(0, 2, Config{})
	spec := f.stand(OpSpec{Kind: AllReduce, Count: 1, Events: 3})
	spec.Sync, spec.SyncContext = loop.Step(f.symbol("fake_sync")), f.symbol("fake_sync_context")
	o := prepare(t, c, spec)
	if err := run(t, o, 2, 2); err != nil {
		t.Fatal(err)
	}
	const call = "ncclAllReduce(10000, 20000, 1, type 7, op 0, rank 0, stream S)"
	want := strings.Join([]string{"create event, flags 0", "create event, flags 0",
		"sync of ranks 0", "record on S", call, call, "record on S",
		"sync of ranks 2", "record on S", call, call, "record on S"}, "\n")
	if got := strings.ReplaceAll(f.calls(), hex(uint32(uintptr(f.symbol("fake_sync_context")))), "S"); got != want {
		t.Errorf("calls:\n%s\nwanted:\n%s", got, want)
	}
	for _, want := range [][]float64{{1e-3, 2e-3}, nil} {
		times, err := o.Times()
		if err != nil || len(times) != len(want) ||
			want != nil && (math.Abs(times[0]-want[0]) > 1e-9 || math.Abs(times[1]-want[1]) > 1e-9) {
			t.Errorf("times %v (error %v), want %v", times, err, want)
		}
	}
	if err := o.Close(); err != nil || f.calls() != "destroy event\ndestroy event" {
		t.Errorf("the events stay (error %v)", err)
	}
}

// An event that fails is an error of the wait, and the other ranks are not left alone.
func TestTimesFail(t *testing.T) {
	const creates, records = 11, 12
	f := load(t)
	c := f.comm(0, 2, Config{})
	spec := f.stand(OpSpec{Kind: AllReduce, Count: 1, Events: 3})
	f.set(creates, 2)
	var e *cudart.Error
	if _, err := c.Prepare(spec); !errors.As(err, &e) || e.Code != 2 {
		t.Errorf("an event cannot be had: error %v", err)
	}
	f.set(creates, 0)
	o := prepare(t, c, spec)
	f.set(records, 700)
	if stage, err := stage(t, o, 1, 1); !errors.As(err, &e) || e.Code != 700 || stage != loop.Wait {
		t.Errorf("an event is not recorded: error %v while %s", err, stage)
	}
	if _, err := o.Times(); !errors.As(err, &e) {
		t.Errorf("times of a stream that failed: error %v", err)
	}
}

// A choice of algorithms goes to the call that takes one, at its place in the structure; what takes none is refused.
func TestAlgorithms(t *testing.T) {
	f := load(t)
	c := f.comm(0, 2, Config{})
	unset := math.MinInt32
	for _, k := range []struct {
		spec OpSpec
		want string
	}{
		{OpSpec{Kind: AllReduce},
			fmt.Sprintf("choice of 64 bytes, version 23100, %d to %d, ring,^tree, force 1, policy "+
				"%d\nncclAllReduce(10000, 20000, 1, type 7, op 0, rank 0)", unset, unset, unset)},
		{OpSpec{Kind: Broadcast, Root: 1}, "ring,^tree\nncclBroadcast(10000, 20000, 1, type 7, root 1, rank 0)"},
	} {
		k.spec.Count, k.spec.Algorithms = 1, "ring,^tree"
		o := prepare(t, c, f.stand(k.spec))
		if err := errors.Join(run(t, o, 1, 1), o.Close()); err != nil {
			t.Error(err)
		}
		if got := f.streamless(f.calls()); got != k.want {
			t.Errorf("calls:\n%s\nwanted:\n%s", got, k.want)
		}
	}
	var lacks *UnsupportedError
	if _, err := c.Prepare(f.stand(OpSpec{Kind: SendRecv, Count: 1, Algorithms: "ring"})); !errors.As(err, &lacks) ||
		!strings.Contains(err.Error(), "choice of algorithms") {
		t.Errorf("sends and receives take a choice: error %v", err)
	}
	if err := f.CheckChoice(); err != nil {
		t.Error(err)
	}
	const refuses = 9
	f.set(refuses, 1)
	if err := f.CheckChoice(); err == nil {
		t.Error("a structure that is refused is taken for good")
	}
	old := load(t, "-DMINIMAL")
	if err := old.CheckChoice(); !errors.As(err, &lacks) {
		t.Errorf("a library without such calls: error %v", err)
	}
}
