package sweeps

import (
	"math"
	"slices"
	"testing"

	"github.com/shoenig/test"
)

func TestSizes(t *testing.T) {
	tests := []struct {
		sizes Sizes
		want  []int64
		text  string
	}{
		{Sizes{Begin: 8, End: 65536, Factor: 16}, []int64{8, 128, 2048, 32768}, "8 to 64K by factor 16"},
		{Sizes{Begin: 8, End: 8, Factor: 2}, []int64{8}, "8 to 8 by factor 2"},
		{Sizes{Begin: 1024, End: 4000, Step: 1024}, []int64{1024, 2048, 3072}, "1K to 4000 by step 1K"},
		{Sizes{Begin: 1 << 61, End: math.MaxInt64, Factor: 2}, []int64{1 << 61, 1 << 62},
			"2097152T to 9223372036854775807 by factor 2"},
		{Sizes{Begin: math.MaxInt64 - 1, End: math.MaxInt64, Step: 5}, []int64{math.MaxInt64 - 1},
			"9223372036854775806 to 9223372036854775807 by step 5"},
		{listed([]int64{4 << 20, 1 << 20, 4 << 20}, true), []int64{1 << 20, 4 << 20}, "1M, 4M elements"},
	}
	for _, tt := range tests {
		test.SliceEqOp(t, tt.want, slices.Collect(tt.sizes.All()), test.Sprint(tt.text))
		test.EqOp(t, tt.text, tt.sizes.String())
	}
}

func TestRangeCheck(t *testing.T) {
	for last, good := range map[int64]bool{maxPoints: true, maxPoints + 1: false} {
		test.EqOp(t, good, ((Sizes{Begin: 1, End: last, Step: 1}).check() == nil), test.Sprint(last))
	}
}

func TestUnmet(t *testing.T) {
	var s Sweep
	for _, end := range []int64{32 << 10, 64 << 10, 64 << 10} {
		s.Parts = append(s.Parts, Part{Sizes: Sizes{Begin: 8, End: end, Factor: 16}})
	}
	want := []string{"largest size is 32K: 8 to 64K by factor 16 does not include 64K"}
	test.SliceEqOp(t, want, s.Unmet())
}
