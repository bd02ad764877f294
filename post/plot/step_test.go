package plot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"busbar/internal/result"
	"busbar/internal/step"
)

// aBar is a bucket whose communication is hidden by so much.
func aBar(label string, ops int, comm, hidden float64) StepBar {
	f := func(v float64) step.Figure { return step.Figure{Value: v, Lo: 0.97 * v, Hi: 1.04 * v} }
	const compute = 0.1
	return StepBar{Label: label, Under: fmt.Sprintf("%d ops", ops), Compute: f(compute), Comm: f(comm),
		Sequential: f(compute + comm), Overlapped: f(compute + comm*(1-hidden))}
}

func someBars(groups int) StepBars {
	b := StepBars{Name: "step_mpi_world4", Title: "A training step of resnet50 by bucket size",
		Subtitle: []string{"mpi (Open MPI 4.1.4)", "4 ranks on 1 node", "cpu (Example E-1234)", "1 thread of FMA"},
		Caption:  []string{"Whiskers: 95 % CI of the median over rounds.", "Best: smallest median of one launch."}}
	for i := range groups {
		p := StepPanel{Title: fmt.Sprintf("ddp, float32, progress: way %d", i)}
		for j, label := range []string{"layer", "1 MiB", "5 MiB", "25 MiB", "all"} {
			p.Bars = append(p.Bars, aBar(label, 161>>(2*j), 0.03+0.01*math.Abs(float64(j)-2), 0.9-0.15*float64(j)+
				0.1*float64(i%2)))
		}
		p.Bars[1].Mark, p.Bars[2].Mark = "best", "≈"
		b.Panels = append(b.Panels, p)
	}
	return b
}

// aTimeline is a step of a forward pass, five segments with a bucket behind each, and an optimizer.
func aTimeline(slow float64) *result.StepTimeline {
	t := &result.StepTimeline{Segments: []result.StepSpan{{Name: "forward", Work: "forward", End: 0.03}}}
	now, free := 0.03, 0.0
	for i := range 5 {
		end := now + 0.006 + 0.003*float64(i)
		t.Segments = append(t.Segments, result.StepSpan{Name: fmt.Sprintf("backward %d", i+1), Work: "backward", Start: now,
			End: end})
		start := max(end, free)
		free = start + slow*0.009
		t.Ops = append(t.Ops, result.StepSpan{Name: fmt.Sprintf("bucket %d", i+1), Start: start, End: free})
		now = end
	}
	t.Segments = append(t.Segments, result.StepSpan{Name: "optimizer", Work: "optimizer", Start: max(free, now),
		End: max(free, now) + 0.004})
	t.Span = max(free, now) + 0.004
	return t
}

func someLanes() StepLanes {
	together := aTimeline(1)
	for i := range together.Ops { // as a library does that is only called at the end
		together.Ops[i].End = 0.12
	}
	together.Span, together.Segments = 0.12, together.Segments[:6]
	return StepLanes{Name: "step_mpi_world4_timeline", Title: "One training step of resnet50 over time, rank 0",
		Subtitle: []string{"mpi (Open MPI 4.1.4)", "4 ranks on 1 node"},
		Caption:  []string{"The last overlapped step of each point."},
		Rows: []StepRow{{"ddp, float32, polled, 25 MiB", aTimeline(1)}, {"ddp, float32, slow", aTimeline(2.2)},
			{"ddp, float32, no calls", together}}}
}

func TestStepPictures(t *testing.T) {
	bars, lanes := someBars(1), someLanes()
	rehearsed, sleeping := someBars(4), someLanes()
	rehearsed.Rehearsed, sleeping.Rehearsed = true, true
	for name, p := range map[string]interface {
		WritePNG(w io.Writer) error
		WriteSVG(w io.Writer) error
	}{"bars": bars, "lanes": lanes, "rehearsed-bars": rehearsed, "rehearsed-lanes": sleeping} {
		var png, svg bytes.Buffer
		if err := errors.Join(p.WritePNG(&png), p.WriteSVG(&svg)); err != nil {
			t.Fatal(err)
		}
		if *pictures != "" {
			save(t, "step", name, png.Bytes(), svg.Bytes())
		}
		checkPNG(t, name, &png)
		text := strings.Join(svgText(t, svg.Bytes()), "\n")
		for _, want := range map[string][]string{"bars": {"25 MiB", "161 ops", "best", "≈", "exposed communication",
			"time of a step (ms)"}, "lanes": {"backward", "computing", "communication, exposed",
			"time from the beginning of the step (ms)"}}[strings.TrimPrefix(name, "rehearsed-")] {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q", name, want)
			}
		}
		if is := strings.Contains(text, "SIMULATED: no device was measured"); is != strings.HasPrefix(name, "rehearsed") {
			t.Errorf("%s: said to be rehearsed is %v", name, is)
		}
	}
}
