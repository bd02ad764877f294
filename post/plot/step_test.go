package plot

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"busbar/internal/step"
)

// aBar is a bucket whose communication is hidden by so much.
func aBar(label string, ops int, comm, hidden float64) StepBar {
	f := func(v float64) step.Figure { return step.Figure{Value: v, Lo: 0.97 * v, Hi: 1.04 * v} }
	const compute = 0.1
	return StepBar{Label: fmt.Sprintf("%s\n%d ops", label, ops), Compute: f(compute), Comm: f(comm),
		Sequential: f(compute + comm), Overlapped: f(compute + comm*(1-hidden))}
}

func someBars(groups int, rehearsed bool) StepBars {
	b := StepBars{Page: Page{Name: "step_mpi_world4", Title: "A training step of resnet50 by bucket size",
		Subtitle: []string{"mpi (Open MPI 4.1.4)", "4 ranks on 1 node", "cpu (Example E-1234)", "1 thread of FMA"},
		Caption:  []string{"Whiskers: 95 % CI of the median over rounds."}, Rehearsed: rehearsed}}
	for i := range groups {
		p := StepPanel{Title: fmt.Sprintf("ddp, float32, progress: way %d", i)}
		for j, label := range []string{"layer", "1 MiB", "5 MiB", "25 MiB", "all"} {
			p.Bars = append(p.Bars, aBar(label, 161>>(2*j), 0.03+0.01*math.Abs(float64(j)-2), 0.9-0.15*float64(j)))
		}
		p.Bars[1].Mark, p.Bars[2].Mark = "best", "≈"
		b.Panels = append(b.Panels, p)
	}
	return b
}

func TestStepBars(t *testing.T) {
	for name, p := range map[string]StepBars{"bars": someBars(1, false), "simulated": someBars(4, true)} {
		var png, svg bytes.Buffer
		if err := errors.Join(p.WritePNG(&png), p.WriteSVG(&svg)); err != nil {
			t.Fatal(err)
		}
		if *pictures != "" {
			save(t, "step", name, png.Bytes(), svg.Bytes())
		}
		checkPNG(t, name, &png)
		text := strings.Join(svgText(t, svg.Bytes()), "\n")
		for _, want := range []string{"25 MiB", "161 ops", "best", "≈", "exposed communication",
			"time of a step (ms)"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q", name, want)
			}
		}
		if is := strings.Contains(text, "SIMULATED: no device was measured"); is != p.Rehearsed {
			t.Errorf("%s: marked as simulated is %v", name, is)
		}
		apart(t, name, p.drawing())
	}
}
