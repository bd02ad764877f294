package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/needs"
	"busbar/post/timeline"
)

// publicTraces are traces that lie beside the repository where it is developed; none of them is part of it.
const publicTraces = "../../shared/examples/traces"

// goldenDevice is what an independent calculator found in a trace: span, compute, comm, overlap, exposed in ms.
type goldenDevice struct{ span, compute, comm, overlap, exposed float64 }

var goldenTraces = map[string][]goldenDevice{
	"hta/nccl_parser_config_nccl_data.json.gz":        {{660.551, 115.656, 46.876, 7.317, 39.559}},
	"hta/df_index_resolver_df_index_resolver.json.gz": {{1732.965, 620.516, 357.343, 0, 357.343}},
	"hta/trace_filter_sampled_rank-0.json.gz":         {{1222.847, 210.320, 396.199, 59.216, 336.983}},
	"hta/trace_filter_sampled_rank-1.json.gz":         {{1231.186, 271.973, 379.053, 75.530, 303.523}},
	"tracelens/b200_eager_trace.json.gz":              {{84.487, 8.652, 2.142, 0, 2.142}},
	"nsys/mfu_2gpu_before.sqlite": {{299.849, 253.691, 17.173, 0, 17.173},
		{298.662, 256.096, 8.229, 0, 8.229}},
}

// goldenOverlap is the overlap of eight ranks, in percent, as Holistic Trace Analysis has it.
var goldenOverlap = map[string][]float64{"param/dlrm_kineto.tar.gz": {4.50, 2.47, 7.88, 3.31, 0.56, 0.64, 7.56, 9.51}}

// publicTimeline runs the command on a public trace.
func publicTimeline(t *testing.T, name string) *timeline.Timeline {
	t.Helper()
	path := needs.Examples(t, filepath.Join(publicTraces, name))[0]
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"timeline", "--format", "json", path}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	var got timeline.Timeline
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return &got
}

func TestGoldenTimelines(t *testing.T) {
	for name, want := range goldenTraces {
		t.Run(name, func(t *testing.T) {
			found := publicTimeline(t, name)
			if len(found.Devices) != len(want) {
				t.Fatalf("%d devices, want %d", len(found.Devices), len(want))
			}
			for i, d := range found.Devices {
				got := goldenDevice{d.Span, d.Compute, d.Comm, d.Overlap, d.Exposed}
				for _, p := range [][2]float64{{got.span, want[i].span}, {got.compute, want[i].compute}, {got.comm, want[i].comm},
					{got.overlap, want[i].overlap}, {got.exposed, want[i].exposed}} {
					if math.Abs(p[0]-p[1]) > 0.0005+1e-9 { // of three digits
						t.Errorf("%s: %.3f, want %.3f", d.Label, got, want[i])
						break
					}
				}
				if parts := d.Compute + d.Exposed + d.MemcpyOnly + d.Idle; math.Abs(parts-d.Span) > 1e-6 {
					t.Errorf("%s: the parts make %f, the span is %f", d.Label, parts, d.Span)
				}
			}
		})
	}
}

func TestGoldenOverlap(t *testing.T) {
	for name, want := range goldenOverlap {
		found := publicTimeline(t, name)
		var got, wanted []string
		for _, d := range found.Devices {
			got = append(got, fmt.Sprintf("%.2f", *d.Efficiency))
		}
		for _, v := range want {
			wanted = append(wanted, fmt.Sprintf("%.2f", v))
		}
		if strings.Join(got, " ") != strings.Join(wanted, " ") {
			t.Errorf("%s: %v, want %v", name, got, wanted)
		}
	}
}

// What is printed of public traces fits a terminal.
func TestPublicTimelinesFitATerminal(t *testing.T) {
	for _, path := range needs.Examples(t, filepath.Join(publicTraces, "*", "*.*z")) {
		if strings.Contains(path, "unavailable") {
			continue // nothing ran on a GPU in it
		}
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), []string{"timeline", path}, &stdout, &stderr); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, line := range strings.Split(stdout.String(), "\n") {
			if len([]rune(line)) > 100 && !strings.Contains(line, publicTraces) {
				t.Errorf("%s: %d columns: %s", path, len([]rune(line)), line)
			}
		}
	}
}
