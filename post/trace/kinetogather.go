package trace

import (
	"bytes"
	"strings"
)

// gathered is what is kept of the events while they are read. Times are nanoseconds as the file counts them.
type gathered struct {
	keep     func(string) bool
	names    interner
	words    interner                // texts that repeat: collectives, types, communicators
	threads  map[[2]int32]int32      // by the texts of pid and tid
	pids     []int64                 // of each thread; Unknown where the pid is no number
	devices  map[int64][]rawActivity // in the order of the file
	groups   groupTable
	calls    []madeCall          // that kernels carry themselves
	ops      []collectiveOp      // of the host
	host     map[int64]*hostCall // of CUDA or HIP, by correlation: of several the first
	external map[int64]int32     // index in ops by the id of the operator; Unknown where two have the same
	ranges   []Range             // kept ones, with their duplicates
	wanted   map[string]bool     // verdicts of keep, by the name as the file spells it
}

func newGathered(keep func(string) bool) *gathered {
	return &gathered{
		keep:     keep,
		devices:  map[int64][]rawActivity{},
		wanted:   map[string]bool{},
		threads:  map[[2]int32]int32{},
		host:     map[int64]*hostCall{},
		external: map[int64]int32{},
		groups:   groupTable{byKey: map[[4]int32]int32{}},
	}
}

// rawActivity is an activity with what it is joined by.
type rawActivity struct {
	Activity
	correlation int64 // of the call that launched it
	external    int64 // of the operator, or what old traces hold in its place: the correlation
	node        int64 // of a CUDA graph
	own         int32 // index in gathered.calls; Unknown
}

// hostCall is a call of CUDA or HIP.
type hostCall struct {
	start  int64
	thread int32
	graph  bool // it launches a whole CUDA graph
	used   bool // something that it launched was seen
}

// add takes an event.
func (g *gathered) add(e *event) {
	switch {
	case e.category == ignoredEvent:
	case e.phase != 'X' || !e.hasStart:
	case e.category == kernelEvent || e.category == memcpyEvent || e.category == memsetEvent:
		g.addActivity(e)
	case e.category == callEvent:
		g.addCall(e)
	case e.collective() && len(e.args[argCollectiveName]) > 0:
		g.addCollective(e)
	default:
		g.addRange(e)
	}
}

func (g *gathered) addActivity(e *event) {
	a := rawActivity{correlation: e.args.number(argCorrelation), external: e.args.number(argExternal),
		node: e.args.number(argGraphNode), own: Unknown}
	a.Activity = Activity{
		Start:  e.start,
		End:    after(e.start, e.took),
		Launch: NoTime,
		Bytes:  e.args.number(argBytes),
		Call:   Unknown,
		Name:   g.names.index(e.name),
		Stream: int32(max(0, e.args.number(argStream))),
		Kind:   kindOf(e),
	}
	a.Graph = a.node > 0
	if len(e.args[argCollectiveName]) > 0 && a.Kind == Kernel && ofCollective(e.name, true) {
		a.own = int32(len(g.calls))
		g.calls = append(g.calls, g.call(&e.args))
	}
	id := max(0, e.args.number(argDevice))
	g.devices[id] = append(g.devices[id], a)
}

// after is the end of what took so long; never before its start. Neither is more than farthest allows, so that the sum
// fits an int64.
func after(start, took int64) int64 {
	if took < 0 {
		return start
	}
	return start + took
}

// kindOf tells copies by their names: "Memcpy HtoD (Pinned -> Device)", "CopyDeviceToHost".
func kindOf(e *event) Kind {
	switch e.category {
	case kernelEvent:
		return Kernel
	case memsetEvent:
		return Memset
	}
	name := bytes.ToLower(e.name)
	for _, k := range []struct {
		short, long string
		kind        Kind
	}{{"htod", "hosttodevice", MemcpyHostToDevice}, {"dtoh", "devicetohost", MemcpyDeviceToHost},
		{"dtod", "devicetodevice", MemcpyDeviceToDevice}, {"ptop", "peer", MemcpyPeer}} {
		if bytes.Contains(name, []byte(k.short)) || bytes.Contains(name, []byte(k.long)) {
			return k.kind
		}
	}
	return MemcpyOther
}

func (g *gathered) addCall(e *event) {
	correlation := e.args.number(argCorrelation)
	if first := g.host[correlation]; correlation > 0 && (first == nil || e.start < first.start) {
		g.host[correlation] = &hostCall{start: e.start, thread: g.thread(e),
			graph: bytes.Contains(e.name, []byte("GraphLaunch"))}
	}
}

// addRange keeps a range of the host if it is wanted.
func (g *gathered) addRange(e *event) {
	if g.wants(e.name) {
		g.ranges = append(g.ranges, Range{Span: Span{e.start, after(e.start, e.took)}, Name: g.words.text(e.name)})
	}
}

// stepPrefix begins the names of the profiler's steps.
const stepPrefix = "ProfilerStep#"

func (g *gathered) wants(name []byte) bool {
	if bytes.HasPrefix(name, []byte(`"`+stepPrefix)) {
		return true
	}
	if g.keep == nil {
		return false
	}
	is, asked := g.wanted[string(name)]
	if !asked {
		is = g.keep(text(name))
		g.wanted[string(name)] = is
	}
	return is
}

// interner numbers texts, each once.
type interner struct {
	byText map[string]int32 // as the file spells them
	texts  []string
}

// index is the number of a text of JSON.
func (n *interner) index(value []byte) int32 {
	if i, ok := n.byText[string(value)]; ok {
		return i
	}
	return n.add(string(value), strings.ToValidUTF8(text(value), "�"))
}

// add is the number of a text that a file spells in its own way.
func (n *interner) add(spelled, text string) int32 {
	i, ok := n.byText[spelled]
	if !ok {
		if n.byText == nil {
			n.byText = map[string]int32{}
		}
		i = int32(len(n.texts))
		n.byText[spelled] = i
		n.texts = append(n.texts, text)
	}
	return i
}

func (n *interner) text(value []byte) string { return n.texts[n.index(value)] }

// thread is the number of the thread of an event.
func (g *gathered) thread(e *event) int32 {
	key := [2]int32{g.words.index(e.pid), g.words.index(e.tid)}
	i, ok := g.threads[key]
	if !ok {
		i = int32(len(g.pids))
		g.threads[key] = i
		pid, ok := decimal(e.pid, 0)
		if !ok {
			pid = Unknown
		}
		g.pids = append(g.pids, pid)
	}
	return i
}
