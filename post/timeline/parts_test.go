package timeline

import (
	"math"
	"math/rand/v2"
	"testing"

	"busbar/post/trace"
)

// moments counts what a device does nanosecond by nanosecond, as the definitions say it.
func moments(g *gpu) (p Parts) {
	var first, last int64 = math.MaxInt64, math.MinInt64
	for _, a := range g.Activities {
		first, last = min(first, a.Start), max(last, a.End)
	}
	p.Span = milliseconds(last - first)
	for t := first; t < last; t++ {
		var compute, comm, copies bool
		for _, a := range g.Activities {
			if a.Start <= t && t < a.End {
				switch {
				case a.Kind.Memcpy():
					copies = true
				case g.Names[a.Name] == allReduce:
					comm = true
				default:
					compute = true
				}
			}
		}
		for on, of := range map[*float64]bool{
			&p.Compute: compute, &p.Comm: comm, &p.Overlap: compute && comm, &p.Exposed: comm && !compute,
			&p.Memcpy:     copies,
			&p.MemcpyOnly: copies && !compute && !comm, &p.Idle: !compute && !comm && !copies,
		} {
			if of {
				*on += milliseconds(1)
			}
		}
	}
	return p
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// Times of a device count from its first activity, wherever the file's time 0 is: devices of one file are set beside
// each other by that.
func TestTheOriginIsTheFirstActivity(t *testing.T) {
	g := newGPU()
	g.ran(gemm, 7, 5000, 6000)
	if d := g.analysed(t, Options{}); d.origin != trace.Unknown {
		t.Errorf("of an unknown time 0 it is %d", d.origin)
	}
	g.Origin = 1_700_000_000_000_000_000
	if d := g.analysed(t, Options{}); d.origin != 1_700_000_000_000_005_000 {
		t.Errorf("it is %d", d.origin)
	}
}

func TestPartsAgreeWithEveryNanosecond(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		g := randomGPU(r, 20)
		want := moments(g)
		d := g.analysed(t, Options{})
		for what, pair := range map[string][2]float64{
			"span": {d.Span, want.Span}, "compute": {d.Compute, want.Compute}, "comm": {d.Comm, want.Comm},
			"overlap": {d.Overlap, want.Overlap},
			"exposed": {d.Exposed, want.Exposed}, "memcpy": {d.Memcpy, want.Memcpy},
			"memcpy only": {d.MemcpyOnly, want.MemcpyOnly}, "idle": {d.Idle, want.Idle},
			"parts of idle": {d.HostBound + d.Waiting + d.Unexplained, want.Idle},
		} {
			if !near(pair[0], pair[1]) {
				t.Fatalf("%s is %g, want %g: %+v", what, pair[0], pair[1], g.Activities)
			}
		}
	}
}
