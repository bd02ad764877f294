package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"busbar/post/trace"
)

// study is a device during analysis.
type study struct {
	*trace.Device
	options Options
	names   []known // of Device.Names
	classes []class // of Device.Activities
	cover   cover
	host    []hostStep
	stepOf  []int32      // of Device.Activities: index in host; -1
	windows []trace.Span // of host
}

// analyse returns the analysis of a device that has activities.
func analyse(d *trace.Device, o Options) Device {
	if !slices.IsSortedFunc(d.Activities, byBeginning) {
		slices.SortStableFunc(d.Activities, byBeginning)
	}
	s := study{Device: d, options: o, names: names(d, o.CommPattern), host: hostSteps(d.Ranges, o.StepPattern)}
	s.classes = classify(d, s.names)
	s.cover = newCover(d, s.classes)
	s.stepOf = stepsOf(d, s.host)
	s.windows = windows(d, len(s.host), s.stepOf)

	out := identity(d)
	if out.origin != trace.Unknown {
		out.origin += s.cover.whole.Start // origin of the timeline's times
	}
	s.times(&out)
	s.communication(&out)
	out.Unknown = s.unclassified()
	out.Notes = s.notes()
	out.strips = s.strips()
	out.operators = s.sumOperators()
	return out
}

// times sets a device's times: in total, by step and by stream.
func (s *study) times(out *Device) {
	out.Parts = s.cover.parts(s.cover.whole)
	for i := range s.Activities {
		if s.Activities[i].Kind == trace.Kernel {
			out.Kernels++
			out.Busy += s.computes(i)
		}
	}
	out.Streams, out.Shared = s.streams()
	out.Steps = s.stepParts()
}

func byBeginning(a, b trace.Activity) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
}

// identity returns a device without measurements.
func identity(d *trace.Device) Device {
	out := Device{World: d.World, ID: d.ID, Host: d.Host, GPU: d.GPU, NCCL: d.NCCL, origin: d.Origin}
	if d.Process != trace.Unknown {
		out.Process = new(d.Process)
	}
	out.named(d.Rank)
	return out
}

// named sets a device's rank, which may be unknown, and its label.
func (d *Device) named(rank int) {
	if rank != trace.Unknown {
		d.Rank, d.Label = &rank, fmt.Sprintf("rank %d", rank)
		return
	}
	d.Rank, d.Label = nil, fmt.Sprintf("GPU %d", d.ID)
	if d.Process != nil {
		d.Label += fmt.Sprintf(" (pid %d)", *d.Process)
	}
}
