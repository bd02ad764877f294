package foreign

import (
	"math"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// bandwidths are a layout's columns with algbw and busbw by busbar's definition.
type bandwidths struct {
	alg, bus string
	// early is true for versions up to 2020, which print busbw = algbw if each rank has a share of the data.
	early bool
}

// contradiction returns why the stated bandwidths contradict the assumed number of ranks; nil if they do not. They
// have two decimals; the tolerance is 1 % beyond rounding.
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
