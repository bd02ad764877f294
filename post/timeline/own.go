package timeline

import (
	"regexp"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/post/trace"
)

// ownName matches the names of busbar's own activities in a step of rank --step, by operation or segment. No library's
// kernel name has a blank there; a layer's name follows it.
var ownName = regexp.MustCompile(
	`^busbar (?:(?P<op>all_reduce|all_gather|reduce_scatter)|forward|backward|compress|optimizer)(?: |$)`)

// recogniseOwn parses the name of busbar's own activity; ok is false for other names.
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

// setOwn records that a file is of busbar's own step, and of which.
func (f *File) setOwn(o *trace.Own) {
	f.Own, f.NoGPU, f.NonBlocking = o.Fact().Name(), o.OnHost || o.Rehearsed, o.NonBlocking
	f.Backend = o.Backend
}

// withoutBusbw removes bandwidths if times are not those of communication.
func (d *Device) withoutBusbw() {
	for i := range d.Collectives {
		d.Collectives[i].Busbw, d.Collectives[i].BusbwMax = nil, nil
	}
}

// NonBlocking reports whether operations are non-blocking: then only the time in progress is known.
func (t *Timeline) NonBlocking() bool {
	return slices.ContainsFunc(t.Files, func(f File) bool { return f.NonBlocking })
}

// own reports whether all files are of busbar's own steps.
func (t *Timeline) own() bool {
	return len(t.Files) > 0 && !slices.ContainsFunc(t.Files, func(f File) bool { return f.Own == "" })
}

// ownStepOf returns the headline of busbar's own step; nil for training.
func ownStepOf(t *Timeline) notice.Fact {
	if !t.own() {
		return nil
	}
	return profiles.OwnStep{Step: t.Files[0].Own, NoGPU: t.Files[0].NoGPU}
}

// Unit names a device in lists: threads of a rank are no GPU.
func (t *Timeline) Unit() string {
	if t.own() && !slices.ContainsFunc(t.Files, func(f File) bool { return !f.NoGPU }) {
		return "rank"
	}
	return "GPU"
}

// backend returns the backend of busbar's own step; "" for training.
func (t *Timeline) backend() string {
	if !t.own() {
		return ""
	}
	return t.Files[0].Backend
}
