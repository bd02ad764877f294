package report

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/post/timeline"
	"busbar/post/trace"
)

// manyGPUs is a training of so many ranks and steps, each with twenty kernels, a copy and ten all-reduces. Rank 5 computes longer, so that the others wait.
func manyGPUs(t *testing.T, ranks, steps int) *timeline.Timeline {
	t.Helper()
	b := timeline.NewBuilder(timeline.Options{Tool: "post, test"})
	all := make([]int, ranks)
	for r := range all {
		all[r] = r
	}
	for r := range ranks {
		d := &trace.Device{Rank: r, World: ranks, Host: fmt.Sprintf("node%d", r/8), Process: int64(100 + r), ID: r % 8, GPU: "Example H1", Origin: trace.Unknown,
			Names: []string{"gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "Memcpy HtoD"}, Groups: []trace.Group{{Name: "0", Ranks: all, Size: ranks, Rank: r}}}
		random := rand.New(rand.NewPCG(uint64(r), 1))
		ran := func(name, stream int32, start, end int64, kind trace.Kind, call int32) {
			d.Activities = append(d.Activities, trace.Activity{Start: start, End: end, Launch: start - 2000, Bytes: trace.Unknown, Name: name, Stream: stream, Call: call, Kind: kind})
		}
		for s := range steps {
			begin := int64(s) * 10_000_000
			d.Ranges = append(d.Ranges, trace.Range{Span: trace.Span{Start: begin, End: begin + 9_900_000}, Name: fmt.Sprintf("ProfilerStep#%d", s)})
			at := begin + 10_000
			ran(2, 7, at, at+50_000, trace.MemcpyHostToDevice, trace.Unknown)
			for k := range 20 {
				at += 60_000 + random.Int64N(20_000)
				long := int64(200_000)
				if r == 5 {
					long = 260_000
				}
				ran(0, 7, at, at+long, trace.Kernel, trace.Unknown)
				at += long
				if k%2 == 1 {
					d.Calls = append(d.Calls, trace.Call{Name: "allreduce", What: coll.AllReduce, Bytes: 25 << 20, Type: "float32", Group: 0, Seq: int64(10*s + k/2), Peer: trace.Unknown, Parts: 1})
					ran(1, 20, at-20_000, begin+700_000*int64(1+k/2), trace.Kernel, int32(len(d.Calls)-1))
				}
			}
		}
		b.Add(&trace.File{Path: fmt.Sprintf("rank%d.json", r), Format: trace.Kineto, Devices: []*trace.Device{d}})
	}
	return b.Timeline()
}

// TestManyGPUs: the page of 64 GPUs and 100 steps is small enough to be mailed, and says what it leaves out.
func TestManyGPUs(t *testing.T) {
	found := manyGPUs(t, 64, 100)
	r := OfTimeline(found, timelineOptions)
	p := r.Timeline.Picture
	if len(p.Rows) != mostRows {
		t.Fatalf("%d rows", len(p.Rows))
	}
	if found.Across == nil || found.Across.Straggler == nil || found.Across.Straggler.Device != 5 {
		t.Fatalf("the fixture has no straggler: %+v", found.Across)
	}
	why, boxes, runs := "", 0, 0
	for i, row := range p.Rows {
		if i > 0 && row.Device <= p.Rows[i-1].Device {
			t.Errorf("row %d is of device %d, after %d", i, row.Device, p.Rows[i-1].Device)
		}
		why += row.Why + "\n"
		boxes += len(row.Calls)
		if s := row.Strips[0]; math.Abs(float64(s.Span-row.Span)) > 0.001*float64(row.Span) {
			t.Errorf("%s: the first strip is %v ms of %v", row.Label, s.Span, row.Span)
		}
		for _, s := range row.Strips {
			runs += strings.Count(s.Runs, "C") + strings.Count(s.Runs, "X") + strings.Count(s.Runs, "O") + strings.Count(s.Runs, "I") + strings.Count(s.Runs, "M")
		}
		for _, sight := range p.Sights {
			in := 0
			for _, c := range row.Calls {
				if at := c[0] + row.Shift; at >= sight.From && at < sight.To {
					in++
				}
			}
			if in < 10 {
				t.Errorf("%s has %d boxes in %s", row.Label, in, sight.Label)
			}
		}
	}
	if !strings.Contains(why, "others wait for it") || !strings.Contains(why, "most exposed") {
		t.Errorf("the rows are there because %q", why)
	}
	if boxes > mostBoxes || boxes < mostBoxes/2 || runs > mostRuns*11/10 || len(p.Sights) != mostSights || p.Sights[0].To <= p.Sights[0].From {
		t.Errorf("%d boxes, %d runs, sights %+v", boxes, runs, p.Sights)
	}
	left := []notice.ReportLeftOut{
		{Shown: boxes, Of: boxes + 4000, What: notice.LeftBoxes}, {Shown: 16, Of: 64, What: notice.LeftRows},
	}
	if !slices.Equal(p.LeftOut, left) {
		t.Errorf("left out: %+v, want %+v", p.LeftOut, left)
	}
	var page, text bytes.Buffer
	if err := r.WritePage(&page); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteMarkdown(&text); err != nil {
		t.Fatal(err)
	}
	t.Logf("the page has %d bytes, the text %d, with %d boxes and %d runs", page.Len(), text.Len(), boxes, runs)
	if page.Len() > 2_000_000 || page.Len() < 400_000 || text.Len() > 200_000 {
		t.Errorf("the page has %d bytes, the text %d", page.Len(), text.Len())
	}
	if !strings.Contains(text.String(), "more rows, in post timeline") || !strings.Contains(page.String(), "6100 more rows, in post timeline") {
		t.Error("tables do not say what did not fit")
	}
}

// TestHalved: coarser cells keep the share of every state, and one exposed cell that stands alone.
func TestHalved(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := timeline.Strip{Span: 100, Cells: 0}
		share := map[timeline.State]float64{}
		for range 1 + random.IntN(300) {
			r := timeline.Run{Cells: uint16(1 + random.IntN(3)), State: timeline.State(random.IntN(5))}
			s.Runs = append(s.Runs, r)
			s.Cells += int(r.Cells)
			share[r.State] += float64(r.Cells)
		}
		half := halved(s)
		cells, got := 0, map[timeline.State]float64{}
		for i, r := range half.Runs {
			cells += int(r.Cells)
			got[r.State] += float64(r.Cells)
			if i > 0 && half.Runs[i-1].State == r.State {
				t.Fatal("two runs of one state stand beside each other")
			}
		}
		if cells != half.Cells || half.Cells != (s.Cells+1)/2 {
			t.Fatalf("%d cells of %d, from %d", cells, half.Cells, s.Cells)
		}
		if x := math.Abs(2*got[timeline.ExposedComm] - share[timeline.ExposedComm]); x > 2 {
			t.Fatalf("%v cells of %v are exposed", got[timeline.ExposedComm], share[timeline.ExposedComm])
		}
		if math.Abs(half.Span/float64(half.Cells)-2*s.Span/float64(s.Cells)) > 1e-9 {
			t.Fatal("cells are not twice as long")
		}
	}
	alone := halved(timeline.Strip{Span: 8, Cells: 8, Runs: []timeline.Run{{Cells: 3, State: timeline.Computing}, {Cells: 1, State: timeline.ExposedComm}, {Cells: 4, State: timeline.Idle}}})
	if made, _ := stripOf(alone, 100); made.Runs != "C1X1I2" {
		t.Errorf("a call that stands alone: %s", made.Runs)
	}
}
