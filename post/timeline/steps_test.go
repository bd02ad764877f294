package timeline

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/post/trace"
)

func hostRange(name string, start, end int64) trace.Range {
	return trace.Range{Span: trace.Span{Start: start, End: end}, Name: name}
}

// stepsAre checks the steps of a device: name, start and span, time on the host, kernels, and whether it is complete.
func stepsAre(d Device) (text string) {
	for _, s := range d.Steps {
		text += fmt.Sprintf("%s %g+%g host %g, %d", s.Name, s.Start, s.Span, s.Host, s.Kernels)
		if s.Partial != nil {
			text += " partial"
		}
		text += "\n"
	}
	return text
}

// TestStepsBeginAtFirstActivity has activities before the first step and after the last, and one of step 4 while
// the host is in step 5.
func TestStepsBeginAtFirstActivity(t *testing.T) {
	d := onGPU(`range warm-up -5-90; range ProfilerStep#4 0-10; range ProfilerStep#5 10-20; range ProfilerStep#6 20-30;
7 gemm 1-2 @-1; 7 gemm 3-5 @1; 7 gemm 12-16 @9; 7 gemm 18-19 @11; 7 gemm 31-33 @21; 7 gemm 34-35 @29;
7 gemm 40-41 @31`).analysed(Options{})
	must.EqOp(t, "ProfilerStep#4 2+15 host 10, 2\nProfilerStep#5 17+13 host 10, 1\nProfilerStep#6 30+4 host 10, 2\n",
		stepsAre(d))
	must.Eq(t, []float64{6, 9, 1, 12, 3, 1}, []float64{d.Steps[0].Compute, d.Steps[0].Idle, d.Steps[1].Compute,
		d.Steps[1].Idle, d.Steps[2].Compute, d.Steps[2].Idle})
}

// TestStepRanges has nested ranges, one twice, one that begins before the last has ended, and a longer one
// that begins with another.
func TestStepRanges(t *testing.T) {
	g := onGPU(`range ProfilerStep#1 0-100; range train1 0-100; range inner-train 0-40; range train-inner 50-100;
range train2 100-200; range train2 100-200; range train3 180-300; range train4 320-400; range train4-whole 320-410;
7 gemm 0-1`)
	for pattern, want := range map[string]string{
		"":       "ProfilerStep#1 100 ",
		"^train": "train1 100 train2 100 train3 120 train4-whole 90 ",
		"^epoch": "",
	} {
		o := Options{}
		if pattern != "" {
			o.StepPattern = regexp.MustCompile(pattern)
		}
		got := ""
		for _, s := range g.analysed(o).Steps {
			got += fmt.Sprintf("%s %g ", s.Name, s.Host)
		}
		must.EqOp(t, want, got)
	}
}

func TestStepsWithoutKernels(t *testing.T) {
	g := newGPU()
	for n, kernels := range []int64{8, 8, 8, 0, 3} {
		from := int64(n) * 100e6
		g.Ranges = append(g.Ranges, hostRange(fmt.Sprint("ProfilerStep#", n), from, from+100e6))
		for k := range kernels {
			g.ran(gemm, 7, from+10e6*k, from+10e6*k+5e6).Launch = from + 10e6*k
		}
	}
	must.EqOp(t, `ProfilerStep#0 0+100 host 100, 8
ProfilerStep#1 100+100 host 100, 8
ProfilerStep#2 200+200 host 100, 8
ProfilerStep#3 400+0 host 100, 0 partial
ProfilerStep#4 400+25 host 100, 3 partial
`, stepsAre(g.analysed(Options{})))
}

// For random activities and launches, steps are contiguous and their parts add up to the device's.
func TestStepsPartition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		g := randomGPU(r, 20)
		for n := range 1 + r.IntN(4) {
			g.Ranges = append(g.Ranges,
				hostRange(fmt.Sprint("ProfilerStep#", n), int64(10*n), int64(10*n+5+r.IntN(9))))
		}
		d := g.analysed(Options{})
		var sum Parts
		for i, s := range d.Steps {
			gap := i+1 < len(d.Steps) && !near(s.Start+s.Span, d.Steps[i+1].Start) && s.Span+d.Steps[i+1].Span > 0
			must.False(t, gap || s.Span < 0, must.Sprint(i, g.Activities, g.Ranges))
			sum.Span, sum.Compute = sum.Span+s.Span, sum.Compute+s.Compute
			sum.Comm, sum.Idle = sum.Comm+s.Comm, sum.Idle+s.Idle
		}
		last := d.Steps[len(d.Steps)-1]
		must.True(t, near(sum.Span, last.Start+last.Span-d.Steps[0].Start) && sum.Compute <= d.Compute+1e-9 &&
			sum.Comm <= d.Comm+1e-9 && sum.Idle <= d.Idle+1e-9, must.Sprint(g.Activities, g.Ranges))
	}
}
