package trace

import (
	"slices"
	"sort"
)

// ranOn is an activity of a device.
type ranOn struct {
	device      *nsightDevice
	activity    int32  // index in device.raw
	correlation uint32 // number of the host's call in its process
}

func (r ranOn) raw() *rawActivity { return &r.device.raw[r.activity] }

// indexLaunches adds what a call of the host launched on a device.
func (p *process) indexLaunches(d *nsightDevice) {
	for i := range d.raw {
		if call := uint32(d.raw[i].correlation); call != 0 {
			p.launched = append(p.launched, ranOn{d, int32(i), call})
		}
	}
}

// launchedBy is what one call launched.
func (p *process) launchedBy(correlation uint32) []ranOn {
	from := sort.Search(len(p.launched), func(i int) bool { return p.launched[i].correlation >= correlation })
	to := from
	for to < len(p.launched) && p.launched[to].correlation == correlation {
		to++
	}
	return p.launched[from:to]
}

// readCalls reads the host's calls of CUDA: when what ran was launched, by which thread, and within which call of NCCL.
func (n *nsight) readCalls() {
	for _, table := range []string{"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"} {
		n.scan(table, []string{"start", "end", "globalTid", "correlationId"}, func(r row) {
			span, ok := r.span()
			thread := r.or(2, 0)
			if p := n.processes[processOf(thread)]; ok && p != nil {
				n.launch(p, thread, uint32(r.or(3, 0)), span.Start)
			}
		})
	}
}

// launch notes that a call launched what has its number.
func (n *nsight) launch(p *process, thread int64, correlation uint32, at int64) {
	launched := p.launchedBy(correlation)
	if len(launched) == 0 || correlation == 0 {
		return
	}
	u := n.nvtx.unitAt(thread, at)
	for _, ran := range launched {
		a := ran.raw()
		if a.Launch == NoTime || at < a.Launch {
			a.Launch = at
		}
		if u != nil && a.node == 0 {
			u.ran(0, ran)
		}
		if last := p.threads[thread]; !slices.Contains(last, ran.device) {
			p.threads[thread] = append(last, ran.device)
		}
	}
}

// ran adds an activity to what ran that time: by the number of the call that launched the graph, or 0 where it was
// launched at once. An activity is added twice where the runtime's call and the driver's both carry its number, which
// changes nothing.
func (u *unit) ran(replay int64, what ranOn) {
	if u.runs == nil {
		u.runs = map[int64][]ranOn{}
	}
	u.runs[replay] = append(u.runs[replay], what)
}

// nodeKey is a node of a CUDA graph in its process.
type nodeKey struct{ process, node int64 }

// madeAt is where a node was made: while work was captured, or as the copy of another node.
type madeAt struct {
	thread, at int64
	original   int64 // 0: it is no copy
}

// launchGraphNodes finds the calls of NCCL that were captured in graphs: a graph's kernels are launched by whoever
// launches the graph, and its nodes were made where the call was captured, as far as nodes were recorded. Each replay
// is an execution of its own.
func (n *nsight) launchGraphNodes() {
	if len(n.nvtx.units) == 0 {
		return
	}
	nodes := map[nodeKey]madeAt{}
	n.scan("CUDA_GRAPH_NODE_EVENTS", []string{"start", "globalTid", "graphNodeId", "originalGraphNodeId"}, func(r row) {
		thread := r.or(1, 0)
		nodes[nodeKey{processOf(thread), r.or(2, 0)}] = madeAt{thread, r.or(0, 0), r.or(3, 0)}
	})
	if len(nodes) == 0 {
		return
	}
	for _, d := range n.devices {
		for i := range d.raw {
			key := nodeKey{d.key.process, d.raw[i].node}
			made, known := nodes[key]
			for copies := 0; known && made.original != 0 && copies < 8; copies++ { // a node may be the copy of a copy
				key.node = made.original
				made, known = nodes[key]
			}
			if u := n.nvtx.unitAt(made.thread, made.at); u != nil && known && key.node != 0 {
				u.ran(max(1, d.raw[i].correlation), ranOn{device: d, activity: int32(i)})
			}
		}
	}
}
