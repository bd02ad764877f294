package nccllog

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/advice"
	"busbar/internal/coll"
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

// findWithinHost tells of GPUs of one host that exchange data through its memory, or even over the network.
func findWithinHost(l *Log) (found []Finding) {
	by := map[string]map[pair]bool{}
	for _, t := range l.Transports {
		kind := t.Kind
		if kind == "net" && (!l.sameHost(t) || t.PXN >= 0) {
			continue
		}
		if by[kind] == nil {
			by[kind] = map[pair]bool{}
		}
		by[kind][pairOf(t)] = true
	}
	off := l.peersOff()
	both := maps.Clone(by["p2p"]) // a pair may go one way in each direction
	if both == nil {
		both = map[pair]bool{}
	}
	maps.Copy(both, by["shm"])
	total := len(both)
	if n := len(by["shm"]); n > 0 {
		f := Finding{Kind: ThroughHost, Severity: Warning, Source: gpuDoc + ", GPU-to-GPU communication",
			Says:     fmt.Sprintf("%d of %s of GPUs of one host exchange data through host memory (SHM), and not directly (P2P).", n, units.Count(total, "pair")),
			Evidence: []string{fmt.Sprintf("%s via SHM, %d via P2P", units.Count(n, "pair"), len(by["p2p"]))}, Advice: advice.Peers}
		f.blame(off, l)
		if l.nvlinks() {
			f.Severity = Serious
			f.Evidence = append(f.Evidence, "the topology has NVLink between GPUs")
		}
		found = append(found, f)
	}
	if n := len(by["net"]); n > 0 {
		f := Finding{Kind: ThroughNet, Severity: Warning, Source: environmentDoc + "NCCL_SHM_DISABLE",
			Says:     fmt.Sprintf("%s of ranks of one host exchange data over the network.", upper(units.Count(n, "pair"))),
			Evidence: []string{fmt.Sprintf("%s on one host via NET", units.Count(n, "pair"))},
			Advice:   "where each rank has a container of its own: let them share /dev/shm and the network's name space (--ipc=host --net=host); else " + advice.Peers}
		if on(l.setting("NCCL_SHM_DISABLE")) {
			off = append(off, "NCCL_SHM_DISABLE")
		}
		f.blame(off, l)
		found = append(found, f)
	}
	return found
}

