package session

import (
	"testing"
	"time"

	"busbar/internal/stats"
	"busbar/internal/step"
	"busbar/sweeps"
)

// roundsUntil counts the rounds of some points until the end, if a round of all points takes this long.
func roundsUntil(
	t *testing.T,
	points int,
	o sweeps.Options,
	asked bool,
	took time.Duration,
	noise float64,
) (rounds int, reason string) {
	t.Helper()
	at := time.Now()
	s := stepStop{now: func() time.Time { return at }}
	s.begin(o, points, asked)
	runs := make([]*stepPoint, points)
	for i := range runs {
		runs[i] = &stepPoint{}
	}
	for n := range maxRounds + 1 {
		if n > 0 && s.enough(runs) {
			return n, s.reason
		}
		at = at.Add(took)
		x := 1.0
		if n%2 == 0 {
			x += noise
		}
		for _, r := range runs {
			r.rounds = append(r.rounds, step.Round{Compute: x, Comm: x, Sequential: 2 * x, Overlapped: x})
		}
	}
	t.Fatal("the rounds never end")
	return 0, ""
}

func TestRoundsEnd(t *testing.T) {
	budget := sweeps.Options{Budget: 10 * time.Second, Precision: 0.02}
	fixed := budget
	fixed.Iterations = 4
	for name, c := range map[string]struct {
		points int
		o      sweeps.Options
		asked  bool
		took   time.Duration
		noise  float64
		rounds int
		reason stats.StopReason
	}{
		"fixed": {2, fixed, false, time.Hour, 0, 4, stats.Fixed},
		"precise, one point": {1, budget, true, time.Millisecond, 0, stats.MinForInterval,
			stats.Precision},
		"precise, several points": {7, budget, true, time.Millisecond, 0, step.RoundsToCompare(7),
			stats.Precision},
		"the budget is each point's": {7, budget, true, 5 * time.Second, 1, 14, stats.Budget},
		"a round within the budget": {1, budget, true, 9 * time.Second, 1, stats.MinForInterval,
			stats.Budget},
		"no round fits the budget":             {1, budget, true, 11 * time.Second, 1, minRoundsAny, stats.Budget},
		"maximum number of rounds":             {1, budget, true, 0, 1, maxRounds, stats.Maximum},
		"precise when the budget is too small": {7, budget, true, 8 * time.Second, 0, 8, stats.Budget},
		"default budget": {7, budget, false, 9 * time.Second, 1, step.RoundsToCompare(7),
			stats.Budget},
		"default budget, no round fits": {7, budget, false, 71 * time.Second, 1, minRoundsAny, stats.Budget},
	} {
		if n, reason := roundsUntil(t, c.points, c.o, c.asked, c.took, c.noise); n != c.rounds ||
			reason != c.reason.String() {
			t.Errorf("%s: %d rounds, %s, not %d, %s", name, n, reason, c.rounds, c.reason)
		}
	}
	if few, many := step.RoundsToCompare(1), step.RoundsToCompare(7); few != stats.MinForInterval || many <= few {
		t.Errorf("%d rounds for a point alone, and %d to compare seven", few, many)
	}
}
