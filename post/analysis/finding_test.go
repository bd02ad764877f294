package analysis

import (
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
)

// The brief form of a finding omits its curve, whatever is part of the curve's name.
func TestBrief(t *testing.T) {
	c := &Curve{
		Who: "nccl",
		Condition: Condition{
			Case:    coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, World: 16},
			Nodes:   2,
			Rotate:  1 << 20,
			Average: "mean over ranks",
		},
	}
	f := c.finding(notice.Switch{Direction: "up", Factor: 2}, notice.Info, 0.5, 1<<20, 4<<20)
	if got := f.Places()[0].Brief(); !strings.HasPrefix(got, "1 MiB to 4 MiB: time jumps") ||
		!strings.HasPrefix(f.Text(), "nccl, all_reduce") {
		t.Errorf("%q of %q", got, f.Text())
	}
	f = ofGroup(notice.SlowRank{Rank: 3}, []*Curve{{Who: "nccl", Points: make([]Point, 1)}}, notice.Info, 0)
	if got := f.Places()[0].Brief(); got != f.Text()+"." {
		t.Errorf("%q of %q", got, f.Text())
	}
}
