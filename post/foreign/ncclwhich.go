package foreign

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// world is the number of ranks of one communicator; 0 if not stated.
func (t *ncclTest) world() int {
	if len(t.ranks) == 0 {
		return 0
	}
	n, last := 0, 0
	for i, r := range t.ranks {
		if last = max(last, r.Rank+1); t.groups[i] == t.groups[0] {
			n++
		}
	}
	if slices.Max(t.groups) > 0 {
		return n
	}
	return last
}

// decide sets what follows from the first rows together.
func (t *ncclTest) decide(rows []*result.Record) {
	t.describe()
	if t.run.World == 0 {
		t.run.World = t.world()
	}
	if t.collective == 0 {
		t.collective = coll.Other
		if t.columns != nil && len(rows) > 0 {
			t.which(rows)
		}
	}
	for _, r := range rows {
		if r.Collective == coll.Other && r.Imported.Operation == "" {
			r.Collective, r.Imported.Operation = t.collective, t.operation
		}
	}
}

// which deduces an unnamed collective if columns and values leave only one.
func (t *ncclTest) which(rows []*result.Record) {
	left := t.candidates(rows)
	if len(left) == 1 {
		t.collective = left[0]
		t.deduced(notice.Deduced{What: notice.DeducedCollective, From: notice.FromColumns})
		return
	}
	t.warn(notice.CollectiveUnknown{Fits: units.Map(left, coll.Collective.String)})
}

// rowFacts are a row's facts about its collective.
type rowFacts struct {
	reduces, rooted       bool // an operation, a root is named
	checkedIn, checkedOut bool // the data was checked in place, out of place
	uncheckedIn           bool // it was not in place
	shared, plain         bool // the size is one rank's share, is one tensor
	largest               float64
}

func factsOf(rows []*result.Record) (f rowFacts) {
	for _, r := range rows {
		in, checked := r.Placement == coll.InPlace, r.Check.Result != "off"
		f.reduces, f.rooted = f.reduces || r.Op != 0, f.rooted || r.Root >= 0
		f.checkedIn, f.uncheckedIn = f.checkedIn || in && checked, f.uncheckedIn || in && !checked
		f.checkedOut = f.checkedOut || !in && checked
		if s := r.Count * int64(r.Type.Size()); s > 0 {
			f.plain, f.shared = f.plain || r.SizeBytes == s, f.shared || r.SizeBytes > s
		}
		b, _ := number(r.Imported.Stated["busbw"])
		f.largest = max(f.largest, b)
	}
	return f
}

// candidates are the collectives that are not excluded.
func (t *ncclTest) candidates(rows []*result.Record) (left []coll.Collective) {
	f, n := factsOf(rows), t.world()
	if n == 0 {
		n = t.in.file.Given.world()
	}
	several := n > 1 || n == 0 && f.largest > 0 // with one rank busbw is 0
	for _, k := range coll.Collectives() {
		unchecked := k == coll.AllToAll || k == coll.SendRecv // in place, though others are checked
		switch {
		case !t.columns.fits(k, f),
			f.checkedIn && unchecked, f.uncheckedIn && f.checkedOut && !unchecked,
			t.around.vendor != "rccl" && (k.Shared() && several && f.plain || !k.Shared() && f.shared):
		default:
			left = append(left, k)
		}
	}
	return left
}

// fits compares with the columns of the collective's program in each version.
func (c *ncclColumns) fits(k coll.Collective, f rowFacts) bool {
	switch {
	case c.error == "#wrong" && c.emptyOp:
		return false // hypercube leaves it empty
	case c.error == "#wrong" && k == coll.SendRecv: // it prints an operation that it does not use
		return !f.rooted
	case c.error == "#wrong": // all columns are present
		return f.reduces == k.Reduces() && (f.rooted == k.Rooted() || !c.root())
	case c.error == "error" && k == coll.AllToAll: // an empty column
		return c.op() && !c.root() && !f.reduces
	case c.error == "res" && k > coll.Reduce:
		return false // later programs
	}
	return c.op() == k.Reduces() && (!c.op() || f.reduces) && c.root() == k.Rooted()
}
