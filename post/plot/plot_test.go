package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"

	"github.com/shoenig/test/must"
)

var pictures = flag.String("pictures", "", "folder to write the pictures of the tests into, to look at them")

// sets are the data that plots are tried with.
func sets() map[string][]Point {
	s := map[string][]Point{"quick": quick(4)}
	three := []coll.Collective{coll.AllReduce, coll.AllGather, coll.ReduceScatter}
	for launch := range 4 {
		for _, world := range []int{2, 4, 8} {
			for _, b := range []fake{{backend: "mpi", library: "Open MPI 4.1.4"},
				{backend: "gloo", library: "Gloo 0.5 (built 2023-12-03)"}} {
				b.world, b.launch = world, launch
				s["campaign"] = append(s["campaign"], b.sweep(1<<30, three, both, coll.OutOfPlace, coll.InPlace)...)
			}
		}
	}
	s["rehearsed"] = fake{backend: "nccl-rehearsal", library: "busbar's rehearsal of NCCL 2.27.7", world: 4,
		rehearsed: true}.sweep(8<<30, three, both, coll.OutOfPlace, coll.InPlace)
	s["one-point"] = fake{backend: "mpi", library: "MPICH 4.0.2", world: 2}.sweep(8, three[:1], both, coll.OutOfPlace)
	s["no-interval"] = fake{backend: "mpi", library: "MPICH 4.0.2", world: 2}.sweep(1<<20, three[:2], both[:1],
		coll.OutOfPlace)
	for i := range s["no-interval"] {
		s["no-interval"][i].Time.Lo, s["no-interval"][i].Time.Hi = 0, 0
	}
	return s
}

func TestCharts(t *testing.T) {
	for set, points := range sets() {
		figs, _ := Figures(points, Options{})
		if len(figs) == 0 {
			t.Errorf("%s: no figures", set)
		}
		for i, f := range figs {
			apart(t, set+"/"+f.Name, f.drawing())
			if *pictures == "" && i >= 3 && i < len(figs)-1 {
				continue // three and the last of each set will do
			}
			var p, s bytes.Buffer
			must.NoError(t, errors.Join(f.WritePNG(&p), f.drawing().WriteSVG(&s)))
			if *pictures != "" {
				save(t, set, f.Name, p.Bytes(), s.Bytes())
			}
			checkPNG(t, set+"/"+f.Name, &p)
			checkSVG(t, set+"/"+f.Name, f, s.Bytes())
		}
	}
}

func save(t *testing.T, set, name string, p, s []byte) {
	t.Helper()
	dir := filepath.Join(*pictures, set)
	must.NoError(t, errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name+".png"), p, 0o644),
		os.WriteFile(filepath.Join(dir, name+".svg"), s, 0o644)))
}

func checkPNG(t *testing.T, name string, r io.Reader) {
	t.Helper()
	img, err := png.Decode(r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if b := img.Bounds(); b.Dx() != 1600 || b.Dy() < 900 {
		t.Errorf("%s: %d × %d pixels", name, b.Dx(), b.Dy())
	}
}

func checkSVG(t *testing.T, name string, f Figure, svg []byte) {
	t.Helper()
	text := svgText(t, svg)
	wanted := []string{f.Title, f.X.Label, f.Y.Label}
	if f.Rehearsed {
		wanted = append(wanted, "SIMULATED: no device was measured")
	}
	for _, c := range f.Curves {
		wanted = append(wanted, strings.Fields(c.Label)[0])
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(text, func(s string) bool { return strings.Contains(s, w) }) {
			t.Errorf("%s: %q is not in the SVG", name, w)
		}
	}
}

// svgText returns every text element of an SVG; invalid XML fails the test.
func svgText(t *testing.T, svg []byte) []string {
	t.Helper()
	var text []string
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text
		}
		must.NoError(t, err)
		if s, ok := token.(xml.CharData); ok {
			text = append(text, string(s))
		}
	}
}
