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
// The kernels of a CUDA graph are launched by whoever launches the graph, and are of no call of NCCL.
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

// launch records that a call launched what has its number. The runtime's call and the driver's may both have it.
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
			u.ran = append(u.ran, ran)
		}
		if last := p.threads[thread]; !slices.Contains(last, ran.device) {
			p.threads[thread] = append(last, ran.device)
		}
	}
}
