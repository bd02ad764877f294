package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"busbar/post/trace"
)

// study is a device while it is looked at.
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

// analyse returns what ran on a device that has activities.
func analyse(d *trace.Device, file int, o Options) Device {
	if !slices.IsSortedFunc(d.Activities, byBeginning) {
		slices.SortStableFunc(d.Activities, byBeginning)
	}
	s := study{Device: d, options: o, names: names(d, o.CommPattern), host: hostSteps(d.Ranges, o.StepPattern)}
	s.classes = classify(d, s.names)
	s.cover = newCover(d, s.classes)
	s.stepOf = stepsOf(d, s.host)
	s.windows = windows(d, len(s.host), s.stepOf)

	out := identity(d, file)
	if out.origin != trace.Unknown {
		out.origin += s.cover.whole.Start // times of the timeline count from there
	}
	s.times(&out)
	s.communication(&out)
	out.Unknown = s.unclassified()
	out.Notes = s.notes()
	out.strips = s.strips()
	return out
}

// times are what a device did when: in all, by step and by stream.
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

// identity is a device with nothing measured: who it is.
func identity(d *trace.Device, file int) Device {
	out := Device{World: d.World, ID: d.ID, Host: d.Host, GPU: d.GPU, NCCL: d.NCCL, File: file, origin: d.Origin}
	if process := d.Process; process != trace.Unknown {
		out.Process = &process
	}
	out.named(d.Rank)
	return out
}

// named gives a device its rank, which may be unknown, and its label.
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
