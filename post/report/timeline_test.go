package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"busbar/internal/notice"
	"busbar/post/timeline"
)

func a[T any](v T) *T { return &v }

// sampleTimeline is four GPUs with three steps, of which one is the straggler.
func sampleTimeline() *timeline.Timeline {
	t := &timeline.Timeline{Tool: "post, test"}
	for rank := range 4 {
		t.Files = append(t.Files, timeline.File{Path: fmt.Sprintf("traces/rank %d.json.gz", rank), Format: "kineto", Tool: "PyTorch 2.9"})
		compute, exposed := 60+5*float64(rank), 30-5*float64(rank)
		d := timeline.Device{Rank: a(rank), World: 4, ID: rank, Host: fmt.Sprintf("node%d", 1+rank/2), GPU: "Example H1", File: rank, Kernels: 412, Label: fmt.Sprintf("rank %d", rank)}
		d.Parts = timeline.Parts{Span: 100, Compute: compute, Comm: exposed + 5, Overlap: 5, Exposed: exposed, Memcpy: 2, MemcpyOnly: 1, Idle: 100 - compute - exposed - 1, HostBound: 4, Waiting: 5, Efficiency: a(100 * 5 / (exposed + 5)), WallClock: a(-10.5)}
		for n := range 3 {
			d.Steps = append(d.Steps, timeline.Step{Name: fmt.Sprintf("ProfilerStep#%d", n+1), Start: 33 * float64(n), Host: 31, Parts: timeline.Parts{Span: 33 + float64(rank)/10, Compute: compute / 3, Comm: exposed/3 + float64(n), Exposed: exposed/3 + float64(n)}})
		}
		bytes := int64(25 << 20)
		d.Collectives = []timeline.Collective{{Name: "all_reduce", Group: "default_pg", Ranks: 4, Bytes: &bytes, Type: "float32", Calls: 12, Sum: 20, Median: 1.5, Least: 1.2, Exposed: exposed, Busbw: a(80.25), BusbwMax: a(100.5)}}
		d.Top = []timeline.Exposed{{Name: "all_reduce", Group: "default_pg", Bytes: &bytes, Step: "ProfilerStep#3", Stream: 20, Start: 90, Took: 4, Exposed: 3.5 + float64(rank), After: "gemm", Before: "adam"}}
		d.Buckets = []timeline.Bucket{{Number: 1, Bytes: 26_251_392, Type: "float32", Group: "default_pg", Steps: 3, Median: 1.5, Exposed: 0.25}}
		d.Streams = []timeline.Stream{{ID: 7, Compute: compute, Kernels: 400}, {ID: 20, Comm: exposed + 5, Exposed: exposed, Kernels: 12}}
		d.Groups = []timeline.Group{{Name: "default_pg", Size: 4, Calls: 12, Comm: exposed + 5, Exposed: exposed, Overlap: 5}}
		d.Shared = []timeline.SharedStream{{ID: 7, Comm: 3, OfComm: 12.5}}
		d.Unknown = []timeline.Unclassified{{Name: "cross_device_reduce", Calls: 3, Sum: 1.5, Share: 0.5, Word: "device"}}
		d.Notes = []timeline.Note{{Fact: notice.NsightWarning{Text: "the file has no sizes", Lost: true}, File: rank}}
		t.Devices = append(t.Devices, d)
	}
	c := timeline.Matched{Collective: t.Devices[0].Collectives[0], Pure: 1.1, Waiting: 0.4, PureBusbw: a(107.25)}
	t.Across = &timeline.Across{Matched: 12, Alone: 1, How: notice.MatchedByAll{{How: notice.ByNumber, Calls: 12}}, Pure: 13.2, Waiting: 8, Matches: []timeline.Matched{c},
		Straggler: &timeline.Straggler{Device: 3, Share: 75, Cost: 9, Found: notice.Straggler{Rank: "rank 3", Last: 9, Of: 12, Waited: 0.009, Share: 0.1, Causes: notice.StragglerCauses{{Cause: notice.SlowCompute, Own: 0.084, Others: 0.075}}}}}
	for rank := range 4 {
		t.Across.Ranks = append(t.Across.Ranks, timeline.RankShare{Device: rank, Compute: 60 + 5*float64(rank), Kernels: 62, Pure: 13.2, Waiting: 12 - 4*float64(rank), Last: 3 * rank, Offset: a(float64(rank) - 1)})
	}
	for n := range 3 {
		t.Across.Imbalance = append(t.Across.Imbalance, timeline.StepSpread{Name: fmt.Sprintf("ProfilerStep#%d", n+1), Least: 20, Most: 25, Slowest: 3, Spread: 11.5 + float64(n), Waiting: 2.5, Span: 33.3})
	}
	t.Answers = []timeline.Answer{
		{Key: "overlap", Fact: notice.Overlap{Verdict: notice.PartlyOverlap, Percent: 16.7, Per: "step"}},
		{Key: "balance", Fact: notice.Balance{Verdict: true, Most: 0.0333, Devices: notice.Devices{N: 4, Unit: "GPU"}}},
		{Key: "how-long", Fact: notice.ComputationAlone{Compute: 0.0333, Per: "step"}},
	}
	t.Advice = []timeline.Advice{{Topic: "overlap", Gain: 10, Fact: notice.HostBoundStep{Idle: 0.03, Span: 0.1, Per: "step"}}}
	t.Against = []timeline.Joined{{Name: "all_reduce", Bytes: 25 << 20, Type: "float32", Ranks: 4, Busbw: 107.25, Reached: 175.8, Percent: 61, Run: "run-1", Who: "nccl", Found: notice.AgainstBenchmark{Collective: "all_reduce", Percent: 61, Run: "run-1"}}}
	t.Scaling = []timeline.Efficiency{{Kind: "strong", Ranks: 4, Than: 1, Step: 33.3, ThanStep: 110, Percent: 82.6, Found: notice.ScalingEfficiency{Kind: "strong", From: 1, To: 4, Percent: 82.6}}}
	t.Notes = []timeline.Note{{Fact: notice.CallsUnmatched{Calls: 3}, File: -1}}
	return t
}

