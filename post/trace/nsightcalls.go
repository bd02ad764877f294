package trace

import (
	"context"
	"slices"
	"sort"
)

// launchKey finds an activity by the call of the host that launched it.
type launchKey struct {
	correlation uint32
	device      int32 // index in process.devices
	activity    int32 // index in its activities
}

// indexLaunches sorts what a process launched by the number of the call.
func (p *process) indexLaunches() {
	for i, d := range p.devices {
		for j, key := range d.keys {
			if key.correlation != 0 {
				p.launched = append(p.launched, launchKey{key.correlation, int32(i), int32(j)})
			}
		}
	}
	slices.SortFunc(p.launched, func(a, b launchKey) int {
		return compareFirst(int64(a.correlation), int64(b.correlation), int64(a.device), int64(b.device), int64(a.activity),
			int64(b.activity))
	})
}

// launchedBy is what one call launched.
func (p *process) launchedBy(correlation uint32) []launchKey {
	from := sort.Search(len(p.launched), func(i int) bool { return p.launched[i].correlation >= correlation })
	to := from
	for to < len(p.launched) && p.launched[to].correlation == correlation {
		to++
	}
	return p.launched[from:to]
}

// devicesOf are those on which a thread launched something, or all of the process where it launched nothing.
func (p *process) devicesOf(thread int64) []*nsightDevice {
	if devices := p.threads[thread]; len(devices) > 0 {
		return devices
	}
	return p.devices
}

// readCalls reads the host's calls of CUDA: when what ran was launched, by which thread, and within which call of NCCL.
func (n *nsight) readCalls(ctx context.Context) error {
	for _, table := range []string{"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"} {
		err := n.db.scan(ctx, table, "", []string{"start", "end", "globalTid", "correlationId"}, func(r row) {
			span, ok := r.span(0, 1)
			thread := r.or(2, 0)
			p := n.byID[processOf(thread)]
			if !ok || p == nil {
				return
			}
			if correlation := uint32(r.or(3, 0)); correlation != 0 {
				n.launch(p, thread, correlation, span)
			}
		})
		if err != nil {
			return err
		}
	}
	n.launchGraphNodes()
	return nil
}

// launch notes that a call launched what has its number.
func (n *nsight) launch(p *process, thread int64, correlation uint32, span Span) {
	launched := p.launchedBy(correlation)
	if len(launched) == 0 {
		return
	}
	u := n.nvtx.unitAt(thread, span.Start)
	for _, key := range launched {
		d := p.devices[key.device]
		a := &d.device.Activities[key.activity]
		if a.Launch == NoTime || span.Start < a.Launch {
			a.Launch = span.Start
		}
		if u != nil && d.keys[key.activity].node == 0 {
			u.ran(0, d, key.activity)
		}
		if last := p.threads[thread]; !slices.Contains(last, d) {
			p.threads[thread] = append(last, d)
		}
	}
}

// ranOn is an activity that a call of NCCL, or the replay of a graph that holds it, ran on a device of the process.
type ranOn struct {
	device   *nsightDevice
	activity int32
}

// ran adds an activity to what ran that time. A graph may be replayed a hundred thousand times. An activity is added
// twice where the runtime's call and the driver's both carry its number, which changes nothing.
func (u *unit) ran(replay uint32, d *nsightDevice, activity int32) {
	i, known := u.byReplay[replay]
	if !known {
		if u.byReplay == nil {
			u.byReplay = map[uint32]int{}
		}
		i = len(u.runs)
		u.byReplay[replay] = i
		u.runs = append(u.runs, nil)
	}
	u.runs[i] = append(u.runs[i], ranOn{d, activity})
}

// graphNode is a node of a CUDA graph in its process.
type graphNode struct{ process, node int64 }

// madeAt is where a node was made: while work was captured, or as the copy of another node.
type madeAt struct {
	thread, at int64
	original   int64 // 0: it is no copy
}

// graphNodes is where the nodes of graphs were made, as far as nodes were recorded.
type graphNodes map[graphNode]madeAt

// readGraphNodes reads when the nodes of graphs were made, as far as nodes were recorded.
func (n *nsight) readGraphNodes(ctx context.Context) error {
	n.nodes = graphNodes{}
	if len(n.nvtx.units) == 0 {
		return nil
	}
	return n.db.scan(ctx, "CUDA_GRAPH_NODE_EVENTS", "", []string{"start", "globalTid", "graphNodeId",
		"originalGraphNodeId"}, func(r row) {
		thread := r.or(1, 0)
		if node, ok := r.int(2); ok && node != 0 {
			n.nodes[graphNode{processOf(thread), node}] = madeAt{thread, r.or(0, 0), r.or(3, 0)}
		}
	})
}

// launchGraphNodes finds the calls of NCCL that were captured in graphs: a graph's kernels are launched by whoever
// launches the graph, and its nodes were made where the call was captured. Each replay is an execution of its own.
func (n *nsight) launchGraphNodes() {
	if len(n.nodes) == 0 {
		return
	}
	for _, d := range n.sortedDevices() {
		for i, key := range d.keys {
			if key.node == 0 {
				continue
			}
			made, known := n.nodes.captured(d.key.process, key.node)
			if !known {
				continue
			}
			if u := n.nvtx.unitAt(made.thread, made.at); u != nil {
				u.ran(max(1, key.correlation), d, int32(i))
			}
		}
	}
}

// captured is where a node was made while work was captured. A node may be the copy of a copy.
func (all graphNodes) captured(process, node int64) (made madeAt, known bool) {
	for range 8 {
		made, known = all[graphNode{process, node}]
		if !known || made.original == 0 || made.original == node {
			return made, known
		}
		node = made.original
	}
	return made, false
}
