package timeline

import (
	"regexp"
	"slices"
	"testing"

	"busbar/internal/notice"
	"busbar/post/trace"
)

func TestNotesTellHowMuch(t *testing.T) {
	g := newGPU()
	g.ran("graph", 7, 1e6, 3e6).Kind = trace.GraphTrace
	b := NewBuilder(Options{StepPattern: regexp.MustCompile("^step")})
	for range 2 {
		b.Add(&trace.File{Path: "test.json", Format: trace.Kineto, Devices: []*trace.Device{&g.Device}})
	}
	got := b.Timeline().Devices[1].Notes
	want := []Note{
		{notice.CUDAGraphs{Time: 0.002}, 1},
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
