package nccllog

import (
	"cmp"
	"math"
	"slices"

	"busbar/internal/notice"
)

// maxPositions is how many calls, over all communicators, are kept for comparing: eight bytes each.
const maxPositions = 8 << 20

// sequence is what the ranks of one communicator call, in order: what the rank that came first to each place called
// there.
type sequence struct {
	signs  []uint32 // index in Reader.signs
	ops    []uint32 // opCount there, which finds the place of a rank whose first calls are not in the log
	begins int64    // opCount of the first call that the rank wrote which began it, of any kind
	full   bool     // no more were kept
}

// track is how far one rank has come along it.
type track struct {
	calls    int64 // place of its next call
	start    int64 // place of its first
	before   int64 // calls before the first place, which are not compared
	op       int64 // of the last call
	last     callSign
	mismatch int64    // place of its first call that differs, from 0; Unknown
	instead  callSign // what it called there
	differOp int64
}

// follow takes one more call of a rank.
func (r *Reader) follow(k *member, sign callSign, op int64) {
	if !k.called {
		k.called, k.firstOp = true, op
	}
	sign, ok := sign.compared()
	if !ok {
		return
	}
	s := &k.comm.seq
	if len(s.signs) == 0 {
		s.begins = k.firstOp
	}
	if k.seq == nil {
		k.seq = &track{mismatch: Unknown}
		k.seq.start = s.place(k.firstOp, op)
		k.seq.calls = k.seq.start
	}
	t := k.seq
	id, known := r.sign(sign)
	t.op, t.last = op, r.signs[id]
	if t.calls == 0 && k.firstOp < s.begins && shortOp(op) < s.ops[0] {
		t.before++
		return
	}
	at := t.calls
	t.calls++
	switch {
	case !known || s.full && at >= int64(len(s.signs)):
		s.full = true
	case at < int64(len(s.signs)):
		if s.signs[at] != id && t.mismatch == Unknown {
			t.mismatch, t.instead, t.differOp = at, r.signs[id], op
		}
	case r.positions >= maxPositions:
		s.full = true
	default:
		// A rank that differed before says nothing of what the others should call.
		s.signs, s.ops = append(s.signs, id), append(s.ops, shortOp(op))
		r.positions++
	}
}

// place is where the calls of a rank begin. All begin with the first, unless one wrote from a later call on, as where
// its log was rotated or only its end kept: then it is where others had the same opCount. Calls of one group share
// theirs.
func (s *sequence) place(firstOp, op int64) int64 {
	if firstOp <= s.begins {
		return 0
	}
	at, _ := slices.BinarySearch(s.ops, shortOp(op))
	return int64(at)
}

// shortOp is an opCount as it is kept.
func shortOp(op int64) uint32 { return uint32(min(max(op, 0), math.MaxUint32)) }

// written is how many calls of it are in the log.
func (t *track) written() int64 { return t.before + t.calls - t.start }

// maxSigns is how many different calls are told apart.
const maxSigns = 1 << 18

// sign numbers calls that are the same.
func (r *Reader) sign(s callSign) (uint32, bool) {
	if id, ok := r.signID[s]; ok {
		return id, true
	}
	if len(r.signs) >= maxSigns {
		return 0, false
	}
	s.name = kept(s.name)
	r.signs = append(r.signs, s)
	r.signID[s] = uint32(len(r.signs) - 1)
	return uint32(len(r.signs) - 1), true
}

