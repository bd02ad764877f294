package trace

import (
	"cmp"
	"slices"
	"sort"
)

// joiner joins activities of a device to what launched them.
type joiner struct {
	g        *gathered
	external map[int64]int32 // operators of collectives by their id; Unknown where two have the same
	used     []bool          // of g.host: something that it launched was seen
}

func (g *gathered) joiner() *joiner {
	j := &joiner{g: g, external: map[int64]int32{}, used: make([]bool, len(g.host))}
	for i := range g.ops {
		op := &g.ops[i]
		if op.external <= 0 {
			continue
		}
		if _, twice := j.external[op.external]; twice {
			j.external[op.external] = Unknown
			continue
		}
		j.external[op.external] = int32(i)
	}
	return j
}

// fill gives a device its activities, calls and groups. repeated are activities that stand in the file more than once.
func (j *joiner) fill(d *Device, raw []rawActivity, zero int64) (repeated int) {
	if !slices.IsSortedFunc(raw, inTime) {
		slices.SortFunc(raw, inTime)
	}
	whole := len(raw)
	raw = slices.CompactFunc(raw, func(a, b rawActivity) bool { return inTime(a, b) == 0 })
	d.Names = j.g.names.texts
	d.Activities = make([]Activity, len(raw))
	made := map[callKey]int32{}
	for i := range raw {
		a := &raw[i]
		launch := j.launch(a)
		if launch != nil {
			a.Launch = launch.start - zero
			a.Graph = a.Graph || launch.graph
			if process := j.g.pids[launch.thread]; d.Process == Unknown {
				d.Process = process
			}
		}
		j.join(d, a, launch, made)
		a.Start, a.End = a.Start-zero, a.End-zero
		d.Activities[i] = a.Activity
	}
	j.g.giveGroups(d)
	return whole - len(raw)
}

// giveGroups gives a device the groups that its calls are of.
func (g *gathered) giveGroups(d *Device) {
	number := map[int32]int32{Unknown: Unknown}
	for i := range d.Calls {
		c := &d.Calls[i]
		n, ok := number[c.Group]
		if !ok {
			n = int32(len(d.Groups))
			number[c.Group] = n
			d.Groups = append(d.Groups, g.groups.all[c.Group].Group)
		}
		c.Group = n
	}
}

// inTime orders by start, the longer first, and then by all that tells activities apart.
func inTime(a, b rawActivity) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Stream, b.Stream),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.correlation, b.correlation), cmp.Compare(a.node, b.node), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Bytes, b.Bytes))
}

// launch is the call of the host that launched an activity; nil where the file does not have it. Of several with one
// number it is the first.
func (j *joiner) launch(a *rawActivity) *hostCall {
	if a.correlation <= 0 {
		return nil
	}
	host := j.g.host
	i := sort.Search(len(host), func(i int) bool { return host[i].correlation >= a.correlation })
	if i == len(host) || host[i].correlation != a.correlation {
		return nil
	}
	j.used[i] = true
	return &host[i]
}

// emptyGraphs counts launches of CUDA graphs of which nothing is in the file.
func (j *joiner) emptyGraphs() (n int) {
	for i, c := range j.g.host {
		second := i > 0 && j.g.host[i-1].correlation == c.correlation
		if c.graph && !j.used[i] && !second && c.correlation > 0 {
			n++
		}
	}
	return n
}

// callKey tells calls apart: by their operator, or where that is not in the file by the id that their kernels have in
// common.
type callKey struct {
	op       int32
	own      int32
	external int64
}

// join gives a kernel the call that it is of.
func (j *joiner) join(d *Device, a *rawActivity, launch *hostCall, made map[callKey]int32) {
	if a.Kind != Kernel || a.own == Unknown && !ofCollective([]byte(j.g.names.texts[a.Name]), false) {
		return
	}
	key := callKey{op: j.operator(a, launch), own: Unknown}
	var call *madeCall
	switch {
	case key.op != Unknown:
		call = &j.g.ops[key.op].call
	case a.own == Unknown:
		return
	default:
		call = &j.g.calls[a.own]
		if key = (callKey{op: Unknown, own: a.own}); a.external > 0 && a.external != a.correlation {
			key = callKey{op: Unknown, own: Unknown, external: a.external}
		}
	}
	i, ok := made[key]
	if !ok {
		i = int32(len(d.Calls))
		made[key] = i
		d.Calls = append(d.Calls, j.g.inGroup(*call))
	}
	a.Call = i
}

// operator is the operator or range of the host that a kernel of a collective was launched for; Unknown.
func (j *joiner) operator(a *rawActivity, launch *hostCall) int32 {
	// old versions write the correlation in the place of the operator's id
	if a.external > 0 && a.external != a.correlation {
		if op, ok := j.external[a.external]; ok && op != Unknown {
			return op
		}
	}
	if launch != nil {
		return j.enclosing(launch)
	}
	return Unknown
}

// enclosing is the innermost operator of a collective around a call of the same thread; Unknown.
func (j *joiner) enclosing(launch *hostCall) int32 {
	const deepest = 64 // operators that begin before and may still be open
	ops := j.g.ops
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

// inGroup is a call whose peer is counted within its group.
func (g *gathered) inGroup(m madeCall) Call {
	if m.Peer == Unknown && m.peer != Unknown && m.Group != Unknown {
		m.Peer = slices.Index(g.groups.all[m.Group].Ranks, m.peer) // -1 is Unknown
	}
	return m.Call
}
