package trace

import "busbar/internal/units"

// ranOn is an activity and its device.
type ranOn struct {
	device   *nsightDevice
	activity int32 // index in device.raw
}

func (r ranOn) raw() *rawActivity { return &r.device.raw[r.activity] }

// readCalls reads the host's CUDA calls: launch time, thread and enclosing NCCL call of each activity. Kernels of a
// CUDA graph have the graph's launch and no NCCL call.
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

// launch records that a call launched the activities with its number, which the runtime's and the driver's call may
// share.
func (n *nsight) launch(p *process, thread int64, correlation uint32, at int64) {
	launched := p.launched[correlation]
	if launched == nil {
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
		p.threads[thread] = units.AddOnce(p.threads[thread], ran.device)
	}
}
