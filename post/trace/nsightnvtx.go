package trace

import (
	"context"
	"slices"
	"sort"
	"strings"
)

// nvtx is what is kept of the ranges that programs and libraries annotate their work with.
type nvtx struct {
	domains  map[domainKey]string
	threads  map[int64][]ncclRange // ranges of NCCL's functions, by global thread; while they are read
	kept     []threadRange
	units    map[int64][]*unit // what may have launched, by global thread, by start
	carried  bool              // some range of NCCL has a payload that says its size
	calls    bool              // there are ranges of NCCL's operations
	advanced bool              // there are ranges of the other way to record NCCL
	members  map[memberKey]payload
}

type domainKey struct{ process, id int64 }

// memberKey is a communicator as one process sees it: with several devices it is in it several times.
type memberKey struct {
	process int64
	comm    uint64
	device  int64
}

// ncclRange is one call of a function of NCCL.
type ncclRange struct {
	Span
	name   string
	domain int64
	payload
}

// threadRange is a range of a program, and which thread it is of.
type threadRange struct {
	Range
	thread int64
}

// rangeTypes are the numbers of events that are ranges, and of the one that names a domain.
type rangeTypes struct {
	ranges map[int64]bool
	domain int64
}

// readRangeTypes reads them from the file where it has them; the numbers have not changed since they are known.
func readRangeTypes(ctx context.Context, db *database) (rangeTypes, error) {
	t := rangeTypes{ranges: map[int64]bool{59: true, 60: true, 70: true, 71: true}, domain: 75}
	named := rangeTypes{ranges: map[int64]bool{}}
	err := db.scan(ctx, "ENUM_NSYS_EVENT_TYPE", "", []string{"id", "name"}, func(r row) {
		name := strings.ToLower(r.text(1))
		switch {
		case !strings.HasPrefix(name, "nvtx"):
		case strings.HasSuffix(name, "pushpoprange"), strings.HasSuffix(name, "startendrange"):
			named.ranges[r.or(0, Unknown)] = true
		case strings.HasSuffix(name, "domaincreate"):
			named.domain = r.or(0, Unknown)
		}
	})
	if len(named.ranges) > 0 {
		t.ranges = named.ranges
	}
	if named.domain > 0 {
		t.domain = named.domain
	}
	return t, err
}

// Columns of NVTX_EVENTS, in the order of the constants below. Older exports have texts in the row, newer ones numbers
// of strings.
var nvtxColumns = []string{"start", "end", "eventType", "globalTid", "domainId", "text", "textId", "registeredString",
	"jsonText", "jsonTextId", "binaryData"}

const (
	nvtxType = iota + 2
	nvtxThread
	nvtxDomain
	nvtxText
	nvtxTextID
	nvtxRegistered
	nvtxJSON
	nvtxJSONID
	nvtxBinary
)

// readNVTX reads all ranges in one pass, and keeps those of NCCL's functions and those asked for.
func (n *nsight) readNVTX(ctx context.Context) error {
	n.nvtx = nvtx{domains: map[domainKey]string{}, threads: map[int64][]ncclRange{}, units: map[int64][]*unit{},
		members: map[memberKey]payload{}}
	types, err := readRangeTypes(ctx, n.db)
	if err != nil {
		return err
	}
	err = n.db.scan(ctx, "NVTX_EVENTS", "", nvtxColumns, func(r row) {
		kind, thread := r.or(nvtxType, 0), r.or(nvtxThread, 0)
		switch {
		case kind == types.domain:
			n.nvtx.domains[domainKey{processOf(thread), r.or(nvtxDomain, 0)}] = rangeName(ctx, n.strings, r)
		case types.ranges[kind]:
			n.addRange(ctx, r, thread)
		}
	})
	if err != nil {
		return err
	}
	for thread, ranges := range n.nvtx.threads {
		n.nvtx.makeUnits(thread, ranges)
	}
	n.nvtx.threads = nil
	return nil
}

// rangeName is the text of a range, wherever it stands.
func rangeName(ctx context.Context, names *stringTable, r row) string {
	for _, i := range []int{nvtxText, nvtxTextID, nvtxRegistered} {
		if s := names.of(ctx, r, i); s != "" {
			return s
		}
	}
	return ""
}

