package trace

import (
	"bytes"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/units"
)

// madeCall is a call, described by an operator or a kernel.
type madeCall struct {
	Call
	peer int // world rank; Unknown
}

// collectiveOp is a host operator of a collective.
type collectiveOp struct {
	Span
	call     madeCall
	external int64
	thread   int32
}

// addCollective keeps a record_param_comms.
func (g *gathered) addCollective(e *event) {
	op := collectiveOp{Span: Span{e.start, after(e.start, e.took)}, external: e.args.number(argExternal),
		thread: g.thread(e), call: g.call(&e.args)}
	if op.call.Name != "wait" && op.call.Name != "init" { // they launch nothing
		g.ops = append(g.ops, op)
	}
}

// call returns the call that the arguments of a collective describe.
func (g *gathered) call(a *arguments) madeCall {
	m := madeCall{
		peer: Unknown,
		Call: Call{Name: g.words.text(a[argCollectiveName]), Seq: a.number(argSequence), Peer: Unknown,
			Parts: 1, Group: g.groups.index(g, a)},
	}
	m.What = collectiveNamed(m.Name)
	kind, bytes := elementType(g.words.text(a[argDataType]))
	m.Call.Type = kind
	in, out := sizeOf(a.number(argElementsIn), bytes), sizeOf(a.number(argElementsOut), bytes)
	m.Call.Bytes = callSize(&m.Call, in, out, a)
	if n := rankCount(a); m.What == coll.AllToAll && n > 0 {
		m.Splits = &Splits{Rows{splitList(a[argSplitsIn], n), in}, Rows{splitList(a[argSplitsOut], n), out}}
		if m.Splits.Sent.Of == nil && m.Splits.Received.Of == nil {
			m.Splits = nil
		}
	}
	switch strings.ToLower(m.Name) {
	case "send":
		m.Peer, m.peer = int(a.number(argPeer)), int(a.number(argTarget))
	case "recv":
		m.Peer, m.peer = int(a.number(argPeer)), int(a.number(argSource))
	}
	return m
}

// callSize returns the size of a collective as nccl-tests counts it; Unknown for several collectives in one kernel and
// for uneven shares.
func callSize(call *Call, in, out int64, a *arguments) int64 {
	switch lower := strings.ToLower(call.Name); {
	case lower == "send":
		return known(in)
	case lower == "recv":
		return known(out)
	case strings.Contains(lower, "coalesced") || !evenSplits(a[argSplitsIn], a[argSplitsOut]):
		return Unknown
	}
	return wholeSize(call.What, in, out, rankCount(a))
}

// collectives are torch.distributed's names, without underscores and variant suffixes.
var collectives = map[string]coll.Collective{
	"allreduce": coll.AllReduce, "allgather": coll.AllGather, "reducescatter": coll.ReduceScatter,
	"broadcast": coll.Broadcast,
	"reduce":    coll.Reduce, "alltoall": coll.AllToAll, "alltoallv": coll.AllToAll, "gather": coll.Gather,
	"scatter": coll.Scatter,
}

// variants are affixes for other signatures of the same operation: _allgather_base, all_gather_into_tensor_coalesced.
var variants = []string{"coalesced", "base", "oop", "single", "intotensor", "tensor", "sparse"}

// collectiveNamed returns the collective for a name of torch.distributed; Other for all else, such as send, recv and
// barrier.
func collectiveNamed(name string) coll.Collective {
	word := strings.ReplaceAll(strings.ToLower(name), "_", "")
	for _, v := range variants {
		word = strings.TrimSuffix(word, v)
	}
	if c, ok := collectives[word]; ok {
		return c
	}
	return coll.Other
}

// ofCollective reports whether a kernel may belong to the collective that launched it. The collective also launches
// kernels that copy and scale tensors, with the same arguments.
func ofCollective(name []byte, carries bool) bool {
	lower := bytes.ToLower(name)
	return bytes.Contains(lower, []byte("ccl")) || carries && !bytes.Contains(lower, []byte("at::native"))
}

// groupTable numbers communicators.
type groupTable struct {
	byKey units.Numbers[[4]int32] // by their descriptions
	all   []rawGroup
}

// rawGroup is a communicator as described by arguments.
type rawGroup struct {
	Group
	first, stride int64
}

// index returns Unknown if the arguments name no communicator.
func (t *groupTable) index(g *gathered, a *arguments) int32 {
	size := rankCount(a)
	if len(a[argGroupName]) == 0 && size == 0 {
		return Unknown
	}
	var key [4]int32
	for i, of := range []argument{argGroupName, argGroupAbout, argGroupRanks, argGroupSize} {
		key[i] = g.words.index(a[of])
	}
	i, added := t.byKey.Of(key)
	if added {
		t.all = append(t.all, rawGroup{Group: Group{Name: g.words.text(a[argGroupName]),
			About: g.words.text(a[argGroupAbout]), Ranks: rankList(a[argGroupRanks]), Size: size, Rank: Unknown}})
	}
	group := &t.all[i]
	if first, stride := a.number(argFirstRank), a.number(argRankStride); stride > 0 && first >= 0 {
		group.first, group.stride = first, stride
	}
	return int32(i)
}

// mostRanks exceeds any real world size; a file with more is damaged.
const mostRanks = 1 << 17

// rankCount returns the number of ranks of the group; 0 if unknown.
func rankCount(a *arguments) int {
	n := a.number(argGroupSize)
	if n <= 0 || n > mostRanks {
		return 0
	}
	return int(n)
}
