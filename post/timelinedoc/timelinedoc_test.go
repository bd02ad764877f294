package timelinedoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/document"
	"busbar/internal/golden"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/post/timeline"
)

func pointer[T any](v T) *T { return &v }

// madeUpParts are the times of a made-up span.
func madeUpParts(compute, exposed, overlap, copies, idle float64) timeline.Parts {
	p := timeline.Parts{Span: compute + exposed + copies + idle, Compute: compute, Comm: exposed + overlap,
		Overlap: overlap, Exposed: exposed,
		Memcpy: copies * 1.5, MemcpyOnly: copies, Idle: idle, HostBound: idle * 0.75, Waiting: idle * 0.25}
	if p.Comm > 0 {
		p.Efficiency, p.WallClock = pointer(100*overlap/p.Comm),
			pointer(100*stats.WallClockOverlap(p.Compute, p.Comm, p.Span))
	}
	return p
}

// madeUpDevice is one rank of a run of data-parallel training, with figures that are made up.
func madeUpDevice(rank, world, steps int) timeline.Device {
	d := timeline.Device{Rank: pointer(rank), RankFrom: "distributedInfo", World: world, ID: rank % 8, GPU: "Made-up GPU",
		NCCL: "2.27.7", Label: fmt.Sprintf("rank %d", rank),
		Parts: madeUpParts(80+float64(rank), 25, 15, 0.5, 4), Busy: 90.25, Kernels: 12345}
	for i := range steps {
		late := float64(i%7) / 8
		d.Steps = append(d.Steps, timeline.Step{Name: fmt.Sprintf("ProfilerStep#%d", i+3), Start: float64(i) * 20, Host: 19.5,
			Parts: madeUpParts(14+late, 4, 3, 0.125, 1)})
	}
	d.Streams = []timeline.Stream{{ID: 7, Compute: 80, Memcpy: 0.75, Kernels: 12000},
		{ID: 20, Comm: 40, Exposed: 25, Kernels: 345}}
	d.Groups = []timeline.Group{{Name: "0", About: "default_pg", Size: world, Calls: 345, Comm: 40, Exposed: 25,
		Overlap: 15}}
	d.Collectives = []timeline.Collective{
		{Name: "all_reduce", Group: "0", Ranks: world, Bytes: pointer(int64(31498240)), Type: "float32", Calls: 15, Sum: 30.5,
			Median: 2, Least: 1.25, Exposed: 20, Busbw: pointer(23.624), BusbwMax: pointer(37.8)},
		{Name: "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Calls: 2, Sum: 0.031, Median: 0.0155,
			Least: 0.015, Exposed: 0.031},
	}
	d.Top = []timeline.Exposed{{Name: "all_reduce", Group: "0", Bytes: pointer(int64(31498240)), Step: "ProfilerStep#3",
		Stream: 20, Start: 17.5, Took: 3.5, Exposed: 3.25,
		After:  "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int, float)",
		Before: "sgd_momentum"}}
	d.Buckets = []timeline.Bucket{{Number: 1, Bytes: 8200000, Type: "float32", Group: "0", Steps: steps, Median: 0.5},
		{Number: 2, Bytes: 31498240, Type: "float32", Group: "0", Steps: steps, Median: 2, Exposed: 1.5}}
	return d
}

