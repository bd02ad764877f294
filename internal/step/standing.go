package step

import (
	"fmt"
	"math"
	"slices"

	"busbar/internal/stats"
)

// Verdict compares a point with the best of its group.
type Verdict int

// The verdicts.
const (
	NotCompared  Verdict = iota // it has no rounds, or no other point of its group has any
	Best                        // the minimum median of overlapped steps, and another point is slower
	Smallest                    // the minimum median, and no other point differs significantly
	NoDifference                // from the best: it may be as fast
	Slower                      // than the best, in this launch
	TooFewRounds                // for a comparison with the best
)

// Leads reports whether the other points of a group are compared with this one.
func (v Verdict) Leads() bool { return v == Best || v == Smallest }

// Standing compares a point with the best of its group in one launch; another launch may place the ranks differently.
type Standing struct {
	Verdict Verdict
	// how much longer than the best's an overlapped step takes, round by round: 0.05 is 5 %; the interval is corrected
	// for the comparisons in the group
	Slower Figure
	Rounds int // that both have
	Needed int // rounds that such an interval takes at least
}

// String is "best", "smallest median", "no difference", "3.1 % [2.0, 4.4] slower", "too few rounds: 5 of 10"; "" where
// nothing was compared.
func (s *Standing) String() string {
	switch s.Verdict {
	case Best:
		return "best"
	case Smallest:
		return "smallest median"
	case NoDifference:
		return "no difference"
	case Slower:
		return fmt.Sprintf("%.1f %% [%.1f, %.1f] slower", 100*s.Slower.Value, 100*s.Slower.Lo, 100*s.Slower.Hi)
	case TooFewRounds:
		return fmt.Sprintf("too few rounds: %d of %d", s.Rounds, s.Needed)
	}
	return ""
}

// Standings compares the points of each group with the group's best, which is the one whose overlapped steps have the
// smallest median. rounds are those of each point; what is at one place of the lists of a group was measured in one
// round, next to each other.
//
// Which point is the best is seen in the same rounds, so that every pair of the group's points may come to be compared:
// the intervals are of 95 % over all pairs together (Bonferroni). They are those of the median of ratios within rounds
// (stats.MedianAt), which assumes no distribution.
func Standings(points []Point, rounds [][]Round) []Standing {
	all := make([]Standing, len(points))
	for _, members := range Groups(points) {
		members = slices.DeleteFunc(members, func(i int) bool { return len(rounds[i]) == 0 })
		if len(members) < 2 {
			continue
		}
		best, first := bestOf(members, rounds), Smallest
		for _, i := range members {
			all[i] = against(rounds[i], rounds[best], levelOf(len(members)))
			if i != best && all[i].Verdict == Slower {
				first = Best
			}
		}
		all[best].Verdict = first
	}
	return all
}

// bestOf is the member whose overlapped steps have the smallest median; -1 where none has a round.
func bestOf(members []int, rounds [][]Round) int {
	best, least := -1, math.Inf(1)
	for _, i := range members {
		if m := stats.Median(each(rounds[i], overlapped)); m < least { // the median of nothing is NaN
			best, least = i, m
		}
	}
	return best
}

// LeastMedian is the point whose overlapped steps have the smallest median; -1 where none has a round.
func LeastMedian(rounds [][]Round) int {
	all := make([]int, len(rounds))
	for i := range all {
		all[i] = i
	}
	return bestOf(all, rounds)
}

// levelOf is the level of the interval of one pair, where all pairs of some points are compared.
func levelOf(points int) float64 {
	pairs := float64(points*(points-1)) / 2
	return 1 - (1-stats.Confidence)/pairs
}

// RoundsToCompare is the number of rounds for a significant difference between the best and any of so many points of a
// group; the CI of a single point needs fewer.
func RoundsToCompare(points int) int {
	if points < 2 {
		return stats.MinForInterval
	}
	return max(stats.MinForInterval, stats.FewestForMedian(levelOf(points)))
}

// against compares a point with the best of its group.
func against(rounds, best []Round, level float64) Standing {
	n := min(len(rounds), len(best))
	s := Standing{Rounds: n, Needed: stats.FewestForMedian(level)}
	ratios := make([]float64, n)
	for k := range ratios {
		ratios[k] = rounds[k].Overlapped/best[k].Overlapped - 1
	}
	median, lo, hi, ok := stats.MedianAt(ratios, level)
	s.Slower.Value = median
	if !ok {
		s.Verdict = TooFewRounds
		return s
	}
	s.Slower.Lo, s.Slower.Hi = lo, hi
	if s.Verdict = NoDifference; lo > 0 {
		s.Verdict = Slower
	}
	return s
}

// Groups are the points by their groups, each as its index, in the order of the list.
func Groups(points []Point) (groups [][]int) {
	number := map[Point]int{}
	for i, p := range points {
		n, there := number[p.Group()]
		if !there {
			n = len(groups)
			number[p.Group()] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], i)
	}
	return groups
}

// negligible is the part of an overlapped step below which a mode's own time need not be precise, and communication
// counts as negligible: in a world of one, the time of no communication is noise.
const negligible = 1e-3

// Enough reports whether the median of each of the four modes is within precision: half the width of its 95 % CI,
// relative to the median. It is false with fewer than stats.MinForInterval rounds.
func Enough(rounds []Round, precision float64) bool {
	if len(rounds) < stats.MinForInterval {
		return false
	}
	step := stats.Median(each(rounds, overlapped))
	for _, mode := range []func(*Round) float64{compute, comm, sequential, overlapped} {
		x := each(rounds, mode)
		if stats.Median(x) >= negligible*step && !stats.Narrow(x, precision) {
			return false
		}
	}
	return true
}

func compute(r *Round) float64    { return r.Compute }
func comm(r *Round) float64       { return r.Comm }
func sequential(r *Round) float64 { return r.Sequential }
func overlapped(r *Round) float64 { return r.Overlapped }
