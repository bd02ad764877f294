package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

const (
	fewestRecords = 6    // to say anything of a rank
	mostly        = 0.6  // of the records a rank must stand out in
	leastExcess   = 0.10 // of the time, in the middle of the records it stands out in
	// standard deviations: of two ranks, one or the other is the last in six of ten records as a rule
	beyondChance = 4
)

// grouped puts curves with the same key together, in their order.
func grouped[K comparable](curves []*Curve, key func(*Curve) K) (groups [][]*Curve) {
	index := map[K]int{}
	for _, c := range curves {
		k := key(c)
		i, known := index[k]
		if !known {
			i = len(groups)
			index[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// byWorld groups the curves of one contender in one world, whatever the operation.
func byWorld(curves []*Curve) [][]*Curve {
	type world struct {
		who   Contender
		tool  string
		shape Shape
	}
	return grouped(curves, func(c *Curve) world { return world{c.Contender, c.Tool, ShapeOf(c.Condition)} })
}

// lateRanks finds the rank that issues last nearly always. That is a delay of its host thread before the operation, and
// of nothing else. Where one stands out in latency mode nothing is said of throughput mode: there a rank is late once
// for a batch.
func lateRanks(curves []*Curve, _ Options) (found []Finding) {
	for _, group := range byWorld(judged(curves)) {
		for _, mode := range []coll.Mode{coll.Latency, coll.Throughput} {
			if f, is := lateIn(mode, group); is {
				found = append(found, f)
				break
			}
		}
	}
	return found
}

// lateIn is the finding of one world in one mode.
func lateIn(mode coll.Mode, group []*Curve) (f Finding, is bool) {
	group = slices.DeleteFunc(slices.Clone(group), func(c *Curve) bool { return c.Mode != mode })
	if len(group) == 0 {
		return f, false
	}
	s, records := standsOut(group, func(u *RankUse) map[int]*Standout { return u.Latest })
	if s == nil {
		return f, false
	}
	fact := notice.LateRank{Rank: s.Rank, Hosts: s.Hosts, Records: len(s.Excess), Of: records, Mode: mode.String(),
		Lateness: units.Seconds(stats.Median(s.Late)), Share: units.Share(s.Median())}
	return ofGroup(fact, group, severityOf(s.Median()), s.Median()), true
}

// slowRanks finds the rank whose own times are the longest nearly always. Who waits for another has the longer time, so
// this accuses nobody.
func slowRanks(curves []*Curve, _ Options) (found []Finding) {
	for _, group := range byWorld(judged(curves)) {
		if group[0].World < 3 { // of two ranks there is no middle
			continue
		}
		// In rooted operations what a rank takes goes by its place.
		even := slices.DeleteFunc(slices.Clone(group), func(c *Curve) bool { return c.Collective.Rooted() })
		s, records := standsOut(even, func(u *RankUse) map[int]*Standout { return u.Slowest })
		if s == nil {
			continue
		}
		fact := notice.SlowRank{Rank: s.Rank, Hosts: s.Hosts, Records: len(s.Excess), Of: records,
			Excess: units.Share(s.Median())}
		found = append(found, ofGroup(fact, group, min(severityOf(s.Median()), notice.Warning), s.Median()))
	}
	return found
}

// standsOut is the rank that stands out in most records of a group, and by enough; nil if none does.
func standsOut(group []*Curve, of func(*RankUse) map[int]*Standout) (most *Standout, records int) {
	all := map[int]*Standout{}
	for _, c := range group {
		if c.Ranks == nil {
			continue
		}
		records += c.Ranks.Records
		for rank, s := range of(c.Ranks) {
			t := standout(all, rank, "")
			for _, host := range s.Hosts {
				t.ranOn(host)
			}
			t.Excess, t.Late = append(t.Excess, s.Excess...), append(t.Late, s.Late...)
		}
	}
	if records < fewestRecords {
		return nil, records
	}
	for _, rank := range slices.Sorted(maps.Keys(all)) {
		if s := all[rank]; most == nil || len(s.Excess) > len(most.Excess) {
			most = s
		}
	}
	if most == nil || float64(len(most.Excess)) < mostly*float64(records) || most.Median() < leastExcess ||
		!oftenerThanChance(len(most.Excess), records, group[0].World) {
		return nil, records
	}
	return most, records
}

// oftenerThanChance says whether one rank of a world stands out in far more records than where each does in turn.
func oftenerThanChance(times, records, world int) bool {
	each := 1 / float64(world)
	expected := float64(records) * each
	return float64(times) >= expected+beyondChance*math.Sqrt(expected*(1-each))
}

// ofGroup is a finding about all curves of a group, from the smallest size of any to the largest; its curve is the
// first.
func ofGroup(fact notice.Fact, group []*Curve, severity notice.Severity, weight float64) Finding {
	first := func(c *Curve) int64 { return c.Points[0].SizeBytes }
	last := func(c *Curve) int64 { return c.Points[len(c.Points)-1].SizeBytes }
	from := first(slices.MinFunc(group, func(a, b *Curve) int { return cmp.Compare(first(a), first(b)) }))
	to := last(slices.MaxFunc(group, func(a, b *Curve) int { return cmp.Compare(last(a), last(b)) }))
	f := group[0].finding(fact, severity, weight, from, to)
	f.At, f.ofGroup = notice.Location{Subject: group[0].group()}, true
	return f
}