var timelineOptions = Options{Tool: "post, test", Made: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), Dir: "out"}

// TestTimelineInWords: both forms have what was found, the rank that others wait for, and the links to the files.
func TestTimelineInWords(t *testing.T) {
	r := OfTimeline(sampleTimeline(), timelineOptions)
	var page, text bytes.Buffer
	if err := r.WritePage(&page); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteMarkdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Timeline of 4 GPUs, Example H1", "A step takes", "of 4 GPUs, with minimum and maximum", "To try first: keep the GPU supplied with work",
		"4 GPUs in 4 files, 3 steps.", "Does communication overlap with computation?", "Keep the GPU supplied with work.", "at most 10.000 ms per step", "Rank 3 is a straggler", "it computes longer: 84.00 ms, other ranks 75.00 ms",
		"100.000", "-10.50 %", "35.000", "by the wall clock", "107.2", "61.00 %", "25.04 MiB", "cross_device_reduce", "stream 7 of rank 0 with 12 % of its communication", "Nsight Systems reports: the file has no sizes.", "4 of these", "--sample=none",
		"None of 3 calls of communication could be matched across ranks.", "is 83 %", "13.50 %", "traces/rank%203.json.gz", "12 collectives matched",
	} {
		for name, form := range map[string]string{"page": page.String(), "text": text.String()} {
			if !strings.Contains(form, want) && !strings.Contains(form, strings.NewReplacer("_", `\_`, "#", `\#`).Replace(want)) {
				t.Errorf("the %s has no %q", name, want)
			}
		}
	}
	for name, form := range map[string]string{"page": page.String(), "text": text.String()} {
		for _, never := range []string{"Plan and done", "Findings", "Data quality", "was planned", "0 runs", "NaN"} {
			if strings.Contains(form, ">"+never) || strings.Contains(form, "\n## "+never) || strings.Contains(form, "NaN</") {
				t.Errorf("the %s of timelines alone speaks of %q", name, never)
			}
		}
	}
}

// A GPU that was only touched is neither the least exposed nor the most idle of those that work.
func TestADeviceThatOnlyCopiedHasNoRow(t *testing.T) {
	tl := sampleTimeline()
	tl.Devices = append(tl.Devices, timeline.Device{ID: 9, Label: "GPU 9", Parts: timeline.Parts{Span: 500, Memcpy: 1, MemcpyOnly: 1, Idle: 499}})
	rows := rowsOf(tl, worstSteps(tl))
	if len(rows) != 4 {
		t.Errorf("%d rows, want those of 4 GPUs", len(rows))
	}
	for _, r := range rows {
		if r.device == 4 {
			t.Errorf("it has a row: %q", r.why)
		}
	}
	if title := titleOf(tl); title != "Timeline of 4 GPUs, Example H1" {
		t.Errorf("title is %q", title)
	}
}
