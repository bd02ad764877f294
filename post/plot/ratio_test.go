package plot

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Ticks of ratios lie on the axis, say what they are, and 1 is among them wherever it lies there.
func TestRatioTicks(t *testing.T) {
	for _, c := range [][2]float64{{0.94, 1.16}, {0.99, 1.09}, {0.5, 1.4}, {0.2, 6.7}, {0.01, 300}, {1.5, 1.9},
		{0.97, 1.03}, {0.3, 0.89}} {
		ticks := ratioTicks(c[0], c[1], 6)
		var labels []string
		for _, tick := range ticks {
			v, err := strconv.ParseFloat(tick.label, 64)
			if err != nil || v/tick.value > 1.000001 || v/tick.value < 0.999999 || tick.value < c[0]*0.999999 ||
				tick.value > c[1] {
				t.Errorf("%v: a tick at %g is labelled %q: %v", c, tick.value, tick.label, err)
			}
			labels = append(labels, tick.label)
		}
		one := slices.ContainsFunc(ticks, func(k tick) bool { return k.value > 0.999999 && k.value < 1.000001 })
		if len(ticks) < 2 || len(ticks) > 14 || one != (c[0] < 1 && c[1] > 1) || len(slices.Compact(labels)) != len(ticks) {
			t.Errorf("%v: %v", c, ticks)
		}
	}
}

func TestRatios(t *testing.T) {
	r := Ratio{Name: "compare_b_all_reduce", Title: "all_reduce: B against A", Label: "time of B / time of A",
		Margin: 0.03, Bounds: "95 % intervals over launches", Rehearsed: true}
	for i := range 11 {
		r.Curves = append(r.Curves,
			RatioCurve{fmt.Sprintf("%d ranks", i+2), []XY{{X: 8, Y: 1.1, Lo: 1, Hi: 1.2}, {X: 64, Y: 0.9, Lo: 0.8, Hi: 1}}})
	}
	figs := Ratios([]Ratio{r})
	if len(figs) != 2 || len(figs[0].Curves) != 9 || len(figs[1].Curves) != 2 ||
		figs[1].Name != "compare_b_all_reduce_2" || !figs[0].Rehearsed || *figs[0].Level != (Level{1, 1 / 1.03, 1.03}) {
		t.Fatalf("%+v", figs)
	}
	var svg bytes.Buffer
	if err := figs[1].WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"SIMULATED", "time of B / time of A", "Around 1: within 3 %", "12 ranks"} {
		if !strings.Contains(svg.String(), words) {
			t.Errorf("the picture does not say %q", words)
		}
	}
}
