package timeline

import (
	"testing"

	"busbar/internal/golden"
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
	for name, of := range map[string]Timeline{
		"one": {Devices: []Device{one}, Advice: tried},
		"two": {Devices: []Device{{Kernels: 1, Parts: step}, {Kernels: 1, Parts: slow}},
			Across: &Across{Matched: 3}},
		"exposed": {Devices: []Device{{Kernels: 1, Parts: Parts{Span: 10, Compute: 5, Comm: 5, Exposed: 5}}}},
		"alone":   {Devices: []Device{{Kernels: 1, Parts: Parts{Span: 10, Compute: 9, Idle: 1}}}},
		"copies":  {Devices: []Device{{Parts: Parts{Span: 10, MemcpyOnly: 10}}}},
		"nothing": {Devices: []Device{{}}},
	} {
		var got []string
		for _, f := range of.InShort() {
			got = append(got, factText(t, f))
		}
		golden.Lines(t, "testdata/inshort.txt", name, got)
	}
}
