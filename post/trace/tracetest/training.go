package tracetest

import (
	"fmt"
	"io"
)

// Training is data-parallel training, of which one rank is written. In a step every layer computes for Layer; after
// each layer but the last the gradients of the layer are reduced on another stream while the next one computes, and
// after the last nothing hides them.
type Training struct {
	Options
	Steps, Layers int
	Layer         int64 // how long a layer computes
	Comm          int64 // how long a collective takes where nobody is late
	Elements      int64 // float32, of each collective
	Late          int64 // what a layer takes longer on LateRank; the others wait for it inside their collectives
	LateRank      int
	Same          bool  // everything on one stream
	Skew          int64 // of this rank's clock
}

// Streams of a training.
const (
	ComputeStream = 7
	CommStream    = 20
)

// Answers are what a trace of Training has to give for one rank, in nanoseconds over all steps.
type Answers struct {
	Compute, Comm, Exposed, Span, Wait int64
}

// gap is between a step's last collective and the next step's first layer.
const gap = 50_000

// Write writes the trace of the rank of the options, and says what is in it.
func (s Training) Write(w io.Writer) (Answers, error) {
	if s.World > 0 && len(s.Groups) == 0 {
		g := Group{Name: "0", About: "default_pg"}
		for r := range s.World {
			g.Ranks = append(g.Ranks, r)
		}
		s.Groups = []Group{g}
	}
	t := NewWriter(w, s.Options)
	var a Answers
	now := int64(1_000_000) + s.Skew
	first := now
	for step := range s.Steps {
		now = s.step(t, &a, step, now)
	}
	a.Span = now - gap - first
	return a, t.Close()
}

// step writes one step that begins at a moment; the result is when the next one does.
func (s Training) step(t *Writer, a *Answers, step int, begin int64) int64 {
	stream := CommStream
	if s.Same {
		stream = ComputeStream
	}
	own, slow := s.Layer, s.Layer
	if s.Late > 0 {
		slow += s.Late
	}
	if s.Rank == s.LateRank {
		own = slow
	}
	// when this rank is through with its layers, the slowest, and the collectives
	computing, together, end := begin, begin, begin
	launch := begin - 100_000
	for layer := range s.Layers {
		t.Kernel(
			Kernel{Name: fmt.Sprintf("ampere_sgemm_128x64_layer%d", layer%4), Stream: ComputeStream, Start: computing,
				Took: own, Launch: launch},
		)
		a.Compute += own
		computing, together = computing+own, together+slow
		if s.Same {
			computing, together = max(computing, end), max(together, end)
		}
		start := max(computing, end)
		end = max(together, end) + s.Comm
		t.Kernel(
			Kernel{Name: "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Stream: stream,
				Start: start, Took: end - start, Launch: launch + 50_000,
				Collective: &Collective{
					Name:  "allreduce",
					Type:  "Float",
					In:    s.Elements,
					Out:   s.Elements,
					Group: s.group(),
					Rank:  s.Rank,
					Seq:   int64(step*s.Layers + layer + 1),
				}},
		)
		a.Comm += end - start
		a.Wait += end - start - s.Comm
		if s.Same {
			computing, together = end, end
			a.Exposed += end - start
		}
		launch += 100_000
	}
	if !s.Same {
		a.Exposed += end - computing
	}
	t.Range(fmt.Sprintf("ProfilerStep#%d", step+3), begin-200_000, end-begin+gap)
	t.DeviceRange(fmt.Sprintf("ProfilerStep#%d", step+3), ComputeStream, begin, end-begin)
	return end + gap
}

func (s Training) group() Group {
	if len(s.Groups) > 0 {
		return s.Groups[0]
	}
	return Group{Name: "0", About: "default_pg", Ranks: []int{0}}
}
