package trace

import (
	"bytes"
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
	op := collectiveOp{Span: Span{e.start, after(e.start, e.took)}, external: e.args.external,
		thread: g.threads.index(e.pid, e.tid)}
	switch {
	case len(e.args.collective.name) > 0:
		op.call, op.about = g.call(&e.args.collective), tellsAll
		if op.call.Name == "wait" || op.call.Name == "init" {
			return // they launch nothing
		}
	case bytes.HasPrefix(e.name, []byte(`"nccl:`)):
		op.call, op.about = g.named(e), tellsName
		g.addRange(e)
	}
	g.ops = append(g.ops, op)
}

// call is what the arguments of a collective tell.
func (g *gathered) call(c *collective) madeCall {
	m := madeCall{peer: Unknown}
	m.Name = g.words.text(c.name)
	m.What = collectiveNamed(m.Name)
	kind, bytes := elementType(g.words.text(c.kind))
	m.Call.Type, m.Seq, m.Peer, m.Parts = kind, c.seq, Unknown, 1
	m.Group = g.groups.index(g, c)
	m.Call.Bytes = callSize(&m.Call, sizeOf(c.in, bytes), sizeOf(c.out, bytes), c)
	switch strings.ToLower(m.Name) {
	case "send":
		m.Peer, m.peer = int(c.rank), int(c.to)
	case "recv":
		m.Peer, m.peer = int(c.rank), int(c.from)
	}
	return m
}

// callSize is the size of a collective as nccl-tests counts it. What runs as one kernel for several collectives, and
// what does not give all ranks the same, has no such size.
func callSize(call *Call, in, out int64, c *collective) int64 {
	switch lower := strings.ToLower(call.Name); {
	case lower == "send":
		return known(in)
	case lower == "recv":
		return known(out)
	case strings.Contains(lower, "coalesced") || !evenSplits(c.inSplit, c.outSplit):
		return Unknown
	}
	return wholeSize(call.What, in, out, int(max(0, min(c.size, mostRanks))))
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
	if elements, kind := oneInput(e.args.collective.shapes, e.args.collective.types); kind != "" {
		var size int
		m.Call.Type, size = elementType(kind)
		m.Call.Bytes = callSize(&m.Call, sizeOf(elements, size), Unknown, &e.args.collective)
		if m.What == coll.AllGather || m.What == coll.Gather || m.What == coll.Scatter || m.What == coll.AllToAll {
			m.Call.Bytes = Unknown // of how many ranks, or in which shares, a range does not tell
		}
	}
	return m
}

// oneInput is the number of elements and the type of the only input: [[394241]] and ["float"]. The type is "" where
// there are several.
func oneInput(shapes, types []byte) (elements int64, kind string) {
	shape, ok := insideOf(shapes)
	if !ok || bytes.IndexByte(shape, '[') != 0 || bytes.Count(shape, []byte("[")) != 1 ||
		bytes.IndexByte(shape, ']') != len(shape)-1 {
		return 0, ""
	}
	list, ok := insideOf(types)
	if !ok || bytes.Count(list, []byte(`"`)) != 2 {
		return 0, ""
	}
	elements = 1
	for word := range bytes.SplitSeq(bytes.Trim(shape, "[]"), []byte(",")) {
		n, ok := decimal(bytes.TrimSpace(word), 0)
		if !ok || n <= 0 || elements > mostBytes/n {
			return 0, ""
		}
		elements *= n
	}
	return elements, text(list)
}

// insideOf is what stands between the brackets of a list.
func insideOf(list []byte) ([]byte, bool) {
	list = bytes.TrimSpace(list)
	if len(list) < 2 || list[0] != '[' || list[len(list)-1] != ']' {
		return nil, false
	}
	return bytes.TrimSpace(list[1 : len(list)-1]), true
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
func (t *groupTable) index(g *gathered, c *collective) int32 {
	if len(c.group) == 0 && c.size <= 0 {
		return Unknown
	}
	size, _ := rankCount(c.size)
	t.key = append(append(append(append(append(t.key[:0], c.group...), 0), c.about...), 0), c.ranks...)
	t.key = append(t.key, byte(size), byte(size>>8), byte(size>>16))
	i, ok := t.byKey[string(t.key)]
	if !ok {
		if t.byKey == nil {
			t.byKey = map[string]int32{}
		}
		i = int32(len(t.all))
		t.byKey[string(t.key)] = i
		t.all = append(t.all, rawGroup{first: Unknown, skip: Unknown, mine: Unknown,
			Group: Group{Name: g.words.text(c.group), About: g.words.text(c.about), Ranks: rankList(c.ranks), Size: size,
				Rank: Unknown}})
	}
	group := &t.all[i]
	if c.skip > 0 && c.first >= 0 {
		group.first, group.skip = c.first, c.skip
	}
	if c.rank >= 0 && c.rank < int64(size) && ranksItself(text(c.name)) {
		group.mine = int(c.rank)
	}
	return i
}

// ranksItself says whether the rank among the arguments of a collective is that of the process: of a send it is the
// peer's, of a broadcast the root.
func ranksItself(name string) bool {
	switch collectiveNamed(name) {
	case coll.AllReduce, coll.AllGather, coll.ReduceScatter, coll.AllToAll:
		return true
	}
	return false
}

// mostRanks is more than any world has; a file that tells of more is damaged.
const mostRanks = 1 << 17

func rankCount(n int64) (int, bool) {
	if n <= 0 || n > mostRanks {
		return 0, false
	}
	return int(n), true
}
