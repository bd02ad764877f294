package timeline

import (
	"regexp"

	"busbar/internal/coll"
	"busbar/post/trace"
)

// class is the class of an activity.
type class uint8

const (
	computing class = iota
	communicating
	copying
)

// names classifies each distinct name of a device. Names matched by the user's pattern are communication of unknown
// operation.
func names(d *trace.Device, pattern *regexp.Regexp) []known {
	all := make([]known, len(d.Names))
	for i, name := range d.Names {
		all[i] = recognise(name)
		if !all[i].comm && pattern != nil && pattern.MatchString(name) {
			all[i].comm, all[i].what = true, coll.Other
		}
	}
	return all
}

// classify returns the class of every activity.
//
// Communication is what the table recognises by name, and what the file assigns to a collective: kernels with new
// names, and copies, which the newest libraries use. If a collective has a kernel recognised by name, its other
// kernels are computation. Groups and worlds of one rank do not communicate; but busbar's own step is counted as rank
// counts it, in any world.
func classify(d *trace.Device, names []known) []class {
	named := make([]bool, len(d.Calls))
	for i := range d.Activities {
		a := &d.Activities[i]
		if a.Call >= 0 && a.Kind == trace.Kernel && names[a.Name].comm {
			named[a.Call] = true
		}
	}
	classes := make([]class, len(d.Activities))
	for i := range d.Activities {
		a := &d.Activities[i]
		between := a.Call >= 0 && !alone(d, a.Call) // ranks
		switch {
		case names[a.Name].own:
			if names[a.Name].comm {
				classes[i] = communicating
			}
		case a.Kind == trace.Memset || a.Kind.Memcpy() && !between:
			classes[i] = copying
		case a.Kind.Memcpy():
			classes[i] = communicating
		case a.Kind != trace.Kernel || a.Call >= 0 && !between:
			classes[i] = computing
		case names[a.Name].comm && d.World != 1 || between && !named[a.Call] && !names[a.Name].within:
			classes[i] = communicating
		}
	}
	return classes
}

// alone reports whether a call belongs to a communicator with a single rank.
func alone(d *trace.Device, call int32) bool {
	g := d.Calls[call].Group
	return d.World == 1 || g >= 0 && (d.Groups[g].Size == 1 || len(d.Groups[g].Ranks) == 1)
}
