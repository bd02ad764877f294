package session

import (
	"cmp"
	"slices"

	"busbar/internal/coll"
)

// turn is one case of one session.
type turn struct {
	session *session
	i       int // of the session's cases
}

// takeTurns returns the order of the cases of several sessions: that of the plan, each case with every library before
// the next case. If libraries differ in placements, cases of the same message size are adjacent.
func takeTurns(sessions []*session) []turn {
	sizes, cases := map[coll.Case]int{}, map[coll.Case]int{} // in order of first appearance
	var turns []turn
	for _, s := range sessions {
		for i, c := range s.cases {
			meet(cases, c)
			meet(sizes, anywhere(c))
			turns = append(turns, turn{s, i})
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int {
		x, y := a.session.cases[a.i], b.session.cases[b.i]
		return cmp.Or(cmp.Compare(sizes[anywhere(x)], sizes[anywhere(y)]), cmp.Compare(cases[x], cases[y]))
	})
	return turns
}

// anywhere returns a case without its placement.
func anywhere(c coll.Case) coll.Case {
	c.Placement = 0
	return c
}

// meet numbers a case on its first appearance.
func meet(known map[coll.Case]int, c coll.Case) {
	if _, ok := known[c]; !ok {
		known[c] = len(known)
	}
}
