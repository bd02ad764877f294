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

	"busbar/cudart"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/operation"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// prepare makes an operation that is closed with the test.
func prepare(t *testing.T, c *Comm, s OpSpec) *Operation {
	t.Helper()
	o, err := c.Prepare(s)
	must.NoError(t, err)
	t.Cleanup(func() { o.Close() })
	return o
}

func TestCalls(t *testing.T) {
	const group, end, grouped = "ncclGroupStart", "ncclGroupEnd",
		"by grouped ncclSend and ncclRecv: the library has no "
	for _, k := range []struct {
		flag       string
		collective coll.Collective
		op         coll.RedOp
		root, rank int // of 3
		want       []string
		note       string
	}{
		{"", coll.AllReduce, coll.Max, 0, 1, []string{"ncclAllReduce(10000, 20000, 5, type 7, op 2, rank 1)"}, ""},
		{"", coll.AllGather, 0, 0, 1, []string{"ncclAllGather(10000, 20000, 5, type 7, rank 1)"}, ""},
		{"", coll.ReduceScatter, coll.Avg, 0, 1, []string{"ncclReduceScatter(10000, 20000, 5, type 7, op 4, rank 1)"},
			""},
		{"", coll.Broadcast, 0, 2, 1, []string{"ncclBroadcast(10000, 20000, 5, type 7, root 2, rank 1)"}, ""},
		{"", coll.Reduce, coll.Prod, 2, 1, []string{"ncclReduce(10000, 20000, 5, type 7, op 1, root 2, rank 1)"}, ""},
		{"", coll.AllToAll, 0, 0, 1, []string{"ncclAlltoAll(10000, 20000, 5, type 7, rank 1)"}, "by ncclAlltoAll"},
		{"-DOTHER", coll.AllToAll, 0, 0, 1, []string{"ncclAllToAll(10000, 20000, 5, type 7, rank 1)"},
			"by ncclAllToAll"},
		{"", coll.Gather, 0, 2, 1, []string{"ncclGather(10000, 20000, 5, type 7, root 2, rank 1)"}, "by ncclGather"},
		{"", coll.Scatter, 0, 2, 1, []string{"ncclScatter(10000, 20000, 5, type 7, root 2, rank 1)"}, "by ncclScatter"},
		{"-DNO_NATIVE", coll.AllToAll, 0, 0, 1, []string{group,
			"ncclSend(10000, 5, type 7, to 0, rank 1)", "ncclRecv(20000, 5, type 7, from 0, rank 1)",
			"ncclSend(10014, 5, type 7, to 1, rank 1)", "ncclRecv(20014, 5, type 7, from 1, rank 1)",
			"ncclSend(10028, 5, type 7, to 2, rank 1)", "ncclRecv(20028, 5, type 7, from 2, rank 1)", end},
			grouped + "ncclAlltoAll"},
		{"-DNO_NATIVE", coll.Gather, 0, 2, 1, []string{group, "ncclSend(10000, 5, type 7, to 2, rank 1)", end},
			grouped + "ncclGather"},
		{"-DNO_NATIVE", coll.Gather, 0, 2, 2, []string{group, "ncclSend(10000, 5, type 7, to 2, rank 2)",
			"ncclRecv(20000, 5, type 7, from 0, rank 2)", "ncclRecv(20014, 5, type 7, from 1, rank 2)",
			"ncclRecv(20028, 5, type 7, from 2, rank 2)", end}, grouped + "ncclGather"},
		{"-DNO_NATIVE", coll.Scatter, 0, 0, 1, []string{group, "ncclRecv(20000, 5, type 7, from 0, rank 1)", end},
			grouped + "ncclScatter"},
		{"-DNO_NATIVE", coll.Scatter, 0, 1, 1, []string{group, "ncclSend(10000, 5, type 7, to 0, rank 1)",
			"ncclSend(10014, 5, type 7, to 1, rank 1)", "ncclSend(10028, 5, type 7, to 2, rank 1)",
			"ncclRecv(20000, 5, type 7, from 1, rank 1)", end}, grouped + "ncclScatter"},
		{"", coll.SendRecv, 0, 0, 0, []string{group, "ncclSend(10000, 5, type 7, to 1, rank 0)",
			"ncclRecv(20000, 5, type 7, from 2, rank 0)", end}, ""},
		{"", coll.SendRecv, 0, 0, 2, []string{group, "ncclSend(10000, 5, type 7, to 0, rank 2)",
			"ncclRecv(20000, 5, type 7, from 1, rank 2)", end}, ""},
	} {
		f := load(t, strings.Fields(k.flag)...)
		c := f.comm(k.rank, 3, Config{})
		spec := of(k.collective)
		spec.Op, spec.Root, spec.Count = k.op, k.root, 5
		o := prepare(t, c, f.placed(spec))
		test.NoError(t, once(t, o), test.Sprint(k.collective))
		if got, want := f.streamless(f.calls()), strings.Join(k.want, "\n"); got != want {
			t.Errorf("%s of rank %d %s:\n%s\nwanted:\n%s", k.collective, k.rank, k.flag, got, want)
		}
		test.EqOp(t, k.note, strings.Join(o.Notes(), "\n"), test.Sprint(k.collective))
	}
}

