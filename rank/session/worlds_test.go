package session

import (
	"testing"
	"time"

	"busbar/rank/backend"
	"busbar/rank/plan"
	"busbar/sweeps"
)

// upTo is a library that supports worlds up to a size.
type upTo struct {
	backend.Library
	most int
}

func (l upTo) Unfit(world int) string {
	if world > l.most {
		return "too large"
	}
	return ""
}

// A world that no library supports has no share of the time limit.
func TestTimeOfWorlds(t *testing.T) {
	r := &Run{Start: time.Now(), Libraries: []backend.Library{upTo{most: 4}}}
	r.Plan = &plan.Plan{Worlds: []int{2, 4, 8, 16}, Sweep: &sweeps.Sweep{}}
	r.Plan.Sweep.TimeLimit = time.Hour
	for world, want := range map[int]time.Duration{2: 30 * time.Minute, 4: time.Hour} {
		if got := time.Until(r.until(world)); got < want-time.Minute || got > want {
			t.Errorf("world %d has %s, want %s", world, got, want)
		}
	}
}
