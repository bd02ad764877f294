package trace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"busbar/internal/notice"
)

// deviceKey tells devices of an export apart: several processes may use one, and one process several.
type deviceKey struct{ process, id int64 }

// nsightDevice is a device while its activities are read.
type nsightDevice struct {
	key    deviceKey
	device *Device
	keys   []activityKey // beside device.Activities
	byID   map[int64]int32
	byName map[string]int32
	groups map[groupKey]int32
}

// activityKey is what finds the host's part of an activity.
type activityKey struct {
	correlation uint32 // number of the host's call in its process; 0: none
	node        int64  // of a CUDA graph; 0: none
}

// process is one that used GPUs.
type process struct {
	devices  []*nsightDevice
	launched []launchKey // activities by the call that launched them
	threads  map[int64][]*nsightDevice
}

// processes are the processes of an export with their devices.
type processes struct {
	byID  map[int64]*process // globalPid
	byKey map[deviceKey]*nsightDevice
}

func newProcesses() processes { return processes{map[int64]*process{}, map[deviceKey]*nsightDevice{}} }

// sortedDevices are those on which something ran, by process and number.
func (all *processes) sortedDevices() []*nsightDevice {
	devices := make([]*nsightDevice, 0, len(all.byKey))
	for _, d := range all.byKey {
		devices = append(devices, d)
	}
	slices.SortFunc(devices, func(a, b *nsightDevice) int {
		return compareFirst(a.key.process, b.key.process, a.key.id, b.key.id)
	})
	return devices
}

// deviceAt is a device of a recording, which is new if it is not there yet.
func (all *processes) deviceAt(key deviceKey, of *session) *nsightDevice {
	d := all.byKey[key]
	if d == nil {
		pid := int64(Unknown)
		if key.process != 0 {
			pid = pidOf(key.process)
		}
		d = &nsightDevice{key: key, byID: map[int64]int32{}, byName: map[string]int32{}, groups: map[groupKey]int32{},
			device: &Device{
				Rank: Unknown, Host: of.host, Process: pid, ID: int(key.id), Origin: of.origin}}
		all.byKey[key] = d
		p := all.byID[key.process]
		if p == nil {
			p = &process{threads: map[int64][]*nsightDevice{}}
			all.byID[key.process] = p
		}
		p.devices = append(p.devices, d)
	}
	return d
}

// name is the index of a name that the device has.
func (d *nsightDevice) name(s string) int32 {
	i, known := d.byName[s]
	if !known {
		i = int32(len(d.device.Names))
		d.device.Names = append(d.device.Names, s)
		d.byName[s] = i
	}
	return i
}

// Columns that all tables of activities share, in the order of add.
var activityColumns = []string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphNodeId"}

// Where the columns are that a table has of its own.
const ownColumn = 7

// add takes a row of a table of activities; it is nil where the row says nothing that could be used.
func (n *nsight) add(r row, kind Kind, bytes int64, name func(*nsightDevice) int32) {
	span, ok := r.span(0, 1)
	id, known := r.int(2)
	global, told := r.int(5)
	if !ok || !known || id < 0 || id >= noDevice || span == (Span{}) || !told && n.db.isDamaged() {
		return // a row of a page of which a part is missing has nothing in its last columns
	}
	global = processOf(global)
	d := n.deviceAt(deviceKey{global, id}, &n.session)
	key := activityKey{correlation: uint32(r.or(4, 0)), node: r.or(6, 0)}
	d.device.Activities = append(d.device.Activities, Activity{Start: span.Start, End: span.End, Launch: NoTime,
		Bytes: bytes,
		Name:  name(d), Stream: int32(r.or(3, 0)), Call: Unknown, Kind: kind, Graph: key.node != 0 || kind == GraphTrace})
	d.keys = append(d.keys, key)
}

// noDevice is what CUPTI gives for a graph that begins on the host, where a device's number is expected.
const noDevice = 1<<31 - 1

// readActivities reads what ran on GPUs.
func (n *nsight) readActivities(ctx context.Context) error {
	for _, read := range []func(context.Context) error{n.readKernels, n.readCopies, n.readMemsets, n.readGraphs} {
		if err := read(ctx); err != nil {
			return err
		}
	}
	for _, d := range n.byKey {
		sortActivities(d)
	}
	for _, p := range n.byID {
		p.indexLaunches()
	}
	return nil
}

func (n *nsight) readKernels(ctx context.Context) error {
	columns := append(slices.Clone(activityColumns), "demangledName", "shortName", "mangledName")
	return n.db.scan(ctx, "CUPTI_ACTIVITY_KIND_KERNEL", "", columns, func(r row) {
		n.add(r, Kernel, Unknown, func(d *nsightDevice) int32 { return d.kernelName(ctx, n.strings, r) })
	})
}

// kernelName is the first that the file has of a kernel's names: demangled, short, mangled.
func (d *nsightDevice) kernelName(ctx context.Context, names *stringTable, r row) int32 {
	id, ok := r.int(ownColumn)
	if known, seen := d.byID[id]; ok && seen {
		return known
	}
	s := ""
	for i := ownColumn; i < ownColumn+3 && s == ""; i++ {
		s = names.of(ctx, r, i)
	}
	if s == "" {
		s = "a kernel without a name"
	}
	at := d.name(s)
	if ok {
		d.byID[id] = at
	}
	return at
}

