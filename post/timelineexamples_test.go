package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/post/timeline"
)

// publicTraces are traces that lie beside the repository where it is developed; none of them is part of it.
const publicTraces = "../../shared/examples/traces"

// goldenDevice is what an independent calculator found in a trace: span, compute, comm, overlap, exposed in ms.
type goldenDevice struct{ span, compute, comm, overlap, exposed float64 }

var goldenTraces = map[string][]goldenDevice{
	"hta/nccl_parser_config_nccl_data.json.gz":        {{660.551, 115.656, 46.876, 7.317, 39.559}},
	"hta/df_index_resolver_df_index_resolver.json.gz": {{1732.965, 620.520, 357.343, 0, 357.343}},
	"hta/trace_filter_sampled_rank-0.json.gz":         {{1222.847, 210.321, 396.199, 59.216, 336.983}},
	"hta/trace_filter_sampled_rank-1.json.gz":         {{1231.186, 271.977, 379.053, 75.533, 303.519}},
	"tracelens/b200_eager_trace.json.gz":              {{84.487, 8.652, 2.142, 0, 2.142}},
	"nsys/mfu_2gpu_before.sqlite":                     {{299.849, 253.691, 17.173, 0, 17.173}, {298.662, 256.096, 8.229, 0, 8.229}},
}

// goldenOverlap is the overlap of eight ranks, in percent, as Holistic Trace Analysis has it.
var goldenOverlap = map[string][]float64{"param/dlrm_kineto.tar.gz": {4.50, 2.47, 7.88, 3.31, 0.56, 0.64, 7.56, 9.51}}

// publicTimeline runs the command on a public trace.
func publicTimeline(t *testing.T, name string) *timeline.Timeline {
	t.Helper()
	path := filepath.Join(publicTraces, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no public traces here: %v", err)
	}
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
				for _, p := range [][2]float64{{got.span, want[i].span}, {got.compute, want[i].compute}, {got.comm, want[i].comm}, {got.overlap, want[i].overlap}, {got.exposed, want[i].exposed}} {
					if math.Abs(p[0]-p[1]) > 0.0045 { // the calculator kept nanoseconds since 1970 as floats, 256 ns apart
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
			got = append(got, fmt.Sprintf("%.2f", orNaN(d.Efficiency)))
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
	files, err := filepath.Glob(filepath.Join(publicTraces, "*", "*.*z"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("no public traces here")
	}
	for _, path := range files {
		if strings.Contains(path, "unavailable") {
			continue // nothing ran on a GPU in it
		}
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), []string{"timeline", path}, &stdout, &stderr); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, line := range strings.Split(stdout.String(), "\n") {
			if len([]rune(line)) > tableWidth && !strings.Contains(line, publicTraces) {
				t.Errorf("%s: %d columns: %s", path, len([]rune(line)), line)
			}
		}
	}
}
