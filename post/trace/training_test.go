package trace_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"busbar/post/timeline"
	"busbar/post/trace/tracetest"

	"github.com/shoenig/test/must"
)

// Streams of a training.
const (
	computeStream = 7
	commStream    = 20
)

// steady is one rank of data-parallel training. In a step every layer computes for Layer; while the next layer
// computes, the gradients of the previous one are reduced on another stream. The last layer's reduction is exposed.
type steady struct {
	tracetest.Options
	Steps, Layers int
	Layer         int64 // compute time of a layer
	Comm          int64 // time of a collective
	Elements      int64 // float32, of each collective
	Same          bool  // everything on one stream
}

// answers are the expected results of such a trace, in nanoseconds over all steps.
type answers struct {
	Compute, Comm, Exposed, Span int64
}

// gap is between a step's last collective and the next step's first layer.
const gap = 50_000

// write writes the trace of the options' rank, and returns the expected results.
func (s steady) write(w io.Writer) (a answers, err error) {
	g := tracetest.Group{Name: "0", About: "default_pg"}
	for r := range s.World {
		g.Ranks = append(g.Ranks, r)
	}
	s.Groups = []tracetest.Group{g}
	t := tracetest.NewWriter(w, s.Options)
	const first = 1_000_000
	now := int64(first)
	for step := range s.Steps {
		now = s.step(t, &a, step, now)
	}
	a.Span = now - gap - first
	return a, t.Close()
}

// step writes one step from a start time, and returns the start of the next.
func (s steady) step(t *tracetest.Writer, a *answers, step int, begin int64) int64 {
	stream := commStream
	if s.Same {
		stream = computeStream
	}
	computing, end, launch := begin, begin, begin-100_000
	for layer := range s.Layers {
		t.Kernel(tracetest.Kernel{Name: fmt.Sprintf("ampere_sgemm_128x64_layer%d", layer%4), Stream: computeStream,
			Start: computing, Took: s.Layer, Launch: launch})
		computing += s.Layer
		end = max(computing, end)
		t.Kernel(tracetest.Kernel{Name: tracetest.AllReduce, Stream: stream, Start: end, Took: s.Comm,
			Launch: launch + 50_000, Collective: &tracetest.Collective{Name: "allreduce", Type: "Float", In: s.Elements,
				Out: s.Elements, Group: s.Groups[0], Seq: int64(step*s.Layers + layer + 1)}})
		end += s.Comm
		a.Compute, a.Comm = a.Compute+s.Layer, a.Comm+s.Comm
		if s.Same {
			computing, a.Exposed = end, a.Exposed+s.Comm
		}
		launch += 100_000
	}
	a.Exposed += end - computing
	t.Range(fmt.Sprintf("ProfilerStep#%d", step+3), begin-200_000, end-begin+gap)
	return end + gap
}

// From trace text to values, for training with known results.
func TestTrainingResults(t *testing.T) {
	for what, training := range map[string]steady{
		"on two streams": {Steps: 3, Layers: 4, Layer: 1_000_000, Comm: 300_000, Elements: 1 << 20},
		"slow networks":  {Steps: 3, Layers: 4, Layer: 200_000, Comm: 900_000, Elements: 1 << 20},
		"on one stream":  {Steps: 2, Layers: 2, Layer: 1_000_000, Comm: 300_000, Elements: 1 << 20, Same: true},
	} {
		training.Options = tracetest.Options{World: 4, Base: 1700000000_000000000}
		path := filepath.Join(t.TempDir(), "rank0.json")
		file, err := os.Create(path)
		must.NoError(t, err)
		want, err := training.write(file)
		must.NoError(t, err)
		must.NoError(t, file.Close())
		tl, _, err := timeline.Read(t.Context(), []string{path}, timeline.Options{})
		must.NoError(t, err)
		d := tl.Devices[0]
		must.InDelta(t, float64(want.Span)/1e6, d.Span, 1e-9, must.Sprint(what))
		must.InDelta(t, float64(want.Compute)/1e6, d.Compute, 1e-9, must.Sprint(what))
		must.InDelta(t, float64(want.Comm)/1e6, d.Comm, 1e-9, must.Sprint(what))
		must.InDelta(t, float64(want.Exposed)/1e6, d.Exposed, 1e-9, must.Sprint(what))
		must.Len(t, training.Steps, d.Steps)
		must.Len(t, 1, d.Collectives)
		c := d.Collectives[0]
		must.True(t, c.Calls == training.Steps*training.Layers && *c.Bytes == 4<<20 && c.Ranks == 4 && c.Busbw != nil)
		must.EqOp(t, training.Same, len(d.Shared) > 0)
	}
}
