package timeline

import (
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/units"
)

// lateRank speaks of the rank that others wait for.
func lateRank(a assessment) []Advice {
	if a.Across == nil || a.Across.Straggler == nil {
		return nil
	}
	s := a.Across.Straggler
	gain := a.comm.each(s.Cost, s.costInSteps)
	return []Advice{{topicBalance, gain, s.Found}}
}

// unevenRanks speaks where ranks wait for each other and none of them is the one.
func unevenRanks(a assessment) []Advice {
	x := a.Across
	if x == nil || x.Straggler != nil || x.Matched == 0 {
		return nil
	}
	gain := a.comm.each(x.Waiting, x.waitingInSteps)
	if gain < 0.05*a.all.part(spanOf) {
		return nil
	}
	fact := notice.UnevenRanks{Waiting: seconds(gain), Per: a.comm.span()}
	if n := spread(x.Imbalance); n > 0 {
		fact.Spread, fact.Step = units.Share(x.Imbalance[n-1].Spread/100), x.Imbalance[n-1].Name
	}
	return []Advice{{topicBalance, gain, fact}}
}

const (
	belowBenchmark = 80      // percent of what the machine reached: less is worth looking into
	bandwidthBound = 1 << 20 // bytes from which on a collective is held against a benchmark
)

// slowLinks speaks where collectives are slower than the machine was in a benchmark, and where large ones have no
// benchmark to be held against.
func slowLinks(a assessment) []Advice {
	var slow *Joined
	gain := 0.0
	for i := range a.Against {
		j := &a.Against[i]
		if j.Bytes < bandwidthBound || j.Percent >= belowBenchmark {
			continue
		}
		gain += (1 - j.Percent/100) * a.pureOf(j)
		if slow == nil || j.Percent < slow.Percent {
			slow = j
		}
	}
	if slow != nil && a.matters(min(gain, a.comm.part(commOf))) {
		return []Advice{
			{
				topicTopology,
				min(gain, a.comm.part(exposedOf)),
				notice.BelowBenchmark{Collective: slow.Name, Size: units.RoughBytes(slow.Bytes),
					Share: units.Share(
						slow.Percent / 100,
					), BusBW: units.Bandwidth(slow.Busbw * 1e9), Benchmark: units.Bandwidth(slow.Reached * 1e9)},
			},
		}
	}
	if len(a.Against) == 0 {
		return a.unmeasured()
	}
	return nil
}

// pureOf is what a joined collective takes a rank, in milliseconds a step or recording, by its figure.
func (a assessment) pureOf(j *Joined) float64 {
	calls := a.comm.calls(func(c *Collective) float64 {
		return float64(
			c.Calls,
		) * only(
			c.Name == j.Name && c.Type == j.Type && c.Ranks == j.Ranks && c.Bytes != nil && *c.Bytes == j.Bytes,
		)
	})
	what, err := coll.ParseCollective(j.Name)
	if err != nil || j.Busbw <= 0 {
		return 0
	}
	return calls * float64(j.Bytes) * what.BusFactor(j.Ranks) / (j.Busbw * 1e9) * 1e3
}

// unmeasured says how to learn whether a bus bandwidth is what the machine can do, for the collective that takes the
// most time.
func (a assessment) unmeasured() []Advice {
	var most *Collective
	consider := func(c *Collective, busbw *float64) {
		if c.Bytes != nil && *c.Bytes >= bandwidthBound && busbw != nil && c.Type != "" &&
			(most == nil || c.Sum > most.Sum) {
			most = c
		}
	}
	for _, d := range a.comm.devices {
		for i := range d.Collectives {
			consider(&d.Collectives[i], d.Collectives[i].BusbwMax)
		}
	}
	if most == nil || !a.matters(a.comm.part(exposedOf)) {
		return nil
	}
	largest := *most.Bytes
	for _, d := range a.comm.devices {
		for _, c := range d.Collectives {
			if c.Name == most.Name && c.Type == most.Type && c.Ranks == most.Ranks && c.Bytes != nil {
				largest = max(largest, *c.Bytes)
			}
		}
	}
	busbw, pure := a.reached(most)
	return []Advice{
		{
			Topic: topicTopology,
			Fact: notice.NoBenchmark{
				Collective: most.Name,
				Type:       most.Type,
				Size:       units.RoughBytes(*most.Bytes),
				BusBW:      busbw,
				Pure:       pure,
				Largest:    upTo(largest),
				Ranks:      most.Ranks,
			},
		},
	}
}

