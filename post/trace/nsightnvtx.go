package trace

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// nvtx is what is kept of the ranges that programs and libraries annotate their work with.
type nvtx struct {
	kept    []threadRange
	units   map[int64][]*unit // what may have launched, by global thread, by start
	carried bool              // some range of NCCL has a payload with its size
	calls   bool              // there are ranges of NCCL's operations
	members map[membership][]payload
}

// membership is a communicator as one process sees it: with several devices it is in it several times.
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

// threadRange is a range of a program, and which thread it is of.
type threadRange struct {
	Range
	thread int64
}

// rangeTypes are the numbers of events that are ranges: of NVTX, and of texts in its format.
var rangeTypes = []int64{59, 60, 70, 71}

// readNVTX reads all ranges in one pass, and keeps those of NCCL's functions and those asked for.
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

// isNCCL reports whether a range has the name of a function of NCCL: ncclAllReduce, and not nccl:all_reduce, which is
// PyTorch's.
func isNCCL(name string) bool {
	return len(name) > 4 && strings.HasPrefix(name, "nccl") && name[4] >= 'A' && name[4] <= 'Z' &&
		!strings.ContainsAny(name, " :,(")
}

// withoutNumbers leaves out what PyTorch's emit_nvtx adds to the names of ranges: numbers that are others in each step
// and rank.
func withoutNumbers(name string) string {
	for _, from := range []string{", seq = ", ", op_id = "} {
		name, _, _ = strings.Cut(name, from)
	}
	return name
}

// unit is a call of NCCL that launches work: one operation by itself, or the end of a group of them.
type unit struct {
	Span
	calls []ncclRange
	ran   []ranOn
}

// makeUnits puts together the calls of a thread. Operations of a group are launched when the outermost group ends.
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

// unitAt is the innermost unit of a thread at a moment; nil where there is none. Units hardly ever lie in one another,
// so that few are looked at.
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

// assignRanges hands ranges to the devices that their thread launched on. Those of a thread that launched nothing, and
// of devices whose threads have none, are of all devices of the process.
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
