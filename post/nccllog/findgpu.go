package nccllog

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"
	"busbar/internal/units"
)

// pair is two ranks of a communicator, the lower first.
type pair struct{ comm, process, a, b int }

func pairOf(t Transport) pair {
	p := pair{t.Comm, Unknown, min(t.From, t.To), max(t.From, t.To)}
	if t.Comm < 0 {
		p.process = t.Process
	}
	return p
}

// pairs are the pairs of ranks by the kind of their transport.
func (l *Log) pairs() map[string]map[pair]bool {
	by := map[string]map[pair]bool{"p2p": {}, "shm": {}, "net": {}, "collnet": {}}
	for _, t := range l.Transports {
		if t.Kind != "net" || l.sameHost(t) && t.PXN < 0 {
			by[t.Kind][pairOf(t)] = true
		}
	}
	return by
}

// findWithinHost finds GPUs of one host that exchange data through its memory, or even over the network.
func findWithinHost(l *findings) {
	by := l.pairs()
	off := l.peersOff()
	if n := len(by["shm"]); n > 0 {
		both := maps.Clone(by["p2p"]) // a pair may go one way in each direction
		maps.Copy(both, by["shm"])
		f := l.add(nccllogs.HostMemoryBetweenGPUs{Pairs: n, Of: len(both), P2P: len(by["p2p"]),
			NVLink: l.nvlinks(), Settings: off, Vendor: l.vendor()})
		if l.nvlinks() {
			f.Severity = notice.Error
		}
	}
	if n := len(by["net"]); n > 0 {
		if on(l.setting("NCCL_SHM_DISABLE")) {
			off = append(off, l.assigned("NCCL_SHM_DISABLE")...)
		}
		l.add(nccllogs.NetworkWithinHost{Pairs: n, Settings: off, Vendor: l.vendor()})
	}
}

// findShared finds ranks of one communicator that use one GPU: the same bus on one host. Without an id, ranks are put
// together by order alone, and may be of several communicators.
func findShared(l *findings) {
	for i, c := range l.Communicators {
		if c.ID == "" || c.namesakes {
			continue
		}
		type gpu struct{ host, bus string }
		ranks := map[gpu][]int{}
		for _, m := range c.Members {
			_, err := strconv.ParseUint(m.Bus, 16, 64) // people mask it
			if host := l.hostOf(i, m.Rank); m.Rank >= 0 && err == nil && host != "" {
				ranks[gpu{host, m.Bus}] = append(ranks[gpu{host, m.Bus}], m.Rank)
			}
		}
		fact := nccllogs.RanksShareGPU{Communicator: l.communicator(i)}
		for g, of := range ranks {
			if len(of) > 1 {
				fact.Ranks = append(fact.Ranks, of...)
				fact.GPUs = append(fact.GPUs, nccllogs.UsedGPU{Ranks: of, Bus: g.bus, Host: g.host})
			}
		}
		units.SortBy(fact.GPUs, nccllogs.UsedGPU.String)
		if len(fact.Ranks) > 0 {
			l.add(fact)
		}
	}
}

// peersOff are the settings that prevent GPUs from accessing each other.
func (l *Log) peersOff() (all []nccllogs.Assigned) {
	if on(l.setting("NCCL_P2P_DISABLE")) {
		all = l.assigned("NCCL_P2P_DISABLE")
	}
	if v := l.setting("NCCL_P2P_LEVEL"); v == "LOC" || v == "0" {
		all = append(all, l.assigned("NCCL_P2P_LEVEL")...)
	}
	return all
}

// nvlinks reports whether the topology of any communicator has NVLink.
func (l *Log) nvlinks() bool {
	return slices.ContainsFunc(l.Communicators, func(c Communicator) bool {
		return c.Topology.NVLinks > 0 || slices.ContainsFunc(c.Topology.Paths,
			func(p Path) bool { return p.Pair == "GPU-GPU" && strings.HasPrefix(p.Type, "NV") })
	})
}

