package trace

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"busbar/internal/notice/profiles"
	"busbar/internal/units"
)

// completeGroups fills in truncated rank lists of groups from distributedInfo or from the stride.
func (g *gathered) completeGroups(info distributed) {
	for group := range units.Each(g.groups.all) {
		var listed processGroup
		if n := slices.IndexFunc(info.Groups, func(p processGroup) bool { return p.Name == group.Name }); n >= 0 {
			listed = info.Groups[n]
		}
		ranks := rankList(listed.Ranks)
		switch {
		case group.Ranks != nil:
		case group.Size == 0 || len(ranks) == group.Size:
			group.Ranks = ranks
		case group.stride > 0:
			for n := range group.Size {
				group.Ranks = append(group.Ranks, int(group.first)+n*int(group.stride))
			}
		}
		if group.Size == 0 {
			group.Size = max(len(group.Ranks), listed.Size, 0)
		}
		if group.About == "" {
			group.About = listed.About
		}
	}
}

// place sets the file's rank and host. The rank belongs to the device with most activities: a process may touch
// others, for example by a context on device 0.
func (f *File) place(info distributed, process int64) {
	if len(f.Devices) == 0 {
		return
	}
	rank := within(rankOfPath(f.Path), info.World)
	if info.Rank != nil {
		rank = *info.Rank
	}
	main := slices.MaxFunc(f.Devices, func(a, b *Device) int { return len(a.Activities) - len(b.Activities) })
	if rank != Unknown {
		main.Rank = rank
	}
	for _, d := range f.Devices {
		d.World, d.Host = info.World, hostOfPath(f.Path, process)
		for i := range d.Groups {
			if d.Rank != Unknown {
				d.Groups[i].Rank = slices.Index(d.Groups[i].Ranks, d.Rank) // -1 is Unknown
			}
		}
	}
	if rank != Unknown && len(f.Devices) > 1 {
		f.Notes = append(f.Notes, profiles.SeveralDevices{Rank: rank, Devices: len(f.Devices), Main: main.ID})
	}
}

var torchName = regexp.MustCompile(`^(.+)_(\d+)\.\d{9,}\.pt\.trace\.json(?:\.gz)?$`)

// hostOfPath returns the host from a file name of torch.profiler's handler for TensorBoard,
// host_pid.time.pt.trace.json. The pid must equal the trace's: other files have similar names.
func hostOfPath(file string, process int64) string {
	found := torchName.FindStringSubmatch(filepath.Base(file))
	if found == nil || found[2] != strconv.FormatInt(process, 10) {
		return ""
	}
	return found[1]
}
