package nccllog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/units"
)

// network compares which network NCCL uses, and whether cards reach GPUs.
func (c *Contrast) network(a, b *Log) {
	c.effect(onNetwork, "network", listText(a.Network.Using), listText(b.Network.Using))
	c.effect(onDirect, "GPUDirect RDMA ends", directText(a), directText(b))
}

func directText(l *Log) string {
	all, direct := 0, 0
	for _, t := range l.rdmaEnds() {
		all += connections(t)
		if t.GDR {
			direct += connections(t)
		}
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", direct, all)
}

// channels compares the numbers of channels of the largest communicators.
func (c *Contrast) channels(a, b *Log) {
	x, y := a.largest(), b.largest()
	if x == nil || y == nil {
		return
	}
	for _, p := range []struct {
		what string
		a, b int
	}{
		{"collective channels", channelsOf(x), channelsOf(y)},
		{"NVLS channels", x.Channels.NVLS, y.Channels.NVLS},
		{"send channels", x.Channels.P2P, y.Channels.P2P},
		{"channels per peer", x.Channels.PerPeer, y.Channels.PerPeer},
	} {
		c.effect(onChannels, p.what, countText(p.a), countText(p.b))
	}
}

// channelsOf is the number of channels for collectives: as it was said, else as rings were numbered.
func channelsOf(c *Communicator) int {
	if c.Channels.Coll >= 0 {
		return c.Channels.Coll
	}
	for _, r := range c.Rings {
		if r.Of > 0 {
			return r.Of
		}
	}
	return Unknown
}

func countText(n int) string {
	if n < 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// topology compares how fast NCCL takes the links for.
func (c *Contrast) topology(a, b *Log) {
	x, y := a.largest(), b.largest()
	if x == nil || y == nil {
		return
	}
	c.effect(onTopology, "GPU links", pathsText(x.Topology, "GPU-GPU"), pathsText(y.Topology, "GPU-GPU"))
	c.effect(onTopology, "GPU-NIC paths", pathsText(x.Topology, "GPU-NET"), pathsText(y.Topology, "GPU-NET"))
	c.effect(onTopology, "predicted all_reduce bandwidth", expected(a), expected(b))
	for _, g := range []struct{ pattern, name string }{{"4", "rings"}, {"3", "trees"}, {"1", "trees"}} {
		c.effect(onTopology, g.name+" found", searchText(x, g.pattern), searchText(y, g.pattern))
	}
}

// expected is the best bandwidth that NCCL's model gives all_reduce, in the cost tables of its init.
func expected(l *Log) string {
	best := 0.0
	for _, p := range l.Predictions {
		if p.What == coll.AllReduce {
			best = max(best, p.Bw)
		}
	}
	if best == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f GB/s", best)
}

func pathsText(t Topology, between string) string {
	var texts []string
	for _, p := range t.Paths {
		if p.Pair == between && p.Type != "LOC" {
			texts = append(texts, notice.PathsFound{Paths: int(p.Times), Type: p.Type, Rate: p.Bw}.String())
		}
	}
	slices.Sort(texts)
	return units.Some(texts)
}

func searchText(c *Communicator, pattern string) string {
	for _, g := range c.Graphs {
		if g.Pattern == pattern {
			types := strings.TrimSuffix(g.Intra+"/"+g.Inter, "/")
			return notice.ChannelsFound{Channels: g.Channels, Rate: g.BwIntra, Types: types}.String()
		}
	}
	return ""
}

// transports compares how pairs of ranks reach each other, by kinds.
func (c *Contrast) transports(a, b *Log) {
	c.effect(onTransports, "transports", transportText(a), transportText(b))
}

func transportText(l *Log) string {
	var parts []string
	for _, k := range l.TransportKinds() {
		parts = append(parts, k.Text())
	}
	return strings.Join(parts, ", ")
}

// TransportKind is how many pairs of ranks reach each other in one way.
type TransportKind struct {
	Kind  string `json:"kind"`
	How   string `json:"how"` // "" where it is not said
	GDR   bool   `json:"gdr"`
	Pairs int    `json:"pairs"`
}

// Text is "P2P/CUMEM 56 pairs", "NET/IB with GPUDirect RDMA 16 pairs".
func (k TransportKind) Text() string {
	text := strings.ToUpper(k.Kind)
	if k.How != "" {
		text += "/" + k.How
	}
	if k.GDR {
		text += " with GPUDirect RDMA"
	}
	return fmt.Sprintf("%s between %s", text, units.Count(k.Pairs, "pair"))
}

// TransportKinds counts pairs of ranks by how they reach each other, the most frequent first.
func (l *Log) TransportKinds() (kinds []TransportKind) {
	pairs := map[TransportKind]map[pair]bool{}
	for _, t := range l.Transports {
		k := TransportKind{Kind: t.Kind, How: t.How, GDR: t.GDR}
		if pairs[k] == nil {
			pairs[k] = map[pair]bool{}
		}
		pairs[k][pairOf(t)] = true
	}
	for k, of := range pairs {
		k.Pairs = len(of)
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b TransportKind) int {
		return cmp.Or(b.Pairs-a.Pairs, strings.Compare(a.Kind, b.Kind), strings.Compare(a.How, b.How), map[bool]int{true: 1}[a.GDR]-map[bool]int{true: 1}[b.GDR])
	})
	return kinds
}

// way is what was chosen for a size.
func (ch Choice) way() string {
	text := ch.Algo + "/" + ch.Proto
	if ch.Algo == "" {
		text = ch.Kernel
	}
	if ch.Channels > 0 {
		text += " on " + units.Count(ch.Channels, "channel")
	}
	return text
}

// bytes is the size by which a choice is known: S where that is known, else as it was written.
func (ch Choice) bytes() int64 {
	if ch.Size >= 0 {
		return ch.Size
	}
	return ch.Bytes
}

// choices compares algorithm, protocol and channels by size; neighbours with the same change are one line.
func (c *Contrast) choices(a, b *Log) {
	x, y := waysOf(a), waysOf(b)
	same := 0
	for _, name := range slices.Sorted(maps.Keys(x)) {
		var sizes []int64
		for size := range x[name] {
			if y[name][size] != "" {
				sizes = append(sizes, size)
			}
		}
		slices.Sort(sizes)
		for i := 0; i < len(sizes); {
			j := i
			for j < len(sizes) && x[name][sizes[j]] == x[name][sizes[i]] && y[name][sizes[j]] == y[name][sizes[i]] {
				j++
			}
			before, after := x[name][sizes[i]], y[name][sizes[i]]
			if before == after {
				same += j - i
			} else {
				c.effect(onChoice, fmt.Sprintf("%s of %s", name, sizeRange(sizes[i:j])), before, after)
			}
			i = j
		}
	}
	if same > 0 {
		c.Same = append(c.Same, fmt.Sprintf("algorithm/protocol/channels at %s", units.Count(same, "size")))
	}
}

// waysOf are the ways by collective and size; sizes at which there were several have them all.
func waysOf(l *Log) map[string]map[int64]string {
	ways := map[string]map[int64]string{}
	for _, choice := range l.Choices {
		of := ways[choice.Name]
		if of == nil {
			of = map[int64]string{}
			ways[choice.Name] = of
		}
		size, way := choice.bytes(), choice.way()
		switch {
		case of[size] == "":
			of[size] = way
		case !slices.Contains(strings.Split(of[size], " or "), way):
			of[size] += " or " + way
		}
	}
	return ways
}

// apart is from which ratio on two times of one table are told apart: one run each says no more.
const apart = 1.1

// rowKey is what a row of nccl-tests is known by in its table.
type rowKey struct {
	bytes int64
	kind  string
}

// rowsOnce are the rows of nccl-tests that stand once in a log: which of several tables another row is of, it does not tell.
func (l *Log) rowsOnce() map[rowKey]Row {
	rows, times := map[rowKey]Row{}, map[rowKey]int{}
	for _, r := range l.Rows {
		k := rowKey{r.Bytes, r.Type}
		times[k]++
		rows[k] = r
	}
	maps.DeleteFunc(rows, func(k rowKey, _ Row) bool { return times[k] > 1 })
	return rows
}

// alike says whether busbw/algbw of two rows may be of one collective and number of ranks, as far as busbw is printed.
func alike(a, b Row) bool {
	of := func(r Row) (lo, hi float64) {
		algbw := float64(r.Bytes) / r.OutTime / 1e3
		return (r.OutBusbw - 0.005) / algbw * 0.99, (r.OutBusbw + 0.005) / algbw * 1.01
	}
	loA, hiA := of(a)
	loB, hiB := of(b)
	return loA <= hiB && loB <= hiA
}

// measured compares rows of nccl-tests that stand in both logs, at the size where they differ most.
func (c *Contrast) measured(a, b *Log) {
	before, after := a.rowsOnce(), b.rowsOnce()
	var most Row
	var was Row
	ratio, both := 1.0, 0
	for _, k := range slices.SortedFunc(maps.Keys(after), func(a, b rowKey) int {
		return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.kind, b.kind))
	}) {
		r := after[k]
		w, there := before[k]
		if !there || !alike(w, r) {
			continue
		}
		both++
		if by := max(r.OutTime/w.OutTime, w.OutTime/r.OutTime); by > ratio {
			ratio, was, most = by, w, r
		}
	}
	switch {
	case both == 0:
	case ratio < apart:
		c.Same = append(c.Same, notice.RowsAlike{Rows: both, Within: apart - 1}.String())
	default:
		where := notice.LargestDifference{Size: units.Bytes(most.Bytes), Of: both}
		c.effect(onSpeed, where.String(),
			fmt.Sprintf("%.1f GB/s", was.OutBusbw), fmt.Sprintf("%.1f GB/s", most.OutBusbw))
	}
}

// inits compares how long it took to make the largest communicators.
func (c *Contrast) inits(a, b *Log) {
	x, y := slowestInit(a), slowestInit(b)
	if x > 0 && y > 0 && max(x, y) >= 1 && max(x/y, y/x) >= 2 {
		c.effect(onSpeed, "init time", fmt.Sprintf("%.1f s", x), fmt.Sprintf("%.1f s", y))
	}
}

func slowestInit(l *Log) (s float64) {
	if c := l.largest(); c != nil {
		for _, m := range c.Members {
			if m.Init != nil {
				s = max(s, m.Init.Total)
			}
		}
	}
	return s
}
