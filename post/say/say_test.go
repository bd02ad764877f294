package say

import (
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
)

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Count(1, "launch"): "1 launch", Count(2, "launch"): "2 launches", Count(0, "run"): "0 runs", Count(3, "process"): "3 processes",
		Duration(0): "-", Duration(12.5e-6): "12.50 us", Duration(0.9996): "999.6 ms", Duration(0.99996): "1.000 s", Duration(999.96e-6): "1.000 ms",
		Bandwidth(0.0031e9): "0.0031", Bandwidth(338.8e9): "338.8",
		Times(0.5): "0.500", Times(1.5): "1.50", Times(15): "15.0", Times(150): "150",
		Some([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}):                                                                   "1, 2, 3, 4, 5, 6, 7, 8 and 2 more",
		Table{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1, Placement: coll.InPlace, Mode: coll.Latency}.String(): "all_reduce float32 sum, in-place, latency mode",
		Unusual(&result.Method{Aggregate: 4, Average: "mean"}):                                                                              ", issued by 4, times mean",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
