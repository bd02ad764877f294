// Package test checks what post exports for Prometheus with the parsers of Prometheus, and the dashboard with the types
// of Grafana. It is a module of its own, so that these are no dependencies of busbar.
package test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// log has a point that is ok in both placements, one with wrong data, and a device whose name must be escaped.
const log = `# nccl-tests version 2.19.0 nccl-headers=22803 nccl-library=22907
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 2 minBytes 64 maxBytes 128 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1
#  Rank  0 Group  0 Pid   4242 on      red-1 device  0 [0000:0a:00] The "Big\Red" GPU
#  Rank  1 Group  0 Pid   4242 on      red-1 device  1 [0000:0b:00] The "Big\Red" GPU
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
          64            16     float     sum      -1    12.50    0.01    0.01       0    13.25    0.00    0.00       0
         128            32     float     sum      -1    12.75    0.01    0.01       0    13.25    0.01    0.01       2
# Out of bounds values : 2 FAILED
# Avg bus bandwidth    : 0.005 
`

// exported is the file that post writes, and its path.
var exported = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "busbar-metrics")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	post, results := filepath.Join(dir, "post"), filepath.Join(dir, "results")
	build := exec.Command("go", "build", "-o", post, "./post")
	build.Dir, build.Env = "../../..", append(os.Environ(), "CGO_ENABLED=0")
	file := filepath.Join(dir, "test.log")
	if err := os.WriteFile(file, []byte(log), 0o644); err != nil {
		return nil, err
	}
	for _, cmd := range []*exec.Cmd{build, exec.Command(post, "import", "-o", results, file),
		exec.Command(post, "export", "--format", "prometheus", "-o", filepath.Join(dir, "out"), results)} {
		var errors bytes.Buffer
		cmd.Stderr = &errors
		if err := cmd.Run(); err != nil {
			return nil, &exec.Error{Name: cmd.String() + ": " + errors.String(), Err: err}
		}
	}
	return os.ReadFile(filepath.Join(dir, "out", "busbar.prom"))
})

// families are the metrics by their names, as Prometheus parses them.
func families(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	text, err := exported()
	if err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	found, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return found
}

// labelsOf are the labels of a metric.
func labelsOf(m *dto.Metric) map[string]string {
	found := map[string]string{}
	for _, l := range m.GetLabel() {
		found[l.GetName()] = l.GetValue()
	}
	return found
}

func TestPrometheusParsesTheExport(t *testing.T) {
	all := families(t)
	for name, f := range all {
		if f.GetHelp() == "" || f.GetType() != dto.MetricType_GAUGE {
			t.Errorf("%s: help %q, type %v", name, f.GetHelp(), f.GetType())
		}
		seen := map[string]bool{}
		for _, m := range f.GetMetric() {
			if key := m.String(); seen[key] {
				t.Errorf("%s has %s twice", name, key)
			} else {
				seen[key] = true
			}
		}
	}
	times := all["busbar_time_seconds"].GetMetric()
	if len(times) != 3 {
		t.Fatalf("%d times, want those of the 3 points that are ok", len(times))
	}
	got := labelsOf(times[0])
	for name, want := range map[string]string{"backend": "nccl", "collective": "all_reduce", "type": "float32",
		"size_bytes": "64", "world": "2", "nodes": "1", "device": `The "Big\Red" GPU`} {
		if got[name] != want {
			t.Errorf("label %s is %q, want %q", name, got[name], want)
		}
	}
	if v := times[0].GetGauge().GetValue(); v != 12.5e-6 {
		t.Errorf("the time is %v s", v)
	}
}

// TestMetricNames: dashboards and alerts of users depend on these names; they never change.
func TestMetricNames(t *testing.T) {
	var names []string
	for name := range families(t) {
		names = append(names, name)
	}
	slices.Sort(names)
	want := "busbar_algbw_bytes_per_second busbar_busbw_bytes_per_second busbar_points busbar_time_seconds"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("metrics %s, want %s", got, want)
	}
	text, err := exported()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", problems, err)
	}
}
