package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
)

// operations are NCCL's calls that move data between ranks. RCCL's names are among them.
var operations = map[string]coll.Collective{
	"ncclAllReduce": coll.AllReduce, "ncclAllGather": coll.AllGather, "ncclReduceScatter": coll.ReduceScatter,
	"ncclBroadcast": coll.Broadcast, "ncclBcast": coll.Broadcast, "ncclReduce": coll.Reduce,
	"ncclAlltoAll": coll.AllToAll, "ncclAllToAll": coll.AllToAll, "ncclGather": coll.Gather,
	"ncclScatter": coll.Scatter,
	"ncclSend":    coll.Other, "ncclRecv": coll.Other, "ncclAllToAllv": coll.Other, "ncclAllGatherV": coll.Other,
}

// assignCalls makes Calls of what NCCL's calls launched: on each device, all that one unit launched is one Call.
func (v *nvtx) assignCalls() {
	for _, thread := range slices.Sorted(maps.Keys(v.units)) {
		for _, u := range v.units[thread] {
			devices := map[*nsightDevice][]*rawActivity{}
			for _, r := range u.ran {
				devices[r.device] = append(devices[r.device], r.raw())
			}
			for d, activities := range devices {
				v.assign(d, activities, u.calls, len(devices))
			}
		}
	}
}

// assign gives each activity its call. Activities are kernels, or without kernels the copies between devices, which
// collectives of copy engines consist of. Other copies are NCCL's bookkeeping.
func (v *nvtx) assign(d *nsightDevice, ran []*rawActivity, calls []ncclRange, devices int) {
	copies := !slices.ContainsFunc(ran, func(a *rawActivity) bool { return a.Kind == Kernel })
	var carriers []*rawActivity
	for _, a := range ran {
		if a.Kind == Kernel || copies && a.Kind >= MemcpyDeviceToDevice && a.Kind <= MemcpyOther {
			carriers = append(carriers, a)
		}
	}
	if carriers == nil {
		return
	}
	for _, a := range carriers {
		a.Call = int32(len(d.device.Calls))
	}
	d.device.Calls = append(d.device.Calls, v.callOf(d, calls, devices))
}

// callOf is what the calls of a unit are together on one of the devices that it ran on. A unit with calls for several
// devices of a process has as many for each.
func (v *nvtx) callOf(d *nsightDevice, calls []ncclRange, devices int) Call {
	var names []string
	for _, c := range calls {
		if !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	call := Call{Name: strings.Join(names, "+"), What: coll.Other, Bytes: Unknown, Group: Unknown, Seq: Unknown,
		Peer: Unknown, Parts: max(1, len(calls)/devices)}
	other := func(c ncclRange) bool { return c.comm != calls[0].comm }
	if slices.ContainsFunc(calls, other) {
		return call
	}
	ranks := 0
	if call.Group = v.group(d, calls[0].comm); call.Group != Unknown {
		ranks = d.device.Groups[call.Group].Size
	}
	if len(names) > 1 {
		call.What, call.Bytes = exchange(calls, ranks)
		return call
	}
	call.What = operations[names[0]]
	call.Bytes = totalSize(call.What, calls, devices, ranks)
	if len(calls) == 1 {
		call.Peer = int(calls[0].peer)
	}
	return call
}

// group is the index of a communicator that the device has; Unknown for none.
func (v *nvtx) group(d *nsightDevice, comm uint64) int32 {
	if comm == 0 {
		return Unknown
	}
	i, known := d.groups[comm]
	if !known {
		i = int32(len(d.device.Groups))
		d.groups[comm] = i
		d.device.Groups = append(d.device.Groups, v.groupOf(d, comm))
	}
	return i
}

// groupOf is a communicator as a device is in it. The only rank that a process has in it is that of the device,
// whatever number the device had when the communicator was made.
func (v *nvtx) groupOf(d *nsightDevice, comm uint64) Group {
	g := Group{Name: fmt.Sprintf("%#x", comm), Rank: Unknown}
	members := v.members[membership{d.key.process, comm}]
	for _, m := range members {
		if m.device == d.key.id || len(members) == 1 {
			g.Size, g.Rank = int(m.ranks), int(m.rank)
		}
	}
	return g
}

// totalSize is the size of all calls on one device, as nccl-tests counts it. The ranks of a collective pass the same
// sizes, so that where a process calls for several of its devices each has its share.
func totalSize(what coll.Collective, calls []ncclRange, devices, ranks int) (sum int64) {
	for _, c := range calls {
		size := messageSize(what, c.bytes, ranks)
		if size == Unknown || sum > mostBytes || devices > 1 && (what == coll.Other || len(calls)%devices != 0) {
			return Unknown
		}
		sum += size
	}
	return sum / int64(devices)
}

// messageSize is S of one call, from the size that its range carries: elements of the call times their size, which is
// the share of one rank where data is dealt out or gathered.
func messageSize(what coll.Collective, message int64, ranks int) int64 {
	switch {
	case what == coll.AllGather || what == coll.Gather:
		return wholeSize(what, message, Unknown, ranks)
	case what == coll.ReduceScatter || what == coll.Scatter:
		return wholeSize(what, Unknown, message, ranks)
	case what == coll.AllToAll && ranks <= 0:
		return Unknown
	case what == coll.AllToAll:
		return sharedSize(Unknown, message, ranks)
	case what == coll.Other:
		return known(message)
	}
	return wholeSize(what, message, message, ranks)
}

// exchange is what a group of different calls is: an all-to-all where every rank is sent to and received from with
// the same size (the rank itself may be left out), as frameworks write it; else Other.
func exchange(calls []ncclRange, ranks int) (coll.Collective, int64) {
	peers := map[string]map[int64]bool{"ncclSend": {}, "ncclRecv": {}}
	for _, c := range calls {
		of := peers[c.name]
		if of == nil || c.bytes <= 0 || c.bytes != calls[0].bytes || c.peer < 0 || c.peer >= int64(ranks) ||
			of[c.peer] {
			return coll.Other, Unknown
		}
		of[c.peer] = true
	}
	sent, received := len(peers["ncclSend"]), len(peers["ncclRecv"])
	if sent != received || sent < ranks-1 || ranks < 3 && sent < ranks {
		return coll.Other, Unknown
	}
	return coll.AllToAll, sharedSize(Unknown, calls[0].bytes, ranks)
}