// sequence says whether the ranks of a communicator called the same; false where fewer than two wrote calls.
func (r *Reader) compare(c *communicator, places []int) (Sequence, bool) {
	var tracked []*member
	for _, k := range c.members {
		if k.seq != nil && k.Rank >= 0 {
			tracked = append(tracked, k)
		}
	}
	if len(tracked) < 2 {
		return Sequence{}, false
	}
	slices.SortStableFunc(tracked, func(a, b *member) int { return cmp.Compare(a.Rank, b.Rank) })
	s := Sequence{Ranks: []Reached{}, Behind: []Behind{}}
	first := int64(Unknown)
	for _, k := range tracked {
		t := k.seq
		s.Ranks = append(s.Ranks, Reached{Rank: k.Rank, Process: places[k.proc.number], Calls: t.written(), Op: t.op,
			Last: t.last.String()})
		s.Compared = max(s.Compared, t.calls)
		if t.mismatch != Unknown && (first == Unknown || t.mismatch < first) {
			first = t.mismatch
		}
	}
	if c.seq.full {
		s.Compared = min(s.Compared, int64(len(c.seq.signs)))
	}
	most := maxCallsOf(tracked)
	for _, k := range tracked {
		if k.seq.calls < most {
			s.Behind = append(s.Behind, Behind{Rank: k.Rank, Process: places[k.proc.number], Calls: k.seq.written(),
				By: most - k.seq.calls})
		}
	}
	slices.SortStableFunc(s.Behind, func(a, b Behind) int { return cmp.Compare(b.By, a.By) })
	if first != Unknown {
		s.Mismatch = r.mismatch(c, tracked, first)
	}
	return s, true
}

func maxCallsOf(all []*member) (most int64) {
	for _, k := range all {
		most = max(most, k.seq.calls)
	}
	return most
}

// mismatch says who called what at one place.
func (r *Reader) mismatch(c *communicator, tracked []*member, at int64) *Mismatch {
	m := &Mismatch{Number: at + 1, Op: Unknown}
	sides := map[callSign][]int{}
	for _, k := range tracked {
		switch {
		case k.seq.calls <= at || k.seq.start > at:
			continue
		case k.seq.mismatch == at:
			sides[k.seq.instead] = append(sides[k.seq.instead], k.Rank)
			if m.Op == Unknown {
				m.Op = k.seq.differOp
			}
		default:
			agreed := r.signs[c.seq.signs[at]]
			sides[agreed] = append(sides[agreed], k.Rank)
		}
	}
	for sign, ranks := range sides {
		m.Sides = append(m.Sides, Called{Call: sign.String(), Ranks: ranks})
	}
	slices.SortFunc(m.Sides, func(a, b Called) int {
		return cmp.Or(cmp.Compare(len(b.Ranks), len(a.Ranks)), cmp.Compare(a.Ranks[0], b.Ranks[0]))
	})
	return m
}

// doubt is why differences between ranks may be of the log alone; nil where nothing suggests it.
func (r *Reader) doubt(c *communicator, s Sequence) *notice.Doubt {
	first, last := begun(c)
	switch {
	case first != last:
		return &notice.Doubt{Cause: notice.DifferentStart, A: first, B: last}
	case r.log.Reading.Damaged > 0 && r.lostCalls > 0:
		return &notice.Doubt{Cause: notice.CutCalls, A: int64(r.lostCalls)}
	case c.seq.full:
		return &notice.Doubt{Cause: notice.ComparedUpTo, A: int64(len(c.seq.signs))}
	case r.guessed(c):
		return &notice.Doubt{Cause: notice.SameSize}
	case c.ranks > 0 && len(s.Ranks) < c.ranks:
		return &notice.Doubt{Cause: notice.PartOfRanks, A: int64(len(s.Ranks)), B: int64(c.ranks)}
	}
	return nil
}

// begun is the least and the greatest opCount with which ranks of a communicator begin.
func begun(c *communicator) (first, last int64) {
	first, last = math.MaxInt64, 0
	for _, k := range c.members {
		if k.seq != nil && k.Rank >= 0 {
			first, last = min(first, k.firstOp), max(last, k.firstOp)
		}
	}
	return min(first, last), last
}

// guessed says whether ranks may have been put into this communicator that are of another: see communicatorOf.
func (r *Reader) guessed(c *communicator) bool {
	return c.id == "" && len(r.unnamed[c.sort]) > 1
}
