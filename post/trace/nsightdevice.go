package trace

import (
	"cmp"
	"fmt"
	"slices"

	"busbar/internal/notice/profiles"
	"busbar/internal/units"
)

// deviceKey identifies a device of an export: several processes may share one, and a process may use several.
type deviceKey struct{ process, id int64 }

// nsightDevice is a device during reading.
type nsightDevice struct {
	key    deviceKey
	device *Device
	raw    []rawActivity
	names  interner
	groups units.Numbers[uint64] // index in device.Groups by the hash of the communicator
}

// process is a process that used GPUs.
type process struct {
	devices  []*nsightDevice
	launched map[uint32][]ranOn // activities by the number of the call that launched them
	threads  map[int64][]*nsightDevice
}

// deviceOf returns a device of a process, created on first use.
func (n *nsight) deviceOf(global, id int64) *nsightDevice {
	p := n.processes[global]
	if p == nil {
		p = &process{launched: map[uint32][]ranOn{}, threads: map[int64][]*nsightDevice{}}
		n.processes[global] = p
	}
	for _, d := range p.devices {
		if d.key.id == id {
			return d
		}
	}
	d := &nsightDevice{key: deviceKey{global, id}, device: &Device{Rank: Unknown, Host: n.session.host,
		Process: pidOf(global), ID: int(id), Origin: n.session.origin}}
	p.devices = append(p.devices, d)
	return d
}

// Columns common to all activity tables, in the order of add.
var activityColumns = []string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphNodeId"}

// ownColumn is the index of the first table-specific column.
const ownColumn = 7

// noDevice is CUPTI's device number for a graph that begins on the host.
const noDevice = 1<<31 - 1

// activities reads a table of activities. what returns the kind and name of a row; bytes is the column of its size, or
// Unknown.
func (n *nsight) activities(table string, own []string, bytes int, what func(row) (Kind, string)) {
	n.scan("CUPTI_ACTIVITY_KIND_"+table, slices.Concat(activityColumns, own), func(r row) {
		kind, name := what(r)
		span, ok := r.span()
		id := r.or(2, noDevice)
		if !ok || id < 0 || id >= noDevice || span == (Span{}) {
			return
		}
		d := n.deviceOf(processOf(r.or(5, 0)), id)
		a := rawActivity{correlation: r.or(4, 0), node: r.or(6, 0)}
		a.Activity = Activity{
			Start:  span.Start,
			End:    span.End,
			Launch: NoTime,
			Bytes:  Unknown,
			Name:   d.names.add(name, name),
			Stream: int32(r.or(3, 0)),
			Call:   Unknown,
			Kind:   kind,
			Graph:  a.node != 0 || kind == GraphTrace,
		}
		if bytes != Unknown {
			a.Bytes = r.or(bytes, Unknown)
		}
		d.raw = append(d.raw, a)
	})
}

// readActivities reads the GPU activities.
func (n *nsight) readActivities() {
	n.activities("KERNEL", []string{"demangledName", "shortName"}, Unknown, func(r row) (Kind, string) {
		return Kernel, cmp.Or(n.string(r, ownColumn), n.string(r, ownColumn+1), "a kernel without a name")
	})
	n.activities("MEMCPY", []string{"bytes", "copyKind", "srcDeviceId", "dstDeviceId"}, ownColumn, copyOf)
	n.activities("MEMSET", []string{"bytes"}, ownColumn, func(row) (Kind, string) { return Memset, "Memset" })
	graphs := 0
	n.activities("GRAPH_TRACE", []string{"graphExecId", "graphId"}, Unknown, func(r row) (Kind, string) {
		graphs++
		return GraphTrace, fmt.Sprintf("CUDA graph %d", r.or(ownColumn, r.or(ownColumn+1, 0)))
	})
	if graphs > 0 {
		n.file.note(profiles.GraphKernelsMissing{Launches: graphs})
	}
	for _, p := range n.processes {
		for _, d := range p.devices {
			slices.SortFunc(d.raw, inTime)
			for i := range d.raw {
				if call := uint32(d.raw[i].correlation); call != 0 {
					p.launched[call] = append(p.launched[call], ranOn{d, int32(i)})
				}
			}
			n.devices = append(n.devices, d)
		}
	}
	slices.SortFunc(n.devices, func(a, b *nsightDevice) int {
		return cmp.Or(cmp.Compare(a.key.process, b.key.process), cmp.Compare(a.key.id, b.key.id))
	})
}

// copies maps CUPTI's numbers to directions of copies.
var copies = map[int64]struct {
	kind  Kind
	label string
}{
	1: {MemcpyHostToDevice, "Host-to-Device"}, 2: {MemcpyDeviceToHost, "Device-to-Host"},
	3: {MemcpyHostToDevice, "Host-to-Array"}, 4: {MemcpyDeviceToHost, "Array-to-Host"},
	5: {MemcpyDeviceToDevice, "Array-to-Array"}, 6: {MemcpyDeviceToDevice, "Array-to-Device"},
	7: {MemcpyDeviceToDevice, "Device-to-Array"}, 8: {MemcpyDeviceToDevice, "Device-to-Device"},
	9: {MemcpyOther, "Host-to-Host"}, 10: {MemcpyPeer, "Peer-to-Peer"},
	11: {MemcpyHostToDevice, "Unified Host-to-Device"}, 12: {MemcpyDeviceToHost, "Unified Device-to-Host"},
	13: {MemcpyDeviceToDevice, "Unified Device-to-Device"},
}

// copyOf returns the direction of a copy and its name.
func copyOf(r row) (Kind, string) {
	way, known := copies[r.or(ownColumn+1, 0)]
	if !known {
		return MemcpyOther, "Memcpy of an unknown direction"
	}
	if way.kind == MemcpyDeviceToDevice && r.or(ownColumn+2, Unknown) != r.or(ownColumn+3, Unknown) {
		way = copies[10]
	}
	return way.kind, "Memcpy " + way.label
}
