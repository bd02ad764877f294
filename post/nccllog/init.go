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
	at := 0
	if !strings.HasPrefix(m.text, "comm 0x") {
		if at = strings.Index(m.text, " comm 0x") + 1; at == 0 {
			return unknown
		}
	}
	end := strings.Index(m.text, " - ")
	if i := strings.Index(m.text, "- Init"); i >= 0 {
		end = i // a split's START has no blank before it
	}
	caller := strings.Fields(m.text[:at])
	if m.open && len(caller) > 1 && (len(caller) != 3 || caller[0] != "[Rank") ||
		strings.Contains(m.text, " nNodes ") &&
			end >= 0 {
		return unknown // two messages in one
	}
	if end >= at {
		return r.phase(p, m, m.text[:at], fields(m.text[at:end]), strings.TrimLeft(m.text[end:], "- "))
	}
	if strings.Contains(m.text, " nNodes ") {
		return r.placeLine(p, m, m.text[at:])
	}
	return unknown
}

// fields are pairs of a name and a value; none where a name is there twice, since then there are two messages in one.
func fields(s string) map[string]string {
	words := strings.Fields(s)
	f := make(map[string]string, len(words)/2)
	for i := 0; i+1 < len(words); i += 2 {
		if _, twice := f[words[i]]; twice {
			return nil
		}
		f[words[i]] = words[i+1]
	}
	return f
}

func number(f map[string]string, names ...string) (int64, bool) {
	for _, name := range names {
		if v, err := strconv.ParseInt(f[name], 10, 64); err == nil {
			return v, true
		}
	}
	return Unknown, false
}

func small(f map[string]string, into *int, names ...string) bool {
	v, ok := number(f, names...)
	if ok && v >= -1 && v < 1<<31 {
		*into = int(v)
		return true
	}
	return false
}

func (r *Reader) phase(p *process, m message, before string, f map[string]string, what string) verdict {
	var rank, ranks int
	pointer := f["comm"]
	if !small(f, &rank, "rank") || !small(f, &ranks, "nranks", "nRanks") || rank < 0 || rank >= ranks {
		return unknown
	}
	start, complete := strings.HasPrefix(what, "Init START"), strings.HasPrefix(what, "Init COMPLETE")
	destroyed, aborted := strings.HasPrefix(what, "Destroy COMPLETE"), strings.HasPrefix(what, "Abort COMPLETE")
	switch {
	case start, complete, destroyed, aborted:
	case strings.HasPrefix(what, "Destroy"), strings.HasPrefix(what, "Abort"), strings.HasPrefix(what, "Revoke"),
		strings.HasPrefix(what, "Finalize"):
		return passed
	default:
		return unknown
	}
	id := f["commId"]
	if id == "0x0" {
		id = "" // it stands for none
	}
	if old := p.pointer[pointer]; old != nil && (start || complete) && (old.Destroyed || old.Aborted ||
		start && (old.Started || old.Completed) || old.Rank >= 0 && (old.Rank != rank || old.ranks != ranks)) {
		delete(p.pointer, pointer)
	}
	c := p.named(m.head, pointer)
	c.Rank, c.ranks = rank, ranks
	if small(f, &c.Device, "cudaDev") {
		p.device(c.Device)
	}
	small(f, &c.NVML, "nvmlDev")
	if bus := f["busId"]; bus != "" {
		c.Bus = kept(bus)
	}
	if words := strings.Fields(before); len(words) > 0 && strings.HasPrefix(words[len(words)-1], "nccl") {
		c.function = kept(words[len(words)-1])
	}
	key := threadKey{m.tid, m.device}
	switch {
	case start:
		c.Started = true
		p.threads[key] = c
	case complete:
		c.Completed = true
		delete(p.threads, key)
	case destroyed:
		c.Destroyed = true
		p.end(c)
	case aborted:
		c.Aborted = true
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
	s.Color, _ = number(f, "color")
	s.Key, _ = number(f, "key")
	s.Count, _ = number(f, "splitCount", "childCount")
	return s
}

// placeLine reads "comm 0x1 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0".
func (r *Reader) placeLine(p *process, m message, text string) verdict {
	c := cursor{s: text, open: m.open}
	c.lit("comm ")
	pointer := c.hexadecimal()
	c.lit(" rank")
	rank := c.small()
	c.lit(" nRanks")
	ranks := c.small()
	c.lit(" nNodes")
	nodes := c.small()
	c.lit(" localRanks")
	local := c.small()
	c.lit(" localRank")
	localRank := c.small()
	mnnvl := int64(Unknown)
	if c.maybe(" MNNVL") {
		mnnvl = c.integer()
	}
	if !c.done() || rank < 0 || rank >= ranks {
		return unknown
	}
	k := p.named(m.head, pointer)
	k.Rank, k.ranks, k.nodes, k.Local, k.LocalRank = rank, ranks, nodes, local, localRank
	if mnnvl >= 0 {
		on := mnnvl != 0
		k.mnnvl = &on
	}
	return understood
}

// timings reads "Init timings - ncclCommInitRank: rank 0 nranks 2 total 0.67 (kernels 0.57, alloc 0.05, …)".
func (r *Reader) timings(p *process, m message) verdict {
	c := cursor{s: m.text, open: m.open}
	c.lit("Init timings")
	c.until(": rank")
	rank := c.small()
	c.lit(" nranks")
	ranks := c.small()
	c.lit(" total")
	t := InitTiming{Total: c.float()}
	c.lit(" (")
	for _, part := range strings.Split(c.until(")"), ",") {
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
	if !c.done() {
		return unknown
	}
	// It comes right after COMPLETE: the rank is the last one of this size and rank.
	for _, k := range slices.Backward(p.members) {
		if k.Rank == rank && k.ranks == ranks {
			k.Init = &t
			return understood
		}
	}
	return understood
}

// spoke remembers the device in a header, which is the thread's current one: before it set one that is 0.
func (p *process) spoke(d int) {
	if i, found := slices.BinarySearch(p.current, d); d >= 0 && !found {
		p.current = slices.Insert(p.current, i, d)
	}
}

// device remembers a device that a communicator has.
func (p *process) device(d int) {
	if d < 0 {
		return
	}
	if i, found := slices.BinarySearch(p.Devices, d); !found {
		p.Devices = slices.Insert(p.Devices, i, d)
	}
}
