package hang

import (
	"slices"

	"busbar/internal/notice/hangs"
)

// State is what a rank made of a numbered collective.
type State uint8

// The states.
const (
	Done    State = iota // completed
	Waiting              // called, and neither completed nor retired; or failed
	Missing              // not called
	Other                // it called something else; no presence is
	Silent               // unknown
	Ended                // retired, which Gloo does with failed operations, too
	States               // how many there are
)

// Column is one collective of the group of the verdict, with the ranks in each state.
type Column struct {
	Sequence int64
	Call     hangs.Call
	Ranks    [States]hangs.Ranks
}

// mostColumns is how many collectives the timeline has.
const mostColumns = 20

// columns are the last collectives of the group of the verdict, up to the one where it stopped and what follows.
func (a *analysis) columns() (all []Column) {
	g := a.shown()
	if g == nil {
		return nil
	}
	var numbers []int64
	for _, t := range g.tracks {
		for i := max(0, len(t.slots)-2*mostColumns); i < len(t.slots); i++ {
			numbers = append(numbers, t.slots[i].seq)
		}
		if t.timeout != nil {
			numbers = append(numbers, t.timeout.Seq)
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	end := len(numbers)
	if a.root != nil && a.root.group == g && !a.root.p2p { // up to two after the one that counts
		i, _ := slices.BinarySearch(numbers, a.root.seq)
		end = min(end, i+3)
	}
	for _, seq := range numbers[max(0, end-mostColumns):end] {
		all = append(all, g.column(seq))
	}
	return all
}

// shown is the group of the verdict, or the largest.
func (a *analysis) shown() (g *group) {
	if a.root != nil {
		return a.root.group
	}
	for _, other := range a.groups {
		if g == nil || len(other.tracks) > len(g.tracks) {
			g = other
		}
	}
	return g
}

func (g *group) column(seq int64) Column {
	c := Column{Sequence: seq}
	sides := g.sides(seq, g.ranks())
	var other []int
	if len(sides) > 0 {
		c.Call = callOf(sides[0].call, 0)
		probe := &candidate{group: g, seq: seq, sides: sides}
		if !sameOps(sides) || g.sizesDiffer(probe) {
			for _, s := range probe.sides[1:] {
				other = append(other, s.ranks...)
			}
		}
	}
	for _, rank := range g.everyone() {
		state := Silent
		if t := g.tracks[rank]; slices.Contains(other, rank) {
			state = Other
		} else if t != nil {
			state = t.presence(seq)
		}
		c.Ranks[state] = append(c.Ranks[state], rank)
	}
	return c
}
