package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"busbar/internal/result"
	"busbar/rank/backend"
)

// gatherThrottled brings rank 0 which GPUs of the groups held back their clocks at the end of a round; w is nil on ranks that
// rested. Collective over the launch.
func (r *patternRun) gatherThrottled(w *subworld) error {
	if err := r.gatherRanks(w != nil); err != nil {
		return err
	}
	var mine [][]result.Throttled // by library; of a group's first rank
	if w != nil {
		for _, s := range w.sessions {
			mine = append(mine, backend.ThrottledOf(s.backend))
		}
	}
	text, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	all, err := r.j.world.Gatherv(text, 0)
	if err != nil || r.j.rank != 0 {
		return err
	}
	return r.keepThrottled(all)
}

// keepThrottled adds what the groups sent to what earlier rounds have shown. Rank 0 only.
func (r *patternRun) keepThrottled(sent [][]byte) error {
	for _, text := range sent {
		var group [][]result.Throttled
		if err := json.Unmarshal(text, &group); err != nil {
			return fmt.Errorf("the clocks of a group: %w", err)
		}
		for library, found := range group {
			b := r.books[library]
			b.throttled = addThrottled(b.throttled, found)
			r.j.ledger.Throttled(b.sheet, b.throttled)
		}
	}
	return nil
}

// addThrottled joins two lists: each rank once, by its number, with all that held back its clocks.
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
