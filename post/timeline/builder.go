package timeline

import (
	"regexp"

	"busbar/post/trace"
)

// Options are what a timeline is made with.
type Options struct {
	Tool        string
	CommPattern *regexp.Regexp // names of kernels that are communication too; nil: none
	StepPattern *regexp.Regexp // names of ranges that are steps; nil: those of torch.profiler
	Top         int            // the longest exposed calls of a device; 0: DefaultTop
}

// DefaultTop is how many of the longest exposed calls are told unless it is said otherwise.
const DefaultTop = 10

// Builder makes a timeline of files as they are read; of a file it keeps little.
type Builder struct {
	options  Options
	timeline *Timeline
}

// NewBuilder begins a timeline.
func NewBuilder(o Options) *Builder { return &Builder{options: o, timeline: &Timeline{Tool: o.Tool}} }

// Add takes a file, and analyses each of its devices by itself.
func (b *Builder) Add(f *trace.File) {}

// Timeline is what was found, over all files added. It ends the building.
func (b *Builder) Timeline() *Timeline {
	b.timeline.conclude()
	return b.timeline
}

// seen is one activity of communication, as it is kept for matching across ranks. Times are nanoseconds since the device's first activity.
type seen struct {
	start, end int64
	exposed    int64 // ns
	step       int32 // index in Device.Steps; -1
	collective int32 // index in Device.Collectives
	group      int32 // index in Device.Groups
	seq        int64 // number within the group that the file gives; trace.Unknown
	stream     int32
	peer       int32 // rank in the group that a send goes to or a receive comes from; trace.Unknown
}
