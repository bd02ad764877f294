package pattern

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"busbar/internal/stats"
)

const (
	// mostNodes and mostLinks are how many suspects are measured again alone, those of the largest excess.
	mostNodes = 4
	mostLinks = 4
	// eachAlone is the number of a suspect's pairs, and of healthy nodes, to measure alone.
	eachAlone = 3
	// halvesAlone is how many rounds of halves are measured again.
	halvesAlone = 2
	// eachRepeated is how many rounds of a suspect, and mostRepeated how many of all suspects, are measured once more
	// with all groups.
	eachRepeated = 2
	mostRepeated = 6
)

// suspects are the nodes, {a, -1}, and links, {a, b}, that are suspects in any point, with their largest excess.
type suspects map[[2]int]float64

func suspectsOf(verdicts []Verdict) suspects {
	all := suspects{}
	for _, v := range verdicts {
		for _, s := range v.Suspects {
			all[s.key()] = max(all[s.key()], s.Together)
		}
	}
	return all
}

// worst are those of the largest excess.
func (all suspects) worst() (nodes []int, links [][]int) {
	keys := slices.Collect(maps.Keys(all))
	slices.SortFunc(keys, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	for _, k := range keys {
		if k[1] < 0 && len(nodes) < mostNodes {
			nodes = append(nodes, k[0])
		} else if k[1] >= 0 && len(links) < mostLinks {
			links = append(links, k[:])
		}
	}
	return nodes, links
}

// has reports whether a node, or with b the link between two, is one.
func (all suspects) has(a, b int) bool {
	_, is := all[[2]int{a, b}]
	return is
}

// Alone are the groups to measure again alone, in that order: of the schedule, some that test each suspect of any
// point, the links, and some without a suspect to compare them with. The verdicts are of points with the same nodes.
func (s Shape) Alone(verdicts []Verdict) (groups [][]int) {
	all := suspectsOf(verdicts)
	nodes, links := all.worst()
	rounds, err := s.Rounds()
	switch {
	case len(all) == 0 || err != nil:
		return nil
	case s.Kind == Halves:
		return halvesOf(rounds, nodes, verdicts)
	}
	late := map[[2]int]bool{}
	for _, v := range verdicts {
		for _, x := range v.Suspects {
			late[x.key()] = x.on == atOnce && all[x.key()] == x.Together
		}
	}
	testing := map[int][][]int{} // by the only suspect, -1 without one
	for i, r := range rounds {
		for _, g := range r {
			if s.occasion(i) != inRounds || all.has(g[0], g[1]) {
				continue
			}
			found := []int{-1}
			for _, part := range slices.Compact(s.parts(g)) {
				if all.has(part, -1) {
					found = append(found, part)
				}
			}
			clean := len(found) == 1
			if len(found) > 2 { // what is slow only on all rails at once does not disturb the others
				found = slices.DeleteFunc(found, func(part int) bool { return part >= 0 && late[[2]int{part, -1}] })
			}
			if n := len(found); n == 2 || n == 1 && clean {
				testing[found[n-1]] = append(testing[found[n-1]], g)
			}
		}
	}
	some := func(of int) {
		pairs := testing[of]
		for n, i := min(eachAlone, len(pairs)), 0; i < n; i++ { // far apart
			groups = append(groups, pairs[i*(len(pairs)-1)/max(1, n-1)])
		}
	}
	for _, part := range nodes {
		some(part)
	}
	groups = append(groups, links...)
	some(-1)
	return groups
}

// halvesOf are both halves of the rounds in which a suspect's half stood out most.
func halvesOf(rounds []Round, suspects []int, verdicts []Verdict) (groups [][]int) {
	difference := func(r Round) (most float64) {
		for _, v := range verdicts {
			if a, b := v.of(r[0], inRounds), v.of(r[1], inRounds); a > 0 && b > 0 {
				most = max(most, math.Abs(math.Log(a/b)))
			}
		}
		return most
	}
	rounds = slices.Clone(rounds)
	slices.SortStableFunc(rounds, func(a, b Round) int { return cmp.Compare(difference(b), difference(a)) })
	have := map[int]bool{}
	for _, node := range suspects {
		taken := 0
		for i, r := range rounds {
			if taken < halvesAlone && (slices.Contains(r[0], node) || slices.Contains(r[1], node)) {
				if taken++; !have[i] {
					have[i] = true
					groups = append(groups, r[0], r[1])
				}
			}
		}
	}
	return groups
}

// Repeats are the rounds, by number from 1, to measure once more with all groups: those in which nodes and links were
// slowest that were slow in the rounds and not alone. Times of rounds that were measured once more already change
// nothing here.
func (s Shape) Repeats(verdicts []Verdict) (numbers []int) {
	rounds, err := s.Rounds()
	if err != nil {
		return nil
	}
	type round struct {
		number  int
		seconds float64
	}
	for _, v := range verdicts {
		testing := map[int][]round{}
		for i, r := range rounds {
			for _, group := range r {
				for _, k := range v.tested(group) {
					if on := v.Suspects[k].on; v.occasion(i) == on && v.of(group, on) > 0 {
						testing[k] = append(testing[k], round{i + 1, v.of(group, on)})
					}
				}
			}
		}
		for k, s := range v.Suspects {
			once := s.Evidence
			if once.Twice = false; once.Standing() != stats.SlowOnce || !s.beside(rounds) {
				continue
			}
			its := testing[k]
			slices.SortStableFunc(its, func(a, b round) int { return cmp.Compare(b.seconds, a.seconds) })
			for _, r := range its[:min(eachRepeated, len(its))] {
				if !slices.Contains(numbers, r.number) && len(numbers) < mostRepeated {
					numbers = append(numbers, r.number)
				}
			}
		}
	}
	slices.Sort(numbers)
	return numbers
}

// Number maps a number in the records to the round of the schedule; after its last round the schedule starts over.
func Number(rounds, number int) (scheduled int, again bool) {
	if number > rounds {
		return number - rounds, true
	}
	return number, false
}
