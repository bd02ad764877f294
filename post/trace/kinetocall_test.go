package trace_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/post/trace"
	"busbar/post/trace/tracetest"
)

// tensor is a tensor-parallel group of rank 3 of 8.
var tensor = tracetest.Group{Name: "4", About: "tp", Ranks: []int{2, 3}}

// called returns the device of a trace of rank 3 of 8, with one NCCL kernel and one compute kernel.
func called(t *testing.T, c tracetest.Collective, groups ...tracetest.Group) *trace.Device {
	t.Helper()
	o := tracetest.Options{Rank: 3, World: 8, Groups: groups}
	d := only(t, read(t, "x.json", write(t, o, func(w *tracetest.Writer) {
		w.Kernel(tracetest.Kernel{Name: "k", Stream: 7, Start: 50_000, Took: 1000, Launch: 10_000})
		w.Kernel(tracetest.Kernel{Name: tracetest.AllReduce, Stream: 20, Start: 200_000, Took: 1000, Launch: 100_000,
			Collective: &c})
	})))
	must.EqOp(t, trace.Unknown, d.Activities[0].Call)
	must.EqOp(t, 0, d.Activities[1].Call)
	return d
}

func TestCallSources(t *testing.T) {
	for where := range tracetest.ByNesting + 1 {
		d := called(t, tracetest.Collective{Name: "_allgather_base", Type: "BFloat16", In: 100, Out: 200, Group: tensor,
			Seq: 9, Where: where})
		wantText(t, callsOf(d), "-\n0 _allgather_base all_gather 400 bfloat16 0 9 -1 1")
		wantText(t, d.Groups, "[{4 tp [2 3] 2 1}]")
	}
}

func TestSizesOfCalls(t *testing.T) {
	for _, c := range []struct {
		name, kind, splits string
		in, out            int64
		what               coll.Collective
		bytes              int64
	}{
		{"allreduce", "Float", "", 100, 100, coll.AllReduce, 400},
		{"allreduce", "Mystery4", "", 100, 100, coll.AllReduce, trace.Unknown},
		{"allreduce_coalesced", "Float", "", 100, 100, coll.AllReduce, trace.Unknown},
		{"allgather", "Half", "", 100, 200, coll.AllGather, 400},
		{"_reduce_scatter_base", "Half", "", 200, 100, coll.ReduceScatter, 400},
		{"reduce_scatter_tensor_coalesced", "Half", "", 200, 100, coll.ReduceScatter, trace.Unknown},
		{"all_gather_into_tensor", "Half", "", 100, 200, coll.AllGather, 400},
		{"_broadcast_oop", "Byte", "", 100, 100, coll.Broadcast, 100},
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
		got := called(t, tracetest.Collective{Name: c.name, Type: c.kind, In: c.in, Out: c.out, Splits: c.splits,
			Group: tensor}).Calls[0]
		must.EqOp(t, c.name, got.Name)
		must.EqOp(t, c.what, got.What, must.Sprint(c))
		must.EqOp(t, c.bytes, got.Bytes, must.Sprint(c))
	}
}

func TestPeers(t *testing.T) {
	for _, name := range []string{"send", "recv"} {
		d := called(t, tracetest.Collective{Name: name, Type: "Float", In: 5, Out: 5, Peer: 5,
			Group: tracetest.Group{Name: "pp", Ranks: []int{1, 3, 5}}})
		must.EqOp(t, 2, d.Calls[0].Peer)
		must.EqOp(t, 1, d.Groups[0].Rank)
	}
}

// Arguments truncate lists of more than thirty ranks; the operator's stride has them all.
func TestLongListsOfRanks(t *testing.T) {
	var all []int
	for r := range 64 {
		all = append(all, r)
	}
	c := tracetest.Collective{Name: "allreduce", Type: "Float", In: 1, Out: 1,
		Group: tracetest.Group{Name: "0", About: "default_pg", Ranks: all}}
	must.Eq(t, all, called(t, c).Groups[0].Ranks)
	c.Where = tracetest.OnKernel
	g := called(t, c).Groups[0]
	must.SliceEmpty(t, g.Ranks)
	must.EqOp(t, 64, g.Size)
}

// distributedInfo has what arguments lack of a group.
func TestGroupsOfDistributedInfo(t *testing.T) {
	d := called(t, tracetest.Collective{Name: "allreduce", Type: "Float", In: 1, Out: 1, Where: tracetest.OnKernel,
		Group: tracetest.Group{Name: "4"}}, tensor)
	wantText(t, d.Groups, "[{4 tp [2 3] 2 1}]")
}

// A call may have several kernels; kernels that copy for a collective do not belong to it.
func TestKernelsOfOneCall(t *testing.T) {
	c := &tracetest.Collective{Name: "all_to_all", Type: "Float", In: 8, Out: 8, Group: tensor, External: 900,
		Where: tracetest.OnKernel}
	d := written(t, func(w *tracetest.Writer) {
		k := tracetest.Kernel{Name: tracetest.AllReduce, Stream: 20, Took: 1000, Collective: c}
		for i := range int64(4) {
			k.Start, k.Launch = 200_000+i*2000, 100_000+i*6000
			switch i {
			case 2:
				k.Name = "void at::native::elementwise_kernel<...>"
			case 3:
				k.Name, k.Collective = tracetest.AllReduce, nil
			}
			w.Kernel(k)
		}
	})
	call := "0 all_to_all alltoall 32 float32 0 -1 -1 1\n"
	wantText(t, callsOf(d), call+call+"-\n-")
}

func TestRanks(t *testing.T) {
	kernel := func(w *tracetest.Writer) { w.Kernel(tracetest.Kernel{Name: "k", Start: 200_000, Launch: 100_000}) }
	plain, ofRank1 := write(t, tracetest.Options{}, kernel), write(t, tracetest.Options{Rank: 1, World: 4}, kernel)
	for _, c := range []struct {
		name string
		text []byte
		want string
	}{
		{"rank7.json", ofRank1, "1 4"},
		{"rank7.json", plain, "7 0"},
		{"trace_100.json", bytes.Replace(ofRank1, []byte(`"rank": 1`), []byte(`"backend": "nccl"`), 1), "-1 4"},
		{"node7_4711.1694128201557000.pt.trace.json", plain, "-1 0 node7"},
		{"node7_4712.1694128201557000.pt.trace.json", plain, "-1 0"},
		{"x.json", plain, "-1 0"},
	} {
		d := only(t, read(t, c.name, c.text))
		wantText(t, strings.Join(strings.Fields(fmt.Sprintln(d.Rank, d.World, d.Host)), " "), c.want)
	}
}
