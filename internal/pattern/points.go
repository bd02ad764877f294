package pattern

import (
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// Verdicts judge each case of a backend by the times of its points. A point is known by its group, so there may be
// others among them.
func Verdicts(
	of *result.Pattern, backend string, cases []coll.Case, measured map[result.PointKey]result.Time,
) map[coll.Case]Verdict {
	all := map[coll.Case]Verdict{}
	n := len(of.Hosts)
	groups := groupsOf(of)
	for _, c := range cases {
		var times []Time
		for _, g := range groups {
			for round := range 2*of.Rounds + 1 {
				key := result.Point(backend, c, 0)
				key.Group = (&result.Group{Round: round, Hosts: g.hosts}).String()
				if t := measured[key]; t.Seconds > 0 {
					_, again := Number(of.Rounds, round)
					times = append(times, Time{Nodes: g.nodes, Alone: round == 0, Again: again, Seconds: t.Seconds,
						Unsure: unsure(&t)})
				}
			}
		}
		all[c] = Judge(of.Kind, n, times)
	}
	return all
}

// unsure is about the noise of a time: the standard error of its logarithm.
func unsure(t *result.Time) float64 {
	const (
		normal = 1.96 // half of a 95 % interval, in standard errors
		single = 0.2  // of a single sample nothing is known
	)
	switch {
	case t.Lo > 0 && t.Hi > t.Lo:
		return math.Log(t.Hi/t.Lo) / 2 / normal
	case t.Hi > 0 && t.Hi == t.Lo:
		return 0
	case t.Samples > 1 && t.Min > 0 && t.Max > t.Min:
		return math.Log(t.Max/t.Min) / 2
	}
	return single
}

// namedGroup is a group of the schedule and the names of its nodes.
type namedGroup struct {
	nodes []int
	hosts []string
}

// groupsOf are all groups of a pattern's schedule, each once.
func groupsOf(of *result.Pattern) (groups []namedGroup) {
	rounds, err := Rounds(of.Kind, len(of.Hosts))
	if err != nil {
		return nil
	}
	for _, r := range rounds {
		for _, nodes := range r {
			if slices.ContainsFunc(groups, func(g namedGroup) bool { return slices.Equal(g.nodes, nodes) }) {
				continue
			}
			g := namedGroup{nodes: nodes}
			for _, i := range nodes {
				g.hosts = append(g.hosts, of.Hosts[i])
			}
			groups = append(groups, g)
		}
	}
	return groups
}
