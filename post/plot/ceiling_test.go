package plot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// limited are figures of bus bandwidth with what limit says of them.
func limited(points []Point, limit func(runs []*result.Run, of coll.Case) Limit, remarks ...Remark) map[string]Figure {
	figs, _ := Figures(points, Options{Limit: limit, Remarks: remarks})
	byName := map[string]Figure{}
	for _, f := range figs {
		byName[f.Name] = f
	}
	return byName
}

func always(gbps float64, name string) func([]*result.Run, coll.Case) Limit {
	return func([]*result.Run, coll.Case) Limit {
		return Limit{GBps: gbps, Figure: fmt.Sprint(gbps, " GB/s"), Name: name}
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
	algbw, _ := Figures(points, Options{Limit: always(6, "x"), Bandwidths: []Measure{AlgBW}})
	for _, f := range algbw {
		if len(f.Ceilings) > 0 {
			t.Errorf("%s has a ceiling, which holds for busbw alone", f.Name)
		}
	}
}

// Ceilings that differ name their curves; too many are not drawn, and over worlds only one that holds for all.
func TestCeilingsThatDiffer(t *testing.T) {
	points := append(quick(2), quick(4)...)
	two := func(_ []*result.Run, of coll.Case) Limit {
		if of.Collective == coll.AllToAll {
			return Limit{GBps: 3.1, Figure: "3.1 GB/s", Name: "a"}
		}
		return Limit{GBps: 6, Figure: "6 GB/s", Name: "b"}
	}
	f := limited(points, two)["collectives_busbw_mpi_world4"]
	if len(f.Ceilings) != 2 || f.Ceilings[0].At != 6 || f.Ceilings[1].Label != "peak: 3.1 GB/s, a (alltoall)" {
		t.Errorf("two: %+v", f.Ceilings)
	}
	apart(t, "two ceilings", f.drawing())
	byWorld := func(_ []*result.Run, of coll.Case) Limit { return Limit{GBps: float64(of.World), Name: "x"} }
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

// Remarks stand in the pictures of bandwidth, time and latency that have their series, with numbers above and words
// below; the curves keep their room.
func TestRemarks(t *testing.T) {
	points := quick(4)
	says := "all_reduce loses 23 % of its bandwidth from 32 KiB to 256 KiB against its trend, which is eight times " +
		"the noise of its neighbours; seen in 6 of 6 launches."
	at := func(c coll.Collective, mode coll.Mode) Point {
		for _, p := range points {
			if p.Case.Collective == c && p.Case.Mode == mode {
				return p
			}
		}
		t.Fatalf("no %s", c)
		return Point{}
	}
	var remarks []Remark
	remark := func(c coll.Collective, mode coll.Mode, number int, from, to int64) {
		p := at(c, mode)
		remarks = append(remarks, Remark{Run: p.Run, Case: p.Case, Number: number, From: from, To: to, Says: says})
	}
	for i, from := range []int64{32 << 10, 64 << 10, 1 << 20, 16 << 20, 8, 128, 512} {
		remark(coll.AllReduce, coll.Throughput, i+1, from, 8*from)
	}
	remark(coll.Gather, coll.Latency, 9, 8, 16)
	remark(coll.AllReduce, coll.Latency, 10, 64, 256) // one note about both ranges
	remark(coll.AllReduce, coll.Latency, 10, 16, 64)
	all := limited(points, nil, remarks...)
	if notes := all["collectives_latency_mpi_world4"].Notes; len(notes) != 2 || notes[0].Number != 9 ||
		notes[1] != (Note{10, 16, 256, "all_reduce: " + says}) {
		t.Errorf("notes on latency: %+v", notes)
	}
	f := all["collectives_busbw_mpi_world4"]
	if len(f.Notes) != mostNotes ||
		!strings.Contains(strings.Join(f.Caption, " "), "2 more findings not marked here.") {
		t.Fatalf("%d notes, %q", len(f.Notes), f.Caption)
	}
	plain := limited(points, nil)["collectives_busbw_mpi_world4"].drawing()
	if d := f.drawing(); d.height() <= plain.height() {
		t.Errorf("heights of %v with notes and %v without", d.height(), plain.height())
	}
	numbers, named := 0, false
	for _, p := range texts(f.drawing()) {
		if p.text == "5" {
			numbers++ // above its range
		}
		named = named || strings.HasPrefix(p.text, "5: all_reduce: ")
	}
	if numbers != 1 || !named {
		t.Errorf("the last number is drawn %d times, its text: %v", numbers, named)
	}
	if notes := all["collectives_time_mpi_world4"].Notes; !slices.Equal(notes, f.Notes) {
		t.Errorf("notes on time: %+v, want those on bandwidth", notes)
	}
	apart(t, "remarks", f.drawing())
}
