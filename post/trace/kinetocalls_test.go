package trace_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/post/trace"
	"busbar/post/trace/tracetest"
)

// tensor is a group of tensor parallelism that rank 3 of 8 is in.
var tensor = tracetest.Group{Name: "4", About: "tp", Ranks: []int{2, 3}}

const ncclKernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

// called is the device of a trace of rank 3 of 8, in which one kernel of NCCL runs.
func called(t *testing.T, o tracetest.Options, c tracetest.Collective) *trace.Device {
	t.Helper()
	o.Rank, o.World = 3, 8
	text := write(t, o, func(w *tracetest.Writer) {
		w.Kernel(tracetest.Kernel{Name: "k", Stream: 7, Start: 50_000, Took: 1000, Launch: 10_000})
		w.Kernel(
			tracetest.Kernel{Name: ncclKernel, Stream: 20, Start: 200_000, Took: 1000, Launch: 100_000, Collective: &c},
		)
	})
	d := only(t, read(t, "x.json", text))
	if d.Activities[0].Call != trace.Unknown {
		t.Errorf("a kernel that computes has a call: %+v", d.Calls[d.Activities[0].Call])
	}
	if d.Activities[1].Call == trace.Unknown {
		t.Fatalf("the kernel of NCCL has no call")
	}
	return d
}

func TestCallsWhereverTheyAreTold(t *testing.T) {
	gathered := tracetest.Collective{
		Name:  "_allgather_base",
		Type:  "BFloat16",
		In:    100,
		Out:   200,
		Group: tensor,
		Rank:  1,
		Seq:   9,
	}
	for where := range tracetest.ByShape {
		gathered.Where = where
		d := called(t, tracetest.Options{}, gathered)
		wantText(t, callsOf(d), "-\n0 _allgather_base all_gather 400 bfloat16 0 9 -1 1")
		wantText(t, d.Groups, "[{4 tp [2 3] 2 1}]")
	}
	for name, want := range map[string]string{
		"all_reduce": "all_reduce all_reduce 4000", "all_to_all": "all_to_all alltoall -1",
	} {
		d := called(
			t,
			tracetest.Options{},
			tracetest.Collective{Name: name, Type: "float", In: 1000, Where: tracetest.ByShape},
		)
		wantText(t, callsOf(d), "-\n0 "+want+" float32 -1 -1 -1 1")
	}
}

