package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/units"
)

// operations are NCCL's calls that move data between ranks, with RCCL's names.
var operations = map[string]coll.Collective{
	"ncclAllReduce": coll.AllReduce, "ncclAllGather": coll.AllGather, "ncclReduceScatter": coll.ReduceScatter,
	"ncclBroadcast": coll.Broadcast, "ncclBcast": coll.Broadcast, "ncclReduce": coll.Reduce,
	"ncclAlltoAll": coll.AllToAll, "ncclAllToAll": coll.AllToAll, "ncclGather": coll.Gather,
	"ncclScatter": coll.Scatter,
	"ncclSend":    coll.Other, "ncclRecv": coll.Other, "ncclAllToAllv": coll.Other, "ncclAllGatherV": coll.Other,
}

// assignCalls builds Calls: on each device, all activities that one unit launched form one Call.
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

// assign sets the call of each activity: of kernels, or without kernels of copies between devices, which copy-engine
// collectives use. Other copies are NCCL's bookkeeping.
func (v *nvtx) assign(d *nsightDevice, ran []*rawActivity, calls []ncclRange, devices int) {
	copies := !slices.ContainsFunc(ran, func(a *rawActivity) bool { return a.Kind == Kernel })
	carriers := units.Where(ran, func(a *rawActivity) bool {
		return a.Kind == Kernel || copies && a.Kind >= MemcpyDeviceToDevice && a.Kind <= MemcpyOther
	})
	if carriers == nil {
		return
	}
	for _, a := range carriers {
		a.Call = int32(len(d.device.Calls))
	}
	d.device.Calls = append(d.device.Calls, v.callOf(d, calls, devices))
}

// callOf merges the calls of a unit on one of its devices. A unit for several devices of a process has the same number
// of calls for each.
func (v *nvtx) callOf(d *nsightDevice, calls []ncclRange, devices int) Call {
	var names []string
	for _, c := range calls {
		names = units.AddOnce(names, c.name)
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

// group returns the device's index of a communicator, or Unknown.
func (v *nvtx) group(d *nsightDevice, comm uint64) int32 {
	if comm == 0 {
		return Unknown
	}
	i, added := d.groups.Of(comm)
	if added {
		d.device.Groups = append(d.device.Groups, v.groupOf(d, comm))
	}
	return int32(i)
}

// groupOf returns a communicator from a device's view. A process's only rank in it belongs to the device, whatever the
// device's number at creation.
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

// totalSize returns the size of all calls on one device, as nccl-tests counts it. Ranks of a collective pass equal
// sizes, so a process's calls for several devices are divided equally.
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

// messageSize returns S of one call from its range's elements × element size, which is one rank's share for
// collectives that scatter or gather.
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

// exchange returns the collective of a group of different calls: all-to-all if every rank (except possibly itself) is
// sent to and received from with the same size, as frameworks implement it; else Other.
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
