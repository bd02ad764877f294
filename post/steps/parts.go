package steps

// Parts are how an overlapped step is made up of what was measured alone, in seconds; they add up to it.
type Parts struct {
	Computing float64 // with nothing beside it
	Hidden    float64 // communication behind computing, by the wall clock
	Exposed   float64 // what the step takes longer than computing alone
}

// PartsOf splits an overlapped step. Where it took less than its computing alone, or more than both one after the
// other, as noise or interference make it, no part is below 0.
func PartsOf(compute, comm, overlapped float64) Parts {
	p := Parts{Exposed: min(max(0, overlapped-compute), overlapped)}
	rest := overlapped - p.Exposed
	p.Hidden = max(0, min(comm-p.Exposed, rest))
	p.Computing = rest - p.Hidden
	return p
}
