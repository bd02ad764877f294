package timeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"busbar/post/trace"
)

// shown is how many cells show each state.
func shown(s Strip) (cells [Copying + 1]int) {
	for _, r := range s.Runs {
		cells[r.State] += int(r.Cells)
	}
	return cells
}

func TestStripsShowWhatTookMostOfACell(t *testing.T) {
	g := newGPU()
	g.Ranges = []trace.Range{hostRange("ProfilerStep#1", 0, 5e6), hostRange("ProfilerStep#2", 5e6, 20e6)}
	g.ran(gemm, 7, 0, 4e6)
	g.ran(allReduce, 8, 3e6, 5e6)
	g.copied(trace.MemcpyHostToDevice, 9, 6e6, 8e6)
	g.ran(gemm, 7, 8e6, 10e6)
	strips := g.strips(t)
	if len(strips) != 3 {
		t.Fatalf("%d strips, want the whole and two steps", len(strips))
	}
	whole := strips[0]
	want := []Run{
		{1200, Computing},
		{400, Overlapped},
		{400, ExposedComm},
		{400, Idle},
		{800, Copying},
		{800, Computing},
	}
	if whole.Step != -1 || whole.Start != 0 || whole.Span != 10 || whole.Cells != 4000 || len(whole.Runs) != len(want) {
		t.Fatalf("the whole is %+v", whole)
	}
	for i, w := range want {
		if whole.Runs[i] != w {
			t.Errorf("run %d is %+v, want %+v", i, whole.Runs[i], w)
		}
	}
	if second := strips[2]; second.Step != 1 || second.Start != 6 || second.Span != 4 || second.Cells != 4000 ||
		second.Runs[0] != (Run{2000, Copying}) {
		t.Errorf("the second step is %+v", second)
	}
}

func (g *gpu) strips(t *testing.T) []Strip {
	t.Helper()
	d := g.analysed(t, Options{})
	return d.Strips()
}

// A call of a twentieth of a cell is seen where it stands alone; where such calls stand in every cell they get the
// cells their time is worth.
func TestExposedCommunicationNeitherVanishesNorSpreads(t *testing.T) {
	alone, everywhere := newGPU(), newGPU()
	for i := range int64(stripCells) {
		at := i * 1000
		alone.ran(gemm, 7, at, at+1000)
		everywhere.ran(gemm, 7, at, at+950)
		everywhere.ran(allReduce, 7, at+950, at+1000)
	}
	alone.Activities[1000].End -= 50
	alone.ran(allReduce, 7, 1000950, 1001000)
	if n := shown(alone.strips(t)[0])[ExposedComm]; n != 1 {
		t.Errorf("a short call alone has %d cells, want 1", n)
	}
	if n := shown(everywhere.strips(t)[0])[ExposedComm]; n < 199 || n > 202 {
		t.Errorf("short calls that make up a twentieth have %d cells of %d, want 200", n, stripCells)
	}
}

// Cells of one nanosecond show exactly what is.
func TestCellsOfANanosecondAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		g := randomGPU(r, 40)
		d := g.analysed(t, Options{})
		cells := shown(d.Strips()[0])
		for state, want := range map[State]float64{Computing: d.Compute - d.Overlap, Overlapped: d.Overlap,
			ExposedComm: d.Exposed, Copying: d.MemcpyOnly, Idle: d.Idle} {
			if !near(float64(cells[state]), want*1e6) && math.Abs(float64(cells[state])-want*1e6) > 1e-6 {
				t.Fatalf("state %d has %d cells, want %g", state, cells[state], want*1e6)
			}
		}
	}
}

// What is in a cell is what a count of the moments between its edges gives.
func TestCellsHoldTheirMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 300 {
		start, length := r.Int64N(1000)-500, 1+r.Int64N(60)
		c := cells{trace.Span{Start: start, End: start + length}, 1 + r.IntN(int(length))}
		if c.edge(0) != c.Start || c.edge(c.n) != c.End {
			t.Fatalf("cells of %+v go from %d to %d", c, c.edge(0), c.edge(c.n))
		}
		a := trace.Span{Start: start - 5 + r.Int64N(length+5)}
		a.End = a.Start + 1 + r.Int64N(length)
		want := make([]int64, c.n)
		for moment := c.Start; moment < c.End; moment++ {
			i := 0
			for moment >= c.edge(i+1) {
				i++
			}
			if moment >= a.Start && moment < a.End {
				want[i]++
			}
		}
		if got := c.fill(spans{a}); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("cells of %+v hold %v of %+v, want %v", c, got, a, want)
		}
	}
}
