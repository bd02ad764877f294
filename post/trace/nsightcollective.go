package trace

import (
	"cmp"
	"fmt"
	"regexp"
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

// assignCalls makes Calls of what NCCL's calls launched, in the order in which that was launched.
func (v *nvtx) assignCalls() {
	type job struct {
		unit             *unit
		thread, at, call int64
	}
	var jobs []job
	for thread, units := range v.units {
		for _, u := range units {
			for call, ran := range u.runs {
				jobs = append(jobs, job{u, thread, ran[0].raw().Launch, call})
			}
		}
	}
	slices.SortFunc(jobs, func(a, b job) int {
		return compareFirst(a.at, b.at, a.unit.Start, b.unit.Start, a.thread, b.thread, a.call, b.call)
	})
	for _, j := range jobs {
		v.assign(j.unit.calls, j.unit.runs[j.call])
	}
}

// assign gives activities that were launched together the calls that launched them, device by device.
func (v *nvtx) assign(calls []ncclRange, ran []ranOn) {
	devices := map[*nsightDevice][]*rawActivity{}
	for _, r := range ran {
		devices[r.device] = append(devices[r.device], r.raw())
	}
	for d, activities := range devices {
		parts := v.partsOn(d, calls, len(devices))
		made := map[int]int32{}
		for _, a := range carriers(activities) {
			which := partOf(d.names.texts[a.Name], parts)
			if _, done := made[which]; !done {
				made[which] = v.addCall(d, parts, which)
			}
			a.Call = made[which]
		}
	}
}

// carriers are the activities that do what was called: kernels, or where there are none the copies between devices that
// collectives of copy engines are made of. Other copies bring NCCL's own bookkeeping to the device.
func carriers(ran []*rawActivity) []*rawActivity {
	of := func(kinds ...Kind) (found []*rawActivity) {
		for _, a := range ran {
			if slices.Contains(kinds, a.Kind) {
				found = append(found, a)
			}
		}
		return found
	}
	if kernels := of(Kernel); len(kernels) > 0 {
		return kernels
	}
	return of(MemcpyDeviceToDevice, MemcpyPeer, MemcpyOther)
}

// part are the calls of a group that are of one communicator.
type part struct {
	comm  uint64
	calls []ncclRange
	share int // over how many devices of this process they are spread: a group may hold the calls for all of them
}

// partsOn are the calls of a group on one device, by communicator. A communicator of which the process has members, and
// none of them on the device, has no part.
func (v *nvtx) partsOn(d *nsightDevice, calls []ncclRange, devices int) []part {
	var parts []part
	for _, c := range calls {
		members := v.members[membership{d.key.process, c.comm}]
		onDevice := func(m payload) bool { return m.device == d.key.id }
		if len(members) > 0 && !slices.ContainsFunc(members, onDevice) {
			continue
		}
		i := slices.IndexFunc(parts, func(p part) bool { return p.comm == c.comm })
		if i < 0 {
			i = len(parts)
			parts = append(parts, part{comm: c.comm, share: cmp.Or(len(members), devices)})
		}
		parts[i].calls = append(parts[i].calls, c)
	}
	if len(parts) == 0 {
		return []part{{calls: calls, share: devices}}
	}
	return parts
}

// allParts is the index of a call that is made of all parts.
const allParts = -1

// partOf is which part a kernel does: the only one, or the only one whose function is in its name.
func partOf(kernel string, parts []part) int {
	found := allParts
	for i, p := range parts {
		if len(parts) == 1 || kernelFunction.FindString(kernel) == kernelNames.Replace(p.calls[0].name) {
			if found != allParts {
				return allParts
			}
			found = i
		}
	}
	return found
}

// kernelFunction is what the name of a kernel of NCCL has of a function; AllReduce has Reduce in it.
var kernelFunction = regexp.MustCompile(
	"AllReduce|ReduceScatter|AllGatherV|AllGather|AlltoAll|AllToAll|SendRecv|Broadcast|Gather|Scatter|Reduce|$")

// kernelNames makes the name of a function what kernels have of it.
var kernelNames = strings.NewReplacer("ncclSend", "SendRecv", "ncclRecv", "SendRecv", "nccl", "")

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

// addCall adds the call of one part, or of all.
func (v *nvtx) addCall(d *nsightDevice, parts []part, which int) int32 {
	call := Call{What: coll.Other, Bytes: Unknown, Group: Unknown, Seq: Unknown, Peer: Unknown, Parts: 1}
	if which == allParts {
		var all []ncclRange
		for _, p := range parts {
			all = append(all, p.calls...)
		}
		call.Name, call.Parts = groupName(all), len(all)
	} else {
		p := parts[which]
		call.Group = v.group(d, p.comm)
		ranks := 0
		if call.Group != Unknown {
			ranks = d.device.Groups[call.Group].Size
		}
		p.describe(&call, ranks)
	}
	d.device.Calls = append(d.device.Calls, call)
	return int32(len(d.device.Calls) - 1)
}

// describe says what the calls of one communicator are together.
func (p part) describe(call *Call, ranks int) {
	call.Name, call.Parts = groupName(p.calls), max(1, len(p.calls)/p.share)
	if names := distinctNames(p.calls); len(names) > 1 {
		call.What, call.Bytes = exchange(p.calls, ranks)
		return
	}
	call.What = operations[p.calls[0].name]
	call.Bytes = p.bytes(call.What, ranks)
	if len(p.calls) == 1 {
		call.Peer = int(p.calls[0].peer)
	}
}

// bytes are those of all calls, as nccl-tests counts them. The ranks of a collective pass the same sizes, so that where
// a process calls for several of its devices each has its share.
func (p part) bytes(what coll.Collective, ranks int) int64 {
	if len(p.calls)%p.share != 0 {
		return Unknown
	}
	sum := int64(0)
	for _, c := range p.calls {
		size := messageSize(what, c.bytes, ranks)
		if size == Unknown || sum > mostBytes {
			return Unknown
		}
		sum += size
	}
	if what == coll.Other && p.share > 1 {
		return Unknown
	}
	return sum / int64(p.share)
}

// messageSize is S of one call, from the size that its range carries: elements of the call times their size, which is
// the share of one rank where data is dealt out or gathered.
func messageSize(what coll.Collective, message int64, ranks int) int64 {
	switch what {
	case coll.AllGather, coll.Gather:
		return wholeSize(what, message, Unknown, ranks)
	case coll.ReduceScatter, coll.Scatter:
		return wholeSize(what, Unknown, message, ranks)
	case coll.AllToAll:
		if ranks <= 0 {
			return Unknown
		}
		return sharedSize(Unknown, message, ranks)
	case coll.Other:
		return known(message)
	}
	return wholeSize(what, message, message, ranks)
}

// exchange says what a group of different calls is: an all-to-all where every rank is sent to and received from with
// the same size (the rank itself may be left out), as frameworks write it; else none of ours.
func exchange(calls []ncclRange, ranks int) (coll.Collective, int64) {
	sent, received := map[int64]bool{}, map[int64]bool{}
	for _, c := range calls {
		peers := sent
		if c.name == "ncclRecv" {
			peers = received
		}
		if c.name != "ncclSend" && c.name != "ncclRecv" || c.bytes <= 0 || c.bytes != calls[0].bytes || c.peer < 0 ||
			c.peer >= int64(ranks) || peers[c.peer] {
			return coll.Other, Unknown
		}
		peers[c.peer] = true
	}
	if ranks < 3 && len(sent) < ranks || len(sent) < ranks-1 || len(received) != len(sent) {
		return coll.Other, Unknown
	}
	return coll.AllToAll, sharedSize(Unknown, calls[0].bytes, ranks)
}

// groupName is the name of a call, or those in a group, each once.
func groupName(calls []ncclRange) string { return strings.Join(distinctNames(calls), "+") }

func distinctNames(calls []ncclRange) []string {
	var names []string
	for _, c := range calls {
		if !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}
