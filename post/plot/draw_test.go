package plot

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"busbar/internal/coll"
	"github.com/shoenig/test"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		unit   Unit
		values []float64
		want   string
	}{
		{Bytes, []float64{8, 16 << 20}, "8 B | 64 B | 512 B | 4 KiB | 32 KiB | 256 KiB | 2 MiB | 16 MiB"},
		{Bytes, []float64{8, 8 << 30}, "32 B | 1 KiB | 32 KiB | 1 MiB | 32 MiB | 1 GiB"},
		{Bytes, []float64{1 << 20}, "512 KiB | 1 MiB | 2 MiB"},
		{Seconds, []float64{1.5e-6, 2e-3}, "10 µs | 100 µs | 1 ms"},
		{Seconds, []float64{2e-6, 9e-6}, "2 µs | 5 µs | 10 µs"},
		{Seconds, []float64{0.3, 4}, "500 ms | 1 s | 2 s | 5 s"},
		{Linear, []float64{0.01, 45}, "0 | 10 | 20 | 30 | 40"},
		{Linear, []float64{0.003}, "0 | 0.001 | 0.002 | 0.003"},
		{Linear, []float64{5e-324}, ""},
		{Ranks, []float64{2, 6, 2}, "2 | 6"},
		{Ranks, []float64{2, 3, 4, 5, 6, 7, 8}, "2 | 4 | 8"},
		{Times, []float64{0.94, 1.16}, "0.95 | 1 | 1.05 | 1.1 | 1.15"},
		{Times, []float64{0.2, 6.7}, "0.2 | 0.5 | 1 | 2 | 5"},
		{Times, []float64{0.01, 300}, "0.01 | 0.1 | 1 | 10 | 100"},
	} {
		axis := plot.New().X
		c.unit.scale(&axis, c.values, 8)
		var labels []string
		for _, tick := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		test.EqOp(t, c.want, strings.Join(labels, " | "), test.Sprint(c.values))
		if axis.Min > slices.Min(c.values) || axis.Max < slices.Max(c.values) {
			t.Errorf("%v: the axis is from %v to %v", c.values, axis.Min, axis.Max)
		}
	}
}

// placed is a text and its place in a plot.
type placed struct {
	text string
	box  vg.Rectangle
}

// texts are all texts of a plot but the turned ones.
func texts(d *drawing) (all []placed) {
	var rec recorder.Canvas
	d.paint(draw.NewCanvas(&rec, width, d.height()))
	turned := 0
	for _, a := range rec.Actions {
		switch a := a.(type) {
		case *recorder.Push:
			turned++
		case *recorder.Pop:
			turned--
		case *recorder.FillString:
			if turned == 0 && a.String != "" {
				face := font.DefaultCache.Lookup(a.Font, a.Size)
				size := vg.Point{X: face.Width(a.String), Y: a.Size * 0.72}
				all = append(all, placed{a.String, vg.Rectangle{Min: a.Point, Max: a.Point.Add(size)}})
			}
		}
	}
	return all
}

// apart checks that no texts overlap, and that none leave the plot.
func apart(t *testing.T, name string, d *drawing) {
	t.Helper()
	all := texts(d)
	for i, p := range all {
		if p.box.Min.X < 0 || p.box.Min.Y < 0 || p.box.Max.X > width || p.box.Max.Y > d.height() {
			t.Errorf("%s: %q leaves the picture", name, p.text)
		}
		for _, o := range all[:i] {
			if p.box.Min.X < o.box.Max.X && o.box.Min.X < p.box.Max.X && p.box.Min.Y < o.box.Max.Y &&
				o.box.Min.Y < p.box.Max.Y {
				t.Errorf("%s: %q overlaps %q", name, p.text, o.text)
			}
		}
	}
	if len(all) < 8 {
		t.Errorf("%s: %d texts only", name, len(all))
	}
}

// Dash and marker distinguish any two of the ten curves in black-and-white print.
func TestStylesDiffer(t *testing.T) {
	looks := map[[2]int]Curve{}
	for i := range maxCurves {
		c := Curve{Style: i}
		look := [2]int{i % len(dashes), slices.IndexFunc(markers, func(m draw.GlyphDrawer) bool {
			return reflect.TypeOf(m) == reflect.TypeOf(c.marker().Shape)
		})}
		if other, taken := looks[look]; taken {
			t.Errorf("styles %d and %d look alike", i, other.Style)
		}
		looks[look] = c
	}
	if len(palette) < len(coll.Collectives()) {
		t.Error("a collective shares its colour with another")
	}
}

func TestWrap(t *testing.T) {
	p := regular(smallSize, ink)
	lines := wrap(p, []string{strings.Repeat("wide ", 100), "a", "b\x00"}, " · ", 200)
	if len(lines) != 2 || !strings.HasSuffix(lines[0], "…") || lines[1] != "a · b?" && lines[1] != "a · b\ufffd" {
		t.Errorf("wrapped to %q", lines)
	}
	for _, l := range lines {
		if p.Width(l) > 200 {
			t.Errorf("%q is %v wide", l, p.Width(l))
		}
	}
}
