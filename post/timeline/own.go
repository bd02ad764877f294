package timeline

import (
	"regexp"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/post/trace"
)

// ownName is how busbar calls what it ran itself in a step of rank --step: by what an operation or a segment does. No
// kernel of a library has a blank there, and whatever a layer is called stands behind it.
var ownName = regexp.MustCompile(
	`^busbar (?:(?P<op>all_reduce|all_gather|reduce_scatter)|forward|backward|compress|optimizer)(?: |$)`)

// recogniseOwn looks the name of something up that busbar ran itself; ok is false of all other names.
func recogniseOwn(name string) (k known, ok bool) {
	m := ownName.FindStringSubmatch(name)
	if m == nil {
		return known{}, false
	}
	k = known{within: true, own: true, what: coll.Other, name: name}
	if op := m[ownName.SubexpIndex("op")]; op != "" {
		k.comm, k.within, k.what = true, false, operationOf(op)
	}
	return k, true
}

// setOwn notes that a file is of busbar's own step, and of which.
func (f *File) setOwn(o *trace.Own) {
	f.Own, f.NoGPU, f.NonBlocking = o.Fact().Name(), o.OnHost || o.Rehearsed, o.NonBlocking
}

// withoutBusbw takes bandwidths away that come from times of no communication.
func (d *Device) withoutBusbw() {
	for i := range d.Collectives {
		d.Collectives[i].Busbw, d.Collectives[i].BusbwMax = nil, nil
	}
}

// NonBlocking reports whether operations are non-blocking: then only when they were on their way is known of them.
func (t *Timeline) NonBlocking() bool {
	return slices.ContainsFunc(t.Files, func(f File) bool { return f.NonBlocking })
}

// own reports whether all that was read is busbar's own step, and no training.
func (t *Timeline) own() bool {
	return len(t.Files) > 0 && !slices.ContainsFunc(t.Files, func(f File) bool { return f.Own == "" })
}

// ownStepOf is what comes first of busbar's own step; nil where it is training.
func ownStepOf(t *Timeline) notice.Fact {
	if !t.own() {
		return nil
	}
	return profiles.OwnStep{Step: t.Files[0].Own, NoGPU: profiles.OnThreads(t.Files[0].NoGPU)}
}

// Unit is what a device is called where several are listed: the threads of a rank are no GPU.
func (t *Timeline) Unit() string {
	if t.own() && !slices.ContainsFunc(t.Files, func(f File) bool { return !f.NoGPU }) {
		return "rank"
	}
	return "GPU"
}
