package timeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"busbar/post/trace"
)

// names of kernels for tests
const (
	gemm      = "ampere_sgemm_128x64_nn"
	allReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	allGather = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
)

// gpu is a device under construction.
type gpu struct{ trace.Device }

func newGPU() *gpu {
	return &gpu{trace.Device{Rank: trace.Unknown, Process: trace.Unknown, Origin: trace.Unknown}}
}

// onGPU builds a device from a text with times in ms: "7 gemm 0-6 @-1; 9 copy 2-3; range ProfilerStep#1 0-5" is a
// kernel on stream 7 that was launched at -1, a copy, and a host range.
func onGPU(text string) *gpu {
	g := newGPU()
	for entry := range strings.SplitSeq(text, ";") {
		var where, name string
		var start, end, launch float64
		n, err := fmt.Sscanf(strings.TrimSpace(entry), "%s %s %f-%f @%f", &where, &name, &start, &end, &launch)
		if n < 4 {
			panic(fmt.Sprint(entry, ": ", err))
		}
		if where == "range" {
			g.Ranges = append(g.Ranges, trace.Range{Span: trace.Span{Start: int64(start * 1e6), End: int64(end * 1e6)},
				Name: name})
			continue
		}
		var stream int32
		_, _ = fmt.Sscan(where, &stream) // invalid test data
		full := map[string]string{"gemm": gemm, "allReduce": allReduce, "allGather": allGather}[name]
		if full == "" {
			full = name
		}
		a := g.ran(full, stream, int64(start*1e6), int64(end*1e6))
		if name == "copy" {
			a.Kind = trace.MemcpyHostToDevice
		}
		if n == 5 {
			a.Launch = int64(launch * 1e6)
		}
	}
	return g
}

// ran adds a kernel without a launch, and returns it for changes.
func (g *gpu) ran(name string, stream int32, start, end int64) *trace.Activity {
	i := slices.Index(g.Names, name)
	if i < 0 {
		i = len(g.Names)
		g.Names = append(g.Names, name)
	}
	g.Activities = append(g.Activities, trace.Activity{Start: start, End: end, Launch: trace.NoTime,
		Bytes: trace.Unknown, Name: int32(i), Stream: stream, Call: trace.Unknown})
	return &g.Activities[len(g.Activities)-1]
}

// call adds a collective, and returns its index.
func (g *gpu) call(c trace.Call) int32 {
	c.Parts = max(1, c.Parts)
	g.Calls = append(g.Calls, c)
	return int32(len(g.Calls) - 1)
}

// filed is a file with devices.
func filed(path string, devices ...*gpu) *trace.File {
	f := &trace.File{Path: path, Format: trace.Kineto}
	for _, g := range devices {
		f.Devices = append(f.Devices, &g.Device)
	}
	return f
}

// built returns the timeline of files.
func built(o Options, files ...*trace.File) *Timeline {
	b := NewBuilder(o)
	for _, f := range files {
		b.join(reduce(f, b.options))
	}
	return b.Timeline()
}

func (g *gpu) analysed(o Options) Device { return built(o, filed("test.json", g)).Devices[0] }

// randomGPU has kernels, collectives and copies that nest, touch, repeat and are empty.
func randomGPU(r *rand.Rand, n int) *gpu {
	g := newGPU()
	line := int64(3*n + 10)
	for range 1 + r.IntN(n) {
		start := r.Int64N(line)
		a := g.ran([]string{allReduce, "copy", gemm, gemm}[r.IntN(4)], int32(r.IntN(3)), start,
			start+r.Int64N(1+r.Int64N(line-start+1)))
		if g.Names[a.Name] == "copy" {
			a.Kind = trace.MemcpyHostToDevice
		}
		if r.IntN(5) > 0 {
			a.Launch = start - r.Int64N(20) + 3 // sometimes after it ran, as with clocks that disagree
		}
		if r.IntN(6) == 0 {
			g.Activities = append(g.Activities, *a)
		}
	}
	return g
}

// job is a run with known results: ranks compute and end each collective together.
type job struct {
	ranks, steps int
	sizes        []int64                          // of the all-reduces of a step
	pure         int64                            // ns of each
	work         func(rank, step, call int) int64 // ns of computing before a call
	clock        int64                            // ns that each rank's times are later than the last's
	noSteps      bool
	numbered     bool // the file numbers calls
	origin       int64
}

const us, msec = int64(1000), int64(1000000)

// ranksOf returns the job as package trace reads it.
func (j job) ranksOf() []Device {
	devices, at := make([]Device, j.ranks), make([]int64, j.ranks)
	for r := range devices {
		d := &devices[r]
		d.Rank, d.World, d.Label, d.Kernels, d.origin = &r, j.ranks, fmt.Sprintf("rank %d", r), 1, j.origin
		d.Groups = []Group{{Name: "0", Size: j.ranks}}
		for _, s := range j.sizes {
			d.Collectives = append(d.Collectives, Collective{Name: "all_reduce", Group: "0", Bytes: &s, Type: "float32",
				Ranks: j.ranks})
		}
	}
	for s := range j.steps {
		for r := range devices {
			devices[r].Steps = append(devices[r].Steps, Step{Name: fmt.Sprintf("ProfilerStep#%d", s),
				Start: milliseconds(at[r] + int64(r)*j.clock)})
		}
		for c := range j.sizes {
			j.collective(devices, at, s, c)
		}
		for r := range devices {
			d, p := &devices[r], &devices[r].Steps[s].Parts
			p.Exposed, p.Span = p.Comm, p.Comm+p.Compute
			d.Compute, d.Comm, d.Exposed = d.Compute+p.Compute, d.Comm+p.Comm, d.Exposed+p.Comm
			d.Span, d.Busy = d.Span+p.Span, d.Busy+p.Compute
		}
	}
	for r := range devices {
		if j.noSteps {
			devices[r].Steps = nil
			for i := range devices[r].seen {
				devices[r].seen[i].step = -1
			}
		}
	}
	return devices
}

// collective lets ranks compute from their current times, then run a call of a step together.
func (j job) collective(devices []Device, at []int64, step, call int) {
	end := int64(0)
	for r := range devices {
		w := j.work(r, step, call)
		at[r] += w
		end = max(end, at[r]+j.pure)
		s := &devices[r].Steps[step]
		s.Compute, s.Busy = s.Compute+milliseconds(w), s.Busy+milliseconds(w)
	}
	for r := range devices {
		shift, d := int64(r)*j.clock, &devices[r]
		one := seen{start: at[r] + shift, end: end + shift, exposed: end - at[r], step: int32(step),
			collective: int32(call), seq: trace.Unknown}
		if j.numbered {
			one.seq = int64(step*len(j.sizes) + call)
		}
		if first := slices.Index(j.sizes, j.sizes[call]); first < call {
			one.collective = int32(first)
		}
		d.seen = append(d.seen, one)
		d.Steps[step].Comm += milliseconds(one.exposed)
		at[r] = end
	}
}

// compared returns the timeline of devices.
func compared(devices ...Device) *Timeline {
	t := &Timeline{Devices: devices}
	compareRanks(t)
	t.review()
	return t
}

func mib(n ...int64) []int64 {
	for i := range n {
		n[i] <<= 20
	}
	return n
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func isNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}
