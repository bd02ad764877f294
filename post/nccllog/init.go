package nccllog

import (
	"slices"
	"strconv"
	"strings"
)

// commLine reads messages that name a communicator: "ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0
// busId 17000 commId 0x2 - Init START", the one of 2.20 and later on nodes, and those of tearing down. Words between
// are kept apart by name, since versions and RCCL add some.
func (r *Reader) commLine(p *process, m message) verdict {
	caller, rest, _ := strings.Cut(m.text, "comm 0x")
	if caller != "" && !strings.HasSuffix(caller, " ") {
		return unknown
	}
	end := strings.Index(rest, " - ")
	if i := strings.Index(rest, "- Init"); i >= 0 {
		end = i // a split's START has no blank before it
	}
	f := fields("comm 0x" + rest[:max(end, 0)])
	if end < 0 {
		f = fields("comm 0x" + rest)
		return r.place(p, m, f)
	}
	return r.phase(p, m, caller, f, strings.TrimLeft(rest[end:], "- "))
}

// fields are pairs of a name and a value.
func fields(s string) map[string]string {
	words := strings.Fields(s)
	f := make(map[string]string, len(words)/2)
	for i := 0; i+1 < len(words); i += 2 {
		f[words[i]] = words[i+1]
	}
	return f
}

// numbers are whole numbers of fields by name, and whether each of them is there.
func numbers(f map[string]string, names ...string) (all []int, ok bool) {
	for _, name := range names {
		n, err := strconv.ParseInt(f[name], 10, 32)
		if err != nil || n < -1 {
			return make([]int, len(names)), false
		}
		all = append(all, int(n))
	}
	return all, true
}

// phase reads where a rank is in the life of its communicator.
func (r *Reader) phase(p *process, m message, caller string, f map[string]string, what string) verdict {
	n, ok := numbers(f, "rank", "nranks")
	if !ok {
		n, ok = numbers(f, "rank", "nRanks")
	}
	rank, ranks := n[0], n[1]
	if !ok || rank < 0 || rank >= ranks {
		return unknown
	}
	start, complete := strings.HasPrefix(what, "Init START"), strings.HasPrefix(what, "Init COMPLETE")
	destroyed, aborted := strings.HasPrefix(what, "Destroy COMPLETE"), strings.HasPrefix(what, "Abort COMPLETE")
	if !start && !complete && !destroyed && !aborted {
		switch word, _, _ := strings.Cut(what, " "); word {
		case "Destroy", "Abort", "Revoke", "Finalize":
			return passed
		}
		return unknown
	}
	pointer, id := f["comm"], f["commId"]
	if id == "0x0" {
		id = "" // it stands for none
	}
	if old := p.pointer[pointer]; old != nil && (start || complete) && (old.Destroyed || old.Aborted ||
		start && (old.Started || old.Completed) || old.Rank >= 0 && (old.Rank != rank || old.ranks != ranks)) {
		delete(p.pointer, pointer)
	}
	c := p.named(m.head, pointer)
	c.Rank, c.ranks = rank, ranks
	if device, ok := numbers(f, "cudaDev"); ok {
		c.Device = device[0]
		addDevice(&p.Devices, c.Device)
	}
	if nvml, ok := numbers(f, "nvmlDev"); ok {
		c.NVML = nvml[0]
	}
	if bus := f["busId"]; bus != "" {
		c.Bus = kept(bus)
	}
	if words := strings.Fields(caller); len(words) > 0 && strings.HasPrefix(words[len(words)-1], "nccl") {
		c.function = kept(words[len(words)-1])
	}
	c.Started, c.Completed = c.Started || start, c.Completed || complete
	c.Destroyed, c.Aborted = c.Destroyed || destroyed, c.Aborted || aborted
	switch {
	case start:
		p.threads[threadKey{m.tid, m.device}] = c
	case complete:
		delete(p.threads, threadKey{m.tid, m.device})
	default:
		p.end(c)
	}
	r.join(c, id, split(f))
	return understood
}

func split(f map[string]string) *Split {
	if f["parent"] == "" {
		return nil
	}
	s := &Split{Parent: kept(f["parent"])}
	s.Color, _ = strconv.ParseInt(f["color"], 10, 64)
	s.Key, _ = strconv.ParseInt(f["key"], 10, 64)
	s.Count, _ = strconv.ParseInt(f["splitCount"]+f["childCount"], 10, 64)
	return s
}

// place reads "comm 0x1 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0".
func (r *Reader) place(p *process, m message, f map[string]string) verdict {
	n, ok := numbers(f, "rank", "nRanks", "nNodes", "localRanks", "localRank")
	if !ok || n[0] < 0 || n[0] >= n[1] {
		return unknown
	}
	k := p.named(m.head, f["comm"])
	k.Rank, k.ranks, k.nodes, k.Local, k.LocalRank = n[0], n[1], n[2], n[3], n[4]
	return understood
}

// timings reads "Init timings - ncclCommInitRank: rank 0 nranks 2 total 0.67 (kernels 0.57, alloc 0.05, …)".
func (r *Reader) timings(p *process, m message) verdict {
	c := cursor{m.text}
	var rank, ranks int
	var function, parts string
	t := InitTiming{}
	if !c.all("Init timings - %: rank % nranks % total % (%)", &function, &rank, &ranks, &t.Total, &parts) {
		return unknown
	}
	for _, part := range strings.Split(parts, ",") {
		words := strings.Fields(part)
		if len(words) != 2 {
			return unknown
		}
		s, err := strconv.ParseFloat(words[1], 64)
		if err != nil || s != s || s > 1e12 || s < -1e12 {
			return unknown
		}
		t.Parts = append(t.Parts, Part{kept(words[0]), s})
	}
	// It comes right after COMPLETE: the rank is the last one of this size and rank.
	for _, k := range slices.Backward(p.members) {
		if k.Rank == rank && k.ranks == ranks {
			k.Init = &t
			break
		}
	}
	return understood
}

// addDevice remembers a device, in ascending order.
func addDevice(all *[]int, d int) {
	if i, found := slices.BinarySearch(*all, d); d >= 0 && !found {
		*all = slices.Insert(*all, i, d)
	}
}
