package session

import (
	"testing"

	"busbar/internal/bench"
	"busbar/internal/result"
	"busbar/rank/backend"

	"github.com/shoenig/test"
)

// withLinks is a library that only reports the PCIe links of its GPUs.
type withLinks struct {
	backend.Accelerator
	ofRank []*result.PCIe
}

func (l withLinks) Link(rank int) *result.PCIe { return l.ofRank[rank] }

func TestHardware(t *testing.T) {
	lib := []*result.PCIe{
		{Speed: 32, Width: 8, Lanes: 16}, {Speed: 32, Width: 16, Lanes: 16}, nil, {Speed: 16, Width: 8, Lanes: 16},
	}
	for _, c := range []struct {
		members []int
		want    *result.Hardware
	}{
		{[]int{0, 1, 2, 3}, &result.Hardware{PCIe: &result.PCIe{Rank: 3, Speed: 16, Width: 8, Lanes: 16}}},
		{[]int{0, 1}, &result.Hardware{PCIe: &result.PCIe{Rank: 0, Speed: 32, Width: 8, Lanes: 16}}},
		{[]int{2}, nil},
	} {
		w := &worldRun{world: &backend.World{World: bench.World{Names: c.members}}}
		s := &session{worldRun: w, lib: withLinks{ofRank: lib}}
		test.Eq(t, c.want, s.hardware(t.TempDir()), test.Sprint(c.members))
	}
}