func (n *nsight) addRange(ctx context.Context, r row, thread int64) {
	span, ok := r.span(0, 1)
	if !ok {
		return
	}
	if _, ended := r.int(1); !ended {
		span.End = max(span.Start, n.session.stop)
	}
	name := rangeName(ctx, n.strings, r)
	if isNCCL(name) {
		n.nvtx.threads[thread] = append(n.nvtx.threads[thread], ncclRange{Span: span, name: name, domain: r.or(nvtxDomain, 0),
			payload: n.readPayload(ctx, r)})
		return
	}
	n.nvtx.advanced = n.nvtx.advanced || name == "GroupLaunch" || name == "API Group"
	if name = withoutNumbers(name); strings.HasPrefix(name, stepPrefix) || n.options.KeepRange != nil &&
		n.options.KeepRange(name) {
		n.nvtx.kept = append(n.nvtx.kept, threadRange{Range{span, name}, thread})
	}
}

func (n *nsight) readPayload(ctx context.Context, r row) payload {
	p := noPayload
	text := r.text(nvtxJSON)
	if id, ok := r.int(nvtxJSONID); ok && text == "" {
		text = n.strings.get(ctx, id)
	}
	if text != "" {
		p.decoded(text)
	}
	if blob := r.bytes(nvtxBinary); blob != nil {
		n.payloads.binary(&p, blob)
	}
	return p
}

// isNCCL says whether a range has the name of a function of NCCL: ncclAllReduce, and not nccl:all_reduce, which is
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
	calls    []ncclRange
	runs     [][]ranOn      // what it ran each time: at once, or by each replay of a graph
	byReplay map[uint32]int // index in runs by the number of the call that launched the graph; 0: it was launched at once
}

// makeUnits puts together the calls of a thread. Operations of a group are launched when the outermost group ends.
func (v *nvtx) makeUnits(thread int64, ranges []ncclRange) {
	process := processOf(thread)
	ranges = slices.DeleteFunc(ranges, func(r ncclRange) bool {
		domain, known := v.domains[domainKey{process, r.domain}]
		return known && !strings.EqualFold(domain, "NCCL")
	})
	slices.SortStableFunc(ranges, func(a, b ncclRange) int { return compareFirst(a.Start, b.Start, b.End, a.End) })
	var units []*unit
	var group []ncclRange
	depth := 0
	for i, r := range ranges {
		operation := isOperation(r.name)
		switch {
		case r.name == "ncclGroupStart":
			depth++
		case r.name == "ncclGroupEnd":
			depth = max(0, depth-1)
			if depth == 0 && len(group) > 0 {
				units = append(units, &unit{Span: r.Span, calls: group})
				group = nil
			}
		case operation && depth > 0:
			group = append(group, r)
		case operation:
			units = append(units, &unit{Span: r.Span, calls: ranges[i : i+1]})
		case r.comm != 0 && r.ranks > 0 && r.rank >= 0:
			v.members[memberKey{process, r.comm, r.device}] = r.payload
		}
		v.calls = v.calls || operation
		v.carried = v.carried || operation && r.bytes >= 0
	}
	if len(units) > 0 {
		v.units[thread] = units
	}
}

// unitAt is the innermost unit of a thread at a moment; nil where there is none. Units hardly ever lie in one another,
// so that few are looked at.
func (v *nvtx) unitAt(thread, at int64) *unit {
	units := v.units[thread]
	i := sort.Search(len(units), func(i int) bool { return units[i].Start > at }) - 1
	for look := 0; i >= 0 && look < 4; i, look = i-1, look+1 {
		if units[i].End >= at {
			return units[i]
		}
	}
	return nil
}

// assignRanges hands ranges to the devices that their thread launched on. Those of a thread that launched nothing, and
// of devices whose threads have none, are of all devices of the process.
func (v *nvtx) assignRanges(of *processes, devices []*nsightDevice) {
	slices.SortStableFunc(v.kept, func(a, b threadRange) int { return compareFirst(a.Start, b.Start, b.End, a.End) })
	for _, r := range v.kept {
		p := of.byID[processOf(r.thread)]
		if p == nil {
			continue
		}
		for _, d := range p.devicesOf(r.thread) {
			d.device.Ranges = append(d.device.Ranges, r.Range)
		}
	}
	for _, d := range devices {
		if len(d.device.Ranges) > 0 {
			continue
		}
		for _, r := range v.kept {
			if processOf(r.thread) == d.key.process {
				d.device.Ranges = append(d.device.Ranges, r.Range)
			}
		}
	}
}
