package session

import (
	"cmp"
	"slices"

	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/launch"
)

// gatherThrottled brings rank 0 which GPUs of the groups reduced their clocks until the end of a round; w is nil on
// ranks that rested. Collective over the launch.
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
	if err == nil {
		p.keepThrottled(all)
	}
	return err
}

// keepThrottled adds what the groups sent to what earlier rounds have shown. Rank 0 only.
func (p *patternRun) keepThrottled(sent [][][]result.Throttled) {
	for _, group := range sent {
		for library, found := range group {
			b := p.files[library]
			b.throttled = addThrottled(b.throttled, found)
			p.run.Ledger.Throttled(b.sheet, b.throttled)
		}
	}
}

// addThrottled joins two lists: each rank once, by its number, with all reasons.
func addThrottled(known, more []result.Throttled) []result.Throttled {
	for _, m := range more {
		i := slices.IndexFunc(known, func(k result.Throttled) bool { return k.Rank == m.Rank })
		if i < 0 {
			known = append(known, m)
			continue
		}
		for _, reason := range m.Reasons {
			if !slices.Contains(known[i].Reasons, reason) {
				known[i].Reasons = append(known[i].Reasons, reason)
			}
		}
	}
	slices.SortFunc(known, func(a, b result.Throttled) int { return cmp.Compare(a.Rank, b.Rank) })
	return known
}
