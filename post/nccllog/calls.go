package nccllog

import (
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
)

// callKey tells calls of one rank apart.
type callKey struct {
	name      string
	count     int64
	typ, op   int
	ranks     int
	truncated bool
}

// maxCalls is how many kinds of calls are kept of one rank; further ones are counted together.
const maxCalls = 1 << 12

// call reads "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 2097152 datatype 7 op 0 root 0 comm 0x3 [nranks=2]
// stream 0x4", with what RCCL has behind it: "task 0 globalrank 0".
func (r *Reader) call(p *process, m message) verdict {
	c := cursor{m.text}
	var name, opCount, sends, receives, pointer string
	var count int64
	var typ, red, root, ranks int
	if !c.all("%: opCount % sendbuff % recvbuff % count % datatype % op % root % comm % [nranks=%]", &name, &opCount,
		&sends, &receives, &count, &typ, &red, &root, &pointer, &ranks) || count < 0 || !letters(name) {
		return unknown
	}
	op, err := strconv.ParseInt(strings.TrimPrefix(opCount, "0x"), 16, 64)
	if err != nil {
		return unknown
	}
	switch {
	case pointer == "(nil)":
		pointer = "0x0"
	case strings.Contains(pointer, "."): // masked, as in a public log
		return passed
	}
	k := p.named(m.head, pointer)
	if k.ranks == Unknown {
		k.ranks = ranks
	}
	if k.Rank == Unknown {
		k.Rank = globalRank(c.s)
	}
	if k.comm == nil {
		r.join(k, "", nil)
	}
	r.count(k, callKey{name: name, count: count, typ: typ, op: folded(red), ranks: ranks})
	r.follow(k, callSign{name: name, count: count, typ: typ, op: folded(red), root: root}, op)
	return understood
}

// globalRank is the rank that RCCL writes behind a call.
func globalRank(s string) int {
	_, after, _ := strings.Cut(s, " globalrank")
	c, rank := cursor{after}, 0
	if c.all(" %", &rank) && rank >= 0 {
		return rank
	}
	return Unknown
}

func (r *Reader) count(k *member, key callKey) {
	if k.calls == nil {
		k.calls = map[callKey]*Calls{}
	}
	known := k.calls[key]
	if known == nil && len(k.calls) >= maxCalls {
		key.count, key.truncated = Unknown, true
		known = k.calls[key]
	}
	if known == nil {
		key.name = kept(key.name)
		known = &Calls{Comm: Unknown, Rank: Unknown, Name: key.name, What: collective(key.name), Count: key.count,
			Size: Unknown}
		bytes := 0
		known.Type, bytes = typed(key.typ)
		if known.What.Reduces() {
			known.Op = reduced(key.op)
		}
		if key.count >= 0 && bytes > 0 && key.count < 1<<58 {
			known.Size = sized(known.What, key.count*int64(bytes), key.ranks)
		}
		k.calls[key] = known
	}
	known.Times++
}

// callSign is what all ranks must have the same in one call.
type callSign struct {
	name          string
	count         int64
	typ, op, root int
}

// compared is what of a call must agree, and whether any of it must: sends and receives have peers, and the variants
// with a count for each rank have counts of their own.
func (s callSign) compared() (callSign, bool) {
	if s.name == "Send" || s.name == "Recv" || s.name == "SendRecv" {
		return s, false
	}
	what := collective(s.name)
	switch variant := strings.HasSuffix(s.name, "v"); {
	case what == coll.Other && !variant: // one-sided calls, and what a newer library has
		return s, false
	case variant:
		s.count = Unknown
	}
	if !what.Reduces() {
		s.op = 0
	}
	if !what.Rooted() {
		s.root = 0
	}
	return s, true
}

func (s callSign) String() string {
	what := collective(s.name)
	call := notice.NCCLCall{Name: s.name, Count: s.count, Root: -1}
	call.Type, _ = typed(s.typ)
	if what.Reduces() {
		call.Op = reduced(s.op)
	}
	if what.Rooted() && what != coll.Other {
		call.Root = s.root
	}
	return call.String()
}
