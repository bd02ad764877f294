package timeline

import (
	"slices"
	"testing"

	"busbar/internal/notice"
)

// What stands first has the shares of a step, and not of what lies around the steps.
func TestInShort(t *testing.T) {
	step := Parts{Span: 100, Compute: 60, Comm: 40, Overlap: 10, Exposed: 30, MemcpyOnly: 2, Idle: 8}
	slow := Parts{Span: 200, Compute: 160, Comm: 40, Overlap: 30, Exposed: 10, MemcpyOnly: 4, Idle: 26}
	whole := Parts{Span: 1000, Compute: 60, Comm: 40, Overlap: 10, Exposed: 30, MemcpyOnly: 2, Idle: 908}
	one := Device{Label: "rank 0", Kernels: 5, Parts: whole, Steps: []Step{{Parts: step}},
		Shared: []SharedStream{{ID: 7, OfComm: 60}}}
	two := Device{Label: "rank 1", Kernels: 5, Parts: whole, Steps: []Step{{Parts: slow}}}
	advice := []Advice{{Gain: 8, Fact: notice.HostBoundStep{Per: "step"}}}
	for name, c := range map[string]struct {
		of   Timeline
		want []string
	}{
		"one": {Timeline{Devices: []Device{one}, Advice: advice}, []string{
			"A step takes 100.0 ms: 30.0 % exposed communication, 60.0 % computation, 2.0 % copies alone, 8.0 % idle.",
			"25.0 % of communication overlaps with computation.",
			"Communication cannot overlap on streams that also compute, where kernels run one after the other: stream 7 of rank 0 with 60 % of its communication.",
			"To try first: keep the GPU supplied with work (worth at most 8.000 ms per step).",
		}},
		"two": {Timeline{Devices: []Device{{Kernels: 1, Parts: step}, {Kernels: 1, Parts: slow}},
			Across: &Across{Matched: 3}}, []string{
			"A recording takes 150.0 ms: 17.5 % (5.0 to 30.0) exposed communication, 70.0 % (60.0 to 80.0) computation, 2.0 % (2.0 to 2.0) copies alone, 10.5 % (8.0 to 13.0) idle (median of 2 GPUs, with minimum and maximum).",
			"50.0 % (25.0 to 75.0) of communication overlaps with computation.",
			"No rank is a straggler.",
		}},
		"waiting": {Timeline{Devices: []Device{one, two},
			Across: &Across{Matched: 3, Straggler: &Straggler{Found: notice.Straggler{Rank: "rank 1"}}}},
			[]string{"Rank 1 is a straggler: last in 0 of 0 uneven collectives; others wait 0 ms (0.0 % of their time)."}},
		"exposed": {Timeline{Devices: []Device{{Kernels: 1, Parts: Parts{Span: 10, Compute: 5, Comm: 5, Exposed: 5}}}},
			[]string{"No communication overlaps with computation."}},
		"scaled": {Timeline{Devices: []Device{two}, Scaling: []Efficiency{{Found: notice.ScalingEfficiency{
			Kind: "strong", If: "strong", From: 1, To: 2, Percent: 83, Step: 0.06, FromStep: 0.1, Speed: 1.667, Ideal: 2,
		}}}}, []string{"Strong scaling from 1 to 2 ranks is 83 %: a step takes 60.00 ms, before 100.0 ms. The step is 1.67 times as fast; the number of ranks is 2.00 times as large. Valid if both runs have the same global batch."}},
		"alone": {Timeline{Devices: []Device{{Kernels: 1, Parts: Parts{Span: 10, Compute: 9, Idle: 1}}}},
			[]string{"A recording takes 10.00 ms: 90.0 % computation, 10.0 % idle.", "No communication ran."}},
		"copies": {Timeline{Devices: []Device{{Parts: Parts{Span: 10, MemcpyOnly: 10}}}},
			[]string{"Nothing but copies ran on a GPU in these files."}},
		"nothing": {Timeline{Devices: []Device{{}}}, []string{"Nothing ran on a GPU in these files."}},
	} {
		got := c.of.InShortTexts()
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %q is not in %q", name, want, got)
			}
		}
	}
}
