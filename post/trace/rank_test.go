package trace

import (
	"testing"

	"github.com/shoenig/test"
)

func TestRankOfPath(t *testing.T) {
	for name, want := range map[string]int{
		"rank-0.json.gz": 0, "trace_filter_sampled_rank-1.json.gz": 1, "dir/rank3/x_rank12.json": 12,
		"worker7.pt.trace.json": 7, "trace_5.json": 5,
		"rank_4.sqlite": 4, "RANK=9.json": 9, "prank3.sqlite": Unknown, "local_rank0.sqlite": Unknown,
		"rank1_to_rank2.sqlite": Unknown, "rank0_rank1.json": Unknown, "rank1-rank1.json": 1,
		"rank3_worker0.json": Unknown, "trace_df_control.json": Unknown, "rank99999999.sqlite": Unknown,
		"run/rank6/trace.json":     6,
		"report1.sqlite":           Unknown,
		"rank2/local_rank0.sqlite": 2, "rank-1.2.sqlite": 1,
	} {
		test.EqOp(t, want, rankOfPath(name), test.Sprint(name))
	}
}
