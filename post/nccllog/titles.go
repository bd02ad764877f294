package nccllog

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice/nccllogs"
	"busbar/internal/units"
)

// Title is the run in a line: "2 ranks on 1 node, NCCL 2.27.7 for CUDA 13.0".
func (l *Log) Title() string {
	if text := strings.Join(nonEmpty(worldOf(l).String(), librariesOf(l).String()), ", "); text != "" {
		return text
	}
	for _, a := range l.RAS {
		if text := a.title(); text != "" {
			return text
		}
	}
	return "NCCL log"
}

// title is the job that RAS watches: "32 GPUs on 4 nodes, NCCL 2.26.2".
func (a *RAS) title() string {
	var job, library string
	if a.GPUs > 0 && a.Nodes > 0 {
		job = units.Count(a.GPUs, "GPU") + " on " + units.Count(a.Nodes, "node")
	}
	if a.Version != "" {
		library = "NCCL " + a.Version
	}
	return strings.Join(nonEmpty(job, library), ", ")
}

// Paths names the files.
func (l *Log) Paths() string {
	var paths []string
	for _, f := range l.Files {
		paths = append(paths, filepath.Base(f.Path))
	}
	return units.Some(paths)
}

// Fact is one line about a run.
type Fact struct{ Name, Value string }

// Facts are the setup of the whole run, or of its largest communicator. It leaves out what the log does not have.
func (l *Log) Facts() (facts []Fact) {
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, Fact{name, value})
		}
	}
	c := l.largest()
	if hosts := l.hosts(); len(hosts) > 0 && hosts[0] != "" {
		add("hosts", nccllogs.Hosts(hosts).String())
	}
	if c != nil && c.RanksKnown() && c.Ranks > len(c.Members) {
		add("wrote", fmt.Sprintf("%d of %d ranks", len(c.Members), c.Ranks))
	}
	if d := driverOf(l).String(); d != "" {
		add("driver", "for CUDA "+d)
	}
	using := namesOf(l.Network.Using)
	if using.Empty() {
		using = namesOf(l.Network.Plugins)
	}
	network := nonEmpty(using.String())
	for _, list := range [][]Named{l.Network.IB, l.Network.Providers, l.Network.Sockets} {
		if text := namesOf(list).String(); text != "" {
			network = append(network, text)
			break
		}
	}
	add("network", strings.Join(network, ": "))
	if c != nil {
		add("topology", topologyFact(c))
		add("channels", channelFact(c))
	}
	add("transports", transportsOf(l).String())
	if c != nil {
		add("init", initFact(c))
	}
	return facts
}

// RanksKnown reports whether all processes of a communicator logged their rank. A log of calls alone has no ranks, and
// then the members of one communicator cannot be combined.
func (c *Communicator) RanksKnown() bool {
	return !slices.ContainsFunc(c.Members, func(m Member) bool { return m.Rank < 0 })
}

func topologyFact(c *Communicator) string {
	var parts []string
	t := c.Topology
	if t.GPUs > 0 {
		parts = append(parts, fmt.Sprintf("%s, %s", units.Count(t.GPUs, "GPU"), units.Count(t.NICs, "NIC")))
	}
	if text := pathsOf(t, "GPU-GPU").String(); text != "" {
		parts = append(parts, "between GPUs "+text)
	}
	if text := searchOf(c, "4").String(); text != "" {
		parts = append(parts, "rings found: "+text)
	}
	if t.File != "" {
		parts = append(parts, "from "+t.File)
	}
	return strings.Join(parts, "; ")
}

