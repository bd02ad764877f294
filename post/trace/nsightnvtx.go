package trace

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// nvtx holds the retained ranges of programs and libraries.
type nvtx struct {
	kept    []threadRange
	units   map[int64][]*unit // units by global thread and start
	carried bool              // a range of NCCL has a payload with its size
	calls   bool              // the file has ranges of NCCL's operations
	members map[membership][]payload
}

// membership is a communicator in one process, which has an entry per device.
type membership struct {
	process int64
	comm    uint64
}

// ncclRange is one call of a function of NCCL.
type ncclRange struct {
	Span
	name string
	payload
}

// threadRange is a range of a program and its thread.
type threadRange struct {
	Range
	thread int64
}

// rangeTypes are the event types of ranges: NVTX's, and texts in its format.
var rangeTypes = []int64{59, 60, 70, 71}

// readNVTX reads all ranges in one pass and keeps NCCL's functions and the selected ones.
func (n *nsight) readNVTX() {
	n.nvtx = nvtx{units: map[int64][]*unit{}, members: map[membership][]payload{}}
	threads := map[int64][]ncclRange{}
	n.scan(
		"NVTX_EVENTS",
		[]string{"start", "end", "eventType", "globalTid", "text", "textId", "binaryData"},
		func(r row) {
			span, ok := r.span()
			if !ok || !slices.Contains(rangeTypes, r.or(2, 0)) {
				return
			}
			if _, ended := r.int(1); !ended {
				span.End = max(span.Start, n.session.stop)
			}
			name, thread := cmp.Or(r.text(4), n.string(r, 5)), r.or(3, 0)
			if isNCCL(name) {
				blob, _ := r[6].([]byte)
				threads[thread] = append(threads[thread], ncclRange{span, name, n.payloads.read(blob)})
				return
			}
			name = withoutNumbers(name)
			if strings.HasPrefix(name, stepPrefix) || n.options.KeepRange != nil && n.options.KeepRange(name) {
				n.nvtx.kept = append(n.nvtx.kept, threadRange{Range{span, name}, thread})
			}
		},
	)
	for thread, ranges := range threads {
		n.nvtx.makeUnits(thread, ranges)
	}
}

// isNCCL reports whether a range is named after an NCCL function: ncclAllReduce, but not PyTorch's nccl:all_reduce.
func isNCCL(name string) bool {
	return len(name) > 4 && strings.HasPrefix(name, "nccl") && name[4] >= 'A' && name[4] <= 'Z' &&
		!strings.ContainsAny(name, " :,(")
}

// withoutNumbers removes what PyTorch's emit_nvtx adds to range names: numbers that differ per step and rank.
func withoutNumbers(name string) string {
	for _, from := range []string{", seq = ", ", op_id = "} {
		name, _, _ = strings.Cut(name, from)
	}
	return name
}

// unit is an NCCL call that launches work: a single operation, or the end of a group.
type unit struct {
	Span
	calls []ncclRange
	ran   []ranOn
}

// makeUnits groups the calls of a thread. The end of the outermost group launches its operations.
func (v *nvtx) makeUnits(thread int64, ranges []ncclRange) {
	slices.SortStableFunc(ranges, func(a, b ncclRange) int { return a.compare(b.Span) })
	var group []ncclRange
	depth := 0
	launch := func(at Span, calls []ncclRange) {
		v.units[thread] = append(v.units[thread], &unit{Span: at, calls: calls})
	}
	for i, r := range ranges {
		_, operation := operations[r.name]
		switch {
		case r.name == "ncclGroupStart":
			depth++
		case r.name == "ncclGroupEnd":
			depth = max(0, depth-1)
			if depth == 0 && len(group) > 0 {
				launch(r.Span, group)
				group = nil
			}
		case operation && depth > 0:
			group = append(group, r)
		case operation:
			launch(r.Span, ranges[i:i+1])
		case r.comm != 0 && r.ranks > 0 && r.rank >= 0:
			key := membership{processOf(thread), r.comm}
			v.members[key] = append(v.members[key], r.payload)
		}
		v.calls = v.calls || operation
		v.carried = v.carried || operation && r.bytes >= 0
	}
}

// unitAt returns the innermost unit of a thread at a time, or nil. Units are rarely nested, so few are checked.
func (v *nvtx) unitAt(thread, at int64) *unit {
	units := v.units[thread]
	i := sort.Search(len(units), func(i int) bool { return units[i].Start > at })
	for _, u := range slices.Backward(units[max(0, i-4):i]) {
		if u.End >= at {
			return u
		}
	}
	return nil
}

// assignRanges assigns ranges to the devices that their thread launched on. Ranges of threads without launches, and of
// devices without ranges, go to all devices of the process.
func (n *nsight) assignRanges() {
	slices.SortStableFunc(n.nvtx.kept, func(a, b threadRange) int { return a.compare(b.Span) })
	for _, d := range n.devices {
		p := n.processes[d.key.process]
		var all []Range
		for _, r := range n.nvtx.kept {
			if processOf(r.thread) != d.key.process {
				continue
			}
			all = append(all, r.Range)
			if on := p.threads[r.thread]; len(on) == 0 || slices.Contains(on, d) {
				d.device.Ranges = append(d.device.Ranges, r.Range)
			}
		}
		if len(d.device.Ranges) == 0 {
			d.device.Ranges = all
		}
	}
}
