package trace

import (
	"bytes"
	"strings"
)

// gathered is what is kept of the events while they are read. Times are nanoseconds as the file counts them.
type gathered struct {
	keep    func(string) bool
	names   interner
	words   interner // texts that repeat: collectives, types, communicators
	threads threads
	devices map[int64]*deviceEvents
	groups  groupTable
	calls   []madeCall      // that kernels carry themselves
	ops     []collectiveOp  // of the host
	host    []hostCall      // of CUDA or HIP
	ranges  []Range         // kept ones, with their duplicates
	wanted  map[string]bool // verdicts of keep, by the name as the file spells it
	open    map[int32][]openRange

	negative int // activities whose duration is negative
	timeless int // activities without a time
}

func newGathered(keep func(string) bool) *gathered {
	return &gathered{keep: keep, devices: map[int64]*deviceEvents{}, wanted: map[string]bool{},
		open: map[int32][]openRange{}}
}

// deviceEvents are the activities of one device in the order of the file.
type deviceEvents struct{ activities []rawActivity }

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
	correlation, start int64
	thread             int32
	graph              bool // it launches a whole CUDA graph
}

// openRange is a B event whose E was not seen yet.
type openRange struct {
	name  string
	start int64
	kept  bool
}

// add takes an event.
func (g *gathered) add(e *event) {
	switch {
	case e.category == ignoredEvent:
	case e.phase == 'B' || e.phase == 'E':
		g.addEdge(e)
	case e.phase != 'X':
	case e.category == kernelEvent || e.category == memcpyEvent || e.category == memsetEvent:
		g.addActivity(e)
	case !e.hasStart:
	case e.category == callEvent:
		g.addCall(e)
	case e.collective():
		g.addCollective(e)
	default:
		g.addRange(e)
	}
}

func (g *gathered) addActivity(e *event) {
	if !e.hasStart {
		g.timeless++
		return
	}
	if e.took < 0 {
		g.negative++
	}
	a := rawActivity{correlation: e.args.correlation, external: e.args.external, node: e.args.node, own: Unknown}
	a.Activity = Activity{Start: e.start, End: after(e.start, e.took), Launch: NoTime, Bytes: e.args.bytes, Call: Unknown,
		Name: g.names.index(e.name), Stream: int32(number(e.args.stream, e.tid)), Kind: kindOf(e)}
	a.Graph = a.node > 0
	if len(e.args.collective.name) > 0 && a.Kind == Kernel && ofCollective(e.name, true) {
		a.own = int32(len(g.calls))
		g.calls = append(g.calls, g.call(&e.args.collective))
	}
	id := number(e.args.device, e.pid)
	d := g.devices[id]
	if d == nil {
		d = &deviceEvents{}
		g.devices[id] = d
	}
	d.activities = append(d.activities, a)
}

// after is the end of what took so long; never before its start. Neither is more than farthest allows, so that the sum
// fits an int64.
func after(start, took int64) int64 {
	if took < 0 {
		return start
	}
	return start + took
}

// number is an argument, or the digits of the pid or tid, which old traces have in its place: 7, "stream 7".
func number(argument int64, in []byte) int64 {
	if argument != Unknown {
		return argument
	}
	digits := bytes.TrimLeftFunc(bytes.Trim(in, `"`), func(r rune) bool { return r < '0' || r > '9' })
	n, ok := decimal(digits, 0)
	if !ok {
		return 0
	}
	return n
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
	c := hostCall{correlation: e.args.correlation, start: e.start, thread: g.threads.index(e.pid, e.tid)}
	c.graph = bytes.Contains(e.name, []byte("GraphLaunch"))
	g.host = append(g.host, c)
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
		if len(g.wanted) < 1<<16 {
			g.wanted[string(name)] = is
		}
	}
	return is
}

// addEdge takes the begin or the end of a range; they nest on a thread.
func (g *gathered) addEdge(e *event) {
	if !e.hasStart || e.category == kernelEvent || e.category == callEvent {
		return
	}
	thread := g.threads.index(e.pid, e.tid)
	open := g.open[thread]
	switch {
	case e.phase == 'B':
		o := openRange{start: e.start, kept: g.wants(e.name)}
		if o.kept {
			o.name = g.words.text(e.name)
		}
		g.open[thread] = append(open, o)
	case len(open) > 0:
		if o := open[len(open)-1]; o.kept {
			g.ranges = append(g.ranges, Range{Span: Span{o.start, max(o.start, e.start)}, Name: o.name})
		}
		g.open[thread] = open[:len(open)-1]
	}
}

// interner numbers texts, each once.
type interner struct {
	byText map[string]int32 // as the file spells them
	texts  []string
}

func (n *interner) index(value []byte) int32 {
	if i, ok := n.byText[string(value)]; ok {
		return i
	}
	if n.byText == nil {
		n.byText = map[string]int32{}
	}
	i := int32(len(n.texts))
	n.byText[string(value)] = i
	n.texts = append(n.texts, strings.ToValidUTF8(text(value), "�"))
	return i
}

func (n *interner) text(value []byte) string { return n.texts[n.index(value)] }

// threads numbers threads of the host.
type threads struct {
	interner
	key       []byte
	processes []int64 // Unknown where the pid is no number
}

func (t *threads) index(pid, tid []byte) int32 {
	t.key = append(append(append(t.key[:0], pid...), 0), tid...)
	i := t.interner.index(t.key)
	if int(i) == len(t.processes) {
		process, ok := decimal(pid, 0)
		if !ok {
			process = Unknown
		}
		t.processes = append(t.processes, process)
	}
	return i
}
