package plot

import (
	"fmt"
	"strings"
	"testing"
)

func TestRatios(t *testing.T) {
	r := Ratio{Page: Page{Name: "compare_b_all_reduce", Title: "all_reduce: B against A", Rehearsed: true},
		Label: "time of B / time of A", Margin: 0.03}
	for i := range 11 {
		r.Curves = append(r.Curves, Curve{Label: fmt.Sprintf("%d ranks", i+2),
			Points: []XY{{X: 8, Y: 1.1, Lo: 1, Hi: 1.2}, {X: 64, Y: 0.9, Lo: 0.8, Hi: 1}}})
	}
	figs := Ratios([]Ratio{r})
	if len(figs) != 2 || len(figs[0].Curves) != 9 || len(figs[1].Curves) != 2 ||
		figs[1].Name != "compare_b_all_reduce_2" || !figs[0].Rehearsed || *figs[0].Level != (Level{1, 1 / 1.03, 1.03}) {
		t.Fatalf("%+v", figs)
	}
	if caption := strings.Join(figs[0].Caption, " "); !strings.Contains(caption, "3 %") {
		t.Errorf("%q", caption)
	}
}
