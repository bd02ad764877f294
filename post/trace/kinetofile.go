package trace

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"busbar/internal/notice/profiles"
)

// fill builds a file from the gathered events.
func (g *gathered) fill(f *File, about metadata) {
	info, gpus := about.info(), about.gpus()
	g.completeGroups(info)
	slices.SortFunc(g.ops, func(a, b collectiveOp) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), a.compare(b.Span))
	})
	for i, op := range g.ops {
		if _, twice := g.external[op.external]; twice {
			i = Unknown
		}
		g.external[op.external] = int32(i)
	}
	base, _ := decimal(about["baseTimeNanoseconds"], 0)
	zero, origin := g.zero(base)
	process := int64(Unknown)
	for _, id := range slices.Sorted(maps.Keys(g.devices)) {
		d := &Device{Rank: Unknown, Process: Unknown, ID: int(id), GPU: gpus[int(id)], NCCL: info.NCCL, Origin: origin}
		g.fillDevice(d, g.devices[id], zero)
		g.devices[id] = nil // frees memory for the next
		g.addRanges(d, zero)
		if d.Process != Unknown {
			process = d.Process
		}
		f.Devices = append(f.Devices, d)
	}
	f.place(info, process)
	g.note(f)
}

// zero returns the time origin in the file's clock, and in nanoseconds since 1970, which may be Unknown.
func (g *gathered) zero(base int64) (zero, origin int64) {
	zero = math.MaxInt64
	for _, activities := range g.devices {
		for i := range activities {
			zero = min(zero, activities[i].Start)
		}
	}
	if zero == math.MaxInt64 {
		return 0, Unknown
	}
	const epoch = 1e18 // nanoseconds in 2001: later times count from 1970, earlier ones from boot
	switch {
	case zero >= epoch:
		return zero, zero
	case base > 0 && base < math.MaxInt64-max(0, zero):
		return zero, base + zero
	}
	return zero, Unknown
}

// addRanges gives a device the host's ranges. All devices of the file share them.
func (g *gathered) addRanges(d *Device, zero int64) {
	for _, r := range g.ranges {
		d.Ranges = append(d.Ranges, Range{Span: Span{r.Start - zero, r.End - zero}, Name: r.Name})
	}
	slices.SortStableFunc(d.Ranges, func(a, b Range) int {
		return cmp.Or(a.compare(b.Span), cmp.Compare(a.Name, b.Name))
	})
	d.Ranges = slices.Compact(d.Ranges)
}

// note records facts that limit the values of the file.
func (g *gathered) note(f *File) {
	if len(f.Devices) == 0 {
		f.note(profiles.NoGPUActivity{Format: profiles.Kineto})
		return
	}
	launches := 0 // CUDA graphs without kernels in the file
	for _, c := range g.host {
		if c.graph && !c.used {
			launches++
		}
	}
	if launches > 0 {
		f.note(profiles.EmptyGraphs{Launches: launches})
	}
}
