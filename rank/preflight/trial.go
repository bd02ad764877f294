package preflight

import (
	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
	"busbar/internal/result"
)

// Trials returns the cases to try: an all_gather, the minimum message size, and a large message size.
func Trials(world int) []coll.Case {
	c := coll.Case{Collective: coll.AllGather, Type: coll.Float32, Root: -1, Placement: coll.OutOfPlace,
		Mode: coll.Throughput, World: world}
	reduce := c
	reduce.Collective, reduce.Op = coll.AllReduce, coll.Sum
	return []coll.Case{c.WithSize(64 * int64(world)), reduce.WithSize(8), reduce.WithSize(1 << 20)}
}

// Try runs a case once and checks every element on every rank; rank 0 returns the row. Collective.
func Try(w bench.World, b bench.Backend, c coll.Case, o bench.Options) (Row, error) {
	r, err := bench.Measure(w, b, c, o)
	if err != nil || r == nil {
		return Row{}, err
	}
	return judgeTrial(r), nil
}

func judgeTrial(r *result.Record) Row {
	what := r.Case.Point()
	var f notice.Fact = preflights.CollectiveCorrect{Case: what, Ranks: r.Case.World}
	switch {
	case r.Status == result.Wrong || r.Check.Result == "wrong":
		f = preflights.CollectiveWrong{Case: what, Cause: r.Cause}
	case r.Status != result.OK:
		f = preflights.CollectiveFailed{Case: what, Status: string(r.Status), Cause: r.Cause}
	}
	return Found(r.Case.Collective.String(), f)
}

// gpuMemoryEnough is the minimum of free GPU memory; an idle GPU has more.
const gpuMemoryEnough = 4 << 30

// JudgeRoom checks the free memory of the GPUs.
func JudgeRoom(limit notice.MemoryLimit) Row {
	const name = "GPU memory"
	m := preflights.GPUMemory{Limit: limit}
	if limit.Bytes < gpuMemoryEnough {
		return Found(name, preflights.GPUMemoryShort{GPUMemory: m})
	}
	return Found(name, m)
}