// madeUp is a timeline of a run with so many ranks and steps.
func madeUp(ranks, steps int) *timeline.Timeline {
	t := &timeline.Timeline{Tool: "post, busbar test"}
	for r := range ranks {
		d := madeUpDevice(r, max(2, ranks), steps)
		d.File = r
		t.Files = append(t.Files, timeline.File{Path: fmt.Sprintf("traces/rank%d.json.gz", r), Format: "kineto"})
		t.Devices = append(t.Devices, d)
	}
	t.Answers = []timeline.Answer{{Key: "overlap", Fact: notice.Overlap{Verdict: notice.PartlyOverlap, Percent: 37.5,
		Per: "step"}},
		{Key: "identify", Met: pointer(true), Fact: notice.Identified{Verdict: true, Calls: 347}}}
	t.Advice = []timeline.Advice{{Topic: "overlap", Gain: 1.5, Fact: notice.OneRankRead{}}}
	t.Notes = []timeline.Note{{Fact: notice.ActivitiesRepeated{Activities: 2}, File: 0}}
	if ranks < 2 {
		return t
	}
	a := &timeline.Across{Matched: 345, Alone: 1, How: notice.MatchedByAll{{How: notice.ByOrder, Calls: 4}}, Pure: 10,
		Waiting: 30,
		Straggler: &timeline.Straggler{Device: ranks - 1, Share: 97, Cost: 29,
			Found: notice.Straggler{Rank: fmt.Sprintf("rank %d", ranks-1), Last: 97, Of: 100, Waited: 0.029, Share: 0.29,
				Causes: notice.StragglerCauses{{Cause: notice.SlowCompute, Own: 0.103, Others: 0.1}}}}}
	for r := range ranks {
		a.Ranks = append(a.Ranks, timeline.RankShare{Device: r, Compute: 80 + float64(r), Kernels: 90, Pure: 10,
			Waiting: 30 - float64(r)/4, Last: r})
	}
	for _, step := range t.Devices[0].Steps {
		a.Imbalance = append(a.Imbalance, timeline.StepSpread{Name: step.Name, Least: 14, Most: 15, Slowest: ranks - 1,
			Spread: 3.4, Waiting: 2, Span: 20})
	}
	for _, c := range t.Devices[0].Collectives {
		a.Matches = append(a.Matches, timeline.Matched{Collective: c, Pure: c.Least, Waiting: c.Median - c.Least,
			PureBusbw: c.BusbwMax})
	}
	t.Across = a
	return t
}

// TestTimelineText: what the terminal shows is what stands in testdata (-update writes it anew).
func TestTimelineText(t *testing.T) {
	for name, made := range map[string]*timeline.Timeline{"one": madeUp(1, 5), "two": madeUp(2, 3),
		"many": madeUp(64, 100)} {
		var got bytes.Buffer
		if err := Of(made).Write(&got, document.Text); err != nil {
			t.Fatal(err)
		}
		golden.Text(t, filepath.Join("testdata", name+".txt"), got.String())
	}
}

