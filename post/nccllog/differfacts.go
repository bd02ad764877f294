package nccllog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice/nccllogs"
	"busbar/internal/units"
)

func directEnds(l *Log) (v logValue) {
	all, direct := 0, 0
	for _, t := range l.rdmaEnds() {
		all += connections(t)
		if t.GDR {
			direct += connections(t)
		}
	}
	if all > 0 {
		v.Count, v.Of = &direct, all
	}
	return v
}

// expected is the best bandwidth that NCCL's model gives all_reduce, in the cost tables of its init.
func expected(l *Log) (v logValue) {
	for _, p := range l.Predictions {
		if p.What == coll.AllReduce {
			v.Rate = max(v.Rate, nccllogs.Gigabytes(p.Bw))
		}
	}
	return v
}

func pathsOf(t Topology, between string) (v logValue) {
	for _, p := range t.Paths {
		if p.Pair == between && p.Type != "LOC" {
			v.Paths = append(v.Paths, nccllogs.PathsFound{Paths: int(p.Times), Type: p.Type, Rate: p.Bw})
		}
	}
	units.SortBy(v.Paths, nccllogs.PathsFound.String)
	return v
}

func searchOf(c *Communicator, pattern string) (v logValue) {
	for _, g := range c.Graphs {
		if g.Pattern == pattern {
			types := strings.TrimSuffix(g.Intra+"/"+g.Inter, "/")
			v.Found = &nccllogs.ChannelsFound{Channels: g.Channels, Rate: g.BwIntra, Types: types}
			break
		}
	}
	return v
}

// transportsOf counts pairs of ranks by how they reach each other, the most frequent first.
func transportsOf(l *Log) (v logValue) {
	kind := func(t Transport) nccllogs.TransportKind {
		return nccllogs.TransportKind{Kind: t.Kind, How: t.How, GDR: t.GDR}
	}
	for _, of := range units.GroupBy(l.Transports, kind) {
		k := kind(of[0])
		k.Pairs = len(units.GroupBy(of, pairOf))
		v.Pairs = append(v.Pairs, k)
	}
	slices.SortFunc(v.Pairs, func(a, b nccllogs.TransportKind) int {
		return cmp.Or(b.Pairs-a.Pairs, strings.Compare(a.Kind, b.Kind), strings.Compare(a.How, b.How),
			ones(a.GDR)-ones(b.GDR))
	})
	return v
}

// way is what was chosen for a size.
func (ch Choice) way() nccllogs.LogWay {
	if ch.Algo == "" {
		return nccllogs.LogWay{Kernel: ch.Kernel, Channels: max(0, ch.Channels)}
	}
	return nccllogs.LogWay{Algorithm: ch.Algo, Protocol: ch.Proto, Channels: max(0, ch.Channels)}
}

// bytes is the size by which a choice is known: S where that is known, else as it was written.
func (ch Choice) bytes() int64 {
	if ch.Size >= 0 {
		return ch.Size
	}
	return ch.Bytes
}

// sized is what a choice, or a row of nccl-tests, is known by: its collective or type, and its size.
type sized struct {
	name  string
	bytes int64
}

// inBoth are the keys that two maps have, in their order.
func inBoth[V any](a, b map[sized]V) []sized {
	keys := slices.SortedFunc(maps.Keys(a), func(x, y sized) int {
		return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.bytes, y.bytes))
	})
	return slices.DeleteFunc(keys, func(k sized) bool {
		_, both := b[k]
		return !both
	})
}

// choices compares algorithm, protocol and channels by size; neighbours with the same change are one line.
func (c *Contrast) choices(a, b *Log) {
	x, y := waysOf(a), waysOf(b)
	both, same := inBoth(x, y), 0
	for i := 0; i < len(both); {
		first, j := both[i], i
		before, after := x[first], y[first]
		for ; j < len(both) && both[j].name == first.name && slices.Equal(x[both[j]], before) &&
			slices.Equal(y[both[j]], after); j++ {
		}
		if slices.Equal(before, after) {
			same += j - i
		} else {
			c.effect(onChoice, logAspect{
				Kind: nccllogs.LogChoice, Collective: first.name,
				From: units.Bytes(first.bytes), To: units.Bytes(both[j-1].bytes), Sizes: j - i,
			}, logValue{Ways: before}, logValue{Ways: after})
		}
		i = j
	}
	if same > 0 {
		c.same(logAspect{Kind: nccllogs.LogChoices}, countOf(same))
	}
}

// waysOf are the ways by collective and size; sizes at which there were several have them all.
func waysOf(l *Log) map[sized][]nccllogs.LogWay {
	ways := map[sized][]nccllogs.LogWay{}
	for _, choice := range l.Choices {
		k := sized{choice.Name, choice.bytes()}
		ways[k] = units.AddOnce(ways[k], choice.way())
	}
	return ways
}

// apart is the minimum ratio of two times of one table that counts as a difference: there is only one run of each.
const apart = 1.1

// rowsOnce are the rows of nccl-tests that occur once in a log: the table of a repeated row is ambiguous.
func (l *Log) rowsOnce() map[sized]Row {
	rows, times := map[sized]Row{}, map[sized]int{}
	for _, r := range l.Rows {
		k := sized{r.Type, r.Bytes}
		times[k]++
		rows[k] = r
	}
	maps.DeleteFunc(rows, func(k sized, _ Row) bool { return times[k] > 1 })
	return rows
}

// alike reports whether busbw/algbw of two rows, as printed, may be of one collective and world size.
func alike(a, b Row) bool {
	of := func(r Row) (lo, hi float64) {
		algbw := float64(r.Bytes) / r.OutTime / 1e3
		return (r.OutBusbw - 0.005) / algbw * 0.99, (r.OutBusbw + 0.005) / algbw * 1.01
	}
	loA, hiA := of(a)
	loB, hiB := of(b)
	return loA <= hiB && loB <= hiA
}

// measured compares rows of nccl-tests that are in both logs, at the size with the largest difference.
func (c *Contrast) measured(a, b *Log) {
	before, after := a.rowsOnce(), b.rowsOnce()
	var was, most Row
	ratio, both := 1.0, 0
	for _, k := range inBoth(before, after) {
		w, r := before[k], after[k]
		if !alike(w, r) {
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
		c.same(logAspect{Kind: nccllogs.LogRows}, logValue{Count: &both, Within: apart - 1})
	default:
		size := units.Bytes(most.Bytes)
		c.effect(onSpeed, logAspect{Kind: nccllogs.LogBusBW, From: size, To: size, Sizes: both},
			logValue{Rate: nccllogs.Gigabytes(was.OutBusbw)},
			logValue{Rate: nccllogs.Gigabytes(most.OutBusbw)})
	}
}

// inits compares how long it took to make the largest communicators.
func (c *Contrast) inits(a, b *Log) {
	x, y := initTime(a), initTime(b)
	if x > 0 && y > 0 && max(x, y) >= 1 && max(x/y, y/x) >= 2 {
		c.effect(onSpeed, logAspect{Kind: nccllogs.LogInitTime},
			logValue{Time: nccllogs.TenthSeconds(x)}, logValue{Time: nccllogs.TenthSeconds(y)})
	}
}

func initTime(l *Log) float64 {
	if c := l.largest(); c != nil {
		if slowest, _ := c.slowestInit(); slowest != nil {
			return slowest.Init.Total
		}
	}
	return 0
}
