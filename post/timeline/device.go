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

// analyse says what ran on a device that has activities.
func analyse(d *trace.Device, file int, o Options) (Device, error) {
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
	if err := s.times(&out); err != nil {
		return Device{}, fmt.Errorf("%s: %w", out.Label, err)
	}
	c := newCommunication(&s)
	rows, rowOf := c.collectives()
	out.Groups, out.Collectives = c.groups, rows
	out.Top = c.topExposed()
	out.Buckets = c.buckets()
	out.Unknown = s.unclassified()
	out.Notes = s.notes(file)
	out.strips = s.strips()
	out.seen = c.seen(rowOf)
	return out, nil
}

// times are what a device did when: in all, by step and by stream.
func (s *study) times(out *Device) (err error) {
	if out.Parts, err = s.cover.parts(s.cover.whole); err != nil {
		return err
	}
	for i := range s.Activities {
		if a := &s.Activities[i]; a.Kind == trace.Kernel {
			out.Kernels++
			if s.classes[i] == computing {
				out.Busy += milliseconds(a.End - a.Start)
			}
		}
	}
	out.Streams, out.Shared = s.streams()
	out.Steps, err = s.stepParts()
	return err
}

// seen are the collectives as they are matched across ranks.
func (c *communication) seen(rowOf []int32) []seen {
	kept := make([]seen, len(c.all))
	for i := range c.all {
		h := &c.all[i]
		a := &c.Activities[h.first]
		kept[i] = seen{
			start: h.Start - c.cover.whole.Start, end: h.End - c.cover.whole.Start, exposed: h.exposed,
			step: c.stepOf[h.first], collective: rowOf[i], group: c.groupOf(h), seq: trace.Unknown, stream: a.Stream,
			peer: trace.Unknown,
		}
		if h.call >= 0 {
			kept[i].seq, kept[i].peer = c.Calls[h.call].Seq, int32(c.Calls[h.call].Peer)
		}
	}
	return kept
}

func byBeginning(a, b trace.Activity) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
}

// identity is a device with nothing measured: who it is, and lists that are empty.
func identity(d *trace.Device, file int) Device {
	out := Device{
		RankFrom: d.RankFrom, World: d.World, ID: d.ID, Host: d.Host, GPU: d.GPU, NCCL: d.NCCL, File: file, origin: d.Origin,
		Steps: []Step{}, Streams: []Stream{}, Groups: []Group{}, Collectives: []Collective{}, Top: []Exposed{},
		Buckets: []Bucket{},
		Shared:  []SharedStream{}, Unknown: []Unclassified{}, Notes: []Note{},
	}
	if process := d.Process; process != trace.Unknown {
		out.Process = &process
	}
	out.Label = fmt.Sprintf("GPU %d", d.ID)
	switch rank := d.Rank; {
	case rank != trace.Unknown:
		out.Rank = &rank
		out.Label = fmt.Sprintf("rank %d", d.Rank)
	case d.Process != trace.Unknown:
		out.Label += fmt.Sprintf(" (pid %d)", d.Process)
	}
	return out
}
