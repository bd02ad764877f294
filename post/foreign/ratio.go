package foreign

import (
	"math"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// span is a range of values, such as all those that are rounded to one printed text.
type span struct{ lo, hi float64 }

func (s span) has(v float64) bool { return s.lo <= v && v <= s.hi }

// printed is the range of values that round to a number as it is printed.
func printed(text string) (s span, ok bool) {
	v, ok := number(text)
	if !ok || v < 0 {
		return span{}, false
	}
	digits, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	_, decimals, _ := strings.Cut(digits, ".")
	scale, _ := strconv.Atoi(exponent)
	half := 0.5 * math.Pow10(scale-len(decimals))
	return span{v - half, v + half}, true
}

// ratioOf is the range of busbw/algbw, as far as both are printed; ok is false where they allow any ratio.
func ratioOf(algbw, busbw string) (s span, ok bool) {
	alg, okAlg := printed(algbw)
	bus, okBus := printed(busbw)
	if !okAlg || !okBus || alg.lo <= 0 {
		return span{}, false
	}
	const rounding = 1e-9 // of the division itself
	return span{max(bus.lo, 0) / alg.hi * (1 - rounding), bus.hi / alg.lo * (1 + rounding)}, true
}

// ratioTolerance is how far the printed busbw/algbw may be from that of the assumed number of ranks, beyond rounding.
const ratioTolerance = 0.01

// bandwidths are the columns of a layout that state algbw and busbw by busbar's definition.
type bandwidths struct {
	alg, bus string
	// early is set for versions up to 2020, which print busbw = algbw where each rank has a share of the data.
	early bool
}

// contradiction is why the stated bandwidths cannot be of the number of ranks that is assumed for a record; nil if they
// can.
func (b bandwidths) contradiction(r *result.Record) notice.Fact {
	if b.alg == "" || r.World == 0 || r.Collective == coll.Other {
		return nil
	}
	algbw, busbw := r.Imported.Stated[b.alg], r.Imported.Stated[b.bus]
	ratio, ok := ratioOf(algbw, busbw)
	factor := r.Collective.BusFactor(r.World)
	switch {
	case !ok, ratio.lo <= factor*(1+ratioTolerance) && ratio.hi >= factor*(1-ratioTolerance):
		return nil
	case b.early && r.Collective.Shared() && ratio.has(1):
		return nil
	}
	alg, _ := number(algbw)
	bus, _ := number(busbw)
	return notice.RanksContradicted{
		BusBW: busbw, AlgBW: algbw, Ratio: notice.Ratio3(bus / alg), Ranks: r.World, Expected: notice.Ratio3(factor),
	}
}
