package timeline

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/post/trace"
)

// Options are what a timeline is made with.
type Options struct {
	Tool        string
	CommPattern *regexp.Regexp // names of kernels that are communication too; nil: none
	StepPattern *regexp.Regexp // names of ranges that are steps; nil: those of torch.profiler
	Top         int            // the longest exposed calls of a device; 0: DefaultTop
}

// DefaultTop is how many of the longest exposed calls are listed by default.
const DefaultTop = 10

// Builder makes a timeline of files as they are read; of a file it keeps little.
type Builder struct {
	options  Options
	timeline *Timeline
}

// NewBuilder begins a timeline.
func NewBuilder(o Options) *Builder {
	t := &Timeline{Tool: o.Tool}
	if o.CommPattern != nil {
		t.Rule.CommPattern = o.CommPattern.String()
	}
	if o.StepPattern != nil {
		t.Rule.StepPattern = o.StepPattern.String()
	}
	return &Builder{options: o, timeline: t}
}

// Add takes a file, and analyses each of its devices by itself.
func (b *Builder) Add(f *trace.File) {
	t := b.timeline
	file := len(t.Files)
	t.Files = append(t.Files, File{Path: f.Path, Format: string(f.Format), Tool: f.Tool, Cut: f.Cut})
	if f.Own != nil {
		t.Files[file].setOwn(f.Own)
	}
	for _, n := range f.Notes {
		t.Notes = append(t.Notes, notice.InFile(f.Path, 0, n))
	}
	for _, d := range f.Devices {
		out := analyse(d, file, b.options)
		if t.Files[file].NonBlocking {
			out.withoutBusbw()
		}
		if !out.works() {
			out.Notes = append(out.Notes, notice.New(profiles.OnlyCopies{}))
		}
		t.Devices = append(t.Devices, out)
	}
}

// Timeline is what was found, over all files added. It ends the building.
func (b *Builder) Timeline() *Timeline {
	b.ranksApart()
	b.order()
	compareRanks(b.timeline)
	b.timeline.review()
	return b.timeline
}

// order puts devices by rank, those without one behind, and gives those of one label different ones.
func (b *Builder) order() {
	t := b.timeline
	slices.SortStableFunc(t.Devices, func(a, b Device) int {
		return cmp.Or(
			cmp.Compare(valueOr(a.Rank, math.MaxInt), valueOr(b.Rank, math.MaxInt)),
			cmp.Compare(a.Host, b.Host),
			cmp.Compare(valueOr(a.Process, trace.Unknown), valueOr(b.Process, trace.Unknown)),
			cmp.Compare(a.ID, b.ID),
		)
	})
	labels := map[string][]int{} // devices
	for i := range t.Devices {
		labels[t.Devices[i].Label] = append(labels[t.Devices[i].Label], i)
	}
	for _, devices := range labels {
		if len(devices) < 2 {
			continue
		}
		for _, i := range devices {
			d := &t.Devices[i]
			if d.Rank != nil {
				d.Label += fmt.Sprintf(", device %d", d.ID)
			}
			if len(t.Files) > 1 {
				d.Label += " in " + t.Files[d.File].Path
			}
		}
	}
}

// valueOr is what a pointer points at, or another value where it is nil.
func valueOr[T any](p *T, other T) T {
	if p == nil {
		return other
	}
	return *p
}

// seen is one activity of communication, as it is kept for matching across ranks. Times are nanoseconds since the
// device's first activity.
type seen struct {
	start, end int64
	exposed    int64 // ns
	step       int32 // index in Device.Steps; -1
	collective int32 // index in Device.Collectives
	group      int32 // index in Device.Groups
	seq        int64 // number within the group that the file gives; trace.Unknown
	stream     int32
}
