package step

import "busbar/internal/stats"

// negligible is the part of an overlapped step below which a mode's own time is not asked to be precise, and
// communication is said to be next to none: what a world of one takes to communicate nothing is noise.
const negligible = 1e-3

// Enough says whether the median of each of the four modes is known to within precision, as half the width of its 95 %
// interval in parts of the median. It is false with fewer than stats.MinForInterval rounds.
func Enough(rounds []Round, precision float64) bool {
	if len(rounds) < stats.MinForInterval {
		return false
	}
	step := stats.Median(each(rounds, overlapped))
	for _, mode := range []func(*Round) float64{compute, comm, sequential, overlapped} {
		x := each(rounds, mode)
		if stats.Median(x) >= negligible*step && !stats.Narrow(x, precision) {
			return false
		}
	}
	return true
}

func compute(r *Round) float64    { return r.Compute }
func comm(r *Round) float64       { return r.Comm }
func sequential(r *Round) float64 { return r.Sequential }
func overlapped(r *Round) float64 { return r.Overlapped }
