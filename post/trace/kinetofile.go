package trace

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"busbar/internal/notice"
)

// file makes the file of what was gathered. path is what it is called by.
func (g *gathered) file(about *metadata, path string) *File {
	f := &File{}
	info := about.info()
	g.completeGroups(info)
	slices.SortFunc(g.host, func(a, b hostCall) int {
		return cmp.Or(cmp.Compare(a.correlation, b.correlation), cmp.Compare(a.start, b.start))
	})
	slices.SortFunc(g.ops, func(a, b collectiveOp) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	j := g.joiner()
	zero, origin := g.zero(about.baseTime())
	repeated, process := 0, int64(Unknown)
	for _, id := range slices.Sorted(maps.Keys(g.devices)) {
		d := &Device{Rank: Unknown, Host: "", Process: Unknown, ID: int(id), GPU: about.gpu(int(id)), NCCL: info.nccl,
			Origin: origin}
		repeated += j.fill(d, g.devices[id], zero)
		g.devices[id] = nil // its memory is wanted for the next
		g.addRanges(d, zero)
		if d.Process != Unknown {
			process = d.Process
		}
		f.Devices = append(f.Devices, d)
	}
	g.place(f, about, info, path, process)
	g.note(f, j, repeated)
	return f
}

// zero is the moment that times are counted from, as the file counts, and in nanoseconds since 1970; that may be
// Unknown.
func (g *gathered) zero(base int64) (zero, origin int64) {
	zero = math.MaxInt64
	for _, d := range g.devices {
		for i := range d.activities {
			zero = min(zero, d.activities[i].Start)
		}
	}
	if zero == math.MaxInt64 {
		return 0, Unknown
	}
	const epoch = 1e18 // nanoseconds in 2001: what is later counts from 1970, what is earlier from the machine's start
	switch {
	case zero >= epoch:
		return zero, zero
	case base > 0 && base < math.MaxInt64-max(0, zero):
		return zero, base + zero
	}
	return zero, Unknown
}

// addRanges gives a device the ranges of the host. Every device of the file has the same.
func (g *gathered) addRanges(d *Device, zero int64) {
	for _, r := range g.ranges {
		d.Ranges = append(d.Ranges, Range{Span: Span{r.Start - zero, r.End - zero}, Name: r.Name})
	}
	slices.SortStableFunc(d.Ranges, func(a, b Range) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Name, b.Name))
	})
	d.Ranges = slices.Compact(d.Ranges)
}

// place says which rank the file is of, and where it ran.
func (g *gathered) place(f *File, about *metadata, info distributed, path string, process int64) {
	main := busiest(f.Devices)
	if main == nil {
		return
	}
	rank, from := info.rank, "distributedInfo"
	if rank == Unknown {
		rank, from = g.rankOfGroups(info), "collectives' arguments"
	}
	world := max(info.world, g.worldOfGroups(), 0)
	if rank == Unknown {
		rank, from = within(rankOfPath(path), world), "file name"
	}
	if rank == Unknown {
		rank, from = within(rankOfName(text(about.name)), world), "traceName"
	}
	if rank != Unknown {
		main.Rank, main.RankFrom = rank, from
	}
	for _, d := range f.Devices {
		d.World, d.Host = world, hostOfPath(path, process)
		for i := range d.Groups {
			d.Groups[i].Rank = rankIn(d.Groups[i], d.Rank)
		}
	}
	if rank != Unknown && len(f.Devices) > 1 {
		f.Notes = append(f.Notes, notice.SeveralDevices{Rank: rank, Devices: len(f.Devices), Main: main.ID})
	}
}

// setHost says where all devices of a file are.
func (f *File) setHost(host string) {
	for _, d := range f.Devices {
		d.Host = host
	}
}

// busiest is the device with most activities; a process may touch others, as when it makes a context on device 0.
func busiest(devices []*Device) *Device {
	var most *Device
	for _, d := range devices {
		if most == nil || len(d.Activities) > len(most.Activities) {
			most = d
		}
	}
	return most
}

// rankIn is the rank in a group of a rank of the world; what the collectives' arguments said holds where the group's
// ranks are not known.
func rankIn(g Group, rank int) int {
	if len(g.Ranks) == 0 || rank == Unknown {
		return g.Rank
	}
	return slices.Index(g.Ranks, rank) // -1 is Unknown
}

// note collects what the values of the file depend on.
func (g *gathered) note(f *File, j *joiner, repeated int) {
	add := func(n int, fact notice.Fact) {
		if n > 0 {
			f.Notes = append(f.Notes, fact)
		}
	}
	if len(f.Devices) == 0 {
		f.Notes = append(f.Notes, notice.NoGPUActivity{Format: notice.Kineto})
	}
	add(repeated, notice.ActivitiesRepeated{Activities: repeated})
	add(g.negative, notice.NegativeDurations{Activities: g.negative})
	if len(f.Devices) > 0 {
		launches := j.emptyGraphs()
		add(launches, notice.EmptyGraphs{Launches: launches})
	}
}
