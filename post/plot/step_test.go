package plot

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"busbar/internal/result"
	"busbar/post/steps"
	"busbar/post/steps/stepstest"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestStepBars(t *testing.T) {
	for _, simulated := range []bool{false, true} {
		run := stepstest.Default()
		run.Rehearsed = simulated
		for range mostPanels {
			run.Groups = append(run.Groups, run.Groups[0])
			run.Groups[len(run.Groups)-1].Compression = fmt.Sprintf("%dx:10ms", len(run.Groups))
		}
		all := barsOf(steps.Gather([]*result.StepFile{run.File()}))
		if len(all) != 2 || len(all[0].groups) != mostPanels || all[1].Name != "step_mpi_world4_2" {
			t.Fatalf("%d pictures: %+v", len(all), all)
		}
		p := all[1]
		var png, svg bytes.Buffer
		must.NoError(t, errors.Join(p.drawing().WritePNG(&png), p.drawing().WriteSVG(&svg)))
		if *pictures != "" {
			save(t, "step", p.Name, png.Bytes(), svg.Bytes())
		}
		checkPNG(t, p.Name, &png)
		text := strings.Join(svgText(t, svg.Bytes()), "\n")
		for _, want := range []string{"25 MiB", "64 ops", "best", "exposed communication", "time of a step (ms)"} {
			test.StrContains(t, text, want)
		}
		test.EqOp(t, simulated, strings.Contains(text, "SIMULATED: no device was measured"))
		apart(t, p.Name, p.drawing())
	}
}
