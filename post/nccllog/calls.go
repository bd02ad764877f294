package nccllog

import (
	"slices"
	"strconv"
	"strings"

	"busbar/post/nccllog/logline"

	"busbar/internal/coll"
	"busbar/internal/notice/nccllogs"
	"busbar/internal/units"
)

// maxCalls is how many kinds of calls are kept of one rank; further ones are counted together.
const maxCalls = 1 << 12

var callLine = logline.MustCompile(
	"%: opCount % sendbuff % recvbuff % count % datatype % op % root % comm % [nranks=%]")

// readCall reads "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 2097152 datatype 7 op 0 root 0 comm 0x3
// [nranks=2] stream 0x4", with what RCCL has behind it: "task 0 globalrank 0".
func readCall(r *Reader, p *process, m message) bool {
	c := logline.Cursor{S: m.text}
	var name, opCount, sends, receives, pointer string
	var count int64
	var typ, op, root, ranks int
	if !c.All(callLine, &name, &opCount, &sends, &receives, &count, &typ, &op, &root, &pointer, &ranks) ||
		count < 0 || !letters(name) || strings.Contains(pointer, ".") { // masked, as in a public log
		return false
	}
	number, err := strconv.ParseInt(strings.TrimPrefix(opCount, "0x"), 16, 64)
	if err != nil {
		return false
	}
	k := p.named(m.head, strings.Replace(pointer, "(nil)", "0x0", 1))
	if k.part.Ranks == Unknown {
		k.part.Ranks = ranks
	}
	if k.Rank == Unknown {
		k.Rank = globalRank(c.S)
	}
	r.join(k, "", sort{ranks: k.part.Ranks})
	what := logline.Collective(name)
	made := nccllogs.NCCLCall{Name: name, Count: count, Root: root}
	made.Type, _ = logline.Typed(typ)
	if what.Reduces() {
		made.Op = logline.Reduced(op)
	}
	r.count(k, what, made, typ, ranks)
	r.follow(k, what, made, number)
	return true
}

// globalRank is the rank that RCCL writes behind a call.
func globalRank(s string) int {
	_, after, _ := strings.Cut(s, " globalrank")
	c, rank := logline.Cursor{S: after}, 0
	if c.All(" %", &rank) && rank >= 0 {
		return rank
	}
	return Unknown
}

// count adds a call to those of its kind.
func (r *Reader) count(k *member, what coll.Collective, made nccllogs.NCCLCall, typ, ranks int) {
	c := Calls{Name: made.Name, What: what, Count: made.Count, Type: made.Type, Op: made.Op, Size: Unknown, of: k}
	if _, bytes := logline.Typed(typ); bytes > 0 && c.Count < 1<<58 {
		c.Size = logline.Sized(what, c.Count*int64(bytes), ranks)
	}
	if _, known := r.index[c]; !known {
		if k.kinds++; k.kinds > maxCalls {
			c.Count, c.Size = Unknown, Unknown
		}
	}
	row(r, &r.log.Calls, c, c).Times++
}

// maxPositions is how many calls, over all communicators, are kept for comparing: eight bytes each.
const maxPositions = 8 << 20

// track is how far one rank has come along what the ranks of its communicator call.
type track struct {
	called  bool
	firstOp int64 // opCount of its first call of any kind
	made    int64 // calls that are compared
	op      int64 // of the last of them
	last    nccllogs.NCCLCall
	differs *differing // its first call that differs
}

// differing is a call that differs from what another rank called at the same place.
type differing struct {
	at, op int64
	call   nccllogs.NCCLCall
}

