package plot

import (
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"busbar/internal/coll"
)

func tickLabels(s scale) string {
	var l []string
	for _, t := range s.ticks {
		if t.label != "" {
			l = append(l, t.label)
		}
	}
	return strings.Join(l, " | ")
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		unit   Unit
		values []float64
		want   string
	}{
		{Bytes, []float64{8, 16 << 20}, "8 B | 64 B | 512 B | 4 KiB | 32 KiB | 256 KiB | 2 MiB | 16 MiB"},
		{Bytes, []float64{8, 8 << 30}, "32 B | 1 KiB | 32 KiB | 1 MiB | 32 MiB | 1 GiB"},
		{Bytes, []float64{1e6, 1e9}, "1 MiB | 4 MiB | 16 MiB | 64 MiB | 256 MiB | 1 GiB"},
		{Bytes, []float64{1 << 20}, "512 KiB | 1 MiB | 2 MiB"},
		{Seconds, []float64{1.5e-6, 2e-3}, "10 µs | 100 µs | 1 ms"},
		{Seconds, []float64{2e-6, 9e-6}, "2 µs | 5 µs | 10 µs"},
		{Seconds, []float64{0.3, 4}, "500 ms | 1 s | 2 s | 5 s"},
		{GBps, []float64{0.01, 45}, "0 | 10 | 20 | 30 | 40"},
		{GBps, []float64{0.003}, "0.000 | 0.001 | 0.002 | 0.003"},
	} {
		s := newScale(c.unit, c.values, map[Unit]int{Bytes: 8, GBps: 6}[c.unit])
		if got := tickLabels(s); got != c.want {
			t.Errorf("ticks of %v are %s, want %s", c.values, got, c.want)
		}
		for _, v := range c.values {
			if n := s.norm(v); n < 0 || n > 1 {
				t.Errorf("%v lies outside its axis %v to %v", v, s.min, s.max)
			}
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct{ want, got []vg.Length }{
		{[]vg.Length{10, 50}, []vg.Length{10, 50}},
		{[]vg.Length{48, 50, 52}, []vg.Length{40, 50, 60}},
		{[]vg.Length{0, 1, 99}, []vg.Length{5, 15, 95}},
		{[]vg.Length{20, 22, 60, 61}, []vg.Length{16, 26, 55.5, 65.5}},
	} {
		heights := slices.Repeat([]vg.Length{10}, len(c.want))
		got := spread(c.want, heights, 0, 100)
		for i := range got {
			if math.Abs(float64(got[i]-c.got[i])) > 1e-6 {
				t.Errorf("spread of %v is %v, want %v", c.want, got, c.got)
				break
			}
		}
	}
}

// texts are the places of all words of a figure but the turned ones.
func texts(f Figure) map[string][]vg.Rectangle {
	var rec recorder.Canvas
	f.draw(draw.NewCanvas(&rec, width, f.height()))
	found, turned := map[string][]vg.Rectangle{}, 0
	for _, a := range rec.Actions {
		switch a := a.(type) {
		case *recorder.Push:
			turned++
		case *recorder.Pop:
			turned--
		case *recorder.FillString:
			if turned == 0 && a.String != "" {
				p := pen{face: fonts.Lookup(a.Font, a.Size)}
				box := vg.Rectangle{Min: a.Point, Max: a.Point.Add(vg.Point{X: p.width(a.String), Y: p.cap()})}
				found[a.String] = append(found[a.String], box)
			}
		}
	}
	return found
}

// No words lie on others, and none leave the picture.
func TestTextApart(t *testing.T) {
	for set, points := range sets() {
		figs, _ := Figures(points, Options{})
		for _, f := range figs {
			apart(t, set, f)
		}
	}
}

func apart(t *testing.T, set string, f Figure) {
	t.Helper()
	type placed struct {
		text string
		box  vg.Rectangle
	}
	var all []placed
	for text, boxes := range texts(f) {
		for _, b := range boxes {
			if b.Min.X < 0 || b.Min.Y < 0 || b.Max.X > width || b.Max.Y > f.height() {
				t.Errorf("%s/%s: %q leaves the picture", set, f.Name, text)
			}
			for _, other := range all {
				if b.Min.X < other.box.Max.X && other.box.Min.X < b.Max.X && b.Min.Y < other.box.Max.Y &&
					other.box.Min.Y < b.Max.Y {
					t.Errorf("%s/%s: %q lies on %q", set, f.Name, text, other.text)
				}
			}
			all = append(all, placed{text, b})
		}
	}
	if len(all) < 8 {
		t.Errorf("%s/%s: %d texts only", set, f.Name, len(all))
	}
}

func luminance(c color.RGBA) float64 {
	part := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
}

func contrast(a, b color.RGBA) float64 {
	la, lb := luminance(a), luminance(b)
	return (math.Max(la, lb) + 0.05) / (math.Min(la, lb) + 0.05)
}

func TestContrast(t *testing.T) {
	white := color.RGBA{255, 255, 255, 255}
	for i, c := range palette {
		if contrast(c, white) < 2.2 {
			t.Errorf("colour %d has a contrast of %.1f to paper", i, contrast(c, white))
		}
	}
	for _, c := range []color.RGBA{ink, muted} {
		if contrast(c, white) < 7 {
			t.Errorf("text %v has a contrast of %.1f to paper", c, contrast(c, white))
		}
	}
	if contrast(alarm, white) < 4.5 {
		t.Error("the strip of a rehearsal cannot be read")
	}
}

// In grey print, dash and marker must tell any two of the nine apart.
func TestStylesDiffer(t *testing.T) {
	type grey struct {
		dash int
		m    marker
	}
	seen := map[grey]int{}
	for i := range maxCurves {
		g := grey{i % len(dashes), Curve{Style: i}.marker()}
		if j, ok := seen[g]; ok {
			t.Errorf("styles %d and %d look alike in grey", j, i)
		}
		seen[g] = i
		if h := (Curve{Style: i, Hollow: true}); h.marker() == g.m && slices.Equal(h.line().Dashes, dashes[g.dash]) {
			t.Errorf("style %d looks like its hollow twin", i)
		}
	}
	if len(palette) < len(coll.Collectives()) || len(markers) < len(coll.Collectives()) {
		t.Error("a collective shares its colour or marker with another")
	}
}

func TestWrap(t *testing.T) {
	p := regular(smallSize, ink)
	lines := wrap(p, []string{strings.Repeat("wide ", 100), "a", "b"}, " · ", 200)
	if len(lines) != 2 || !strings.HasSuffix(lines[0], "…") || lines[1] != "a · b" {
		t.Errorf("wrapped to %q", lines)
	}
	for _, l := range lines {
		if p.width(l) > 200 {
			t.Errorf("%q is %v wide", l, p.width(l))
		}
	}
}

// Labels that would not stand one above the other beside the axes become wider.
func TestLongLabelsFindRoom(t *testing.T) {
	p := regular(bodySize, ink)
	var curves []Curve
	for range 6 {
		curves = append(curves,
			Curve{Label: "nccl 16 ranks NCCL (by nccl-tests) mean over ranks, unless -a was given 2 nodes × 8"})
	}
	high := func(room vg.Length) (sum vg.Length) {
		for _, e := range newEndLabels(p, curves, room) {
			sum += e.height()
		}
		return sum
	}
	narrow := high(1000)
	if got := high(0.8 * narrow); got > 0.8*narrow {
		t.Errorf("labels of %v do not fit into %v; with room enough they are of %v", got, 0.8*narrow, narrow)
	}
}
