package timeline

import (
	"reflect"
	"slices"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
)

// The summary covers steps, not the time around them.
func TestInShort(t *testing.T) {
	step := Parts{Span: 100, Compute: 60, Comm: 40, Overlap: 10, Exposed: 30, MemcpyOnly: 2, Idle: 8}
	slow := Parts{Span: 200, Compute: 160, Comm: 40, Overlap: 30, Exposed: 10, MemcpyOnly: 6, Idle: 26}
	whole := Parts{Span: 1000, Compute: 60, Comm: 40, Overlap: 10, Exposed: 30, MemcpyOnly: 2, Idle: 908}
	one := Device{Label: "rank 0", Kernels: 5, Parts: whole, Steps: []Step{{Parts: step}},
		Shared: []SharedStream{{ID: 7, OfComm: 60}}}
	tried := []Advice{advice(topicIdle, 8, profiles.HostBoundStep{Per: "step"})}
	for name, c := range map[string]struct {
		of   Timeline
		want []notice.Fact
	}{
		"one": {Timeline{Devices: []Device{one}, Advice: tried}, []notice.Fact{
			profiles.TimeShares{Per: "step", Time: 0.1, Exposed: percent(30, 30, 30), Compute: percent(60, 60, 60),
				Copies: percent(2, 2, 2), Idle: percent(8, 8, 8)},
			profiles.OverlapShare{Share: percent(25, 25, 25)},
			profiles.SharedStreams{Streams: []profiles.StreamOf{{Stream: 7, Device: "rank 0", OfComm: 60}}},
			profiles.TryFirst{Advice: profiles.AdviceOf{Kept: notice.Kept{Fact: tried[0].Found.Fact}},
				Gain: &profiles.Gain{Time: 0.008, Per: "step"}}}},
		"two": {Timeline{Devices: []Device{{Kernels: 1, Parts: step}, {Kernels: 1, Parts: slow}},
			Across: &Across{Matched: 3}},
			[]notice.Fact{
				profiles.TimeShares{Per: "recording", Time: 0.15, Exposed: percent(17.5, 5, 30), Compute: percent(70,
					60, 80),
					Copies: percent(2.5, 2, 3), Idle: percent(10.5, 8, 13), Median: profiles.Median{N: 2, Unit: "GPU"}},
				profiles.OverlapShare{Share: percent(50, 25, 75)},
				profiles.NoStragglerFound{}}},
		"exposed": {Timeline{Devices: []Device{{Kernels: 1, Parts: Parts{Span: 10, Compute: 5, Comm: 5, Exposed: 5}}}},
			[]notice.Fact{profiles.NoOverlapAtAll{}}},
		"alone": {Timeline{Devices: []Device{{Kernels: 1, Parts: Parts{Span: 10, Compute: 9, Idle: 1}}}},
			[]notice.Fact{profiles.NothingRan{What: profiles.NoCommunication}}},
		"copies": {Timeline{Devices: []Device{{Parts: Parts{Span: 10, MemcpyOnly: 10}}}},
			[]notice.Fact{profiles.NothingRan{What: profiles.OnlyCopiesRan}}},
		"nothing": {Timeline{Devices: []Device{{}}}, []notice.Fact{profiles.NothingRan{What: profiles.NoGPUWork}}},
	} {
		got := c.of.InShort()
		for _, want := range c.want {
			if !slices.ContainsFunc(got, func(f notice.Fact) bool { return reflect.DeepEqual(f, want) }) {
				t.Errorf("%s: %+v is not in %+v", name, want, got)
			}
		}
	}
}

func percent(value, least, most float64) profiles.ShareRange {
	return profiles.ShareRange{Value: value, Min: least, Max: most, Range: least < most, Known: true}
}
