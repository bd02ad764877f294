package stats

// Standing is what becomes of a suspect once it was measured again while all others rested.
type Standing int

// The standings.
const (
	Cleared      Standing = iota // nothing that stands out of chance
	Slow                         // slow in both
	SlowTogether                 // slow only while the others measure too: what they share is short, not the suspect
	SlowUnsure                   // slow with the others; it was not measured alone
)

// The least excess, as a natural logarithm: of both measurements on average and of the one alone, of one that fades when it is alone, and
// of one that has only the first.
const (
	slowTwice    = 0.10
	slowSingle   = 0.13 // the same of what has a single pair, and a few to compare with
	slowAlone    = 0.06
	slowTogether = 0.22
	slowOnce     = 0.15
)

// Stand judges a suspect by its excess with all others measuring and, where again says that there is one, by that alone. single says
// that the excess is that of one pair, or that there are no more than a few; noise is the standard error of a time's logarithm.
func Stand(together, alone float64, again, single bool, noise float64) Standing {
	least := slowTwice
	if single {
		least = slowSingle
	}
	chance := nodeSigmas * noise // what is compared are medians of few times
	least = max(least, chance)
	switch {
	case !again && together >= max(slowOnce, chance):
		return SlowUnsure
	case !again:
		return Cleared
	case alone >= max(slowAlone, chance/2) && (together+alone)/2 >= least:
		return Slow
	case together >= max(slowTogether, chance) && alone < together/2:
		return SlowTogether
	}
	return Cleared
}
