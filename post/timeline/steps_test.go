package timeline

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"busbar/post/trace"
)

func hostRange(name string, start, end int64) trace.Range {
	return trace.Range{Span: trace.Span{Start: start, End: end}, Name: name}
}

func TestStepsBeginWithTheirFirstActivity(t *testing.T) {
	g := newGPU()
	g.Ranges = []trace.Range{hostRange("warm-up", -5e6, 90e6), hostRange("ProfilerStep#4", 0, 10e6),
		hostRange("ProfilerStep#5", 10e6, 20e6), hostRange("ProfilerStep#6", 20e6, 30e6)}
	at := func(start, end, launch int64) { g.ran(gemm, 7, start, end).Launch = launch }
	at(1e6, 2e6, -1e6)   // launched before the first step
	at(3e6, 5e6, 1e6)    // step 4
	at(12e6, 16e6, 9e6)  // step 4, which goes on while the host is in step 5
	at(18e6, 19e6, 11e6) // step 5
	at(31e6, 33e6, 21e6) // step 6
	at(34e6, 35e6, 29e6)
	at(40e6, 41e6, 31e6) // launched behind the last step
	d := g.analysed(t, Options{})
	want := []Step{
		{Name: "ProfilerStep#4", Start: 2, Host: 10, Kernels: 2, Parts: Parts{Span: 15, Compute: 6, Idle: 9}},
		{Name: "ProfilerStep#5", Start: 17, Host: 10, Kernels: 1, Parts: Parts{Span: 13, Compute: 1, Idle: 12}},
		{Name: "ProfilerStep#6", Start: 30, Host: 10, Kernels: 2, Parts: Parts{Span: 4, Compute: 3, Idle: 1}},
	}
	if len(d.Steps) != len(want) {
		t.Fatalf("%d steps: %+v", len(d.Steps), d.Steps)
	}
	for i, w := range want {
		s := d.Steps[i]
		if s.Name != w.Name || s.Start != w.Start || s.Host != w.Host || s.Kernels != w.Kernels || s.Span != w.Span ||
			s.Compute != w.Compute || s.Idle != w.Idle || s.Partial != nil {
			t.Errorf("step %d is %+v, want %+v", i, s, w)
		}
	}
}

func TestStepsAreRangesThatMatch(t *testing.T) {
	ranges := []trace.Range{
		// nested
		hostRange("ProfilerStep#1", 0, 100), hostRange("train 1", 0, 100), hostRange("train inner", 0, 40),
		hostRange("train inner", 50, 100),
		hostRange("train 2", 100, 200), hostRange("train 2", 100, 200), // twice
		hostRange("train 3", 180, 300),                                       // begins before the last has ended
		hostRange("train 4", 320, 400), hostRange("train 4 whole", 320, 410), // the longer is the step
	}
	g := newGPU()
	g.Ranges = ranges
	g.ran(gemm, 7, 0, 1)
	names := func(o Options) (all []string) {
		for _, s := range g.analysed(t, o).Steps {
			all = append(all, fmt.Sprintf("%s %g", s.Name, s.Host*1e6))
		}
		return all
	}
	if got := names(Options{}); !slices.Equal(got, []string{"ProfilerStep#1 100"}) {
		t.Errorf("steps of the profiler are %q", got)
	}
	want := []string{"train 1 100", "train 2 100", "train 3 120", "train 4 whole 90"}
	if got := names(Options{StepPattern: regexp.MustCompile("^train")}); !slices.Equal(got, want) {
		t.Errorf("steps are %q, want %q", got, want)
	}
	d := g.analysed(t, Options{StepPattern: regexp.MustCompile("^epoch")})
	if len(d.Steps) != 0 || len(d.Notes) != 1 {
		t.Errorf("a pattern that nothing matches: %+v, notes %+v", d.Steps, d.Notes)
	}
}

func TestStepsThatLackKernelsAreSaid(t *testing.T) {
	g := newGPU()
	for n, kernels := range []int64{8, 8, 8, 0, 3} {
		from := int64(n) * 100
		g.Ranges = append(g.Ranges, hostRange(fmt.Sprintf("ProfilerStep#%d", n), from, from+100))
		for k := range kernels {
			g.ran(gemm, 7, from+10*k, from+10*k+5).Launch = from + 10*k
		}
	}
	d := g.analysed(t, Options{})
	for i, s := range d.Steps {
		if (s.Partial != nil) != (i >= 3) {
			t.Errorf("step %d with %d kernels: partial %v", i, s.Kernels, s.Partial)
		}
	}
	if d.Steps[3].Span != 0 || d.Steps[3].Start != d.Steps[4].Start {
		t.Errorf("a step without kernels is not empty: %+v", d.Steps[3])
	}
}

// Whatever ran when, and whenever it was launched: steps follow each other without a gap, and their parts add up to
// what the device did in all of them.
func TestStepsPartition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		g := randomGPU(r, 20)
		for n := range 1 + r.IntN(4) {
			g.Ranges = append(
				g.Ranges,
				hostRange(fmt.Sprintf("ProfilerStep#%d", n), int64(10*n), int64(10*n+5+r.IntN(9))),
			)
		}
		d := g.analysed(t, Options{})
		steps := d.Steps
		var span, compute, comm, idle float64
		for i, s := range steps {
			if i+1 < len(steps) && !near(s.Start+s.Span, steps[i+1].Start) && s.Span+steps[i+1].Span > 0 {
				t.Fatalf(
					"step %d ends at %g, the next begins at %g: %+v %+v",
					i,
					s.Start+s.Span,
					steps[i+1].Start,
					g.Activities,
					g.Ranges,
				)
			}
			if s.Span < 0 {
				t.Fatalf("step %d is %g long", i, s.Span)
			}
			span, compute, comm, idle = span+s.Span, compute+s.Compute, comm+s.Comm, idle+s.Idle
		}
		last := steps[len(steps)-1]
		if !near(span, last.Start+last.Span-steps[0].Start) || compute > d.Compute+1e-9 || comm > d.Comm+1e-9 ||
			idle > d.Idle+1e-9 {
			t.Fatalf("steps add up to %g of %g ms", span, d.Span)
		}
	}
}
