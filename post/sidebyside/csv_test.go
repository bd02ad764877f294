package sidebyside

import (
	"os"
	"strings"
	"testing"

	"busbar/internal/coll/colltest"
	"busbar/internal/result"
)

// Every column stands in the manual.
func TestColumnsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/comparison.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "### Columns")
	for _, f := range fields {
		if !strings.Contains(table, "`"+f.name+"`") {
			t.Errorf("docs/comparison.md has no column %s", f.name)
		}
	}
}

// Wrong data has a time in its record, but none in a table that others compute from.
func TestOnlyGoodPointsHaveFigures(t *testing.T) {
	for _, status := range []result.Status{result.OK, result.Wrong} {
		r := &result.Record{Status: status, Case: colltest.AllReduce(1 << 20), Time: &result.Time{Seconds: 1, Mean: 2, Max: 3,
			Iterations: 4}}
		for _, f := range fields {
			switch f.name {
			case "median_time_ms", "mean_time_ms", "max_time_ms", "algbw_GBps", "busbw_GBps", "num_iterations":
				if text := f.text(&result.Run{}, r); (text != "") != (status == result.OK) {
					t.Errorf("%s of a point that is %s: %q", f.name, status, text)
				}
			}
		}
	}
}

// A rehearsal takes the place of NCCL's table only where NCCL has none of its own.
func TestRehearsalsTable(t *testing.T) {
	run := func(backend string) *result.Run { return &result.Run{Backend: result.Backend{Name: backend}} }
	names := func(f *Results) (all []string) {
		for _, o := range f.tables() {
			all = append(all, o.Name)
		}
		return all
	}
	got := strings.Join(names(&Results{runs: []*result.Run{run("gloo"), run(rehearsal)}}), " ")
	if got != "gloo_cpu_benchmark.csv nccl_gpu_benchmark.csv combined_benchmark.csv" {
		t.Error(got)
	}
	got = strings.Join(names(&Results{runs: []*result.Run{run("nccl"), run(rehearsal)}}), " ")
	if got != "nccl_gpu_benchmark.csv nccl-rehearsal_gpu_benchmark.csv combined_benchmark.csv" {
		t.Error(got)
	}
}
