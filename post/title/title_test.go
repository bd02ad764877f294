package title

import (
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"

	"github.com/shoenig/test"
)

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Table{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1, Placement: coll.InPlace,
			Mode: coll.Latency}.String(): "all_reduce float32 sum, in-place, latency mode",
		Unusual(&result.Method{Aggregate: 4, Average: "mean"}): ", issued by 4, times mean",
	} {
		test.EqOp(t, want, got)
	}
}
