package timelinedoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"busbar/internal/document"
	"busbar/internal/golden"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/stats"
	"busbar/post/timeline"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
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
	d := timeline.Device{Rank: pointer(rank), World: world, ID: rank % 8, GPU: "Made-up GPU",
		NCCL: "2.27.7", Label: fmt.Sprintf("rank %d", rank),
		Parts: madeUpParts(80+float64(rank), 25, 15, 0.5, 4), Kernels: 12345}
	d.Busy = 90.25
	for i := range steps {
		late := float64(i%7) / 8
		d.Steps = append(
			d.Steps,
			timeline.Step{Name: fmt.Sprintf("ProfilerStep#%d", i+3), Start: float64(i) * 20, Host: 19.5,
				Parts: madeUpParts(14+late, 4, 3, 0.125, 1)},
		)
	}
	d.Streams = []timeline.Stream{{ID: 7, Compute: 80, Memcpy: 0.75, Kernels: 12000},
		{ID: 20, Comm: 40, Exposed: 25, Kernels: 345}}
	d.Groups = []timeline.Group{{Name: "0", About: "default_pg", Size: world, Calls: 345, Comm: 40}}
	d.Collectives = []timeline.Collective{
		{
			Name:     "all_reduce",
			Group:    "0",
			Ranks:    world,
			Bytes:    pointer(int64(31498240)),
			Type:     "float32",
			Calls:    15,
			Sum:      30.5,
			Median:   2,
			Min:      1.25,
			Exposed:  20,
			Busbw:    pointer(23.624),
			BusbwMax: pointer(37.8),
		},
		{
			Name:    "ncclDevKernel_Broadcast_RING_LL",
			Calls:   2,
			Sum:     0.031,
			Median:  0.0155,
			Min:     0.015,
			Exposed: 0.031,
		},
	}
	d.Top = []timeline.Exposed{{Name: "all_reduce", Group: "0", Bytes: pointer(int64(31498240)), Step: "ProfilerStep#3",
		Stream: 20, Start: 17.5, Took: 3.5, Exposed: 3.25}}
	d.Buckets = []timeline.Bucket{{Number: 1, Bytes: 8200000, Type: "float32", Group: "0", Steps: steps, Median: 0.5},
		{Number: 2, Bytes: 31498240, Type: "float32", Group: "0", Steps: steps, Median: 2, Exposed: 1.5}}
	return d
}

// madeUp is a timeline with given numbers of ranks and steps.
func madeUp(ranks, steps int) *timeline.Timeline {
	t := &timeline.Timeline{Tool: "post, busbar test"}
	for r := range ranks {
		d := madeUpDevice(r, max(2, ranks), steps)
		d.File = r
		t.Files = append(t.Files, timeline.File{Path: fmt.Sprintf("traces/rank%d.json.gz", r), Format: "kineto"})
		t.Devices = append(t.Devices, d)
	}
	none := profiles.NoSteps{}
	t.Advice = []timeline.Advice{{Text: notice.ToDo(none), Gain: 1.5, Found: notice.New(none)}}
	t.Notes = []notice.Notice{notice.InFile(t.Files[0].Path, 0, profiles.EmptyGraphs{Launches: 2})}
	if ranks < 2 {
		return t
	}
	a := &timeline.Across{
		Matched: 345,
		Alone:   1,
		How:     profiles.MatchedByAll{{How: profiles.ByStep, Calls: 4}},
		Pure:    10,
		Waiting: 30,
		Straggler: &timeline.Straggler{Device: ranks - 1, Share: 97, Cost: 29,
			Found: profiles.Straggler{
				Rank:   fmt.Sprintf("rank %d", ranks-1),
				Last:   97,
				Of:     100,
				Waited: 0.029,
				Share:  0.29,
				Causes: profiles.StragglerCauses{{Cause: profiles.SlowCompute, Own: 0.103, Others: 0.1}},
			}},
	}
	for r := range ranks {
		a.Ranks = append(a.Ranks, timeline.RankShare{Device: r, Compute: 80 + float64(r), Kernels: 90, Pure: 10,
			Waiting: 30 - float64(r)/4, Last: r})
	}
	for _, step := range t.Devices[0].Steps {
		a.Imbalance = append(a.Imbalance, timeline.StepSpread{Name: step.Name, Min: 14, Max: 15, Slowest: ranks - 1,
			Spread: 3.4, Waiting: 2, Span: 20})
	}
	for _, c := range t.Devices[0].Collectives {
		a.Matches = append(a.Matches, timeline.Matched{Collective: c, Pure: c.Min, Waiting: c.Median - c.Min,
			PureBusbw: c.BusbwMax})
	}
	t.Across = a
	return t
}

