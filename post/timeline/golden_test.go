package timeline

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/needs"
)

const traces = "../../../shared/examples/traces"

// public analyses a public trace, or skips the test without one.
func public(t *testing.T, path string, o Options) []Device {
	t.Helper()
	tl, _, err := Read(t.Context(), needs.Examples(t, filepath.Join(traces, path)), o)
	must.NoError(t, err)
	return tl.Devices
}

// Another program computed these values in exact decimals. In float64 some are a few microseconds off: times since
// 1970 in nanoseconds have a resolution of 256 there.
func TestPublicTraces(t *testing.T) {
	for path, want := range map[string]string{
		"hta/nccl_parser_config_nccl_data.json.gz":        "660.551 115.656 46.876 7.317 39.559 503.051 15.61",
		"hta/df_index_resolver_df_index_resolver.json.gz": "1732.965 620.516 357.343 0.000 357.343 732.352 0.00",
		"hta/trace_filter_sampled_rank-0.json.gz":         "1222.847 210.320 396.199 59.216 336.983 675.191 14.95",
		"hta/trace_filter_sampled_rank-1.json.gz":         "1231.186 271.973 379.053 75.530 303.523 651.136 19.93",
		"tracelens/b200_eager_trace.json.gz":              "84.487 8.652 2.142 0.000 2.142 72.891 0.00",
	} {
		d := public(t, path, Options{})[0]
		must.EqOp(t, want, fmt.Sprintf("%.3f %.3f %.3f %.3f %.3f %.3f %.2f", d.Span, d.Compute, d.Comm, d.Overlap,
			d.Exposed, d.Idle, *d.Efficiency))
	}
}

// Two devices of one export, whose collectives share a stream with everything else and cannot be hidden.
func TestPublicExport(t *testing.T) {
	got := ""
	for _, d := range public(t, "nsys/mfu_2gpu_before.sqlite", Options{}) {
		got += fmt.Sprintf("%.3f %.3f %.3f %.3f %.3f\n", d.Span, d.Compute, d.Comm, d.Overlap, d.MemcpyOnly+d.Idle)
		must.True(t, len(d.Shared) == 1 && d.Shared[0].OfComm == 100 && d.Shared[0].OfCompute == 100)
	}
	must.EqOp(t, "299.849 253.691 17.173 0.000 28.985\n298.662 256.096 8.229 0.000 34.337\n", got)
}

// HTA gives exactly the same.
func TestPublicRanksOverlap(t *testing.T) {
	archive := needs.Examples(t, filepath.Join(traces, "param/dlrm_kineto.tar.gz"))[0]
	dir := t.TempDir()
	must.NoError(t, exec.CommandContext(t.Context(), "tar", "-xzf", archive, "-C", dir).Run())
	tl, _, err := Read(t.Context(), []string{dir}, Options{})
	must.NoError(t, err)
	got := ""
	for _, d := range tl.Devices {
		got += fmt.Sprintf("%.2f ", *d.Efficiency)
	}
	must.EqOp(t, "4.50 2.47 7.88 3.31 0.56 0.64 7.56 9.51 ", got)
}

func TestPublicBuckets(t *testing.T) {
	got := ""
	for _, b := range public(t, "hta/nccl_parser_config_nccl_data.json.gz", Options{})[0].Buckets {
		got += fmt.Sprintf("%.2f ", float64(b.Bytes)/(1<<20))
	}
	must.EqOp(t, "7.82 30.04 25.04 25.32 9.27 ", got)
}

func TestPublicKernelsOfSymmetricMemory(t *testing.T) {
	const path = "tracelens/b200_eager_trace.json.gz"
	d := public(t, path, Options{})[0]
	must.Len(t, 0, d.Unknown)
	must.Less(t, public(t, path, Options{CommPattern: regexp.MustCompile("vectorized_gather")})[0].Comm, d.Comm)
}
