package timeline

import (
	"regexp"

	"busbar/internal/coll"
	"busbar/post/trace"
)

// class is what an activity is counted as.
type class uint8

const (
	computing class = iota
	communicating
	copying
)

// names looks up every name of a device once. What the user's pattern adds is communication whose operation is not
// known.
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

// classify returns what every activity is counted as.
//
// Communication is what the table knows by name, and what belongs to a collective by the file: kernels with names
// that nobody knows yet, and copies, with which the newest libraries communicate. Where a collective has a kernel that
// is known by name, its other kernels prepare data and compute. In a group of one rank, and in a world of one, nothing
// is communicated, whatever runs; but busbar's own step is counted as rank counted it, where an operation is one in any
// world.
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

// alone reports whether a call is one of a communicator that has a single rank.
func alone(d *trace.Device, call int32) bool {
	g := d.Calls[call].Group
	return d.World == 1 || g >= 0 && (d.Groups[g].Size == 1 || len(d.Groups[g].Ranks) == 1)
}
