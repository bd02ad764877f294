package backend

import (
	"busbar/cudart/nccl"
	"busbar/internal/coll"
)

// ncclPlaces says which placements NCCL has: what goes to every peer, or to the next, needs a buffer of its own.
func ncclPlaces(c coll.Collective) []coll.Placement {
	if c == coll.AllToAll || c == coll.SendRecv {
		return []coll.Placement{coll.OutOfPlace}
	}
	return []coll.Placement{coll.OutOfPlace, coll.InPlace}
}

var ncclKinds = map[coll.Collective]nccl.Kind{
	coll.AllReduce: nccl.AllReduce, coll.AllGather: nccl.AllGather, coll.ReduceScatter: nccl.ReduceScatter,
	coll.Broadcast: nccl.Broadcast, coll.Reduce: nccl.Reduce, coll.AllToAll: nccl.AllToAll, coll.Gather: nccl.Gather,
	coll.Scatter: nccl.Scatter, coll.SendRecv: nccl.SendRecv,
}

var ncclTypes = map[coll.DataType]nccl.Type{
	coll.Int8: nccl.Int8, coll.UInt8: nccl.UInt8, coll.Int32: nccl.Int32, coll.UInt32: nccl.UInt32,
	coll.Int64:  nccl.Int64,
	coll.UInt64: nccl.UInt64, coll.Float16: nccl.Float16, coll.BFloat16: nccl.BFloat16, coll.Float32: nccl.Float32,
	coll.Float64: nccl.Float64, coll.Float8E4M3: nccl.Float8E4M3, coll.Float8E5M2: nccl.Float8E5M2,
}

var ncclOps = map[coll.RedOp]nccl.Op{
	0: 0, coll.Sum: nccl.Sum, coll.Prod: nccl.Prod, coll.Min: nccl.Min, coll.Max: nccl.Max,
	coll.Avg: nccl.Avg, coll.MulSum: nccl.PreMulSum,
}

// ncclViews are where the input and the output of this rank lie within a slot of each. In place there is one buffer,
// and NCCL says where in it a rank's own share lies. Beside a root the others have nothing but their share; where all
// have room alike it lies where the root's would.
func ncclViews(c coll.Case, rank int, alike bool) (in, out extent) {
	s := int64(c.Type.Size())
	in.n, out.n = c.SendCount(rank)*s, c.RecvCount(rank)*s
	if c.Placement != coll.InPlace {
		return in, out
	}
	share := int64(rank) * c.Count * s
	switch root := rank == c.Root || alike; {
	case c.Collective == coll.AllGather, c.Collective == coll.Gather && root:
		in.at = share
	case c.Collective == coll.ReduceScatter, c.Collective == coll.Scatter && root:
		out.at = share
	}
	return in, out
}
