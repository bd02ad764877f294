package plot

import (
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/post/analysis"
)

// limited are figures of bus bandwidth with what limit says of them.
func limited(points []Point, limit func(runs []*result.Run, of coll.Case) analysis.Ceiling) map[string]Figure {
	figs, _ := Figures(points, Options{limit: limit})
	byName := map[string]Figure{}
	for _, f := range figs {
		byName[f.Name] = f
	}
	return byName
}

func always(gbps float64, name string) func([]*result.Run, coll.Case) analysis.Ceiling {
	return func([]*result.Run, coll.Case) analysis.Ceiling {
		return analysis.Ceiling{BusBW: gbps * 1e9, Name: name}
	}
}

// A ceiling near the figures is a line that the axis shows; one far above is told and leaves the axis to the curves.
func TestCeilingInThePicture(t *testing.T) {
	points := quick(4)
	near := limited(points, always(6, "NVLink 9"))["collectives_busbw_mpi_world4"]
	if len(near.Ceilings) != 1 || near.Ceilings[0] != (Ceiling{6, "peak: 6 GB/s, NVLink 9"}) ||
		!strings.Contains(strings.Join(near.Caption, " "), "slowest link") {
		t.Errorf("near: %+v, %q", near.Ceilings, near.Caption)
	}
	far := limited(points, always(450, "NVLink 4"))["collectives_busbw_mpi_world4"]
	if len(far.Ceilings) != 0 || !strings.Contains(strings.Join(far.Caption, " "),
		"Above the axis: peak: 450 GB/s, NVLink 4.") {
		t.Errorf("far: %+v, %q", far.Ceilings, far.Caption)
	}
	none := limited(points, always(0, ""))["collectives_busbw_mpi_world4"]
	if len(none.Ceilings) != 0 || !strings.Contains(strings.Join(none.Caption, " "), "Peak: unknown") {
		t.Errorf("unknown: %+v, %q", none.Ceilings, none.Caption)
	}
	for name, f := range limited(points, always(6, "x")) {
		if !strings.Contains(name, "busbw") && (len(f.Ceilings) > 0 || strings.Contains(strings.Join(f.Caption, " "),
			"eak")) {
			t.Errorf("%s has a ceiling", name)
		}
	}
	algbw, _ := Figures(points, Options{limit: always(6, "x"), Bandwidths: []Measure{AlgBW}})
	for _, f := range algbw {
		if len(f.Ceilings) > 0 {
			t.Errorf("%s has a ceiling, which holds for busbw alone", f.Name)
		}
	}
}

// Ceilings that differ name their curves; too many are not drawn, and over worlds only one that holds for all.
func TestCeilingsThatDiffer(t *testing.T) {
	points := append(quick(2), quick(4)...)
	two := func(_ []*result.Run, of coll.Case) analysis.Ceiling {
		if of.Collective == coll.AllToAll {
			return analysis.Ceiling{BusBW: 3.1e9, Name: "a"}
		}
		return analysis.Ceiling{BusBW: 6e9, Name: "b"}
	}
	f := limited(points, two)["collectives_busbw_mpi_world4"]
	if len(f.Ceilings) != 2 || f.Ceilings[0].At != 6 || f.Ceilings[1].Label != "peak: 3.1 GB/s, a (alltoall)" {
		t.Errorf("two: %+v", f.Ceilings)
	}
	apart(t, "two ceilings", f.drawing())
	byWorld := func(_ []*result.Run, of coll.Case) analysis.Ceiling {
		return analysis.Ceiling{BusBW: 1e9 * float64(of.World), Name: "x"}
	}
	all := limited(points, byWorld)
	if f := all["scaling_busbw_mpi"]; len(f.Ceilings) != 0 || !strings.Contains(strings.Join(f.Caption, " "),
		"they differ") {
		t.Errorf("over worlds: %+v %q", f.Ceilings, f.Caption)
	}
	if f := all["all_reduce_busbw"]; len(f.Ceilings) != 2 {
		t.Errorf("of two worlds: %+v", f.Ceilings)
	}
	if f := limited(points, always(4, "x"))["scaling_busbw_mpi"]; len(f.Ceilings) != 1 {
		t.Errorf("one for all worlds: %+v", f.Ceilings)
	}
}
