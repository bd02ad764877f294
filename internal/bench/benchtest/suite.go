package benchtest

import (
	"fmt"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/result"
)

// Suite is what every backend must pass. Each supported collective, placement, data type and operation must give
// correct data in both modes, and a complete record. It is collective over w and returns the first failure of rank 0's
// records on every rank.
//
// places are the placements of the backend; sizes are in bytes.
func Suite(w bench.World, b bench.Backend, places func(coll.Collective) []coll.Placement, sizes []int64) error {
	for _, c := range Cases(w.Size, places, sizes) {
		r, err := bench.Measure(w, b, c, bench.Options{Precision: 0.02, Iterations: 5, Warmup: 2, Check: 1,
			Average: bench.Max, Clock: bench.Clock{Common: true, Uncertainty: 1e-6}})
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		bad := []float64{0}
		var short error
		if w.Rank == 0 {
			if short = whole(r); short != nil {
				bad[0] = 1
			}
		}
		if err := w.Bcast(bad); err != nil {
			return err
		}
		if bad[0] != 0 && w.Rank != 0 {
			return fmt.Errorf("%s: rank 0's record is not as it must be", c)
		}
		if short != nil {
			return fmt.Errorf("%s: %w", c, short)
		}
	}
	return nil
}

// Cases lists the suite's cases for a world of n: every collective, placement and mode in float32 sum, then every data
// type with every operation of all_reduce and reduce_scatter, and a root that is not 0.
func Cases(n int, places func(coll.Collective) []coll.Placement, sizes []int64) []coll.Case {
	var all []coll.Case
	add := func(c coll.Case, size int64) {
		if c = c.WithSize(size); c.Count > 0 {
			all = append(all, c)
		}
	}
	for _, k := range coll.Collectives() {
		for _, p := range places(k) {
			c := coll.Case{Collective: k, Type: coll.Float32, Root: -1, Placement: p, Mode: coll.Throughput, World: n}
			if k.Rooted() {
				c.Root = n - 1
			}
			if k.Reduces() {
				c.Op = coll.Sum
			}
			for _, c.Imbalance = range imbalances(k) {
				for _, size := range sizes {
					add(c, size)
				}
			}
			c.Mode = coll.Latency
			add(c, sizes[len(sizes)-1])
		}
	}
	for _, k := range []coll.Collective{coll.AllReduce, coll.ReduceScatter} {
		for _, t := range coll.DataTypes() {
			for _, op := range coll.RedOps() {
				for _, p := range places(k) {
					add(coll.Case{Collective: k, Type: t, Op: op, Root: -1, Placement: p, Mode: coll.Throughput,
						World: n},
						sizes[len(sizes)-1])
				}
			}
		}
	}
	return all
}

// Grid is every type, reduction, placement and count (elements of the case) of collectives, with different roots and
// imbalances.
func Grid(n int, collectives []coll.Collective, places func(coll.Collective) []coll.Placement, types []coll.DataType,
	ops []coll.RedOp, counts ...int64,
) (all []coll.Case) {
	for _, k := range collectives {
		these := ops
		if !k.Reduces() {
			these = []coll.RedOp{0}
		}
		for _, t := range types {
			for _, op := range these {
				for i, count := range counts {
					c := coll.Case{Collective: k, Type: t, Op: op, Root: (i + int(t)) % n, World: n, Count: count}
					if k == coll.AllToAllV {
						c.Imbalance = []coll.Imbalance{coll.Even, "spread:1", "hot:4", "zipf:8"}[i%4]
					}
					for _, c.Placement = range places(k) {
						all = append(all, c)
					}
				}
			}
		}
	}
	return all
}

// imbalances are those of an alltoallv; some parts of the last two are empty.
func imbalances(c coll.Collective) []coll.Imbalance {
	if c != coll.AllToAllV {
		return []coll.Imbalance{""}
	}
	return []coll.Imbalance{coll.Even, "spread:0.5", "spread:1", "hot:4", "zipf:8"}
}

// whole returns a record's missing fields.
func whole(r *result.Record) error {
	switch {
	case r == nil:
		return fmt.Errorf("no record on rank 0")
	case r.Status == result.Unsupported && r.Reason != "":
		return nil
	case r.Status != result.OK:
		return fmt.Errorf("%s: %s", r.Status, r.Reason)
	case r.Check.Result != "ok" || r.Check.Elements == 0:
		return fmt.Errorf("not checked: %+v", r.Check)
	case r.Time == nil || r.Time.Seconds <= 0 || r.Time.Iterations < 5 || r.Time.Stop != "fixed":
		return fmt.Errorf("figures are not whole: %+v", r.Time)
	case r.Ranks == nil || r.Ranks.SlowestHost == "":
		return fmt.Errorf("no summary of the ranks")
	}
	return nil
}
