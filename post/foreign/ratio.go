package foreign

import (
	"math"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// bandwidths are the columns of a layout that state algbw and busbw by busbar's definition.
type bandwidths struct {
	alg, bus string
	// early is set for versions up to 2020, which print busbw = algbw where each rank has a share of the data.
	early bool
}

// contradiction is why the stated bandwidths cannot be of the number of ranks that is assumed for a record; nil if they
// can. They are printed with two decimals, and may be off by 1 % beyond their rounding.
func (b bandwidths) contradiction(r *result.Record) notice.Fact {
	if b.alg == "" || r.World == 0 || r.Collective == coll.Other {
		return nil
	}
	algbw, busbw := r.Imported.Stated[b.alg], r.Imported.Stated[b.bus]
	alg, okAlg := number(algbw)
	bus, okBus := number(busbw)
	if !okAlg || !okBus || alg <= 0 {
		return nil
	}
	ratio, factor := bus/alg, r.Collective.BusFactor(r.World)
	fits := func(want float64) bool { return math.Abs(ratio-want) <= 0.01*want+0.01*(1+want)/alg }
	if fits(factor) || b.early && r.Collective.Shared() && fits(1) {
		return nil
	}
	return notice.RanksContradicted{
		BusBW: busbw, AlgBW: algbw, Ratio: notice.Ratio3(ratio), Ranks: r.World, Expected: notice.Ratio3(factor),
	}
}
