package timeline

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shoenig/test/must"
)

// shown counts the cells of each state.
func shown(s Strip) (cells [Copying + 1]int) {
	for _, r := range s.Runs() {
		cells[r.State] += int(r.Cells)
	}
	return cells
}

func TestStripsShowLargestPart(t *testing.T) {
	d := onGPU(`range ProfilerStep#1 0-5; range ProfilerStep#2 5-20; 7 gemm 0-4; 8 allReduce 3-5; 9 copy 6-8;
7 gemm 8-10`).analysed(Options{})
	strips := d.Strips()
	must.Len(t, 3, strips)
	must.Eq(t, []Run{{1200, Computing}, {400, Overlapped}, {400, ExposedComm}, {400, Idle}, {800, Copying},
		{800, Computing}}, strips[0].Runs())
	must.Eq(t, Strip{Step: -1, Start: 0, Span: 10, Cells: 4000, Packed: strips[0].Packed}, strips[0])
	must.Eq(t, []Run{{2000, Copying}, {2000, Computing}}, strips[2].Runs())
	must.Eq(t, Strip{Step: 1, Start: 6, Span: 4, Cells: 4000, Packed: strips[2].Packed}, strips[2])
}

// A single call of a twentieth of a cell is visible. If every cell has such a call, they get cells in proportion to
// their time.
func TestStripsExposedInProportion(t *testing.T) {
	alone, everywhere := newGPU(), newGPU()
	for i := range int64(stripCells) {
		at := i * 1000
		alone.ran(gemm, 7, at, at+1000)
		everywhere.ran(gemm, 7, at, at+950)
		everywhere.ran(allReduce, 7, at+950, at+1000)
	}
	alone.Activities[1000].End -= 50
	alone.ran(allReduce, 7, 1000950, 1001000)
	d, all := alone.analysed(Options{}), everywhere.analysed(Options{})
	must.EqOp(t, 1, shown(d.Strips()[0])[ExposedComm])
	must.Between(t, 199, shown(all.Strips()[0])[ExposedComm], 202)
}

// Cells of one nanosecond are exact.
func TestStripsOneNanosecondCells(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		d := randomGPU(r, 40).analysed(Options{})
		cells := shown(d.Strips()[0])
		for state, want := range map[State]float64{Computing: d.Compute - d.Overlap, Overlapped: d.Overlap,
			ExposedComm: d.Exposed, Copying: d.MemcpyOnly, Idle: d.Idle} {
			must.EqOp(t, int(math.Round(want*1e6)), cells[state])
		}
	}
}
