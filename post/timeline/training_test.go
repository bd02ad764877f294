package timeline

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"busbar/post/trace/tracetest"
)

// From the text of a trace to the figures: training of which everything is known.
func TestTrainingHasTheFiguresItWasMadeWith(t *testing.T) {
	for what, training := range map[string]tracetest.Training{
		"on two streams": {Steps: 3, Layers: 4, Layer: 1_000_000, Comm: 300_000, Elements: 1 << 20},
		"slow networks":  {Steps: 3, Layers: 4, Layer: 200_000, Comm: 900_000, Elements: 1 << 20},
		"on one stream":  {Steps: 2, Layers: 2, Layer: 1_000_000, Comm: 300_000, Elements: 1 << 20, Same: true},
	} {
		training.Options = tracetest.Options{Rank: 0, World: 4, Base: 1700000000_000000000}
		path := filepath.Join(t.TempDir(), "rank0.json")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := training.Write(file)
		if err != nil || file.Close() != nil {
			t.Fatal(err)
		}
		tl, _, err := Read(t.Context(), []string{path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := tl.Devices[0]
		for figure, pair := range map[string][2]float64{
			"span": {d.Span, milliseconds(want.Span)}, "compute": {d.Compute, milliseconds(want.Compute)},
			"comm": {d.Comm, milliseconds(want.Comm)}, "exposed": {d.Exposed, milliseconds(want.Exposed)},
		} {
			if !near(pair[0], pair[1]) {
				t.Errorf("%s: %s is %g ms, want %g", what, figure, pair[0], pair[1])
			}
		}
		if len(d.Steps) != training.Steps || d.Steps[0].Name != "ProfilerStep#3" {
			t.Errorf("%s: steps are %+v", what, d.Steps)
		}
		calls := training.Steps * training.Layers
		if c := d.Collectives; len(c) != 1 || c[0].Calls != calls ||
			c[0].Name != "all_reduce" || *c[0].Bytes != 4<<20 ||
			c[0].Ranks != 4 ||
			c[0].Busbw == nil {
			t.Errorf("%s: collectives are %+v", what, c)
		}
		if len(d.seen) != calls || fmt.Sprint(d.seen[1].seq) != "2" {
			t.Errorf("%s: %d calls are kept for matching: %+v", what, len(d.seen), d.seen)
		}
		if shared := len(d.Shared) > 0; shared != training.Same {
			t.Errorf("%s: shared streams are %+v", what, d.Shared)
		}
	}
}
