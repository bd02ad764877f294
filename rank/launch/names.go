package launch

import (
	"fmt"
	"slices"
	"strings"
)

// RankNames lists ranks: "rank 1 on node07 (pid 1234)", "ranks 1 on node07, 2 on node08, 3 on node08 and 12 more".
func RankNames(ranks []Report) string {
	const most = 4
	ranks = slices.SortedFunc(slices.Values(ranks), func(a, b Report) int { return a.Rank - b.Rank })
	var list []string
	for _, r := range ranks[:min(most, len(ranks))] {
		text := fmt.Sprint(r.Rank)
		if r.Host != "" {
			text += " on " + r.Host
		}
		if r.PID > 0 && r.Standing != Answered {
			text += fmt.Sprintf(" (pid %d)", r.PID)
		}
		list = append(list, text)
	}
	text := strings.Join(list, ", ")
	if len(ranks) > most {
		text += fmt.Sprintf(" and %d more", len(ranks)-most)
	}
	if len(ranks) == 1 {
		return "rank " + text
	}
	return "ranks " + text
}