// reached is the bus bandwidth of a kind of collective: at the pure time where ranks were matched, else the greatest of
// any device, as the least time has the least waiting in it.
func (a assessment) reached(kind *Collective) (busbw units.Bandwidth, pure notice.Pure) {
	greatest := 0.0
	consider := func(c *Collective, busbw *float64) {
		if busbw != nil && c.Name == kind.Name && c.Type == kind.Type && c.Ranks == kind.Ranks &&
			c.Parts == kind.Parts &&
			c.Bytes != nil &&
			*c.Bytes == *kind.Bytes {
			greatest = max(greatest, *busbw)
		}
	}
	if a.Across != nil {
		for i := range a.Across.Matches {
			consider(&a.Across.Matches[i].Collective, a.Across.Matches[i].PureBusbw)
		}
	}
	if greatest > 0 {
		return units.Bandwidth(greatest * 1e9), true
	}
	for _, d := range a.comm.devices {
		for i := range d.Collectives {
			consider(&d.Collectives[i], d.Collectives[i].BusbwMax)
		}
	}
	return units.Bandwidth(greatest * 1e9), false
}

// upTo is the power of two that a size lies under, as a flag takes it.
func upTo(bytes int64) string {
	n := int64(1)
	for n < bytes {
		n *= 2
	}
	return coll.FormatSize(n, false)
}

// longest is the longest call of communication of any device, in milliseconds.
func (a assessment) longest() (ms float64, who string) {
	for i := range a.Devices {
		for _, s := range a.Devices[i].seen {
			if took := milliseconds(s.end - s.start); took > ms {
				ms, who = took, a.Devices[i].Label
			}
		}
	}
	return ms, who
}

// nearTimeOut is the time of a call, in milliseconds, from which on a time-out is thinkable.
const nearTimeOut = 30e3

// longCalls speaks where a call took so long that a watchdog may end it.
func longCalls(a assessment) []Advice {
	took, who := a.longest()
	if took < nearTimeOut {
		return nil
	}
	return []Advice{{Topic: topicTimeOuts, Fact: notice.LongCall{Rank: who, Time: seconds(took)}}}
}

// record is what to record next time for what is missing here. What a file's reader has reported already, a note has.
func record(a assessment) (found []Advice) {
	add := func(fact notice.Fact) { found = append(found, Advice{Topic: topicProfile, Fact: fact}) }
	nsight := slices.ContainsFunc(a.Files, func(f File) bool { return f.Format == "nsight" })
	unsized := a.comm.calls(func(c *Collective) float64 { return c.Sum * only(c.Bytes == nil) })
	if sum := a.comm.calls(func(c *Collective) float64 { return c.Sum }); sum > 0 && unsized > sum/2 {
		share := units.Share(unsized / sum)
		said := slices.ContainsFunc(a.Notes, func(n Note) bool {
			switch n.Fact.(type) {
			case notice.NCCLCallsMissing, notice.PayloadsMissing:
				return true
			}
			return false
		})
		if nsight && !said {
			add(notice.NsightSizesNotRecorded{Share: share})
		} else if !nsight {
			add(notice.SizesNotRecorded{Share: share})
		}
	}
	if a.all.per != "step" {
		add(notice.NoSteps{})
	} else if few := a.all.steps(); few < 3 {
		add(notice.FewStepsRecorded{Steps: int(math.Round(few))})
	}
	if read, world := len(a.all.devices), a.world(); len(a.comm.devices) > 0 && read < world {
		add(notice.RanksNotRead{Read: read, World: world})
	} else if read == 1 && len(a.comm.devices) == 1 {
		add(notice.OneRankRead{})
	}
	return found
}
