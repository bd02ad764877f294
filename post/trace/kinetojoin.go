package trace

import (
	"cmp"
	"slices"
	"sort"

	"busbar/internal/units"
)

// fillDevice sets a device's activities, calls and groups. Duplicate activities count once.
func (g *gathered) fillDevice(d *Device, raw []rawActivity, zero int64) {
	if !slices.IsSortedFunc(raw, inTime) {
		slices.SortFunc(raw, inTime)
	}
	raw = slices.CompactFunc(raw, func(a, b rawActivity) bool { return inTime(a, b) == 0 })
	d.Names = g.names.texts
	d.Activities = make([]Activity, len(raw))
	var made units.Numbers[callKey]
	for i := range raw {
		a := &raw[i]
		launch := g.launch(a)
		if launch != nil {
			a.Launch = launch.start - zero
			a.Graph = a.Graph || launch.graph
			if process := g.pids[launch.thread]; d.Process == Unknown {
				d.Process = process
			}
		}
		g.join(d, a, launch, &made)
		a.Start, a.End = a.Start-zero, a.End-zero
		d.Activities[i] = a.Activity
	}
	g.giveGroups(d)
}

// giveGroups sets the groups of a device's calls.
func (g *gathered) giveGroups(d *Device) {
	var numbers units.Numbers[int32]
	for c := range units.Each(d.Calls) {
		if c.Group == Unknown {
			continue
		}
		n, added := numbers.Of(c.Group)
		if added {
			d.Groups = append(d.Groups, g.groups.all[c.Group].Group)
		}
		c.Group = int32(n)
	}
}

// inTime orders by start, the longer first, then by all other fields.
func inTime(a, b rawActivity) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Stream, b.Stream),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.correlation, b.correlation), cmp.Compare(a.node, b.node), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Bytes, b.Bytes))
}

// launch returns the host call that launched an activity; nil if missing in the file.
func (g *gathered) launch(a *rawActivity) *hostCall {
	call := g.host[a.correlation]
	if call != nil {
		call.used = true
	}
	return call
}

// callKey identifies a call by its operator or, without one in the file, by the id shared by its kernels.
type callKey struct {
	op       int32
	own      int32
	external int64
}

// join sets the call of a kernel.
func (g *gathered) join(d *Device, a *rawActivity, launch *hostCall, made *units.Numbers[callKey]) {
	if a.Kind != Kernel || a.own == Unknown && !ofCollective([]byte(g.names.texts[a.Name]), false) {
		return
	}
	key := callKey{op: g.operator(a, launch), own: Unknown}
	var call *madeCall
	switch {
	case key.op != Unknown:
		call = &g.ops[key.op].call
	case a.own == Unknown:
		return
	default:
		call = &g.calls[a.own]
		if key = (callKey{op: Unknown, own: a.own}); a.external > 0 && a.external != a.correlation {
			key = callKey{op: Unknown, own: Unknown, external: a.external}
		}
	}
	i, added := made.Of(key)
	if added {
		d.Calls = append(d.Calls, g.inGroup(*call))
	}
	a.Call = int32(i)
}

// operator returns the host operator or range that launched a collective's kernel, or Unknown.
func (g *gathered) operator(a *rawActivity, launch *hostCall) int32 {
	// old versions write the correlation instead of the operator's id
	if a.external > 0 && a.external != a.correlation {
		if op, ok := g.external[a.external]; ok && op != Unknown {
			return op
		}
	}
	if launch != nil {
		return g.enclosing(launch)
	}
	return Unknown
}

// enclosing returns the innermost collective operator around a call in the same thread, or Unknown.
func (g *gathered) enclosing(launch *hostCall) int32 {
	const deepest = 64 // operators that begin earlier and may still be open
	ops := g.ops
	next := sort.Search(len(ops), func(i int) bool {
		return ops[i].thread > launch.thread || ops[i].thread == launch.thread && ops[i].Start > launch.start
	})
	for i := next - 1; i >= max(0, next-deepest) && ops[i].thread == launch.thread; i-- {
		if ops[i].End >= launch.start {
			return int32(i)
		}
	}
	return Unknown
}

// inGroup returns a call whose peer is a rank within its group.
func (g *gathered) inGroup(m madeCall) Call {
	if m.Peer == Unknown && m.peer != Unknown && m.Group != Unknown {
		m.Peer = slices.Index(g.groups.all[m.Group].Ranks, m.peer) // -1 is Unknown
	}
	return m.Call
}
