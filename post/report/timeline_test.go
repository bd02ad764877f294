package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"busbar/internal/notice/profiles"
	"busbar/post/timeline"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// sampleTimeline is four GPUs with three steps, of which one is the straggler.
func sampleTimeline() *timeline.Timeline {
	t := &timeline.Timeline{Tool: "post, test", Across: &timeline.Across{
		Matched: 12, How: profiles.MatchedByAll{{How: profiles.ByNumber, Calls: 12}}, Pure: 13.2, Waiting: 8,
		Straggler: &timeline.Straggler{
			Device: 3, Share: 75, Cost: 9,
			Found: profiles.Straggler{Rank: "rank 3", Last: 9, Of: 12, Waited: 0.009, Share: 0.1},
		},
	}}
	for rank := range 4 {
		t.Files = append(t.Files, timeline.File{Path: fmt.Sprintf("traces/rank %d.json.gz", rank), Format: "kineto"})
		compute, exposed := 60+5*float64(rank), 30-5*float64(rank)
		d := timeline.Device{
			Rank: new(rank), World: 4, ID: rank, Host: fmt.Sprintf("node%d", 1+rank/2), GPU: "Example H1", File: rank,
			Kernels: 412, Label: fmt.Sprintf("rank %d", rank), Parts: timeline.Parts{
				Span: 100, Compute: compute, Comm: exposed + 5, Overlap: 5, Exposed: exposed,
				Idle: 100 - compute - exposed,
			},
		}
		for n := range 3 {
			d.Steps = append(d.Steps, timeline.Step{
				Name: fmt.Sprintf("ProfilerStep#%d", n+1), Start: 33 * float64(n),
				Parts: timeline.Parts{Span: 33 + float64(rank)/10, Exposed: exposed/3 + float64(n)},
			})
		}
		bytes := int64(25 << 20)
		d.Top = []timeline.Exposed{
			{Name: "all_reduce", Bytes: &bytes, Start: 90, Took: 4, Exposed: 3.5 + float64(rank)},
		}
		t.Devices = append(t.Devices, d)
		t.Across.Ranks = append(t.Across.Ranks, timeline.RankShare{
			Device: rank, Compute: compute, Pure: 13.2, Waiting: 12 - 4*float64(rank), Offset: new(float64(rank) - 1),
		})
	}
	return t
}

var timelineOptions = Options{Tool: "post, test", Made: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), Dir: "out"}

// TestTimelineReport: both forms have what post timeline prints, what to look at first, and the links to the files.
func TestTimelineReport(t *testing.T) {
	r := OfTimeline(sampleTimeline(), timelineOptions)
	var page bytes.Buffer
	must.NoError(t, r.WritePage(&page))
	for name, form := range map[string]string{"page": page.String(), "text": markdownOf(t, r)} {
		for _, want := range []string{
			"Timeline of 4 GPUs, Example H1", "4 GPUs in 4 files, 3 steps.",
			"7.000 of 33.300 ms exposed, rank 3", "100.000",
			"traces/rank%203.json.gz",
		} {
			test.StrContains(t, form, want, test.Sprint(name))
		}
		for _, never := range []string{"Planned and measured", "Findings", "Data quality", "0 runs", "NaN"} {
			if strings.Contains(form, ">"+never) || strings.Contains(form, "\n## "+never) {
				t.Errorf("the %s of timelines alone has %q", name, never)
			}
		}
	}
}
