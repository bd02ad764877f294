package timeline

import (
	"testing"
)

func TestIdleTimeIsSplitByWhenTheNextWasLaunched(t *testing.T) {
	for what, c := range map[string]struct {
		make                            func(g *gpu)
		hostBound, waiting, unexplained float64
	}{
		"launched in the middle": {func(g *gpu) { g.ran(gemm, 7, 5e6, 6e6).Launch = 3e6 }, 2, 2, 0},
		"launched before":        {func(g *gpu) { g.ran(gemm, 7, 5e6, 6e6).Launch = 0 }, 0, 4, 0},
		"launched as it began":   {func(g *gpu) { g.ran(gemm, 7, 5e6, 6e6).Launch = 5e6 }, 4, 0, 0},
		"clocks that disagree":   {func(g *gpu) { g.ran(gemm, 7, 5e6, 6e6).Launch = 7e6 }, 4, 0, 0},
		"a launch not recorded":  {func(g *gpu) { g.ran(gemm, 7, 5e6, 6e6) }, 0, 0, 4},
		"two begin together": {func(g *gpu) {
			g.ran(gemm, 7, 5e6, 7e6).Launch = 4e6
			g.ran(gemm, 8, 5e6, 6e6).Launch = 2e6
			g.ran(gemm, 9, 5e6, 5e6)
		}, 1, 3, 0},
		"nothing long between": {func(g *gpu) {
			g.ran(gemm, 8, 3e6, 3e6).Launch = 2e6
			g.ran(gemm, 7, 5e6, 6e6).Launch = 4e6
		}, 2, 2, 0},
		"a copy is busy": {func(g *gpu) {
			g.copied(1, 8, 1e6, 4e6)
			g.ran(gemm, 7, 5e6, 6e6).Launch = 2e6
		}, 0, 1, 0},
		"beneath a longer one": {func(g *gpu) {
			g.Activities[0].End = 5e6
			g.ran(gemm, 8, 1e6, 2e6)
			g.ran(gemm, 7, 6e6, 6e6).Launch = 4e6
		}, 0, 1, 0},
	} {
		g := newGPU()
		g.ran(gemm, 7, 0, 1e6)
		c.make(g)
		d := g.analysed(t, Options{})
		if d.HostBound != c.hostBound || d.Waiting != c.waiting || d.Unexplained != c.unexplained {
			t.Errorf(
				"%s: host-bound %g, waiting %g, unexplained %g ms; want %g, %g and %g",
				what,
				d.HostBound,
				d.Waiting,
				d.Unexplained,
				c.hostBound,
				c.waiting,
				c.unexplained,
			)
		}
	}
}
