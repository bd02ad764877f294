package timeline

import "testing"

// The worked example, as intervals: 100 ms of computing, 30 ms of communication, of which half is hidden.
func TestOverlaps(t *testing.T) {
	for name, c := range map[string]struct {
		comm, idle     int64 // ms
		interval, wall float64
	}{
		"without idle time, both agree":                 {30, 0, 50, 50},
		"idle time counts against the wall clock alone": {30, 45, 50, -100},
		"without communication there is none":           {0, 0, -1, -1},
	} {
		g := newGPU()
		g.ran(gemm, 7, 0, 100e6)
		g.ran(allReduce, 8, 85e6, (85+c.comm)*1e6)
		if c.idle > 0 {
			g.ran(gemm, 7, (115+c.idle)*1e6, (115+c.idle)*1e6)
		}
		p := g.analysed(t, Options{}).Parts
		interval, wall := -1.0, -1.0
		if p.Efficiency != nil {
			interval, wall = *p.Efficiency, *p.WallClock
		}
		if !near(interval, c.interval) || !near(wall, c.wall) {
			t.Errorf("%s: overlap is %g %% by intervals and %g %% by the wall clock", name, interval, wall)
		}
	}
}