func channelFact(c *Communicator) string {
	var parts []string
	if n := c.Channels.Coll; n > 0 {
		parts = append(parts, fmt.Sprintf("%d for collectives", n))
	}
	for _, p := range []struct {
		n    int
		what string
	}{{c.Channels.NVLS, "of NVLink SHARP"}, {c.Channels.P2P, "for sends"}, {c.Channels.PerPeer, "per peer"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// initFact is the time of the rank that took longest, with its largest parts.
func initFact(c *Communicator) string {
	slowest, parts := c.slowestInit()
	if slowest == nil {
		return ""
	}
	value := nccllogs.SlowestInit{Rank: slowest.Rank, Total: slowest.Init.Total}
	for _, p := range parts {
		if len(value.Parts) < 4 && p.Seconds > 0 {
			value.Parts = append(value.Parts, p)
		}
	}
	return value.String()
}

// Lacks are what the log lacks, with the word of NCCL_DEBUG_SUBSYS that records it.
func (l *Log) Lacks() (lacks []string) {
	if !slices.ContainsFunc(l.Files, func(f File) bool { return f.Form == Debug }) {
		return nil
	}
	c := l.largest()
	for _, p := range []struct {
		there bool
		what  string
	}{
		{len(l.Versions) > 0, "version (VERSION)"},
		{c != nil, "communicators (INIT)"},
		{len(l.Settings) > 0, "settings (ENV)"},
		{len(l.Network.Using)+len(l.Network.Plugins)+len(l.Network.IB)+len(l.Network.Sockets) > 0,
			"network (INIT,NET)"},
		{c != nil && len(c.Topology.Paths) > 0, "topology (GRAPH)"},
		{len(l.Transports) > 0, "transports (INIT,P2P,SHM,NET)"},
		{len(l.Choices) > 0, "algorithms, protocols (TUNING)"},
		{len(l.Calls) > 0, "calls (COLL)"},
	} {
		if !p.there {
			lacks = append(lacks, p.what)
		}
	}
	return lacks
}

// ChoiceRow is sizes next to each other that one collective went in one way at.
type ChoiceRow struct {
	Name, Sizes, Way string
	Times            int64
	Unsure           bool // the sizes are bytes as written, whose meaning is not known
	OfRank           bool // bytes of one rank: the log lacks the world size
}

// ChoiceRows are the choices, with neighbours alike as one row.
func (l *Log) ChoiceRows() (rows []ChoiceRow) {
	for i := 0; i < len(l.Choices); {
		first := l.Choices[i]
		met := map[int64]bool{}
		r := ChoiceRow{Name: first.Name, Way: first.way().String()}
		for ; i < len(l.Choices) && l.Choices[i].Name == first.Name && l.Choices[i].way() == first.way(); i++ {
			c := l.Choices[i]
			met[c.bytes()] = true
			r.Times += c.Times
			r.Unsure = r.Unsure || c.Size < 0 && c.Mean != BytesPerRank
			r.OfRank = r.OfRank || c.Size < 0 && c.Mean == BytesPerRank
		}
		r.Sizes = sizeRange(slices.Sorted(maps.Keys(met)))
		switch {
		case r.Unsure:
			r.Sizes += " *"
		case r.OfRank:
			r.Sizes += " per rank"
		}
		rows = append(rows, r)
	}
	return rows
}

// CallRow is what ranks called of one collective and type.
type CallRow struct{ Name, Type, Sizes, Each, Ranks string }

// CallRows are the calls of all communicators together, one row for each collective and type. A process of unknown rank
// counts as a rank.
func (l *Log) CallRows() (rows []CallRow) {
	type key struct{ name, kind string }
	type caller struct{ rank, process int }
	sizes, times := map[key]map[int64]bool{}, map[key]map[caller]int64{}
	for _, c := range l.Calls {
		k := key{c.Name, strings.TrimSpace(c.Type + " " + c.Op)}
		if times[k] == nil {
			sizes[k], times[k] = map[int64]bool{}, map[caller]int64{}
		}
		if c.Size >= 0 {
			sizes[k][c.Size] = true
		}
		by := caller{c.Rank, Unknown}
		if c.Rank < 0 {
			by.process = c.Process
		}
		times[k][by] += c.Times
	}
	for k, callers := range times {
		var ranks []int
		for by := range callers {
			if by.rank >= 0 {
				ranks = append(ranks, by.rank)
			}
		}
		each := slices.Sorted(maps.Values(callers))
		least, most := each[0], each[len(each)-1]
		r := CallRow{Name: k.name, Type: k.kind, Sizes: "-", Each: fmt.Sprint(most),
			Ranks: callersText(ranks, len(callers)-len(ranks))}
		if least != most {
			r.Each = fmt.Sprintf("%d to %d", least, most)
		}
		if len(sizes[k]) > 0 {
			r.Sizes = sizeRange(slices.Sorted(maps.Keys(sizes[k])))
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows,
		func(a, b CallRow) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type)) })
	return rows
}

// callersText names ranks, and counts the processes of those that are not known.
func callersText(ranks []int, processes int) string {
	var parts []string
	if len(ranks) > 0 {
		parts = append(parts, nccllogs.Ranks(ranks).Numbers())
	}
	if processes > 0 {
		parts = append(parts, "unknown, "+units.Count(processes, "process"))
	}
	return strings.Join(parts, "; ")
}

func sizeRange(sizes []int64) string {
	if n := len(sizes); n > 1 {
		return fmt.Sprintf("%s–%s (%d sizes)", coll.FormatSize(sizes[0], true), coll.FormatSize(sizes[n-1], true), n)
	}
	return coll.FormatSize(sizes[0], true)
}
