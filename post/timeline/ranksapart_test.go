package timeline

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/post/trace"
)

// recorded is a device of a rank whose recording begins at a moment and lasts a millisecond.
func recorded(rank int, process int64, host string, origin int64) *trace.Device {
	d := ranOn(rank, process, host, 0)
	d.Origin = origin
	return d
}

// read is the timeline of files with one device each, as they are given.
func read(t *testing.T, paths []string, devices ...*trace.Device) *Timeline {
	t.Helper()
	b := NewBuilder(Options{})
	for i, d := range devices {
		b.Add(&trace.File{Path: paths[i], Format: trace.Nsight, Devices: []*trace.Device{d}})
	}
	return b.Timeline()
}

func TestWhatSaysItIsOneRank(t *testing.T) {
	const start = int64(1_700_000_000e9)
	two := []string{"run/node0/rank0.sqlite", "run/node1/rank0.sqlite"}
	unknown := []string{"GPU 0 in node0/rank0.sqlite", "GPU 0 in node1/rank0.sqlite"}
	for what, c := range map[string]struct {
		a, b  *trace.Device
		clash bool
		lanes int
		names []string
	}{
		"two hosts": {recorded(0, trace.Unknown, "n0", start), recorded(0, trace.Unknown, "n1", start+1e9),
			true, 2, unknown},
		"two processes": {recorded(0, 11, "n0", start), recorded(0, 12, "n0", start+1e9), true, 2,
			[]string{"GPU 0 (pid 11)", "GPU 0 (pid 12)"}},
		"the same time": {recorded(0, trace.Unknown, "", start), recorded(0, trace.Unknown, "", start+1e6-1),
			true, 2, unknown},
		"one after another": {recorded(0, 11, "n0", start), recorded(0, 11, "n0", start+1e6), false, 0,
			[]string{"rank 0, device 0 in node0/rank0.sqlite", "rank 0, device 0 in node1/rank0.sqlite"}},
		"two ranks": {recorded(0, 11, "n0", start), recorded(1, 12, "n0", start), false, 2, []string{"rank 0",
			"rank 1"}},
	} {
		tl := read(t, two, c.a, c.b)
		var labels []string
		for _, d := range tl.Devices {
			labels = append(labels, d.Label)
			if strings.HasPrefix(d.Label, "GPU") != (d.Rank == nil) {
				t.Errorf("%s: %s has rank %v", what, d.Label, d.Rank)
			}
		}
		if !slices.Equal(labels, c.names) {
			t.Errorf("%s: labels are %q, want %q", what, labels, c.names)
		}
		var want []Note
		if c.clash {
			want = []Note{{notice.SameRank{Ranks: []notice.RankClash{{Rank: 0,
				Files: []string{"node0/rank0.sqlite", "node1/rank0.sqlite"}}}}, -1}}
		}
		if !reflect.DeepEqual(tl.Notes, want) && len(tl.Notes)+len(want) > 0 {
			t.Errorf("%s: notes are %+v, want %+v", what, tl.Notes, want)
		}
		lanes := 0
		if tl.Across != nil {
			lanes = len(tl.Across.Ranks)
		}
		if lanes != c.lanes {
			t.Errorf("%s: %d ranks are compared, want %d", what, lanes, c.lanes)
		}
	}
}

func TestFilesAreNamedByAsMuchAsTellsThemApart(t *testing.T) {
	for _, c := range [][2][]string{
		{{"a/x.json", "b/y.json"}, {"x.json", "y.json"}},
		{{"r/a/x.json", "r/b/x.json"}, {"a/x.json", "b/x.json"}},
		{{"x.json", "/r/a/x.json"}, {"x.json", "a/x.json"}},
		{{"x.json", "x.json"}, {"x.json", "x.json"}},
	} {
		tl := &Timeline{Files: []File{{Path: c[0][0]}, {Path: c[0][1]}}, Devices: []Device{{File: 0}, {File: 1}}}
		if got := filesOf(tl, []int{0, 1}); !slices.Equal(got, c[1]) {
			t.Errorf("%q are called %q, want %q", c[0], got, c[1])
		}
	}
}