// findPaths finds GPUs that reach each other, or their NIC, through processors. The search over the topology writes the
// worst path of each pattern; the first pattern of the largest communicator counts.
func findPaths(l *findings) {
	c := l.largest()
	if c == nil || len(c.Graphs) == 0 {
		return
	}
	g := c.Graphs[max(0, c.ring())]
	far := func(path string) bool { return path == "PHB" || path == "SYS" }
	if far(g.Intra) {
		l.add(nccllogs.GPUsFar{Path: nccllogs.FarPath(g.Intra), Search: searchResult(g), Vendor: l.vendor()})
	}
	if far(g.Inter) && l.nodes() > 1 {
		f := l.add(nccllogs.NICFar{Path: nccllogs.FarPath(g.Inter), Search: searchResult(g), Vendor: l.vendor()})
		if g.Inter == "SYS" {
			f.Severity = notice.Warning
		}
	}
}

// ring is the place of the search for rings; -1 where there was none.
func (c *Communicator) ring() int {
	return slices.IndexFunc(c.Graphs, func(g Graph) bool { return g.Pattern == "4" })
}

func searchResult(g Graph) nccllogs.SearchResult {
	return nccllogs.SearchResult{
		Pattern: g.Pattern, Channels: g.Channels, BwIntra: g.BwIntra, BwInter: g.BwInter,
		Type: strings.TrimSuffix(g.Intra+"/"+g.Inter, "/"),
	}
}

// fewest is the number of channels under which NVLink cannot be filled: each channel is a thread block, of some 20
// GB/s.
const fewest = 4

// findChannels finds communicators with few channels over NVLink.
func findChannels(l *findings) {
	for i := range l.Communicators {
		c := &l.Communicators[i]
		g := c.ring()
		if c.Ranks < 2 || c.Channels.Coll <= 0 || c.Channels.Coll >= fewest || c.Nodes > 1 || g < 0 ||
			!strings.HasPrefix(c.Graphs[g].Intra, "NV") {
			continue
		}
		fact := nccllogs.FewChannels{
			Communicator: l.communicator(i), Channels: c.Channels.Coll, Search: searchResult(c.Graphs[g]),
			Links: unlike(c.Topology), Vendor: l.vendor(),
			Settings: l.assigned("NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS", "NCCL_TOPO_FILE", "NCCL_GRAPH_FILE")}
		if len(fact.Settings) > 0 {
			fact.Setting = fact.Settings[0].Name
			fact.Effect = nccllogs.Effect(fact.Setting)
		}
		l.add(fact)
	}
}

// unlike are the links between GPUs, where they are not all alike.
func unlike(t Topology) (all nccllogs.UnlikeLinks) {
	for _, p := range t.Paths {
		if p.Pair == "GPU-GPU" && p.Type != "LOC" {
			all = append(all, nccllogs.LinkPaths{Paths: int(p.Times), Type: p.Type, Bw: nccllogs.Gigabytes(p.Bw)})
		}
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

const (
	// latencyBytes is from which size on LL is unusual: it moves 8 bytes for 4 of data, so that half of the bandwidth
	// is lost.
	latencyBytes = 16 << 20
	// latencyStep is the same of one step of a ring, in which a rank's part moves.
	latencyStep = 1 << 20
)

// findChoices finds protocols that are unusual for a size.
func findChoices(l *findings) {
	fact := nccllogs.LLForLarge{Setting: l.assigned("NCCL_PROTO")}
	widest := l.largest()
	for _, c := range l.Choices {
		step, of := c.Size, widest
		if c.Comm >= 0 && of != nil {
			of = &l.Communicators[c.Comm]
		}
		if of != nil && c.Algo == "RING" {
			step /= int64(max(1, of.Ranks))
		}
		if c.Proto == "LL" && c.Size >= latencyBytes && step >= latencyStep {
			if fact.From == 0 || c.Size < int64(fact.From) {
				fact.From = units.Bytes(c.Size)
			}
			fact.Choices = append(fact.Choices,
				nccllogs.LLChoice{Name: c.Name, Size: units.Bytes(c.Size), Algorithm: c.Algo})
		}
	}
	if len(fact.Choices) > 0 {
		l.add(fact)
	}
}