// NCCL's numbers of types and reductions, and the factor of PreMulSum in every type.
func TestNumbers(t *testing.T) {
	f := load(t)
	c := f.comm(0, 1, Config{})
	issue := func(typ coll.DataType, op coll.RedOp) string {
		spec := of(coll.AllReduce)
		spec.Type, spec.Op = typ, op
		o := prepare(t, c, f.placed(spec))
		test.NoError(t, errors.Join(once(t, o), o.Close()))
		return f.streamless(f.calls())
	}
	for typ, k := range map[coll.DataType]struct {
		number int
		two    string
	}{
		coll.Int8: {0, "02"}, coll.UInt8: {1, "02"}, coll.Int32: {2, "02000000"}, coll.UInt32: {3, "02000000"},
		coll.Int64: {4, "0200000000000000"}, coll.UInt64: {5, "0200000000000000"}, coll.Float16: {6, "0040"},
		coll.Float32: {7, "00000040"}, coll.Float64: {8, "0000000000000040"}, coll.BFloat16: {9, "0040"},
		coll.Float8E4M3: {10, "40"}, coll.Float8E5M2: {11, "40"},
	} {
		want := fmt.Sprintf("ncclRedOpCreatePreMulSum(%s, type %d, residence 1)\nncclAllReduce(10000, 20000, 1, type "+
			"%d, op 17, rank 0)\nncclRedOpDestroy(17)", k.two, k.number, k.number)
		test.EqOp(t, want, issue(typ, coll.MulSum), test.Sprint(typ))
	}
	for op, number := range map[coll.RedOp]int{coll.Sum: 0, coll.Prod: 1, coll.Max: 2, coll.Min: 3, coll.Avg: 4} {
		test.StrContains(t, issue(coll.Int8, op), fmt.Sprintf(", op %d,", number), test.Sprint(op))
	}
}

// Operation i uses slot i mod Slots, through groups and batches; counts have 64 bits.
func TestSlotsAndGroups(t *testing.T) {
	f, c := pair(t)
	spec := f.allReduce()
	spec.Type, spec.Count = coll.Int8, 1<<33
	spec.Slots, spec.SendStride, spec.RecvStride = 3, 0x100, 0x1000
	call := func(slot int) string {
		return fmt.Sprintf("ncclAllReduce(%x, %x, 8589934592, type 0, op 0, rank 0)", 0x10000+0x100*slot,
			0x20000+0x1000*slot)
	}
	o := prepare(t, c, spec)
	must.NoError(t, run(t, o, 2, 2))
	want := []string{call(0), call(1), call(2), call(0)}
	test.EqOp(t, strings.Join(want, "\n"), f.streamless(f.calls()))
	spec.Aggregate = 2
	o = prepare(t, c, spec)
	f.set(inGroup, 0)
	must.NoError(t, run(t, o, 1, 2))
	want = []string{"ncclGroupStart", call(0), call(1), "ncclGroupEnd", "ncclGroupStart", call(2), call(0),
		"ncclGroupEnd"}
	test.EqOp(t, strings.Join(want, "\n"), f.streamless(f.calls()))
}

func TestGraph(t *testing.T) {
	f, c := pair(t)
	spec := f.allReduce()
	spec.Slots, spec.SendStride, spec.Graph, spec.Aggregate = 2, 0x10, 2, 2
	s := fmt.Sprintf("%x", uint32(uintptr(spec.Stream)))
	o := prepare(t, c, spec)
	f.wants() // no capture before all ranks issue it
	must.NoError(t, run(t, o, 1, 3))
	test.NoError(t, o.Close())
	group := []string{"ncclGroupStart", "ncclAllReduce(10000, 20000, 1, type 7, op 0, rank 0)",
		"ncclAllReduce(10010, 20000, 1, type 7, op 0, rank 0)", "ncclGroupEnd"}
	launch := "launch aa on " + s
	want := slices.Concat([]string{"begin capture of " + s + ", mode 1"}, group, group,
		[]string{"end capture of " + s, "instantiate 99, flags 0", "destroy 99", launch, launch, launch,
			"destroy exec aa"})
	test.EqOp(t, strings.Join(want, "\n"), f.streamless(f.calls()))
	test.StrContains(t, strings.Join(o.Notes(), ""), "graph of 4 operations")

	// A failure during a capture ends it and leaves no graph.
	f.set(result, 3)
	spec.Aggregate = 0
	o = prepare(t, c, spec)
	var e *Error
	if err := once(t, o); !errors.As(err, &e) || e.Code != 3 {
		t.Errorf("error %v", err)
	}
	f.wants("begin capture of "+s+", mode 1", "ncclAllReduce(10000, 20000, 1, type 7, op 0, rank 0, stream "+s+")",
		"end capture of "+s, "destroy 99")
	f.set(result, 0)
	f.set(capture, 900)
	var driver *cudart.Error
	if err := once(t, o); !errors.As(err, &driver) || driver.Code != 900 {
		t.Errorf("error %v", err)
	}
	spec.Cuda = f.symbol("fake_cuda_old")
	var lacks *operation.UnsupportedError
	if _, err := c.Prepare(spec); !errors.As(err, &lacks) || !strings.Contains(err.Error(), "CUDA 11.4") {
		t.Errorf("a driver without graphs: %v", err)
	}
}

