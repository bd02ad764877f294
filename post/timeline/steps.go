package timeline

import (
	"regexp"
	"slices"
	"sort"

	"busbar/internal/notice/profiles"
	"busbar/internal/stats"
	"busbar/post/trace"
)

// profilerStep matches torch.profiler's step names.
var profilerStep = regexp.MustCompile(`^ProfilerStep#\d+$`)

// hostStep is a step on the host.
type hostStep struct {
	trace.Range
	took int64 // ns, of the range in the file
}

// hostSteps returns the ranges that are steps, without overlap: of nested ones the outermost; a step ends when the
// next begins.
func hostSteps(ranges []trace.Range, pattern *regexp.Regexp) (steps []hostStep) {
	if pattern == nil {
		pattern = profilerStep
	}
	var until int64
	for _, r := range ranges {
		switch n := len(steps); {
		case !pattern.MatchString(r.Name), n > 0 && r.End <= until:
			continue
		case n > 0 && r.Start == steps[n-1].Start: // the longer of two with equal start
			steps[n-1] = hostStep{r, r.End - r.Start}
		default:
			steps = append(steps, hostStep{r, r.End - r.Start})
		}
		until = r.End
	}
	return steps
}

// stepsOf returns the step in which each activity was launched or, without a launch, began; -1 for none. Launches
// between two steps belong to the first of them, launches after the last to none.
func stepsOf(d *trace.Device, steps []hostStep) []int32 {
	of := make([]int32, len(d.Activities))
	for i := range d.Activities {
		at := d.Activities[i].Launch
		if at == trace.NoTime {
			at = d.Activities[i].Start
		}
		n := sort.Search(len(steps), func(i int) bool { return steps[i].Start > at }) // steps begun
		of[i] = int32(n - 1)
		if n == len(steps) && n > 0 && at > steps[n-1].End {
			of[i] = -1
		}
	}
	return of
}

// windows returns the steps on the device: each from its first activity to the first of the next, so that they do not
// overlap; the last to its own end. A step without launches is empty, as is one with no activity before the next
// step's first.
func windows(d *trace.Device, steps int, of []int32) []trace.Span {
	starts := make([]int64, steps)
	for n := range starts {
		starts[n] = trace.NoTime
	}
	begun, last, until := d.Activities[0].Start, int32(-1), d.Activities[0].Start
	for i := range d.Activities {
		a, n := &d.Activities[i], of[i]
		if n >= 0 && starts[n] == trace.NoTime {
			starts[n] = a.Start
		}
		if n > last {
			last, until = n, a.End
		} else if n >= 0 && n == last {
			until = max(until, a.End)
		}
	}
	for n := range starts {
		if starts[n] != trace.NoTime {
			begun = max(begun, starts[n])
			starts[n] = begun
		}
	}
	until = max(begun, until)
	all := make([]trace.Span, steps)
	for n, start := range slices.Backward(starts) {
		if start == trace.NoTime {
			start = until
		}
		all[n] = trace.Span{Start: start, End: until}
		until = start
	}
	return all
}

// stepParts returns the steps with the times in each.
func (s *study) stepParts() []Step {
	all := make([]Step, len(s.host))
	for n, w := range s.windows {
		all[n] = Step{Name: s.host[n].Name, Start: milliseconds(w.Start - s.cover.whole.Start),
			Host: milliseconds(s.host[n].took), Parts: s.cover.parts(w)}
	}
	kernels := make([]float64, len(all))
	for i := range s.Activities {
		if n := s.stepOf[i]; n >= 0 && s.Activities[i].Kind == trace.Kernel {
			kernels[n]++
			all[n].Busy += s.computes(i)
		}
	}
	typical := stats.Median(kernels)
	for n := range all {
		all[n].Kernels = int(kernels[n])
		if len(all) > 2 && kernels[n] < typical/2 {
			all[n].Partial = &profiles.PartialStep{Kernels: all[n].Kernels, Typical: typical}
		}
	}
	return all
}

// computes returns a kernel's compute time in milliseconds.
func (s *study) computes(activity int) float64 {
	if s.classes[activity] != computing {
		return 0
	}
	return milliseconds(s.Activities[activity].End - s.Activities[activity].Start)
}
