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

// Options control the analysis.
type Options struct {
	Tool        string
	CommPattern *regexp.Regexp // further names of communication kernels; nil: none
	StepPattern *regexp.Regexp // names of step ranges; nil: those of torch.profiler
	Top         int            // number of longest exposed calls to list; 0: DefaultTop
}

// DefaultTop is the default number of longest exposed calls.
const DefaultTop = 10

// Builder builds a timeline from files as they are read; it keeps little of each file.
type Builder struct {
	options  Options
	timeline *Timeline
}

// NewBuilder returns an empty Builder.
func NewBuilder(o Options) *Builder {
	return &Builder{options: o, timeline: &Timeline{Tool: o.Tool, Rule: o.rule()}}
}

// rule returns the patterns as text.
func (o Options) rule() (r Rule) {
	if o.CommPattern != nil {
		r.CommPattern = o.CommPattern.String()
	}
	if o.StepPattern != nil {
		r.StepPattern = o.StepPattern.String()
	}
	return r
}

// Add analyses each device of a file.
func (b *Builder) Add(f *trace.File) { b.join(reduce(f, b.options)) }

// reduced is a file's part of a timeline.
type reduced struct {
	Rule    Rule
	Top     int
	File    File
	Own     *trace.Own
	notes   []notice.Notice
	devices []Device
}

// reduce analyses each device of a file.
func reduce(f *trace.File, o Options) *reduced {
	r := &reduced{Rule: o.rule(), Top: cmp.Or(o.Top, DefaultTop), Own: f.Own,
		File: File{Path: f.Path, Format: string(f.Format), Tool: f.Tool, Cut: f.Cut}}
	if f.Own != nil {
		r.File.setOwn(f.Own)
	}
	for _, n := range f.Notes {
		r.notes = append(r.notes, notice.InFile(f.Path, 0, n))
	}
	for _, d := range f.Devices {
		out := analyse(d, o)
		if r.File.NonBlocking {
			out.withoutBusbw()
		}
		if !out.works() {
			out.Notes = append(out.Notes, notice.New(profiles.OnlyCopies{}))
		}
		r.devices = append(r.devices, out)
	}
	return r
}

// join adds a file's part.
func (b *Builder) join(r *reduced) {
	t := b.timeline
	for i := range r.devices {
		r.devices[i].File = len(t.Files)
	}
	t.Files, t.Notes, t.Devices = append(t.Files, r.File), append(t.Notes, r.notes...), append(t.Devices, r.devices...)
}

// Timeline returns the result over all files added. It ends the building.
func (b *Builder) Timeline() *Timeline {
	b.ranksApart()
	b.order()
	compareRanks(b.timeline)
	b.timeline.review()
	return b.timeline
}

// order sorts devices by rank, those without one last, and makes labels unique.
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

// valueOr returns *p, or a default if p is nil.
func valueOr[T any](p *T, other T) T {
	if p == nil {
		return other
	}
	return *p
}

// seen is an activity of communication, kept for matching across ranks. Times are nanoseconds since the device's first
// activity.
type seen struct {
	start, end int64
	exposed    int64 // ns
	step       int32 // index in Device.Steps; -1
	collective int32 // index in Device.Collectives
	group      int32 // index in Device.Groups
	seq        int64 // number within the group, from the file; trace.Unknown
	stream     int32
	splits     *trace.Splits // of an all-to-all; nil: none in the file
}
