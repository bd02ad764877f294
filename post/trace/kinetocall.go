package trace

import (
	"bytes"
	"regexp"
	"strings"

	"busbar/internal/coll"
)

// madeCall is a call as an operator or a kernel tells of it.
type madeCall struct {
	Call
	peer int // of the world; Unknown
}

// collectiveOp is an operator or a range of the host that is of a collective.
type collectiveOp struct {
	Span
	call     madeCall
	external int64
	thread   int32
	about    int8 // how much it tells: see the constants
}

// How much an operator tells of its collective.
const (
	tellsNothing = iota // record_param_comms of old versions
	tellsName           // a range nccl:all_reduce, perhaps with the shape of its input
	tellsAll
)

// addCollective keeps a record_param_comms or a range nccl:….
func (g *gathered) addCollective(e *event) {
	op := collectiveOp{Span: Span{e.start, after(e.start, e.took)}, external: e.args.number(argExternal),
		thread: g.threads.index(e.pid, e.tid)}
	switch {
	case len(e.args[argCollectiveName]) > 0:
		op.call, op.about = g.call(&e.args), tellsAll
		if op.call.Name == "wait" || op.call.Name == "init" {
			return // they launch nothing
		}
	case bytes.HasPrefix(e.name, []byte(`"nccl:`)):
		op.call, op.about = g.named(e), tellsName
		g.addRange(e)
	}
	g.ops = append(g.ops, op)
}

// call is what the arguments of a collective record.
func (g *gathered) call(a *arguments) madeCall {
	m := madeCall{
		peer: Unknown,
		Call: Call{Name: g.words.text(a[argCollectiveName]), Seq: a.number(argSequence), Peer: Unknown,
			Parts: 1, Group: g.groups.index(g, a)},
	}
	m.What = collectiveNamed(m.Name)
	kind, bytes := elementType(g.words.text(a[argDataType]))
	m.Call.Type = kind
	m.Call.Bytes = callSize(&m.Call, sizeOf(a.number(argElementsIn), bytes), sizeOf(a.number(argElementsOut), bytes), a)
	switch strings.ToLower(m.Name) {
	case "send":
		m.Peer, m.peer = int(a.number(argOwnRank)), int(a.number(argTarget))
	case "recv":
		m.Peer, m.peer = int(a.number(argOwnRank)), int(a.number(argSource))
	}
	return m
}

// callSize is the size of a collective as nccl-tests counts it. What runs as one kernel for several collectives, and
// what does not give all ranks the same, has no such size.
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

// collectives are the words of torch.distributed, without underscores and without what they add for variants.
var collectives = map[string]coll.Collective{
	"allreduce": coll.AllReduce, "allgather": coll.AllGather, "reducescatter": coll.ReduceScatter,
	"broadcast": coll.Broadcast,
	"reduce":    coll.Reduce, "alltoall": coll.AllToAll, "alltoallv": coll.AllToAll, "gather": coll.Gather,
	"scatter": coll.Scatter,
}

// variants are added to a collective's name for other signatures of the same operation: _allgather_base,
// all_gather_into_tensor_coalesced.
var variants = []string{"coalesced", "base", "oop", "single", "intotensor", "tensor", "sparse"}

// collectiveNamed is the collective of a name of torch.distributed; Other for what is none of ours, such as send, recv
// and barrier.
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

// named is what a range like nccl:all_reduce tells: the operation, and where shapes are recorded the size of its input.
func (g *gathered) named(e *event) madeCall {
	name := strings.TrimPrefix(g.words.text(e.name), "nccl:")
	if verb, _, peers := strings.Cut(name, " "); peers {
		name = verb // send 0->1
	}
	m := madeCall{peer: Unknown}
	m.Name, m.What = name, collectiveNamed(name)
	m.Group, m.Seq, m.Peer, m.Parts, m.Call.Bytes = Unknown, Unknown, Unknown, 1, Unknown
	if elements, kind := oneInput(e.args[argShapes], e.args[argTypes]); kind != "" {
		var size int
		m.Call.Type, size = elementType(kind)
		m.Call.Bytes = callSize(&m.Call, sizeOf(elements, size), Unknown, &e.args)
		if m.What == coll.AllGather || m.What == coll.Gather || m.What == coll.Scatter || m.What == coll.AllToAll {
			m.Call.Bytes = Unknown // of how many ranks, or in which shares, a range does not tell
		}
	}
	return m
}

