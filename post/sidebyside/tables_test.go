package sidebyside

import (
	"os"
	"strings"
	"testing"

	"busbar/internal/coll/colltest"
	"busbar/internal/result"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func resultsOf(all ...made) *Results {
	f := &Results{}
	for _, m := range all {
		f.rows = append(f.rows, m.rows()...)
	}
	f.collect()
	return f
}

func TestColumnsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/comparison.md")
	must.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "### Columns")
	for _, f := range fields {
		test.StrContains(t, table, "`"+f.name+"`", test.Sprint(f.name))
	}
}

// Wrong data has a time in its record, but none in tables for computation.
func TestValuesOnlyForOKPoints(t *testing.T) {
	for _, status := range []result.Status{result.OK, result.Wrong} {
		r := &result.Record{
			Status: status, Case: colltest.AllReduce(1 << 20),
			Time: &result.Time{Seconds: 1, Mean: 2, Max: 3, Iterations: 4},
		}
		line, err := cells(result.Row{Run: &result.Run{}, Record: r})
		must.NoError(t, err)
		for i, f := range fields {
			switch f.name {
			case "median_time_ms", "mean_time_ms", "max_time_ms", "algbw_GBps", "busbw_GBps", "num_iterations":
				if (line[i] != "") != (status == result.OK) {
					t.Errorf("%s of a point that is %s: %q", f.name, status, line[i])
				}
			}
		}
	}
}

func TestTableOfSimulatedNCCL(t *testing.T) {
	for _, c := range []struct{ measured, want string }{
		{"gloo", "gloo_cpu_benchmark.csv nccl_gpu_benchmark.csv combined_benchmark.csv"},
		{"nccl", "nccl_gpu_benchmark.csv nccl-rehearsal_gpu_benchmark.csv combined_benchmark.csv"},
	} {
		var names []string
		for _, o := range resultsOf(made{c.measured, 1, []int{2}, 0.01, 0, linear(1)},
			made{simulatedNCCL, 1, []int{2}, 0.01, 0, linear(1)}).tables() {
			names = append(names, o.Name)
		}
		test.EqOp(t, c.want, strings.Join(names, " "))
	}
}
