package stats

// Standing is what becomes of a suspect once it was measured again while all others rested.
type Standing int

// The standings.
const (
	Cleared Standing = iota // not significant
	Slow                    // slow in both
	// slow only while the others measure too, twice: what they share is short, not the suspect
	SlowTogether
	SlowUnsure // slow with the others; it was not measured alone
	SlowOnce   // slow with the others, once, and not alone: to be measured with the others once more
)

// The minimum excess, as a natural logarithm: of the mean of both measurements, of the one alone, of one that fades
// when alone, and of one with only the first measurement.
const (
	slowTwice    = 0.10
	slowSingle   = 0.13 // the same of what has a single pair, and a few to compare with
	slowAlone    = 0.06
	slowTogether = 0.22
	slowOnce     = 0.15
)

// Evidence is what was measured of a suspect: each excess is the natural logarithm of how many times as long as others
// it took.
type Evidence struct {
	Together float64 // in the rounds, while all others measured
	Alone    float64 // while they rested
	Repeated float64 // in rounds that were measured once more
	Again    bool    // there is Alone
	Twice    bool    // there is Repeated
	Single   bool    // each excess is that of one pair, or there are no more than a few
	Noise    float64 // standard error of a time's logarithm
}

// Standing is what becomes of the suspect.
func (e Evidence) Standing() Standing {
	least := slowTwice
	if e.Single {
		least = slowSingle
	}
	chance := nodeSigmas * e.Noise // what is compared are medians of few times
	least = max(least, chance)
	switch {
	case !e.Again && e.Together >= max(slowOnce, chance):
		return SlowUnsure
	case !e.Again:
		return Cleared
	case e.Alone >= max(slowAlone, chance/2) && (e.Together+e.Alone)/2 >= least:
		return Slow
	case !e.fades(e.Together, chance):
		return Cleared
	case !e.Twice:
		return SlowOnce
	case e.fades(e.Repeated, chance):
		return SlowTogether
	}
	return Cleared
}

// fades reports whether an excess measured with the others far exceeds the one measured alone.
func (e Evidence) fades(together, chance float64) bool {
	return together >= max(slowTogether, chance) && e.Alone < together/2
}