// A terminal gets no line over 100 columns, and of many ranks and steps no more than one reads.
func TestTimelineFitsATerminal(t *testing.T) {
	for _, size := range []struct{ ranks, steps, lines int }{{1, 1, 70}, {1, 1000, 80}, {64, 100, 125}, {512, 2, 115}} {
		made := madeUp(size.ranks, size.steps)
		made.Devices[0].Parts = madeUpParts(123456.789, 98765.432, 34567.891, 4567.891, 654321.987)
		var b bytes.Buffer
		if err := Of(made).Write(&b, document.Text); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		if len(lines) > size.lines {
			t.Errorf("%d ranks, %d steps: %d lines", size.ranks, size.steps, len(lines))
		}
		for _, line := range lines {
			if n := len([]rune(line)); n > 100 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// What stands in a trace does not steer the terminal, nor is it Markdown.
func TestTimelineIsPrintable(t *testing.T) {
	evil := "\x1b[31m<script>|`\u202e\r\n| x |"
	made := madeUp(2, 2)
	made.Files[0].Cut, made.Files[0].Tool = evil, evil
	d := &made.Devices[0]
	d.Label, d.GPU, d.Host, d.NCCL = evil, evil, evil, evil
	d.Steps[0].Name, d.Groups[0].Name, d.Groups[0].About = evil, evil, evil
	d.Collectives[0].Name, d.Top[0].Name, d.Top[0].After, d.Top[0].Step = evil, evil, evil, evil
	d.Unknown = []timeline.Unclassified{{Name: evil, Calls: 1, Sum: 1, Share: 1, Word: evil}}
	d.Shared = []timeline.SharedStream{{ID: 7, Comm: 1, OfComm: 100}}
	d.Notes = []timeline.Note{{Fact: notice.NCCLCallsMissing{Command: evil}}}
	made.Across.Straggler.Found.Rank, made.Across.Imbalance[0].Name = evil, evil
	made.Across.Matches[0].Name, made.Across.Matches[0].Type = evil, evil
	made.Advice[0].Fact, made.Answers[0].Fact = notice.LongCall{Rank: evil, Time: 60}, notice.NsightWarning{Text: evil}
	for name, devices := range map[string][]timeline.Device{"one": made.Devices[:1], "two": made.Devices} {
		made.Devices = devices
		var text, md bytes.Buffer
		if err := Of(made).Write(&text, document.Text); err != nil {
			t.Fatal(err)
		}
		if err := Of(made).Write(&md, document.Markdown); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(text.String()+md.String(), "\x1b\r\u202e") {
			t.Errorf("%s: control codes come through", name)
		}
		if strings.Contains(strings.ReplaceAll(md.String(), `\<`, ""), "<script>") {
			t.Errorf("%s: a name is HTML in Markdown", name)
		}
		for _, line := range strings.Split(md.String(), "\n") {
			if strings.HasPrefix(line, "| x") {
				t.Errorf("%s: a name breaks a table: %s", name, line)
			}
		}
	}
}

// Where there is no communication, it is not said to be hidden by 0 %.
func TestTimelineWithoutCommunication(t *testing.T) {
	made := &timeline.Timeline{Files: []timeline.File{{Path: "a.json", Format: "kineto"}},
		Devices: []timeline.Device{{Label: "device 0", Kernels: 3, Parts: madeUpParts(10, 0, 0, 1, 2)}}}
	var b bytes.Buffer
	if err := Of(made).Write(&b, document.Text); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, "No communication ran") ||
		!strings.Contains(text, "device 0 13.000 10.000 0.000 0.000 0.000 1.000 2.000 - - compute") {
		t.Errorf("it says\n%s", text)
	}
}

// What computes needs no matching to be compared, and what its figures are of is said.
func TestTimelineOfRanksWithoutMatches(t *testing.T) {
	for _, c := range []struct {
		steps, matched int
		want, not      []string
	}{
		{0, 0, []string{"No collective was matched over ranks", "rank 1 81.000 90.250 Computation",
			"Computation of a step over ranks:", "compute and kernels are of whole recordings."},
			[]string{"last to begin", "nothing"}},
		{1, 345, []string{"345 collectives were found", "last to begin",
			"compute and kernels are of 1 step that all ranks have whole."}, []string{"No collective was matched"}},
	} {
		made := madeUp(2, 3)
		made.Across.Steps, made.Across.Matched, made.Across.Straggler = c.steps, c.matched, nil
		made.Across.Ranks = []timeline.RankShare{{Device: 0, Compute: 80, Kernels: 90.25},
			{Device: 1, Compute: 81, Kernels: 90.25}}
		var b bytes.Buffer
		if err := Of(made).Write(&b, document.Text); err != nil {
			t.Fatal(err)
		}
		unwrapped := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range c.want {
			if !strings.Contains(unwrapped, want) {
				t.Errorf("%d matched: no %q in\n%s", c.matched, want, &b)
			}
		}
		_, ranks, _ := strings.Cut(b.String(), "Across ranks:")
		for _, not := range c.not {
			if strings.Contains(ranks, not) {
				t.Errorf("%d matched: %q in\n%s", c.matched, not, ranks)
			}
		}
	}
}

// A trace in which no GPU did anything is said to be one.
func TestTimelineOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := Of(&timeline.Timeline{Files: []timeline.File{{Path: "a.json", Format: "kineto"}}}).Write(&b,
		document.Text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Nothing ran on a GPU") {
		t.Errorf("it says\n%s", &b)
	}
}

// The JSON has every list, and of devices the names that others read.
func TestTimelineJSON(t *testing.T) {
	var b bytes.Buffer
	if err := Of(
		&timeline.Timeline{Devices: []timeline.Device{{Rank: pointer(3), ID: 1, Parts: madeUpParts(10, 2, 1, 1, 2)}}},
	).Write(&b, document.JSON); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Devices []map[string]any
		Notes   []any
		Scaling []any
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"rank": 3.0, "device": 1.0, "span_ms": 15.0, "compute_ms": 10.0, "comm_ms": 3.0,
		"overlap_ms": 1.0, "exposed_ms": 2.0, "memcpy_only_ms": 1.0, "idle_ms": 2.0} {
		if got.Devices[0][key] != want {
			t.Errorf("%s is %v, want %v", key, got.Devices[0][key], want)
		}
	}
	if got.Notes == nil || got.Scaling == nil || got.Devices[0]["steps"] == nil {
		t.Errorf("a list is missing: %s", &b)
	}
}
