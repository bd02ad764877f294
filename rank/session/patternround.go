package session

import (
	"context"
	"fmt"
	"slices"

	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/hang"
	"busbar/rank/launch"
)

// numberedRound is a round with its number in the records.
type numberedRound struct {
	Number int // 0: alone; beyond the schedule: repeated
	Groups pattern.Round
}

// patternOrder is the order of rank 0 to all ranks: measure a case, or leave the round.
type patternOrder struct {
	Case   int64 // -1: leave
	Over   bool
	Number uint64 // of the case, before it
}

// groupResult is the message of a group's first rank to rank 0.
type groupResult struct {
	First  int // first rank of the group
	Record *result.Record
	result.AllRanks
}

// round measures the missing cases in groups that run at the same time. over reports that the run ends. Collective over
// the launch.
func (p *patternRun) round(ctx context.Context, n numberedRound) (over bool, err error) {
	wanted, err := launch.Share(p.run.Comm, func() (bool, error) {
		lacks := func(c patternCase) bool { return len(p.missing(c, n)) > 0 }
		return slices.ContainsFunc(p.cases, lacks), nil
	})
	if err != nil || !wanted {
		return false, err
	}
	w, err := p.group(n.Groups)
	if err != nil {
		return false, err
	}
	if err := p.gatherRanks(w != nil); err != nil {
		return false, err
	}
	if over, err = p.measureRound(ctx, n, w); err != nil {
		return over, err
	}
	if w != nil {
		if err := w.close(); err != nil {
			return false, err
		}
		if err := w.world.Group.Free(); err != nil {
			return false, err
		}
	}
	return over, p.gatherThrottled(w)
}

// gatherThrottled collects on rank 0 which GPUs reduced their clocks by the end of a round; w is nil on idle ranks.
// Collective over the launch.
func (p *patternRun) gatherThrottled(w *worldRun) error {
	if err := p.gatherRanks(w != nil); err != nil {
		return err
	}
	var mine [][]result.Throttled // by library; of a group's first rank
	if w != nil {
		for _, s := range w.sessions {
			mine = append(mine, backend.ThrottledOf(s.backend))
		}
	}
	all, err := launch.GatherJSON(p.run.Comm, mine)
	for _, group := range all { // empty except on rank 0
		for library, found := range group {
			p.run.Ledger.Throttled(p.sessions[library].sheet, found)
		}
	}
	return err
}

// gatherRanks waits for all ranks, including idle ones; it sleeps and does not spin.
func (p *patternRun) gatherRanks(inGroup bool) error {
	if inGroup {
		p.run.Watch.Rest(hang.WaitForGroups)
	} else {
		p.run.Watch.Rest(hang.WaitOutside)
	}
	return p.run.Comm.BarrierSleeping(sleepPause)
}

// measureRound measures the cases of a round; w is nil on idle ranks.
func (p *patternRun) measureRound(ctx context.Context, n numberedRound, w *worldRun) (over bool, err error) {
	if p.world.Rank == 0 {
		if err := p.openFiles(); err != nil {
			return false, err
		}
	}
	next := 0
	for {
		p.run.Watch.Phase(hang.WaitForRank0, 0)
		var o patternOrder
		if p.world.Rank == 0 {
			o = p.next(ctx, n, &next)
		}
		if err := launch.Broadcast(p.run.Comm, &o); err != nil || o.Case < 0 {
			return o.Over, err
		}
		p.run.number = o.Number
		c := p.cases[o.Case]
		var mine *groupResult
		if w != nil {
			if mine, err = w.measureInGroup(c, p.run.Plan.Sweep.Budget); err != nil {
				return false, err
			}
		}
		if err := p.gatherRanks(w != nil); err != nil {
			return false, err
		}
		all, err := launch.GatherJSON(p.run.Comm, mine)
		if err != nil {
			return false, err
		}
		if p.world.Rank == 0 {
			if err := p.keepAll(c, n, all); err != nil {
				return false, err
			}
		}
	}
}

// next returns the next order of a round. Rank 0 only.
func (p *patternRun) next(ctx context.Context, n numberedRound, at *int) patternOrder {
	if p.run.stopped(ctx) {
		return patternOrder{Case: -1, Over: true}
	}
	for ; *at < len(p.cases); *at++ {
		c := p.cases[*at]
		var inHand []result.Entry
		for _, g := range p.missing(c, n) {
			inHand = append(inHand, &result.Record{Kind: result.KindCase, Case: c.Case, Group: g})
		}
		if len(inHand) == 0 {
			continue
		}
		p.run.Ledger.Begin(p.sessions[c.library].sheet, inHand...)
		*at++
		p.orders++
		return patternOrder{Case: int64(*at - 1), Number: p.orders} // idle ranks do not count
	}
	return patternOrder{Case: -1}
}

// keepAll writes the records of the groups, except those of an earlier run. Rank 0 only.
func (p *patternRun) keepAll(c patternCase, n numberedRound, sent []*groupResult) error {
	s := p.sessions[c.library]
	for _, g := range sent {
		if g == nil {
			continue
		}
		for _, nodes := range n.Groups {
			if p.of.Members(nodes)[0] == g.First {
				g.Record.Group = p.of.Group(n.Number, nodes)
			}
		}
		key := p.key(c, g.Record.Group)
		if s.done.Has(key) {
			continue
		}
		if err := p.run.keep(s.sheet, g.Record, g.AllRanks); err != nil {
			return err
		}
		if g.Record.Status == result.OK {
			s.done[key] = g.Record.Time
		}
		p.run.Screen.PatternRow(s.lib.Name(), g.Record)
	}
	p.run.Ledger.Begin(s.sheet)
	return nil
}

// allVerdicts returns the verdicts of all libraries. Rank 0 only.
func (p *patternRun) allVerdicts() (all []pattern.Verdict) {
	for _, s := range p.sessions {
		verdicts := p.verdicts(s)
		for _, c := range s.cases {
			all = append(all, verdicts[c])
		}
	}
	return all
}

// suspects returns the groups to measure alone, over all libraries. Rank 0 only.
func (p *patternRun) suspects() (rounds []numberedRound, err error) {
	for _, group := range p.of.Alone(p.allVerdicts()) {
		rounds = append(rounds, numberedRound{0, pattern.Round{group}})
	}
	return rounds, p.expect(rounds, "outliers repeated while all other nodes are idle: %d")
}

// repeats returns the rounds to repeat, over all libraries. Rank 0 only.
func (p *patternRun) repeats() (rounds []numberedRound, err error) {
	for _, n := range p.of.Repeats(p.allVerdicts()) {
		rounds = append(rounds, numberedRound{len(p.of.Rounds) + n, p.of.Rounds[n-1]})
	}
	return rounds, p.expect(rounds, "rounds repeated because groups are slow only next to others: %d")
}

// expect prepares the files for rounds beyond the schedule, and prints how many have missing values. Rank 0 only.
func (p *patternRun) expect(rounds []numberedRound, text string) error {
	if len(rounds) == 0 {
		return nil
	}
	if err := p.openFiles(); err != nil { // if an earlier run has the whole schedule
		return err
	}
	lacking := 0
	for _, n := range rounds {
		lacks := 0
		for _, c := range p.cases {
			missing := len(p.missing(c, n))
			p.run.Ledger.Expect(p.sessions[c.library].sheet, missing)
			lacks += missing
		}
		lacking += min(lacks, 1)
	}
	if lacking > 0 {
		p.run.Screen.Wrapped("# ", fmt.Sprintf(text, lacking))
	}
	return nil
}
