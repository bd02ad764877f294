package session

import (
	"cmp"
	"slices"
	"time"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/rank/backend"
)

// turn is one case of one session.
type turn struct {
	session *session
	i       int // of the session's cases
}

// missing returns the cases that a turn measures in a cycle, without those that an earlier run has. Groups that measure
// at the same time have one turn, that of the first.
func (t turn) missing(cycle int) []coll.Case {
	s, n := t.session, 1
	if g := s.cases[t.i].Groups; g.Divided() && !g.Alone {
		if n = g.Division.N(); g.Number > 1 {
			return nil
		}
	}
	return slices.DeleteFunc(slices.Clone(s.cases[t.i:t.i+n]), func(c coll.Case) bool {
		return s.done.Has(result.Point(s.lib.Name(), c, s.cycle(cycle)))
	})
}

// measure measures a turn together with the other ranks; missing are its cases without a value. Rank 0 only.
func (t turn) measure(missing []coll.Case, cycle int, budget time.Duration) ([]*groupResult, error) {
	var inHand []result.Entry
	for _, c := range missing {
		inHand = append(inHand, t.session.place(&result.Record{Kind: result.KindCase, Case: c, Cycle: cycle}))
	}
	t.session.run.Ledger.Begin(t.session.sheet, inHand...)
	return t.order(budget)
}

// order orders all ranks to measure a turn. Rank 0 only.
func (t turn) order(budget time.Duration) ([]*groupResult, error) {
	s := t.session
	l, ok := s.lib.(backend.Connector)
	c := s.cases[t.i]
	o := order{Session: int32(slices.Index(s.sessions, s)), Case: int32(t.i), Budget: budget,
		Left: s.pace.Remaining(), First: ok && l.ConnectsAtFirstUse() && !s.used[c.Collective] && !c.Groups.Divided()}
	if err := s.give(&o); err != nil {
		return nil, err
	}
	return s.perform(o)
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
