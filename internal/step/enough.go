package step

import "busbar/internal/stats"

// negligible is the part of an overlapped step below which a mode's own time need not be precise, and communication
// counts as negligible: in a world of one, the time of no communication is noise.
const negligible = 1e-3

// Enough reports whether the median of each of the four modes is within precision: half the width of its 95 % CI,
// relative to the median. It is false with fewer than stats.MinForInterval rounds.
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