// findShared tells of ranks of one communicator that use one GPU: the same bus on one host. Without an id, ranks are put
// together by order alone, and may be of several communicators.
func findShared(l *Log) (found []Finding) {
	for i, c := range l.Communicators {
		if c.ID == "" || l.namesake(i) {
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
		var all []int
		var texts []string
		for g, of := range ranks {
			if len(of) > 1 {
				all = append(all, of...)
				texts = append(texts, fmt.Sprintf("%s: busId %s on %s", ranksText(of), g.bus, g.host))
			}
		}
		if len(all) == 0 {
			continue
		}
		slices.Sort(texts)
		found = append(found, Finding{Kind: SharedGPU, Severity: Warning, Who: ranksText(all), Source: source + "src/init.cc",
			Says:     fmt.Sprintf("%s of %s share GPUs: they take turns, so times say nothing about the links.", upper(ranksText(all)), l.commText(i)),
			Evidence: clipTexts(texts), Advice: advice.OwnGPU})
	}
	return found
}

// namesake reports whether several nodes of a communicator have one host name, as containers have: names then do not
// identify nodes.
func (l *Log) namesake(comm int) bool {
	if comm < 0 || comm >= len(l.Communicators) {
		return false
	}
	if known, is := l.namesakes[comm]; is {
		return known
	}
	if l.namesakes == nil {
		l.namesakes = map[int]bool{}
	}
	c := l.Communicators[comm]
	hosts := map[string]bool{}
	for _, m := range c.Members {
		if host := l.hostOf(comm, m.Rank); host != "" {
			hosts[host] = true
		}
	}
	l.namesakes[comm] = len(c.Members) == c.Ranks && c.Nodes > len(hosts)
	return l.namesakes[comm]
}

// blame names the settings that explain a finding, where there are any.
func (f *Finding) blame(variables []string, l *Log) {
	for _, name := range variables {
		f.Evidence = append(f.Evidence, name+"="+l.setting(name))
	}
	if len(variables) > 0 {
		f.Variable, f.Advice = variables[0], "unset "+strings.Join(variables, " and ")
	}
}

// peersOff are the settings that keep GPUs from reaching each other.
func (l *Log) peersOff() (names []string) {
	if on(l.setting("NCCL_P2P_DISABLE")) {
		names = append(names, "NCCL_P2P_DISABLE")
	}
	if v := l.setting("NCCL_P2P_LEVEL"); v == "LOC" || v == "0" {
		names = append(names, "NCCL_P2P_LEVEL")
	}
	return names
}

// nvlinks says whether some communicator's topology has NVLink.
func (l *Log) nvlinks() bool {
	return slices.ContainsFunc(l.Communicators, func(c Communicator) bool {
		return c.Topology.NVLinks > 0 || slices.ContainsFunc(c.Topology.Paths, func(p Path) bool { return p.Pair == "GPU-GPU" && strings.HasPrefix(p.Type, "NV") })
	})
}

// findPaths tells of GPUs that reach each other, or their card, through processors. The search over the topology writes the
// worst way of each pattern; the first pattern of the largest communicator counts.
func findPaths(l *Log) (found []Finding) {
	c := l.largest()
	if c == nil || len(c.Graphs) == 0 {
		return nil
	}
	g := c.Graphs[0]
	if i := slices.IndexFunc(c.Graphs, func(g Graph) bool { return g.Pattern == "4" }); i >= 0 {
		g = c.Graphs[i]
	}
	words := map[string]string{"PHB": "through a processor", "SYS": "between processors (NUMA nodes)"}
	if how := words[g.Intra]; how != "" {
		found = append(found, Finding{Kind: FarPeers, Severity: Note, Source: environmentDoc + "NCCL_P2P_LEVEL",
			Says:     fmt.Sprintf("Rings within a host go %s (%s): there is no NVLink between all GPUs, or it is not seen.", how, g.Intra),
			Evidence: []string{graphText(g)}, Advice: "compare nvidia-smi topo -m: where it shows NVLink (NV#), NCCL ought to; " + advice.Peers})
	}
	if how := words[g.Inter]; how != "" && l.nodes() > 1 {
		s := Note
		if g.Inter == "SYS" {
			s = Warning
		}
		found = append(found, Finding{Kind: FarCard, Severity: s, Source: environmentDoc + "NCCL_NET_GDR_LEVEL",
			Says:     fmt.Sprintf("The way from a GPU to its network card leads %s (%s).", how, g.Inter),
			Evidence: []string{graphText(g)}, Advice: "see nvidia-smi topo -m: each GPU wants a card under its own PCIe switch; in a container or a virtual machine, that /sys shows the real topology (docs of NCCL: Topology detection)"})
	}
	return found
}

func graphText(g Graph) string {
	return fmt.Sprintf("Pattern %s, nChannels %d, bw %.1f/%.1f, type %s", g.Pattern, g.Channels, g.BwIntra, g.BwInter, strings.TrimSuffix(g.Intra+"/"+g.Inter, "/"))
}

// fewest is the number of channels under which NVLink cannot be filled: each channel is a thread block, of some 20 GB/s.
const fewest = 4

// findChannels tells of communicators with few channels over NVLink.
func findChannels(l *Log) (found []Finding) {
	for i := range l.Communicators {
		c := &l.Communicators[i]
		g := slices.IndexFunc(c.Graphs, func(g Graph) bool { return g.Pattern == "4" })
		if c.Ranks < 2 || c.Channels.Coll <= 0 || c.Channels.Coll >= fewest || c.Nodes > 1 || g < 0 || !strings.HasPrefix(c.Graphs[g].Intra, "NV") {
			continue
		}
		f := Finding{Kind: FewChannels, Severity: Warning, Source: environmentDoc + "NCCL_MAX_CTAS, NCCL_TOPO_FILE",
			Says:     fmt.Sprintf("Only %s for collectives of %s, over NVLink.", units.Count(c.Channels.Coll, "channel"), l.commText(i)),
			Evidence: []string{fmt.Sprintf("%d coll channels", c.Channels.Coll), graphText(c.Graphs[g])},
			Advice:   "compare with a log of a machine that is well: post log THIS --against THAT; nvidia-smi nvlink --status shows whether all links are up"}
		f.Evidence = append(f.Evidence, linkTexts(c.Topology)...)
		for _, name := range []string{"NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS", "NCCL_TOPO_FILE", "NCCL_GRAPH_FILE"} {
			if v := l.setting(name); v != "" {
				f.Evidence = append(f.Evidence, name+"="+v)
				if f.Variable == "" {
					f.Variable = name
					f.Says = strings.TrimSuffix(f.Says, ".") + fmt.Sprintf("; %s is set, and %s.", name, theVariable(name).Does)
					f.Advice = "run without " + name + "; " + f.Advice
				}
			}
		}
		found = append(found, f)
	}
	return found
}

// linkTexts say how fast links between GPUs are taken for, where they are not all alike.
func linkTexts(t Topology) (texts []string) {
	for _, p := range t.Paths {
		if p.Pair == "GPU-GPU" && p.Type != "LOC" {
			texts = append(texts, fmt.Sprintf("%s of GPUs by %s at %.1f GB/s", units.Count(int(p.Times), "path"), p.Type, p.Bw))
		}
	}
	if len(texts) < 2 {
		return nil
	}
	return []string{"links are not alike: " + strings.Join(texts, ", ")}
}

// communicatorOf is the communicator of a choice: the largest where it is unknown; nil where there is none.
func (l *Log) communicatorOf(c Choice, largest *Communicator) *Communicator {
	if c.Comm >= 0 && c.Comm < len(l.Communicators) {
		return &l.Communicators[c.Comm]
	}
	return largest
}

const (
	// latencyBytes is from which size on LL is unusual: it moves 8 bytes for 4 of data, so that half of the bandwidth is lost.
	latencyBytes = 16 << 20
	// latencyStep is the same of one step of a ring, in which a rank's part moves.
	latencyStep = 1 << 20
)

// findChoices tells of unusual algorithms and protocols.
func findChoices(l *Log) (found []Finding) {
	var large []string
	var least int64
	widest := l.largest()
	for _, c := range l.Choices {
		step := c.Size
		if of := l.communicatorOf(c, widest); of != nil && c.Algo == "RING" {
			step /= int64(max(1, of.Ranks))
		}
		if c.Proto == "LL" && c.Size >= latencyBytes && step >= latencyStep {
			if least == 0 || c.Size < least {
				least = c.Size
			}
			large = append(large, fmt.Sprintf("%s of %s: %s/LL", c.Name, coll.FormatSize(c.Size, true), c.Algo))
		}
	}
	if len(large) > 0 {
		f := Finding{Kind: Latency, Severity: Warning, Source: environmentDoc + "NCCL_PROTO", Variable: "NCCL_PROTO",
			Says:     fmt.Sprintf("NCCL takes LL, the protocol for small messages, from %s on: half of the bandwidth is lost to its flags.", coll.FormatSize(least, true)),
			Evidence: clipTexts(large), Advice: "see what else keeps NCCL from Simple: NCCL_PROTO, a tuner plugin, a wrong topology"}
		if v := l.setting("NCCL_PROTO"); v != "" {
			f.Evidence, f.Advice = append(f.Evidence, "NCCL_PROTO="+v), "unset NCCL_PROTO"
		}
		found = append(found, f)
	}
	return append(found, findIdle(l)...)
}

// findIdle finds the largest size of a collective in a communicator if it leaves most channels unused; of several
// communicators that with the largest size.
func findIdle(l *Log) (found []Finding) {
	type kind struct {
		comm int
		name string
	}
	largest := map[kind]Choice{}
	var names []string
	for _, choice := range l.Choices {
		k := kind{choice.Comm, choice.Name}
		if best, there := largest[k]; !there || choice.Size > best.Size {
			largest[k] = choice
		}
		if !slices.Contains(names, choice.Name) {
			names = append(names, choice.Name)
		}
	}
	idle, widest := map[string]Choice{}, l.largest()
	for _, choice := range l.Choices {
		c := l.communicatorOf(choice, widest)
		if c == nil || len(l.Communicators) > 1 && choice.Comm < 0 || c.Channels.Coll <= fewest ||
			largest[kind{choice.Comm, choice.Name}] != choice || choice.Size < latencyBytes ||
			choice.Channels <= 0 || 2*choice.Channels >= c.Channels.Coll || choice.Algo != "RING" && choice.Algo != "TREE" {
			continue
		}
		if best, there := idle[choice.Name]; !there || choice.Size > best.Size {
			idle[choice.Name] = choice
		}
	}
	for _, name := range names {
		choice, there := idle[name]
		if !there {
			continue
		}
		found = append(found, Finding{Kind: IdleChannels, Severity: Note, Source: environmentDoc + "NCCL_MIN_CTAS",
			Says: fmt.Sprintf("%s of %s uses %d of %d channels.", choice.Name, coll.FormatSize(choice.Size, true), choice.Channels,
				l.communicatorOf(choice, widest).Channels.Coll),
			Evidence: []string{fmt.Sprintf("%s/%s, channels %d to %d", choice.Algo, choice.Proto, choice.Lo, choice.Hi)},
			Advice:   "a tuner plugin, or the program's ncclConfig_t, may bound it; NCCL_MIN_CTAS tries more"})
	}
	return found
}

// hopperLinks is the bandwidth of a GPU's NVLinks from H100 on, as NCCL writes it: 18 links of 20.6 GB/s.
const hopperLinks = 18 * 20.6

// findMulticast tells of GPUs whose switches could reduce, and do not.
func findMulticast(l *Log) []Finding {
	c := l.largest()
	if c == nil || c.Channels.NVLS != 0 || c.NVLS != nil && *c.NVLS || c.Topology.MaxBw < hopperLinks-1 || l.setting("NCCL_NVLS_ENABLE") == "0" {
		return nil
	}
	local := 0
	for _, m := range c.Members {
		local = max(local, m.Local)
	}
	if local <= 2 || len(l.Versions) == 0 || l.Versions[0].Code < 21700 || l.Versions[0].Library == RCCL {
		return nil
	}
	return []Finding{{Kind: NoMulticast, Severity: Note, Source: environmentDoc + "NCCL_NVLS_ENABLE", Variable: "NCCL_NVLS_ENABLE",
		Says:     "NVLink SHARP (NVLS) is not used, though NVLink is as fast as with H100 and later.",
		Evidence: []string{"0 nvls channels", fmt.Sprintf("NVLink of %.1f GB/s, %s on a host", c.Topology.MaxBw, units.Count(local, "rank"))},
		Advice:   "it needs NVSwitch of the third generation, a running nvidia-fabricmanager, and a driver that allows multicast; NCCL_DEBUG=INFO says at init whether “NVLS multicast support is available”"}}
}
