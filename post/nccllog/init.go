package nccllog

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"busbar/post/nccllog/logline"

	"busbar/internal/notice/nccllogs"
)

// readComm reads messages that name a communicator: "ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0
// busId 17000 commId 0x2 - Init START", the one of 2.20 and later on nodes, "comm 0x1 rank 0 nRanks 2 nNodes 1
// localRanks 2 localRank 0 MNNVL 0", and those of tearing down. Words between are read by name, since versions and
// RCCL add some.
func readComm(r *Reader, p *process, m message) bool {
	caller, rest, _ := strings.Cut(m.text, "comm 0x")
	if caller != "" && !strings.HasSuffix(caller, " ") {
		return false
	}
	// a split's START has no blank before the dash
	values, phase, phased := strings.Cut(strings.Replace(rest, "- Init", " - Init", 1), " - ")
	words := strings.Fields("comm 0x" + values)
	f := make(map[string]string, len(words)/2)
	for i := 0; i+1 < len(words); i += 2 {
		f[words[i]] = words[i+1]
	}
	f["nranks"] += f["nRanks"]
	n, ok := numbers(f, "rank", "nranks")
	if !ok || n[0] < 0 || n[0] >= n[1] {
		return false
	}
	if phased {
		return r.phase(p, m, caller, f, strings.TrimLeft(phase, "- "))
	}
	nodes, ok := numbers(f, "nNodes")
	if ok {
		k := p.named(m.head, f["comm"])
		k.Rank, k.part.Ranks, k.part.Nodes = n[0], n[1], nodes[0]
	}
	return ok
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
func (r *Reader) phase(p *process, m message, caller string, f map[string]string, what string) bool {
	begins := func(phase string) bool { return strings.HasPrefix(what, phase) }
	start, complete := begins("Init START"), begins("Init COMPLETE")
	destroyed, aborted := begins("Destroy COMPLETE"), begins("Abort COMPLETE")
	if !start && !complete && !destroyed && !aborted {
		return false
	}
	n, _ := numbers(f, "rank", "nranks")
	rank, ranks, pointer := n[0], n[1], f["comm"]
	if old := p.pointer[pointer]; old != nil && (start || complete) && (old.Destroyed || old.Aborted ||
		start && (old.Started || old.Completed) || old.Rank >= 0 && (old.Rank != rank || old.part.Ranks != ranks)) {
		delete(p.pointer, pointer)
	}
	k := p.named(m.head, pointer)
	k.Rank, k.part.Ranks = rank, ranks
	if device, ok := numbers(f, "cudaDev"); ok {
		k.Device = device[0]
	}
	k.Bus = f["busId"]
	if words := strings.Fields(caller); len(words) > 0 && strings.HasPrefix(words[len(words)-1], "nccl") {
		k.part.Function = words[len(words)-1]
	}
	k.Started, k.Completed = k.Started || start, k.Completed || complete
	k.Destroyed, k.Aborted = k.Destroyed || destroyed, k.Aborted || aborted
	switch {
	case start:
		p.threads[threadKey{m.tid, m.device}] = k
	case complete:
		delete(p.threads, threadKey{m.tid, m.device})
	default: // no message may be of it any more
		p.live = slices.DeleteFunc(p.live, func(o *member) bool { return o == k })
	}
	s := sort{ranks: ranks, color: f["color"], count: f["splitCount"] + f["childCount"]}
	if parent := p.pointer[f["parent"]]; parent != nil {
		s.parent = parent.comm
	}
	r.join(k, strings.TrimPrefix(f["commId"], "0x0"), s)
	return true
}

var initTimes = logline.MustCompile("Init timings - %: rank % nranks % total % (%)")

// readTimings reads "Init timings - ncclCommInitRank: rank 0 nranks 2 total 0.67 (kernels 0.57, alloc 0.05, …)".
func readTimings(r *Reader, p *process, m message) bool {
	c := logline.Cursor{S: m.text}
	var rank, ranks int
	var function, parts string
	t := InitTiming{}
	if !c.All(initTimes, &function, &rank, &ranks, &t.Total, &parts) {
		return false
	}
	for _, part := range strings.Split(parts, ",") {
		var name string
		var seconds float64
		if c := (logline.Cursor{S: strings.TrimSpace(part)}); !c.Read("% %", &name, &seconds) {
			return false
		}
		t.Parts = append(t.Parts, nccllogs.InitPart{Name: name, Seconds: seconds})
	}
	// It comes right after COMPLETE: the rank is the last one of this size and rank.
	for _, k := range slices.Backward(p.members) {
		if k.Rank == rank && k.part.Ranks == ranks {
			k.Init = &t
			break
		}
	}
	return true
}

// channelCount is one of "24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels, 8 p2p channels per
// peer", which had fewer parts before 2.21.
var channelCount = regexp.MustCompile(`(\d{1,6}) (coll|nvls|p2p) channels( per)?`)

// readChannels reads such a line.
func readChannels(r *Reader, p *process, m message) bool {
	n := noChannels
	of := map[string]*int{"coll": &n.Coll, "nvls": &n.NVLS, "p2p": &n.P2P, "p2p per": &n.PerPeer}
	for _, part := range channelCount.FindAllStringSubmatch(m.text, -1) {
		if number := of[part[2]+part[3]]; number != nil {
			*number, _ = strconv.Atoi(part[1])
		}
	}
	p.context(m.head, false).part.Channels = n
	return n.Coll >= 0
}

var noChannels = Channels{Unknown, Unknown, Unknown, Unknown}
