package pattern

import (
	"fmt"
	"math"
	"strings"

	"busbar/internal/stats"
)

// Sentences are the verdict in words, one for each finding. hosts are the names of the nodes by index.
func (v *Verdict) Sentences(hosts []string) []string {
	if v.Nodes == 2 {
		return []string{fmt.Sprintf("two nodes make one pair (%s), and there is no other to compare it with: nothing can be said of either node", strings.Join(hosts, "+"))}
	}
	var lines []string
	for _, s := range v.Found() {
		lines = append(lines, s.sentence(v.Kind, hosts))
	}
	if v.Pairs.Apart && len(lines) > 1 {
		lines = append(lines, "these nodes are as fast as the others among themselves: the way to them is slow, not they")
	}
	if n := v.Pairs.Uneven; n > 0 {
		lines = append(lines, fmt.Sprintf("%d pairs stand out, too many to be links of their own: nodes that are near each other and others that are not, or noise", n))
	}
	if v.Halves.Unclear {
		lines = append(lines, fmt.Sprintf("halves differ by up to %s, and no single node explains how: several weak nodes, or links; --pattern pairs tells which", percent(v.Halves.Spread)))
	}
	if len(lines) == 0 {
		lines = append(lines, v.nothing(hosts))
	}
	if v.Missing > 0 {
		lines = append(lines, fmt.Sprintf("%d groups have no figure, and the verdict stands on the others", v.Missing))
	}
	return lines
}

// nothing says that nothing stands out, and how far apart the nodes are.
func (v *Verdict) nothing(hosts []string) string {
	var text string
	if v.Kind == Pairs {
		if v.Pairs.PairSpread == 0 {
			return "no figures to compare"
		}
		text = fmt.Sprintf("no node or link stands out (nodes within %s, pairs within %s)", percent(v.Pairs.Spread), percent(v.Pairs.PairSpread))
	} else {
		if v.Halves.Spread == 0 {
			return "no figures to compare"
		}
		text = fmt.Sprintf("no node stands out (halves within %s)", percent(v.Halves.Spread))
	}
	if v.noise > 0.05 {
		text += fmt.Sprintf("; but a time is known to about %s only: less than %s would not be seen", percent(math.Exp(2*v.noise)), percent(math.Exp(3*v.noise)))
	}
	for i, s := range v.Suspects {
		if i == 0 {
			text += "; in the rounds "
		} else {
			text += ", "
		}
		text += fmt.Sprintf("%s took %s times as long", s.name(hosts), times(s.Together))
		switch {
		case s.Again && s.Twice:
			text += fmt.Sprintf(" (%s once more, %s alone)", times(s.Repeated), times(s.Alone))
		case s.Again:
			text += fmt.Sprintf(" (%s alone)", times(s.Alone))
		}
	}
	return text
}

// name is "node3", "the link node1+node4".
func (s *Suspect) name(hosts []string) string {
	if s.isLink() {
		return "the link " + hosts[s.Nodes[0]] + "+" + hosts[s.Nodes[1]]
	}
	return hosts[s.Nodes[0]]
}

func (s *Suspect) sentence(kind string, hosts []string) string {
	what := fmt.Sprintf("its pairs take %s times as long as the others", times(s.Together))
	evidence := fmt.Sprintf("%d of %d pairs slow", s.Slow, s.Of)
	switch {
	case s.isLink():
		what, evidence = fmt.Sprintf("it takes %s times as long as the others", times(s.Together)), "its nodes are faster with others"
	case kind == Halves:
		what, evidence = fmt.Sprintf("its half takes %s times as long as the other", times(s.Together)), fmt.Sprintf("in %d of %d rounds", s.Slow, s.Of)
	}
	switch s.Standing {
	case stats.Slow:
		return fmt.Sprintf("%s is slow: %s (%s; measured again alone: %s times)", s.name(hosts), what, evidence, times(s.Alone))
	case stats.SlowTogether:
		return fmt.Sprintf("%s is slow only while the others measure too: %s (%s; %s times once more), and %s times when it is alone: what it shares with them is short, such as a switch or an uplink",
			s.name(hosts), what, evidence, times(s.Repeated), times(s.Alone))
	case stats.SlowOnce:
		return fmt.Sprintf("%s was slow once while the others measured too: %s (%s), and %s times when it is alone; it was not measured with them once more, so nothing is said of it",
			s.name(hosts), what, evidence, times(s.Alone))
	}
	return fmt.Sprintf("%s is slow: %s (%s; not measured again alone)", s.name(hosts), what, evidence)
}

// times is a natural logarithm as a factor: 2.41.
func times(log float64) string {
	switch x := math.Exp(log); {
	case x < 9.995:
		return fmt.Sprintf("%.2f", x)
	case x < 99.95:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.0f", x)
	}
}

// percent is how far apart a factor lies from 1: "4.0 %", "2.9 times".
func percent(factor float64) string {
	switch p := 100 * (factor - 1); {
	case p < 9.95:
		return fmt.Sprintf("%.1f %%", p)
	case p < 99.5:
		return fmt.Sprintf("%.0f %%", p)
	}
	return times(math.Log(factor)) + " times"
}

// Relative are the pairs' times in the rounds, by both nodes, as multiples of the median sound pair; 0 where there is none.
func (v *Verdict) Relative() [][]float64 {
	table := make([][]float64, v.Nodes)
	for a := range table {
		table[a] = make([]float64, v.Nodes)
	}
	if v.Pairs.Base <= 0 {
		return table
	}
	for a := range v.Nodes {
		for b := a + 1; b < v.Nodes; b++ {
			x := v.of([]int{a, b}, inRounds) / v.Pairs.Base
			table[a][b], table[b][a] = x, x
		}
	}
	return table
}
