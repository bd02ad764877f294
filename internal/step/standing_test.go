package step

import (
	"slices"
	"testing"

	"busbar/internal/coll"

	"github.com/shoenig/test"
)

func verdicts(s []Standing) (v []Verdict) {
	for i := range s {
		v = append(v, s[i].Verdict)
	}
	return v
}

// TestEqualBuckets: seven equally fast buckets have a false "slower" in at most 5 % of runs.
func TestEqualBuckets(t *testing.T) {
	const runs = 800
	equal := slices.Repeat([]float64{0.1}, 7)
	for _, n := range []int{10, 12, 25, 60} {
		r, wrong := seeded(uint64(n)), 0
		for range runs {
			if slices.Contains(verdicts(Standings(seven, simulate(r, n, 0.01, equal...))), Slower) {
				wrong++
			}
		}
		if share := 100 * float64(wrong) / runs; share > 5 {
			t.Errorf("%d rounds: false positives in %.1f %% of runs", n, share)
		}
	}
}

// TestBestBucket: one that is 5 % better, under noise of 1 % and drift of 30 %.
func TestBestBucket(t *testing.T) {
	const runs = 400
	for _, n := range []int{10, 20} {
		r, found := seeded(uint64(n)), 0
		for range runs {
			s := Standings(seven, simulate(r, n, 0.01, 0.1, 0.1, 0.1, 0.095, 0.1, 0.1, 0.1))
			if slices.Equal(verdicts(s), []Verdict{Slower, Slower, Slower, Best, Slower, Slower, Slower}) {
				found++
			}
		}
		if share := 100 * float64(found) / runs; share < 95 && n > 10 || share < 80 {
			t.Errorf("%d rounds: detected in %.1f %% of runs", n, share)
		}
	}
}

// Groups are independent, and points without rounds do not count.
func TestGroupsAreIndependent(t *testing.T) {
	points := slices.Concat(seven[:2], buckets(1<<20, 5<<20), seven[2:3])
	points[2].Type, points[3].Type = coll.BFloat16, coll.BFloat16
	rounds := simulate(seeded(2), 12, 0.001, 0.3, 0.4, 0.2, 0.1, 0.05)
	rounds[4] = nil
	s := Standings(points, rounds)
	test.SliceEqOp(t, []Verdict{Best, Slower, Slower, Best, NotCompared}, verdicts(s))
	if got := Groups(points); len(got) != 2 || !slices.Equal(got[0], []int{0, 1, 4}) ||
		!slices.Equal(got[1], []int{2, 3}) {
		t.Errorf("groups %v", got)
	}
}

func TestEnoughRounds(t *testing.T) {
	r := seeded(5)
	rounds := simulate(r, 40, 0.001, 0.1)[0]
	for i := range rounds { // no drift
		rounds[i] = made(0.115 * (1 + 0.002*r.NormFloat64()))
	}
	if Enough(rounds[:5], 1) {
		t.Error("five rounds are enough")
	}
	if !Enough(rounds, 0.01) {
		t.Error("noise of 0.2 % is not within 1 %")
	}
	for name, mode := range map[string]func(*Round) *float64{
		"compute":    func(x *Round) *float64 { return &x.Compute },
		"comm":       func(x *Round) *float64 { return &x.Comm },
		"sequential": func(x *Round) *float64 { return &x.Sequential },
		"overlapped": func(x *Round) *float64 { return &x.Overlapped },
	} {
		noisy := slices.Clone(rounds)
		for i := range noisy {
			*mode(&noisy[i]) *= 1 + 0.3*r.Float64()
		}
		if Enough(noisy, 0.01) || !Enough(noisy, 0.2) {
			t.Errorf("noise of %s is not between 1 and 20 %%", name)
		}
	}
	for i := range rounds { // a world of one
		rounds[i].Comm, rounds[i].CommAlone = 1e-6*r.Float64(), 0
	}
	if !Enough(rounds, 0.01) {
		t.Error("a zero time must be precise")
	}
}

func TestTooFewRounds(t *testing.T) {
	for _, c := range []struct {
		points, rounds, needed int
		other, best            Verdict
	}{{7, 9, 10, TooFewRounds, Smallest}, {7, 10, 10, Slower, Best}, {2, 5, 6, TooFewRounds, Smallest},
		{2, 6, 6, Slower, Best}} {
		seconds := []float64{0.2, 0.1, 0.3, 0.4, 0.5, 0.6, 0.7}[:c.points]
		s := Standings(seven[:c.points], simulate(seeded(1), c.rounds, 0.001, seconds...))
		if s[0].Verdict != c.other || s[1].Verdict != c.best || s[0].Needed != c.needed || s[0].Rounds != c.rounds ||
			s[0].Slower.Value < 0.99 || s[0].Slower.Value > 1.01 {
			t.Errorf("%+v: %+v", c, s[:2])
		}
	}
	// A truncated run has one more round of its first points.
	rounds := simulate(seeded(4), 12, 0.001, 0.1, 0.2)
	rounds[1] = rounds[1][:11]
	if s := Standings(seven[:2], rounds); s[1].Rounds != 11 || s[1].Verdict != Slower {
		t.Errorf("%+v", s)
	}
	// Equal rounds have no difference.
	same := simulate(seeded(1), 12, 0.001, 0.1)[0]
	test.SliceEqOp(t, []Verdict{Smallest, NoDifference}, verdicts(Standings(seven[:2], [][]Round{same, same})))
}