// -update writes testdata anew.
func TestTimelineText(t *testing.T) {
	unmatched := madeUp(2, 1)
	unmatched.Across.Matched, unmatched.Across.Straggler, unmatched.Across.Matches = 0, nil, nil
	nothing := &timeline.Timeline{Files: []timeline.File{{Path: "a.json", Format: "kineto"}}}
	silent := &timeline.Timeline{Files: nothing.Files, Devices: []timeline.Device{{Label: "device 0", Kernels: 3,
		Parts: madeUpParts(10, 0, 0, 1, 2)}}}
	for name, made := range map[string]*timeline.Timeline{"one": madeUp(1, 5), "two": madeUp(2, 3),
		"many": madeUp(64, 100), "unmatched": unmatched, "no-communication": silent, "nothing": nothing} {
		var got bytes.Buffer
		must.NoError(t, Of(made).Write(&got, document.Text))
		golden.Text(t, filepath.Join("testdata", name+".txt"), got.String())
	}
}

// The JSON has every list, and of devices the names that others read.
func TestTimelineJSON(t *testing.T) {
	var b bytes.Buffer
	must.NoError(t, Of(
		&timeline.Timeline{Devices: []timeline.Device{{Rank: pointer(3), ID: 1, Parts: madeUpParts(10, 2, 1, 1, 2)}}},
	).Write(&b, document.JSON))
	var got struct {
		Devices []map[string]any
		Notes   []any
		Scaling []any
	}
	must.NoError(t, json.Unmarshal(b.Bytes(), &got))
	for key, want := range map[string]any{"rank": 3.0, "device": 1.0, "span_ms": 15.0, "compute_ms": 10.0,
		"comm_ms":    3.0,
		"overlap_ms": 1.0, "exposed_ms": 2.0, "memcpy_only_ms": 1.0, "idle_ms": 2.0} {
		test.EqOp(t, want, got.Devices[0][key], test.Sprint(key))
	}
	if got.Notes == nil || got.Scaling == nil || got.Devices[0]["steps"] == nil {
		t.Errorf("a list is missing: %s", &b)
	}
}

func TestDiffText(t *testing.T) {
	lo, hi := 11.7, 12.8
	waiting := timeline.Changed{Part: profiles.WaitingForRanks, Rank: "rank 3", Before: 0.5, After: 12.3, Change: 11.8,
		Lo: &lo, Hi: &hi, Significant: true}
	call := waiting
	call.Rank, call.Operator = "", "all_reduce 25 MiB x8"
	d := &timeline.Diff{Before: timeline.DiffRun{Path: "a", Ranks: 8, Steps: 10}, Per: "step", LateRank: "rank 3",
		After: timeline.DiffRun{Path: "b", Ranks: 8, Steps: 12}, Margin: 2, Parts: []timeline.Changed{waiting},
		LateParts: []timeline.Changed{{Part: profiles.Computing, Before: 1, After: 12.5, Change: 11.5}},
		Operators: []timeline.Changed{call}, Notes: []notice.Notice{notice.New(notice.Find("step-change").Example()),
			notice.New(profiles.RanksMissing{Read: 8, World: 16})}}
	var got bytes.Buffer
	must.NoError(t, OfDiff(d).Write(&got, document.Text))
	golden.Text(t, filepath.Join("testdata", "diff.txt"), got.String())
}
