package trace

import (
	"bytes"
	"strings"

	"busbar/internal/units"
)

// gathered is the retained part of the events. Times are nanoseconds in the file's clock.
type gathered struct {
	keep     func(string) bool
	names    interner
	words    interner                // repeated texts: collectives, types, communicators
	threads  units.Numbers[[2]int32] // by the texts of pid and tid
	pids     []int64                 // of each thread; Unknown for a pid that is not a number
	devices  map[int64][]rawActivity // in file order
	groups   groupTable
	calls    []madeCall          // from the kernels' own arguments
	ops      []collectiveOp      // of the host
	host     map[int64]*hostCall // of CUDA or HIP, by correlation; the first of several
	external map[int64]int32     // index in ops by the id of the operator; Unknown if two have the same
	ranges   []Range             // number of ranges kept, with duplicates
	wanted   map[string]bool     // results of keep, by raw name
}

func newGathered(keep func(string) bool) *gathered {
	return &gathered{
		keep:     keep,
		devices:  map[int64][]rawActivity{},
		wanted:   map[string]bool{},
		host:     map[int64]*hostCall{},
		external: map[int64]int32{},
	}
}

// rawActivity is an activity with the keys that join it.
type rawActivity struct {
	Activity
	correlation int64 // of the call that launched it
	external    int64 // of the operator; old traces have the correlation here
	node        int64 // of a CUDA graph
	own         int32 // index in gathered.calls; Unknown
}

// hostCall is a call of CUDA or HIP.
type hostCall struct {
	start  int64
	thread int32
	graph  bool // launches a whole CUDA graph
	used   bool // the file has an activity that it launched
}

// add adds an event.
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

// after returns start plus duration, clamped to [start, farthest] so that the sum fits an int64.
func after(start, took int64) int64 {
	if took < 0 {
		return start
	}
	return start + took
}

// kindOf recognises copies by their names: "Memcpy HtoD (Pinned -> Device)", "CopyDeviceToHost".
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

// addRange keeps a range of the host if keep selects it.
func (g *gathered) addRange(e *event) {
	if g.wants(e.name) {
		g.ranges = append(g.ranges, Range{Span: Span{e.start, after(e.start, e.took)}, Name: g.words.text(e.name)})
	}
}

// stepPrefix is the prefix of the profiler's step names.
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

// interner assigns a number to each distinct text.
type interner struct {
	byText units.Numbers[string] // raw
	texts  []string
}

// index returns the number of a JSON text.
func (n *interner) index(value []byte) int32 {
	if i, ok := n.byText[string(value)]; ok {
		return int32(i)
	}
	return n.add(string(value), strings.ToValidUTF8(text(value), "�"))
}

// add returns the number of a raw text.
func (n *interner) add(spelled, text string) int32 {
	i, added := n.byText.Of(spelled)
	if added {
		n.texts = append(n.texts, text)
	}
	return int32(i)
}

func (n *interner) text(value []byte) string { return n.texts[n.index(value)] }

// thread returns the number of an event's thread.
func (g *gathered) thread(e *event) int32 {
	i, added := g.threads.Of([2]int32{g.words.index(e.pid), g.words.index(e.tid)})
	if added {
		pid, ok := decimal(e.pid, 0)
		if !ok {
			pid = Unknown
		}
		g.pids = append(g.pids, pid)
	}
	return int32(i)
}
