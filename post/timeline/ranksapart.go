package timeline

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/trace"
)

// rankKey is a device as a rank calls it.
type rankKey struct{ rank, id int }

// ranksApart looks at what says it is one rank. A rank may be recorded several times, one recording after another. The
// same recording in two files counts once. Recordings of several hosts or processes, or of one time, are not of one
// rank: names of files may have the rank within a host, or within a job. Nothing says which rank those are.
func (b *Builder) ranksApart() {
	b.dropCopies()
	t := b.timeline
	of := map[rankKey][]int{}
	var keys []rankKey
	for i := range t.Devices {
		d := &t.Devices[i]
		if d.Rank == nil || !d.works() {
			continue
		}
		key := rankKey{*d.Rank, d.ID}
		if of[key] == nil {
			keys = append(keys, key)
		}
		of[key] = append(of[key], i)
	}
	slices.SortFunc(keys, func(a, b rankKey) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.id, b.id)) })
	var clashes []notice.RankClash
	for _, key := range keys {
		clash := clashOf(t.Devices, of[key])
		if clash == nil {
			continue
		}
		clash.Rank, clash.Files = key.rank, namesOf(t.Files, filesOf(t.Devices, of[key]))
		clashes = append(clashes, *clash)
		for _, i := range of[key] {
			t.Devices[i].forgetRank()
		}
	}
	if clashes != nil {
		t.Notes = append(t.Notes, Note{notice.SameRank{Ranks: clashes}, -1})
	}
}

// clashOf is why devices cannot be recordings of one rank after another; nil where they can.
func clashOf(all []Device, devices []int) *notice.RankClash {
	devices = slices.Clone(devices)
	slices.SortStableFunc(devices, func(a, b int) int { return cmp.Compare(all[a].origin, all[b].origin) })
	for n, i := range devices {
		a := &all[i]
		for _, k := range devices[n+1:] {
			b := &all[k]
			switch {
			case a.Host != "" && b.Host != "" && a.Host != b.Host:
				return &notice.RankClash{Hosts: []string{a.Host, b.Host}}
			case a.Process != nil && b.Process != nil && *a.Process != *b.Process:
				return &notice.RankClash{PIDs: []int64{*a.Process, *b.Process}}
			case a.origin != trace.Unknown && b.origin != trace.Unknown && milliseconds(b.origin-a.origin) < a.Span:
				return &notice.RankClash{}
			}
		}
	}
	return nil
}

// forgetRank makes a device one of an unknown rank.
func (d *Device) forgetRank() {
	d.Rank, d.RankFrom = nil, ""
	d.Label = fmt.Sprintf("GPU %d", d.ID)
	if d.Process != nil {
		d.Label += fmt.Sprintf(" (pid %d)", *d.Process)
	}
}

// dropCopies leaves out recordings that are in another file too: of all files with them the first counts.
func (b *Builder) dropCopies() {
	t := b.timeline
	kept := map[string][]int{} // indexes in devices
	devices := []Device{}
	var said []string
	for i := range t.Devices {
		d := &t.Devices[i]
		key := fmt.Sprint(rankOrLast(d), processOf(d), d.ID, d.Kernels, len(d.seen), d.origin, d.Span)
		n := slices.IndexFunc(kept[key], func(k int) bool { return devices[k].sameRecording(d) })
		if n < 0 {
			kept[key] = append(kept[key], len(devices))
			devices = append(devices, *d)
			continue
		}
		names := namesOf(t.Files, []int{devices[kept[key][n]].File, d.File})
		said = units.AddOnce(said, strings.Join(names, " and "))
	}
	t.Devices = devices
	if said != nil {
		t.Notes = append(t.Notes, Note{notice.DuplicateRecordings{Files: said}, -1})
	}
}

// sameRecording says that two files have one recording of one device, to the nanosecond. Where nothing tells when it
// was, calls of one rank at the same moments do.
func (d *Device) sameRecording(b *Device) bool {
	certain := d.origin != trace.Unknown || d.Rank != nil && len(d.seen) > 0
	return certain && d.File != b.File && d.origin == b.origin && d.Host == b.Host && d.GPU == b.GPU &&
		d.Kernels == b.Kernels && d.Busy == b.Busy && d.Span > 0 &&
		d.Span == b.Span && d.Compute == b.Compute && d.Comm == b.Comm && d.Memcpy == b.Memcpy &&
		len(d.Steps) == len(b.Steps) && slices.Equal(d.seen, b.seen)
}

// fileNames are what tells the files of devices apart, by file.
func fileNames(t *Timeline, devices []int) map[int]string {
	files := filesOf(t.Devices, devices)
	names := map[int]string{}
	for n, name := range namesOf(t.Files, files) {
		names[files[n]] = name
	}
	return names
}

// filesOf are the files of devices, each once.
func filesOf(all []Device, devices []int) (files []int) {
	for _, i := range devices {
		if file := all[i].File; !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// namesOf are as many of the last parts of the paths of files as tell them apart.
func namesOf(all []File, files []int) []string {
	for parts := 1; ; parts++ {
		names, seen, whole := make([]string, len(files)), map[string]bool{}, true
		for n, file := range files {
			path := filepath.ToSlash(all[file].Path)
			names[n] = lastParts(path, parts)
			whole = whole && names[n] == path
			seen[names[n]] = true
		}
		if whole || len(seen) == len(files) {
			return names
		}
	}
}

// lastParts are so many parts of a path, from its end.
func lastParts(path string, parts int) string {
	for at := len(path); ; parts-- {
		if parts == 0 {
			return path[at+1:]
		}
		if at = strings.LastIndex(path[:at], "/"); at < 0 {
			return path
		}
	}
}
