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
}

// analyse says what ran on a device that has activities.
func analyse(d *trace.Device, file int, o Options) (Device, error) {
	if !slices.IsSortedFunc(d.Activities, byBeginning) {
		slices.SortStableFunc(d.Activities, byBeginning)
	}
	s := study{Device: d, options: o, names: names(d, o.CommPattern)}
	s.classes = classify(d, s.names)
	s.cover = newCover(d, s.classes)

	var err error
	out := identity(d, file)
	if out.origin != trace.Unknown {
		out.origin += d.Activities[0].Start
	}
	if out.Parts, err = s.cover.parts(s.cover.whole); err != nil {
		return Device{}, fmt.Errorf("%s: %w", out.Label, err)
	}
	for i := range d.Activities {
		if a := &d.Activities[i]; a.Kind == trace.Kernel {
			out.Kernels++
			if s.classes[i] == computing {
				out.Busy += ms(a.End - a.Start)
			}
		}
	}
	return out, nil
}

func byBeginning(a, b trace.Activity) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
}

// identity is a device with nothing measured: who it is, and lists that are empty.
func identity(d *trace.Device, file int) Device {
	out := Device{
		RankFrom: d.RankFrom, World: d.World, ID: d.ID, Host: d.Host, GPU: d.GPU, NCCL: d.NCCL, File: file, origin: d.Origin,
		Steps: []Step{}, Streams: []Stream{}, Groups: []Group{}, Collectives: []Collective{}, Top: []Exposed{}, Buckets: []Bucket{},
		Shared: []SharedStream{}, Unknown: []Unclassified{}, Notes: []Note{},
	}
	if process := d.Process; process != trace.Unknown {
		out.Process = &process
	}
	out.Label = fmt.Sprintf("device %d", d.ID)
	switch rank := d.Rank; {
	case rank != trace.Unknown:
		out.Rank = &rank
		out.Label = fmt.Sprintf("rank %d", d.Rank)
	case d.Process != trace.Unknown:
		out.Label += fmt.Sprintf(" of process %d", d.Process)
	}
	return out
}