func TestSizesAndWordsOfCalls(t *testing.T) {
	for _, c := range []struct {
		name, kind, splits string
		in, out            int64
		what               coll.Collective
		bytes              int64
	}{
		{"allreduce", "Float", "", 100, 100, coll.AllReduce, 400},
		{"allreduce", "Float8_e4m3fn", "", 100, 100, coll.AllReduce, 100},
		{"allreduce", "Mystery4", "", 100, 100, coll.AllReduce, trace.Unknown},
		{"allreduce_coalesced", "Float", "", 100, 100, coll.AllReduce, trace.Unknown},
		{"allgather", "Half", "", 100, 200, coll.AllGather, 400},
		{"_reduce_scatter_base", "Half", "", 200, 100, coll.ReduceScatter, 400},
		{"reduce_scatter_tensor_coalesced", "Half", "", 200, 100, coll.ReduceScatter, trace.Unknown},
		{"all_gather_into_tensor", "Half", "", 100, 200, coll.AllGather, 400},
		{"broadcast", "Long", "", 100, 100, coll.Broadcast, 800},
		{"_broadcast_oop", "Byte", "", 100, 100, coll.Broadcast, 100},
		{"_reduce_oop", "Byte", "", 100, 100, coll.Reduce, 100},
		{"reduce", "Byte", "", 100, 100, coll.Reduce, 100},
		{"all_to_all", "Float", "[]", 100, 100, coll.AllToAll, 400},
		{"all_to_allv", "Float", "[50, 50]", 100, 100, coll.AllToAll, 400},
		{"all_to_allv", "Float", "[40, 60]", 100, 100, coll.AllToAll, trace.Unknown},
		{"gather", "Float", "", 100, 0, coll.Gather, 800},
		{"scatter", "Float", "", 0, 100, coll.Scatter, 800},
		{"send", "Float", "", 100, 0, coll.Other, 400},
		{"recv", "Float", "", 0, 100, coll.Other, 400},
		{"barrier", "Byte", "", 1, 1, coll.Other, trace.Unknown},
	} {
		d := called(t, tracetest.Options{}, tracetest.Collective{Name: c.name, Type: c.kind, In: c.in, Out: c.out,
			Splits: c.splits, Group: tensor})
		if got := d.Calls[0]; got.Name != c.name || got.What != c.what || got.Bytes != c.bytes {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

func TestPeers(t *testing.T) {
	for _, where := range []tracetest.Where{tracetest.OnBoth, tracetest.OnKernel} {
		for _, name := range []string{"send", "recv"} {
			d := called(t, tracetest.Options{}, tracetest.Collective{Name: name, Type: "Float", In: 5, Out: 5,
				Group: tracetest.Group{Name: "pp", Ranks: []int{1, 3, 5}}, Rank: 2, Peer: 5, Where: where})
			if c := d.Calls[0]; c.Peer != 2 {
				t.Errorf("%s, %v: peer %d", name, where, c.Peer)
			}
			if g := d.Groups[0]; g.Rank != 1 {
				t.Errorf("%s, %v: the rank in the group is %d: what a send names is its peer", name, where, g.Rank)
			}
		}
	}
}

// A list of more than thirty ranks is cut short in arguments; the operator's spacing has them all, and distributedInfo
// may.
func TestLongListsOfRanks(t *testing.T) {
	var all []int
	for r := range 64 {
		all = append(all, r)
	}
	g := tracetest.Group{Name: "0", About: "default_pg", Ranks: all}
	c := tracetest.Collective{Name: "allreduce", Type: "Float", In: 1, Out: 1, Group: g}
	if d := called(t, tracetest.Options{}, c); !slices.Equal(d.Groups[0].Ranks, all) {
		t.Errorf("by spacing: %v", d.Groups[0].Ranks)
	}
	c.Where = tracetest.OnKernel
	if d := called(t, tracetest.Options{}, c); d.Groups[0].Ranks != nil || d.Groups[0].Size != 64 {
		t.Errorf("of a list that is cut short: %v", d.Groups[0])
	}
	text := write(t, tracetest.Options{World: 64}, func(w *tracetest.Writer) {
		w.Kernel(tracetest.Kernel{Name: ncclKernel, Stream: 20, Start: 200_000, Took: 1000, Collective: &c})
	})
	text = bytes.Replace(
		text,
		[]byte(`"pg_config": []`),
		[]byte(`"pg_config": [{"pg_name": "0", "pg_size": 64, "ranks": `+
			strings.ReplaceAll(fmt.Sprint(all), " ", ",")+`}]`),
		1,
	)
	if d := only(t, read(t, "x.json", text)); !slices.Equal(d.Groups[0].Ranks, all) {
		t.Errorf("by distributedInfo: %v", d.Groups[0].Ranks)
	}
}

// One call may take several kernels, and the kernels that copy for a collective are not of it.
func TestKernelsOfOneCall(t *testing.T) {
	c := &tracetest.Collective{Name: "all_to_all", Type: "Float", In: 8, Out: 8, Group: tensor, External: 900,
		Where: tracetest.OnKernel}
	text := write(t, tracetest.Options{}, func(w *tracetest.Writer) {
		for i := range int64(2) {
			w.Kernel(
				tracetest.Kernel{Name: ncclKernel, Stream: 20, Start: 200_000 + i*2000, Took: 1000, Launch: 100_000 +
					i*6000, Collective: c},
			)
		}
		w.Kernel(
			tracetest.Kernel{Name: "void at::native::elementwise_kernel<...>", Stream: 20, Start: 250_000, Took: 1000,
				Launch: 120_000, Collective: c},
		)
		w.Kernel(tracetest.Kernel{Name: ncclKernel, Stream: 20, Start: 300_000, Took: 1000, Launch: 150_000})
	})
	d := only(t, read(t, "x.json", text))
	call := "0 all_to_all alltoall 32 float32 0 -1 -1 1\n"
	wantText(t, callsOf(d), call+call+"-\n-")
}

func TestRanks(t *testing.T) {
	group := tracetest.Group{Name: "0", About: "default_pg", Ranks: []int{0, 1, 2, 3}}
	events := func(w *tracetest.Writer) {
		w.Kernel(tracetest.Kernel{Name: ncclKernel, Stream: 20, Start: 200_000, Took: 1000, Launch: 100_000,
			Collective: &tracetest.Collective{Name: "allreduce", Type: "Float", In: 1, Out: 1, Group: group, Rank: 2}})
	}
	plain := write(t, tracetest.Options{}, func(w *tracetest.Writer) {
		w.Kernel(tracetest.Kernel{Name: "k", Stream: 20, Start: 200_000, Took: 1000, Launch: 100_000})
	})
	for _, c := range []struct {
		name string
		text []byte
		rank int
		from string
		host string
	}{
		{"rank7.json", write(t, tracetest.Options{Rank: 1, World: 4}, events), 1, "distributedInfo", ""},
		{"rank7.json", write(t, tracetest.Options{}, events), 2, "collectives' arguments", ""},
		{"rank7.json", plain, 7, "file name", ""},
		// the number of a step
		{"trace_100.json", bytes.Replace(plain, []byte(`"traceEvents"`),
			[]byte(`"distributedInfo":{"backend":"nccl","world_size":2},"traceEvents"`), 1), trace.Unknown, "", ""},
		{"trace_8_rank_1.json", plain, 1, "file name", ""},
		{"worker3_step_12.1694128201557.pt.trace.json", plain, 3, "file name", ""},
		{"rank-12/trace.json", plain, 12, "file name", ""},
		{"trace_5.json", plain, 5, "file name", ""},
		{"node7_4711.1694128201557000.pt.trace.json", plain, trace.Unknown, "", "node7"},
		{"node7_4712.1694128201557000.pt.trace.json", plain, trace.Unknown, "", ""},
		{"x.json", bytes.Replace(plain, []byte(`"trace.json"`), []byte(`"/tmp/trace_rank_6.json"`), 1), 6,
			"traceName", ""},
		{"x.json", plain, trace.Unknown, "", ""},
	} {
		if d := only(t, read(t, c.name, c.text)); d.Rank != c.rank || d.RankFrom != c.from || d.Host != c.host {
			t.Errorf(
				"%s: rank %d from %q on %q, want %d from %q on %q",
				c.name,
				d.Rank,
				d.RankFrom,
				d.Host,
				c.rank,
				c.from,
				c.host,
			)
		}
	}
}
