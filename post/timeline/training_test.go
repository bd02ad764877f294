package timeline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/post/trace/tracetest"
)

// From trace text to values, for training with known results.
func TestTrainingResults(t *testing.T) {
	for what, training := range map[string]tracetest.Training{
		"on two streams": {Steps: 3, Layers: 4, Layer: 1_000_000, Comm: 300_000, Elements: 1 << 20},
		"slow networks":  {Steps: 3, Layers: 4, Layer: 200_000, Comm: 900_000, Elements: 1 << 20},
		"on one stream":  {Steps: 2, Layers: 2, Layer: 1_000_000, Comm: 300_000, Elements: 1 << 20, Same: true},
	} {
		training.Options = tracetest.Options{World: 4, Base: 1700000000_000000000}
		path := filepath.Join(t.TempDir(), "rank0.json")
		file, err := os.Create(path)
		must.NoError(t, err)
		want, err := training.Write(file)
		must.NoError(t, err)
		must.NoError(t, file.Close())
		tl, _, err := Read(t.Context(), []string{path}, Options{})
		must.NoError(t, err)
		d := tl.Devices[0]
		isNear(t, what+": span", d.Span, milliseconds(want.Span))
		isNear(t, what+": compute", d.Compute, milliseconds(want.Compute))
		isNear(t, what+": comm", d.Comm, milliseconds(want.Comm))
		isNear(t, what+": exposed", d.Exposed, milliseconds(want.Exposed))
		must.Len(t, training.Steps, d.Steps)
		must.Len(t, 1, d.Collectives)
		c := d.Collectives[0]
		must.True(t, c.Calls == training.Steps*training.Layers && *c.Bytes == 4<<20 && c.Ranks == 4 && c.Busbw != nil)
		must.EqOp(t, 2, d.seen[1].seq)
		must.EqOp(t, training.Same, len(d.Shared) > 0)
	}
}
