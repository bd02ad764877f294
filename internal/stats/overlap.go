package stats

import "math"

// WallClockOverlap is the share of communication that was hidden, seen from outside: (compute + comm - total) / comm,
// as a fraction; NaN where comm is not positive. It is the formula of profiling exercises and, in other letters, of the
// OSU benchmarks of non-blocking collectives. The three are lengths of time in one unit: the work without its
// communication, the communication without the work, and both together.
//
// 100 ms of work and 30 ms of communication that take 115 ms together overlap by 50 %.
//
// It is right only where compute and comm were each measured alone and nothing idles in total. Then it sees what
// intervals cannot: that each runs slower beside the other. It is not bounded: of a trace, whatever idles in total
// counts against it, and it may be below 0.
func WallClockOverlap(compute, comm, total float64) float64 {
	if !(comm > 0) {
		return math.NaN()
	}
	return (compute + comm - total) / comm
}

// StrongScaling is how much of the ideal speed-up more ranks give on the same work: n0 t0 / (n1 t1), as a fraction,
// where n0 ranks take t0 and n1 ranks t1. With n0 = 1 it is T1 / (N TN). NaN where one of them is not positive.
//
// 100 ms on one GPU and 60 ms on two are 83 %: a speed-up of 1.67 of 2.
//
// It is right where the work of a step is the same in both runs: the global batch is kept, and each rank gets less of
// it.
func StrongScaling(t0 float64, n0 int, t1 float64, n1 int) float64 {
	if !(t0 > 0) || !(t1 > 0) || n0 < 1 || n1 < 1 {
		return math.NaN()
	}
	return float64(n0) * t0 / (float64(n1) * t1)
}

// WeakScaling is how much of its speed a rank keeps when there are more of them: t0 / t1, as a fraction, where fewer
// ranks take t0 and more ranks t1. With one rank as the fewer it is T1 / TN. NaN where one of them is not positive.
//
// It is right where the work of a step grows with the ranks: each has the same batch in both runs.
func WeakScaling(t0, t1 float64) float64 {
	if !(t0 > 0) || !(t1 > 0) {
		return math.NaN()
	}
	return t0 / t1
}