// follow compares one more call of a rank. Sends and receives have peers, and the variants with a count for each rank
// have counts of their own.
func (r *Reader) follow(k *member, what coll.Collective, call nccllogs.NCCLCall, op int64) {
	if !k.called {
		k.called, k.firstOp = true, op
	}
	variant := strings.HasSuffix(call.Name, "v") && call.Name != "Recv" && call.Name != "SendRecv"
	switch {
	case call.Name == "Send" || call.Name == "Recv" || call.Name == "SendRecv",
		what == coll.Other && !variant: // one-sided calls, and what a newer library has
		return
	case variant:
		call.Count = Unknown
	}
	if !what.Rooted() || what == coll.Other {
		call.Root = Unknown
	}
	c := k.comm
	at := k.made
	k.made, k.op, k.last = at+1, op, call
	switch {
	case at < int64(len(c.calls)):
		if k.differs == nil && *c.calls[at] != call {
			k.differs = &differing{at, op, call}
		}
	case c.full || r.positions >= maxPositions:
		c.full = true
	default:
		if r.sequences.calls[call] == nil {
			r.sequences.calls[call] = &call
		}
		c.calls = append(c.calls, r.sequences.calls[call])
		r.positions++
	}
}

// compare reports whether the ranks of a communicator called the same; false where fewer than two wrote calls, or where
// they do not begin with the same call, as in logs of which the beginning was cut off.
func (r *Reader) compare(c *communicator) (s Sequence, ok bool) {
	tracked := units.Where(c.members, func(k *member) bool { return k.made > 0 && k.Rank >= 0 })
	if len(tracked) < 2 ||
		slices.ContainsFunc(tracked, func(k *member) bool { return k.firstOp != tracked[0].firstOp }) {
		return s, false
	}
	s.Comm = c.number
	var first *differing
	for _, k := range tracked {
		s.Ranks = append(s.Ranks, Reached{k.Rank, k.Process, k.made, k.op, k.last.String()})
		s.Compared = max(s.Compared, k.made)
		if k.differs != nil && (first == nil || k.differs.at < first.at) {
			first = k.differs
		}
	}
	for _, k := range tracked {
		if k.made < s.Compared {
			s.Behind = append(s.Behind, Behind{k.Rank, k.Process, k.made, s.Compared - k.made})
		}
	}
	units.SortBy(s.Behind, func(b Behind) int64 { return -b.By })
	if c.full {
		s.Compared = min(s.Compared, int64(len(c.calls)))
	}
	if first != nil {
		s.Mismatch = c.mismatch(tracked, first)
	}
	if first != nil || len(s.Behind) > 0 {
		s.Doubt = r.doubt(c, len(tracked))
	}
	return s, true
}

// mismatch is who called what at the place of the first difference.
func (c *communicator) mismatch(tracked []*member, first *differing) *Mismatch {
	m := &Mismatch{Number: first.at + 1, Op: first.op}
	var calls units.Numbers[nccllogs.NCCLCall]
	for _, k := range tracked {
		call := *c.calls[first.at]
		switch {
		case k.made <= first.at:
			continue
		case k.differs != nil && k.differs.at == first.at:
			call = k.differs.call
		}
		i, added := calls.Of(call)
		if added {
			m.Sides = append(m.Sides, nccllogs.Called{Call: call.String()})
		}
		m.Sides[i].Ranks = append(m.Sides[i].Ranks, k.Rank)
	}
	units.SortBy(m.Sides, func(s nccllogs.Called) int { return -len(s.Ranks) })
	return m
}

// doubt is why differences between ranks may be of the log alone; nil where nothing suggests it.
func (r *Reader) doubt(c *communicator, tracked int) *nccllogs.Doubt {
	switch {
	case r.lost > 0:
		return &nccllogs.Doubt{Cause: nccllogs.CutCalls, A: r.lost}
	case c.full:
		return &nccllogs.Doubt{Cause: nccllogs.ComparedUpTo, A: int64(len(c.calls))}
	case len(r.unnamed[c.sort]) > 1 && c.ID == "": // ranks may be of another one
		return &nccllogs.Doubt{Cause: nccllogs.SameSize}
	case tracked < c.Ranks:
		return &nccllogs.Doubt{Cause: nccllogs.PartOfRanks, A: int64(tracked), B: int64(c.Ranks)}
	}
	return nil
}
