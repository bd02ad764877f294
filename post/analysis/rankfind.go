package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/units"
)

const (
	fewestRecords = 6    // to say anything of a rank
	mostly        = 0.6  // of the records a rank must stand out in
	leastExcess   = 0.10 // of the time, in the middle of the records it stands out in
	beyondChance  = 4    // standard deviations: of two ranks, one or the other is the last in six of ten records as a rule
)

// worldOf is what all curves of one contender in one world share, whatever the operation.
type worldOf struct {
	who   Contender
	tool  string
	shape Shape
}

// byWorld puts the curves of one contender in one world together, in their order.
func byWorld(curves []*Curve) [][]*Curve {
	index := map[worldOf]int{}
	var groups [][]*Curve
	for _, c := range curves {
		k := worldOf{c.Contender, c.Tool, ShapeOf(c.Condition)}
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

// lateRanks finds the rank that issues last nearly always. That is a delay of its host thread before the operation, and of nothing else. Where one stands out in
// latency mode nothing is said of throughput mode: there a rank is late once for a batch.
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

// issued is what a rank begins late in each mode.
var issued = map[coll.Mode]string{coll.Latency: "an operation", coll.Throughput: "a batch of operations"}

// lateIn is the finding of one world in one mode.
func lateIn(mode coll.Mode, group []*Curve) (f Finding, is bool) {
	group = slices.DeleteFunc(slices.Clone(group), func(c *Curve) bool { return c.Mode != mode })
	if len(group) == 0 {
		return f, false
	}
	s, records := standsOut(group, func(u *RankUse) map[int]*Standout { return u.Latest }, func(*Curve) bool { return true })
	if s == nil {
		return f, false
	}
	f = ofGroup(LateRank, group, s.Median())
	f.Severity = severityOf(f.Weight)
	f.Says = fmt.Sprintf("%s: %s is the last to issue in %d of %s of %s mode, by %s in the middle of them: %.0f %% of the time of %s.",
		group[0].group(), s.name(), len(s.Excess), units.Count(records, "record"), mode, units.Duration(s.Lateness()), 100*f.Weight, issued[mode])
	f.Evidence = []string{"Lateness is taken on a common clock and counted where it is above the clocks' uncertainty. It is a delay of the host's thread; it says nothing about a GPU, card or link."}
	f.Hints = hintsFor(LateRank, group[0], f.From, f.To)
	return f, true
}

// slowRanks finds the rank whose own times are the longest nearly always. Who waits for another has the longer time, so this accuses nobody.
func slowRanks(curves []*Curve, _ Options) (found []Finding) {
	for _, group := range byWorld(judged(curves)) {
		if group[0].World < 3 { // of two ranks there is no middle
			continue
		}
		// In rooted operations what a rank takes goes by its place.
		s, records := standsOut(group, func(u *RankUse) map[int]*Standout { return u.Slowest }, func(c *Curve) bool { return !c.Collective.Rooted() })
		if s == nil {
			continue
		}
		f := ofGroup(SlowRank, group, s.Median())
		f.Severity = min(severityOf(f.Weight), Warning)
		f.Says = fmt.Sprintf("%s: %s has the longest times of its own in %d of %s, %.0f %% over the middle rank's.",
			group[0].group(), s.name(), len(s.Excess), units.Count(records, "record"), 100*f.Weight)
		f.Evidence = []string{"This does not tell who causes it: in an operation that synchronises, a rank that waits for another one has the longer time. rank --pattern pairs finds a weak node or link."}
		f.Hints = hintsFor(SlowRank, group[0], f.From, f.To)
		found = append(found, f)
	}
	return found
}

// standsOut is the rank that stands out in most records of a group, and by enough; nil if none does.
func standsOut(group []*Curve, of func(*RankUse) map[int]*Standout, counts func(*Curve) bool) (most *Standout, records int) {
	all := map[int]*Standout{}
	for _, c := range group {
		if c.Ranks == nil || !counts(c) {
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
	if most == nil || float64(len(most.Excess)) < mostly*float64(records) || most.Median() < leastExcess || !oftenerThanChance(len(most.Excess), records, group[0].World) {
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

// ofGroup is a finding about all curves of a group, from the smallest size of any to the largest; it stands at the first.
func ofGroup(kind Kind, group []*Curve, weight float64) Finding {
	f := Finding{Kind: kind, Curve: group[0], Weight: weight}
	first := func(c *Curve) int64 { return c.Points[0].SizeBytes }
	last := func(c *Curve) int64 { return c.Points[len(c.Points)-1].SizeBytes }
	f.From = first(slices.MinFunc(group, func(a, b *Curve) int { return cmp.Compare(first(a), first(b)) }))
	f.To = last(slices.MaxFunc(group, func(a, b *Curve) int { return cmp.Compare(last(a), last(b)) }))
	return f
}