func (n *nsight) readCopies(ctx context.Context) error {
	directions, err := copyDirections(ctx, n.db)
	if err != nil {
		return err
	}
	columns := append(slices.Clone(activityColumns), "bytes", "copyKind", "srcDeviceId", "dstDeviceId")
	return n.db.scan(ctx, "CUPTI_ACTIVITY_KIND_MEMCPY", "", columns, func(r row) {
		way, known := directions[r.or(ownColumn+1, 0)]
		if !known {
			way = direction{MemcpyOther, "of an unknown direction"}
		}
		from, has1 := r.int(ownColumn + 2)
		to, has2 := r.int(ownColumn + 3)
		if way.kind == MemcpyDeviceToDevice && has1 && has2 && from != to {
			way = direction{MemcpyPeer, "Peer-to-Peer"}
		}
		n.add(r, way.kind, r.or(ownColumn, Unknown), func(d *nsightDevice) int32 { return d.name("Memcpy " + way.label) })
	})
}

func (n *nsight) readMemsets(ctx context.Context) error {
	columns := append(slices.Clone(activityColumns), "bytes")
	return n.db.scan(ctx, "CUPTI_ACTIVITY_KIND_MEMSET", "", columns, func(r row) {
		n.add(r, Memset, r.or(ownColumn, Unknown), func(d *nsightDevice) int32 { return d.name("Memset") })
	})
}

// readGraphs reads CUDA graphs that were recorded as a whole.
func (n *nsight) readGraphs(ctx context.Context) error {
	columns := append(slices.Clone(activityColumns), "graphExecId", "graphId")
	graphs := 0
	err := n.db.scan(ctx, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "", columns, func(r row) {
		graphs++
		id := r.or(ownColumn, r.or(ownColumn+1, 0))
		n.add(r, GraphTrace, Unknown, func(d *nsightDevice) int32 { return d.name(fmt.Sprintf("CUDA graph %d", id)) })
	})
	if graphs > 0 {
		n.file.note(notice.GraphKernelsMissing{Launches: graphs})
	}
	return err
}

// direction is where a copy goes.
type direction struct {
	kind  Kind
	label string
}

// copyDirections are those of the file's own table, and what Nsight Systems has always meant by the numbers where it
// has none.
func copyDirections(ctx context.Context, db *database) (map[int64]direction, error) {
	ways := map[int64]direction{1: {MemcpyHostToDevice, "Host-to-Device"}, 2: {MemcpyDeviceToHost, "Device-to-Host"},
		8: {MemcpyDeviceToDevice, "Device-to-Device"}, 10: {MemcpyPeer, "Peer-to-Peer"}}
	err := db.scan(ctx, "ENUM_CUDA_MEMCPY_OPER", "", []string{"id", "name", "label"}, func(r row) {
		id, ok := r.int(0)
		kind, known := copyKind(r.text(1), r.text(2))
		if !ok || !known {
			return
		}
		label := r.text(2)
		if label == "" {
			label = r.text(1)
		}
		ways[id] = direction{kind, label}
	})
	return ways, err
}

// copyKind reads names such as CUDA_MEMCPY_KIND_HTOD, UVM_HTOD and labels such as Unified Host-to-Device. An array lies
// on the device.
func copyKind(name, label string) (Kind, bool) {
	short := strings.ToUpper(name[strings.LastIndexByte(name, '_')+1:])
	if len(short) != 4 || short[1:3] != "TO" {
		words := strings.FieldsFunc(strings.ToUpper(label), func(r rune) bool { return r == '-' || r == ' ' })
		i := slices.Index(words, "TO")
		if i < 1 || i+1 >= len(words) {
			return MemcpyOther, false
		}
		short = words[i-1][:1] + "TO" + words[i+1][:1]
	}
	switch strings.ReplaceAll(short, "A", "D") {
	case "HTOD":
		return MemcpyHostToDevice, true
	case "DTOH":
		return MemcpyDeviceToHost, true
	case "DTOD":
		return MemcpyDeviceToDevice, true
	case "PTOP":
		return MemcpyPeer, true
	}
	return MemcpyOther, true
}

// byStart sorts activities and keeps their keys beside them.
type byStart struct{ *nsightDevice }

func (s byStart) Len() int { return len(s.keys) }
func (s byStart) Swap(i, j int) {
	a := s.device.Activities
	a[i], a[j] = a[j], a[i]
	s.keys[i], s.keys[j] = s.keys[j], s.keys[i]
}
func (s byStart) Less(i, j int) bool {
	a, b := &s.device.Activities[i], &s.device.Activities[j]
	if c := compareFirst(a.Start, b.Start, b.End, a.End, int64(a.Stream), int64(b.Stream), int64(a.Kind),
		int64(b.Kind)); c != 0 {
		return c < 0
	}
	return s.keys[i].correlation < s.keys[j].correlation
}

// sortActivities brings activities in order: rows of an export lie in any.
func sortActivities(d *nsightDevice) {
	if s := (byStart{d}); !sort.IsSorted(s) {
		sort.Sort(s)
	}
}

// compareFirst compares pairs, and gives the first that differs.
func compareFirst(pairs ...int64) int {
	for i := 0; i+1 < len(pairs); i += 2 {
		if c := cmp.Compare(pairs[i], pairs[i+1]); c != 0 {
			return c
		}
	}
	return 0
}
