package pattern

import (
	"math"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// Verdicts judge each case of a backend by the times of its points. A point is known by its group, so there may be
// others among them.
func Verdicts(
	of *result.Pattern, backend string, cases []coll.Case, measured map[result.PointKey]result.Time,
) map[coll.Case]Verdict {
	all := map[coll.Case]Verdict{}
	s := ShapeOf(of)
	rounds, err := s.Rounds()
	if err != nil {
		return all
	}
	for _, c := range cases {
		var times []Time
		seen := map[string]bool{}
		for i, r := range rounds {
			for _, nodes := range r {
				for _, number := range []int{0, i + 1, len(rounds) + i + 1} {
					key := result.Point(backend, c, 0)
					key.Group = GroupOf(of, number, nodes).String()
					if t := measured[key]; t.Seconds > 0 && !seen[key.Group] {
						seen[key.Group] = true
						times = append(times, Time{Nodes: nodes, Alone: number == 0, Again: number > len(rounds),
							AtOnce: s.occasion(i) == atOnce, Seconds: t.Seconds, Unsure: unsure(&t)})
					}
				}
			}
		}
		v := s.Judge(times)
		if c.Mode == coll.Throughput {
			v.rate = c.BusBW
		}
		all[c] = v
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
