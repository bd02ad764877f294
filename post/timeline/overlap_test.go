package timeline

import (
	"math"
	"testing"
)

// The worked example, as intervals: 100 ms of computing, 30 ms of communication, 115 ms in all, of which none is idle.
func TestBothOverlapsAgreeWithoutIdleTime(t *testing.T) {
	p := Parts{Span: 115, Compute: 100, Comm: 30, Overlap: 15, Exposed: 15}
	p.overlaps()
	if *p.Efficiency != 50 || *p.WallClock != 50 {
		t.Errorf("overlap is %g %% by intervals and %g %% by the wall clock, want 50 %% both", *p.Efficiency, *p.WallClock)
	}
}

func TestIdleTimeCountsAgainstTheWallClockAlone(t *testing.T) {
	p := Parts{Span: 160, Compute: 100, Comm: 30, Overlap: 15, Exposed: 15, Memcpy: 8, MemcpyOnly: 5, Idle: 40}
	p.overlaps()
	if *p.Efficiency != 50 || math.Abs(*p.WallClock+100) > 1e-9 {
		t.Errorf("overlap is %g %% by intervals and %g %% by the wall clock, want 50 and -100", *p.Efficiency, *p.WallClock)
	}
}

func TestWithoutCommunicationThereIsNoOverlap(t *testing.T) {
	p := Parts{Span: 10, Compute: 10}
	p.overlaps()
	if p.Efficiency != nil || p.WallClock != nil {
		t.Error("a device without communication has an overlap")
	}
}
