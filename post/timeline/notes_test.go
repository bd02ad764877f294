package timeline

import (
	"regexp"
	"slices"
	"testing"

	"busbar/internal/coll"
	"busbar/post/trace"
)

func TestNotesTellHowMuch(t *testing.T) {
	g := newGPU()
	g.ran("graph", 7, 1e6, 3e6).Kind = trace.GraphTrace
	g.copied(trace.MemcpyPeer, 7, 3e6, 6e6)
	g.copied(trace.MemcpyHostToDevice, 7, 6e6, 7e6)
	g.copied(trace.MemcpyPeer, 7, 7e6, 8e6).Call = g.call(trace.Call{What: coll.AllReduce, Group: trace.Unknown, Bytes: trace.Unknown})
	b := NewBuilder(Options{StepPattern: regexp.MustCompile("^step")})
	for range 2 {
		if err := b.Add(&trace.File{Path: "test.json", Format: trace.Kineto, Devices: []*trace.Device{&g.Device}}); err != nil {
			t.Fatal(err)
		}
	}
	got := b.Timeline().Devices[1].Notes
	want := []Note{
		{Says: "2.000 ms ran in CUDA graphs of which the file has no kernels: all of it counts as computing, and communication in it is not seen", Do: "record with nsys profile --cuda-graph-trace=node", File: 1},
		{Says: "3.000 ms of copies between GPUs belong to no collective and count as copies", File: 1},
		{Says: `no range of the host matches the pattern of steps "^step"`, File: 1},
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
	want := "1 of 99 activities ran before the host launched them: the clocks of host and device disagree, so take what is idle by whom, and what belongs to which step, with care"
	if got := of(99); len(got) != 1 || got[0].Says != want {
		t.Errorf("one of 99: %+v, want %q", got, want)
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
