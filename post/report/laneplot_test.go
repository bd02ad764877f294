package report

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/post/timeline"
	"busbar/post/trace"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// manyGPUs is a training of so many ranks and steps, each with ten kernels and ten all-reduces. Rank 5 computes longer,
// so that the others wait.
func manyGPUs(t *testing.T, ranks, steps int) *timeline.Timeline {
	t.Helper()
	b := timeline.NewBuilder(timeline.Options{Tool: "post, test"})
	all := make([]int, ranks)
	for r := range all {
		all[r] = r
	}
	for r := range ranks {
		d := &trace.Device{
			Rank: r, World: ranks, Host: fmt.Sprintf("node%d", r/8), Process: int64(100 + r), ID: r % 8,
			Origin: trace.Unknown,
			Names:  []string{"gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
			Groups: []trace.Group{{Name: "0", Ranks: all, Size: ranks, Rank: r}},
		}
		ran := func(name, stream int32, start, end int64, call int) {
			d.Activities = append(d.Activities, trace.Activity{
				Start: start, End: end, Launch: start - 2000, Bytes: trace.Unknown, Name: name, Stream: stream,
				Call: int32(call), Kind: trace.Kernel,
			})
		}
		for n := range 10 * steps {
			begin, computing := int64(n)*1_000_000, int64(500_000)
			if n%10 == 0 {
				step := trace.Span{Start: begin, End: begin + 9_900_000}
				d.Ranges = append(d.Ranges, trace.Range{Span: step, Name: fmt.Sprintf("ProfilerStep#%d", n/10)})
			}
			if r == 5 {
				computing += 100_000
			}
			ran(0, 7, begin, begin+computing, trace.Unknown)
			d.Calls = append(d.Calls, trace.Call{
				Name: "allreduce", What: coll.AllReduce, Bytes: 25 << 20, Type: "float32", Seq: int64(n),
				Peer: trace.Unknown, Parts: 1,
			})
			ran(1, 20, begin+computing-20_000, begin+800_000, n)
		}
		f := &trace.File{Path: fmt.Sprintf("rank%d.json", r), Format: trace.Kineto, Devices: []*trace.Device{d}}
		b.Add(f)
	}
	return b.Timeline()
}

func TestLanePlotOf64GPUs(t *testing.T) {
	found := manyGPUs(t, 64, 100)
	r := OfTimeline(found, timelineOptions)
	p := r.timeline.plot
	must.EqOp(t, maxLaneRows, len(p.Rows))
	if found.Across == nil || found.Across.Straggler == nil || found.Across.Straggler.Device != 5 {
		t.Fatalf("the fixture has no straggler: %+v", found.Across)
	}
	boxes := 0
	for i, row := range p.Rows {
		if i > 0 && row.device <= p.Rows[i-1].device {
			t.Errorf("row %d is of device %d, after %d", i, row.device, p.Rows[i-1].device)
		}
		boxes += len(row.Calls)
		if s := row.Strips[0]; math.Abs(float64(s.Span-row.Span)) > 0.001*float64(row.Span) {
			t.Errorf("%s: the first strip is %v ms of %v", row.Label, s.Span, row.Span)
		}
	}
	test.EqOp(t, "straggler", p.Rows[5].Why)
	if boxes > maxCalls || boxes < maxCalls/2 || len(p.Sights) != maxSights || p.Sights[0].To <= p.Sights[0].From {
		t.Errorf("%d boxes, sights %+v", boxes, p.Sights)
	}
	left := []notice.ReportLeftOut{
		{Shown: boxes, Of: boxes + 4000, What: notice.LeftBoxes}, {Shown: 16, Of: 64, What: notice.LeftRows},
	}
	test.SliceEqOp(t, left, p.LeftOut)
	var page bytes.Buffer
	if err := r.WritePage(&page); err != nil || page.Len() > 2_000_000 || page.Len() < 300_000 {
		t.Errorf("the page has %d bytes, %v", page.Len(), err)
	}
}

// A GPU without work is neither the minimum of exposed communication nor the most idle GPU.
func TestDeviceThatOnlyCopiesHasNoRow(t *testing.T) {
	tl := sampleTimeline()
	parts := timeline.Parts{Span: 500, Memcpy: 1, MemcpyOnly: 1, Idle: 499}
	tl.Devices = append(tl.Devices, timeline.Device{ID: 9, Label: "GPU 9", Parts: parts})
	test.SliceEqOp(t, []int{0, 1, 2, 3}, rowsOf(tl, worstSteps(tl)))
	test.EqOp(t, "Timeline of 4 GPUs, Example H1", titleOf(tl))
}

func TestAlignment(t *testing.T) {
	tl := sampleTimeline()
	shifts := func() (all []millis) {
		for _, r := range lanePlotOf(tl).Rows {
			all = append(all, r.Shift)
		}
		return all
	}
	test.SliceEqOp(t, []millis{0, 1, 2, 3}, shifts())
	for i := range tl.Across.Ranks {
		tl.Across.Ranks[i].Offset = nil
	}
	test.SliceEqOp(t, []millis{0, 0, 0, 0}, shifts())
}

// drawn is a report with a timeline in whose steps each GPU computes, communicates hidden and then exposed, copies, and
// idles.
func drawn(r *Report, t *timeline.Timeline) *Report {
	r.addTimeline(t, timelineOptions)
	p := &r.timeline.plot
	p.Names = []string{"all_reduce 25 MiB", "all_reduce 7.82 MiB"}
	const cells = 100
	for i := range p.Rows {
		row := &p.Rows[i]
		states := "C28Ik"
		if len(row.Steps) > 0 {
			states = "CaOuCaXuIaMa"
		}
		row.Strips, row.Calls = []laneStrip{{Span: row.Span, Cells: cells, Runs: states}}, nil
		for _, s := range row.Steps {
			row.Strips = append(row.Strips, laneStrip{Start: s.Start, Span: s.Span, Cells: cells, Runs: states})
			at := func(share float64) millis { return s.Start + millis(share)*s.Span }
			row.Calls = append(row.Calls, laneCall{at(0.1), s.Span / 3, 0, 0, 20})
			for part := range 3 { // three that overlap
				took := s.Span * millis(0.3-0.08*float64(part))
				row.Calls = append(row.Calls, laneCall{at(0.8) - took, took, took, 1, 20 + millis(part)})
			}
		}
	}
	return r
}