// oneShape and oneType are the lists of the only input.
var (
	oneShape = regexp.MustCompile(`^\[\s*\[([\d,\s]+)\]\s*\]$`)
	oneType  = regexp.MustCompile(`^\[\s*("[^"]*")\s*\]$`)
)

// oneInput is the number of elements and the type of the only input: [[394241]] and ["float"]. The type is "" where
// there are several.
func oneInput(shapes, types []byte) (elements int64, kind string) {
	shape, of := oneShape.FindSubmatch(shapes), oneType.FindSubmatch(types)
	if shape == nil || of == nil {
		return 0, ""
	}
	elements = 1
	for word := range bytes.SplitSeq(shape[1], []byte(",")) {
		n, ok := decimal(bytes.TrimSpace(word), 0)
		if !ok || n <= 0 || elements > mostBytes/n {
			return 0, ""
		}
		elements *= n
	}
	return elements, text(of[1])
}

// ofCollective says whether a kernel may be of the collective that it was launched in. Kernels that copy and scale
// tensors for it are launched there too, and have its arguments.
func ofCollective(name []byte, carries bool) bool {
	lower := bytes.ToLower(name)
	return bytes.Contains(lower, []byte("ccl")) || carries && !bytes.Contains(lower, []byte("at::native"))
}

// groupTable numbers communicators.
type groupTable struct {
	byKey map[string]int32
	all   []rawGroup
	key   []byte
}

// rawGroup is a communicator as arguments tell of it.
type rawGroup struct {
	Group
	first, skip int64
	mine        int // rank of this process in it; Unknown
}

// index is Unknown where the arguments name no communicator.
func (t *groupTable) index(g *gathered, a *arguments) int32 {
	size := rankCount(a)
	if len(a[argGroupName]) == 0 && size == 0 {
		return Unknown
	}
	t.key = t.key[:0]
	for _, of := range []argument{argGroupName, argGroupAbout, argGroupRanks, argGroupSize} {
		t.key = append(append(t.key, a[of]...), 0)
	}
	i, ok := t.byKey[string(t.key)]
	if !ok {
		if t.byKey == nil {
			t.byKey = map[string]int32{}
		}
		i = int32(len(t.all))
		t.byKey[string(t.key)] = i
		t.all = append(t.all, rawGroup{mine: Unknown, Group: Group{Name: g.words.text(a[argGroupName]),
			About: g.words.text(a[argGroupAbout]), Ranks: rankList(a[argGroupRanks]), Size: size, Rank: Unknown}})
	}
	group := &t.all[i]
	if first, skip := a.number(argFirstRank), a.number(argRankStride); skip > 0 && first >= 0 {
		group.first, group.skip = first, skip
	}
	switch collectiveNamed(text(a[argCollectiveName])) {
	case coll.AllReduce, coll.AllGather, coll.ReduceScatter, coll.AllToAll:
		// of a send the rank among the arguments is the peer's, of a broadcast the root
		if rank := a.number(argOwnRank); rank >= 0 && rank < int64(size) {
			group.mine = int(rank)
		}
	}
	return i
}

// mostRanks is more than any world has; a file with more is damaged.
const mostRanks = 1 << 17

// rankCount is the number of ranks of the group; 0 where it is not known.
func rankCount(a *arguments) int {
	n := a.number(argGroupSize)
	if n <= 0 || n > mostRanks {
		return 0
	}
	return int(n)
}
