package plot

import (
	"strings"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/post/analysis"
)

func always(gbps float64) func([]*result.Run, coll.Case) analysis.Ceiling {
	return func([]*result.Run, coll.Case) analysis.Ceiling { return analysis.Ceiling{BusBW: gbps * 1e9, Name: "x"} }
}

// A peak near the values is a line; one far above is in the caption, and does not affect the axis.
func TestPeak(t *testing.T) {
	points := quick(4)
	for _, c := range []struct {
		gbps    float64
		want    []Ceiling
		caption string
	}{
		{6, []Ceiling{{6, "peak: 6 GB/s, x"}}, "slowest link"},
		{450, nil, "Above the axis: peak: 450 GB/s, x."},
		{0, nil, "Peak: unknown"},
	} {
		all := byName(points, Options{Bandwidths: []Measure{BusBW, AlgBW}, limit: always(c.gbps)})
		must.Eq(t, c.want, all["collectives_busbw_mpi_world4"].Ceilings)
		must.StrContains(t, caption1(all["collectives_busbw_mpi_world4"]), c.caption)
		for name, f := range all {
			if !strings.Contains(name, "busbw") {
				must.SliceEmpty(t, f.Ceilings)
				must.StrNotContains(t, caption1(f), "eak")
			}
		}
	}
}

// Different peaks name their curves; over worlds only a common one is drawn.
func TestDifferentPeaks(t *testing.T) {
	points := append(quick(2), quick(4)...)
	f := byName(points, Options{limit: func(_ []*result.Run, of coll.Case) analysis.Ceiling {
		if of.Collective == coll.AllToAll {
			return analysis.Ceiling{BusBW: 3.1e9, Name: "a"}
		}
		return analysis.Ceiling{BusBW: 6e9, Name: "b"}
	}})["collectives_busbw_mpi_world4"]
	must.Eq(t, []float64{6, 3.1}, []float64{f.Ceilings[0].At, f.Ceilings[1].At})
	must.Eq(t, "peak: 3.1 GB/s, a (alltoall)", f.Ceilings[1].Label)
	apart(t, "two ceilings", f.drawing())
	all := byName(points, Options{limit: func(_ []*result.Run, of coll.Case) analysis.Ceiling {
		return analysis.Ceiling{BusBW: 1e9 * float64(of.World), Name: "x"}
	}})
	must.SliceEmpty(t, all["scaling_busbw_mpi"].Ceilings)
	must.StrContains(t, caption1(all["scaling_busbw_mpi"]), "they differ")
	must.Len(t, 2, all["all_reduce_busbw"].Ceilings)
	must.Len(t, 1, byName(points, Options{limit: always(4)})["scaling_busbw_mpi"].Ceilings)
}