func TestSync(t *testing.T) {
	f := load(t)
	spec := f.allReduce()
	c := f.comm(0, 2, Config{})
	if prepare(t, c, spec).Steps().Sync != nil {
		t.Error("sync without operations")
	}
	spec.Sync, spec.SyncContext = loop.Step(f.symbol("fake_sync")), f.symbol("fake_sync_context")
	must.NoError(t, run(t, prepare(t, c, spec), 2, 1))
	call := "ncclAllReduce(10000, 20000, 1, type 7, op 0, rank 0)"
	test.EqOp(t, strings.Join([]string{"sync of ranks 0", call, "sync of ranks 1", call},
		"\n"), f.streamless(f.calls()))
}

func TestWait(t *testing.T) {
	f, c := pair(t)
	o := prepare(t, c, f.allReduce())
	f.set(notReady, 1000)
	test.NoError(t, once(t, o))

	// The communicator is polled while the stream is not ready; in progress is not an error.
	f.set(state, 7)
	f.set(notReady, 20000)
	test.NoError(t, once(t, o))
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
	if err := once(t, o); !errors.As(err, &driver) || driver.Code != 700 ||
		driver.Name != "CUDA_ERROR_ILLEGAL_ADDRESS" ||
		!strings.Contains(err.Error(), "an illegal memory access") || !strings.Contains(err.Error(), "ncclAllReduce") {
		t.Errorf("an error of the stream: %v", err)
	}
	f.set(query, 701)
	if err := once(t, o); !errors.As(err, &driver) || driver.Code != 701 || driver.Name == "" {
		t.Errorf("an error without a name: %v", err)
	}
	f.set(query, 0)
	f.set(result, 4)
	if err := once(t, o); !errors.As(err, &e) || !e.Unsupported() || e.Last == "" {
		t.Errorf("an operation that the library refuses: %v", err)
	}
	test.NoError(t, o.Error(0))
}

func TestInterrupt(t *testing.T) {
	f, c := pair(t)
	other := f.comm(0, 2, Config{})
	o := prepare(t, c, f.allReduce())
	l, err := loop.New(o.Steps(), 1)
	must.NoError(t, err)
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
	// It applies to later operations, also during a call in progress, and not to other communicators.
	f.set(polls, math.MaxInt32)
	test.ErrorIs(t, once(t, o), ErrInterrupted)
	f.set(polls, 0)
	f.set(notReady, 100)
	test.NoError(t, run(t, prepare(t, other, f.allReduce()), 1, 1))
}

// Calls of a non-blocking communicator are complete when it reports so.
func TestInProgress(t *testing.T) {
	f, c := pair(t)
	slots, group, graph := of(coll.AllReduce), of(coll.AllReduce), of(coll.AllReduce)
	slots.Slots, group.Aggregate, graph.Graph = 2, 2, 1
	for _, s := range []OpSpec{of(coll.AllReduce), slots, group, of(coll.SendRecv), graph} {
		o := prepare(t, c, f.placed(s))
		f.set(polls, 20)
		test.NoError(t, once(t, o), test.Sprint(s))
		test.EqOp(t, 0, f.left(polls), test.Sprint(s))
		f.set(polls, 3)
		f.set(state, 1)
		var e *Error
		if err := once(t, o); s.Graph == 0 && (!errors.As(err, &e) || e.Code != 1) {
			t.Errorf("%+v: error %v", s, err)
		}
		f.set(polls, 0)
		f.set(state, 0)
	}
}

// A group is always ended, and its first error is reported.
func TestGroupsEnd(t *testing.T) {
	f := load(t, "-DNO_NATIVE")
	c := f.comm(0, 2, Config{})
	group := of(coll.AllReduce)
	group.Aggregate = 3
	for _, s := range []OpSpec{of(coll.AllToAll), of(coll.Gather), of(coll.Scatter), of(coll.SendRecv), group} {
		o := prepare(t, c, f.placed(s))
		f.set(result, 5)
		f.set(inGroup, 1)
		var e *Error
		if err := once(t, o); !errors.As(err, &e) || e.Code != 5 {
			t.Errorf("%s: %v", s.Collective, err)
		}
		f.set(result, 0)
		if calls := strings.Split(f.calls(), "\n"); len(calls) != 3 || calls[2] != "ncclGroupEnd" {
			t.Errorf("%s: %q", s.Collective, calls)
		}
	}
}

func TestPrepareFails(t *testing.T) {
	f := load(t)
	c := f.comm(0, 3, Config{})
	f.set(result, 3)
	var e *Error
	spec := f.allReduce()
	spec.Op = coll.MulSum
	if _, err := c.Prepare(spec); !errors.As(err, &e) || e.Op != "preparing ncclAllReduce" {
		t.Errorf("a reduction that cannot be made: %v", err)
	}
}
