package timeline

import (
	"cmp"
	"maps"
	"slices"

	"busbar/internal/notice"
)

// losses are the parts of time in which a device does not compute. They do not overlap.
var losses = []func(*Parts) float64{exposedOf, hostBoundOf, unexplainedOf, copiesOf}

// loses says whether a loss is addressed: one of a tenth of the time, and the largest one if it matters at all.
func (a assessment) loses(part func(*Parts) float64) bool {
	lost := a.all.part(part)
	if lost >= 0.1*a.all.part(spanOf) {
		return true
	}
	return a.matters(lost) && !slices.ContainsFunc(losses, func(other func(*Parts) float64) bool {
		return a.all.part(other) > lost
	})
}

// hostBound speaks where GPUs wait for their hosts to launch something.
func hostBound(a assessment) []Advice {
	if !a.loses(hostBoundOf) {
		return nil
	}
	idle := a.all.part(hostBoundOf)
	return []Advice{{topicIdle, idle, notice.HostBoundStep{
		Idle: seconds(idle), Span: seconds(a.all.part(spanOf)), Per: a.all.span(),
	}}}
}

// unexplained speaks of idle time of which the trace does not have the cause.
func unexplained(a assessment) []Advice {
	if !a.loses(unexplainedOf) {
		return nil
	}
	idle := a.all.part(unexplainedOf)
	return []Advice{{topicIdle, idle, notice.UnexplainedIdle{
		Idle: seconds(idle), Span: seconds(a.all.part(spanOf)), Per: a.all.span(),
		Launched: seconds(a.all.part(func(p *Parts) float64 { return p.Waiting })),
	}}}
}

// copiesAlone speaks where GPUs copy while nothing else runs.
func copiesAlone(a assessment) []Advice {
	if !a.loses(copiesOf) {
		return nil
	}
	copies := a.all.part(copiesOf)
	return []Advice{{topicCopies, copies, notice.CopiesAlone{
		Copies: seconds(copies), Span: seconds(a.all.part(spanOf)), Per: a.all.span(),
	}}}
}

// exposedMost names the operation that is exposed for the longest, unless advice that was found already has the cause
// of half of it. It can be hidden only behind what computes and hides nothing yet.
func exposedMost(a assessment, found []Advice) []Advice {
	if !a.loses(exposedOf) {
		return nil
	}
	name, exposed := a.mostExposed()
	if exposed <= 0 || slices.ContainsFunc(found, func(f Advice) bool { return f.Gain >= exposed/2 && f.hasCause() }) {
		return nil
	}
	_, waiting := a.pure()
	free := a.comm.part(func(p *Parts) float64 { return p.Compute - p.Overlap })
	return []Advice{{topicOverlap, min(exposed, free), notice.ExposedCollective{
		Collective: name, Exposed: seconds(exposed), Total: seconds(a.comm.part(exposedOf)), Per: a.comm.span(), Waiting: waiting,
	}}}
}

// hasCause says whether advice has the cause of exposed communication. Too little to compute is no cause of its own.
func (a Advice) hasCause() bool {
	if _, is := a.Fact.(notice.LittleCompute); is {
		return false
	}
	return a.Topic == topicOverlap || a.Topic == topicBalance || a.Topic == topicTopology
}

// mostExposed is the operation with the most exposed time, in milliseconds of a step or a recording.
func (a assessment) mostExposed() (name string, exposed float64) {
	names := map[string]bool{}
	for _, d := range a.comm.devices {
		for i := range d.Collectives {
			names[d.Collectives[i].Name] = true
		}
	}
	of := func(name string) float64 {
		return a.comm.calls(func(c *Collective) float64 { return c.Exposed * only(c.Name == name) })
	}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		if cmp.Less(exposed, of(n)) {
			name, exposed = n, of(n)
		}
	}
	return name, exposed
}
