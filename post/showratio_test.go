package main

import (
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/post/analysis"
)

// A copy of a file adds nothing to a comparison.
func TestCopiesCountOnce(t *testing.T) {
	f := &result.File{
		Run:     result.Run{ID: "run", Launch: "a"},
		Records: []result.Record{{N: 1, Status: result.OK, Case: allReduce(1 << 20), Time: &result.Time{Seconds: 1}}},
	}
	var c campaigns
	c.Add(f)
	c.Add(f)
	for _, cell := range c.of["a"].Cells[analysis.ContenderOf(&f.Run)] {
		if n := len(cell.Times["a"]); n != 1 {
			t.Errorf("%d times of one record", n)
		}
	}
}

func allReduce(size int64) coll.Case {
	return coll.Case{
		Collective: coll.AllReduce,
		Type:       coll.Float32,
		Op:         coll.Sum,
		Root:       -1,
		Placement:  coll.OutOfPlace,
		Mode:       coll.Throughput,
		World:      2,
	}.WithSize(
		size,
	)
}
