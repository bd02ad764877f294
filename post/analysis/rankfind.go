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
	fewestRecords = 6    // minimum to judge a rank
	mostly        = 0.6  // of the records, in which a rank must be an outlier
	minExcess     = 0.10 // of the time, median over those records
	// standard deviations: of two ranks, one or the other is the last in six of ten records as a rule
	beyondChance = 4
)

// byWorld groups the curves of one contender in one world, whatever the operation.
func byWorld(curves []*Curve) [][]*Curve {
	type world struct {
		who   Contender
		tool  string
		shape Shape
		whole Shape
		group coll.Groups
	}
	return units.GroupBy(curves, func(c *Curve) world {
		group := c.Groups
		group.Alone = false
		return world{c.Contender, c.Tool, ShapeOf(c.Condition), c.Whole, group}
	})
}

// lateRanks finds the rank that nearly always issues last: its host thread is late before the operation. A finding in
// latency mode suppresses that of throughput mode, where a rank is late once per batch.
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
	group = units.Where(group, func(c *Curve) bool { return c.Mode == mode })
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

// slowRanks finds the rank whose own times are nearly always the longest. A rank that waits for a straggler has long
// times too, so the finding does not name the cause.
func slowRanks(curves []*Curve, _ Options) (found []Finding) {
	for _, group := range byWorld(judged(curves)) {
		if group[0].World < 3 { // of two ranks there is no middle
			continue
		}
		// In rooted and uneven operations what a rank takes goes by its place.
		even := units.Where(group, func(c *Curve) bool { return !c.Collective.Rooted() && !c.Case(0).Uneven() })
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

// standsOut is the rank that is an outlier in most records of a group; nil if no rank is.
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
	if most == nil || float64(len(most.Excess)) < mostly*float64(records) || most.Median() < minExcess ||
		!oftenerThanChance(len(most.Excess), records, group[0].World) {
		return nil, records
	}
	return most, records
}

// oftenerThanChance reports whether one rank is an outlier in significantly more records than chance explains.
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
