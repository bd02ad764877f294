package timeline

import (
	"regexp"
	"slices"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/post/trace"
)

func TestNotesTellHowMuch(t *testing.T) {
	g := newGPU()
	g.ran("graph", 7, 1e6, 3e6).Kind = trace.GraphTrace
	g.copied(trace.MemcpyPeer, 7, 3e6, 6e6)
	g.copied(trace.MemcpyHostToDevice, 7, 6e6, 7e6)
	g.copied(trace.MemcpyPeer, 7, 7e6, 8e6).Call = g.call(trace.Call{What: coll.AllReduce, Group: trace.Unknown,
		Bytes: trace.Unknown})
	b := NewBuilder(Options{StepPattern: regexp.MustCompile("^step")})
	for range 2 {
		if err := b.Add(&trace.File{Path: "test.json", Format: trace.Kineto, Devices: []*trace.Device{&g.Device}}); err !=
			nil {
			t.Fatal(err)
		}
	}
	got := b.Timeline().Devices[1].Notes
	want := []Note{
		{notice.CUDAGraphs{Time: 0.002}, 1},
		{notice.PeerCopies{Time: 0.003}, 1},
		{notice.StepPatternUnmatched{Pattern: "^step"}, 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("notes are\n%+v, want\n%+v", got, want)
	}
}

// Of a hundred launches one may lie behind its kernel; what has no launch is not of them.
func TestClocksDisagreeFromOnePercentOn(t *testing.T) {
	of := func(launched int) []Note {
		g := newGPU()
		for i := range int64(launched) {
			g.ran(gemm, 7, i*10, i*10+5).Launch = i * 10
		}
		g.Activities[0].Launch = 1
		for i := range int64(50) {
			g.ran(gemm, 7, 1e6+i*10, 1e6+i*10+5)
		}
		return g.analysed(t, Options{}).Notes
	}
	if got := of(100); len(got) != 0 {
		t.Errorf("one of a hundred: %+v", got)
	}
	want := notice.ClocksDisagree{Early: 1, Of: 99}
	if got := of(99); len(got) != 1 || got[0].Fact != want {
		t.Errorf("one of 99: %+v, want %+v", got, want)
	}
}

// Activities that begin together were waited for from the first launch on, in whichever order they stand.
func TestTheFirstLaunchOfThoseThatBeginTogetherCounts(t *testing.T) {
	for _, launches := range [][2]int64{{4e6, 6e6}, {6e6, 4e6}} {
		g := newGPU()
		g.ran(gemm, 7, 0, 1e6)
		g.ran(gemm, 7, 10e6, 11e6).Launch = launches[0]
		g.ran(gemm, 8, 10e6, 12e6).Launch = launches[1]
		if d := g.analysed(t, Options{}); d.HostBound != 3 || d.Waiting != 6 {
			t.Errorf("launched at %v: %g ms bound by the host and %g ms waiting, want 3 and 6", launches, d.HostBound, d.Waiting)
		}
	}
}
