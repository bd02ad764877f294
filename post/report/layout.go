package report

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/ranges"
	"busbar/internal/result"
	"busbar/internal/units"
)

// layout is where the ranks of a world ran, by rank.
type layout []result.Rank

func layoutOf(ranks []result.Rank) layout {
	ranks = slices.Clone(ranks)
	units.SortBy(ranks, func(r result.Rank) int { return r.Rank })
	return ranks
}

// hosts are those of the ranks, each once, in the order of their lowest ranks.
func (l layout) hosts() (hosts []string) {
	for _, on := range l.byHost() {
		hosts = append(hosts, on[0].Host)
	}
	return hosts
}

func (l layout) byHost() [][]result.Rank {
	return units.GroupBy(l, func(r result.Rank) string { return r.Host })
}

// words list the hosts with the ranks, devices and cores on each, a line a host.
func (l layout) words() string {
	var lines []string
	for _, on := range l.byHost() {
		var numbers []int
		var devices, cpus []string
		for _, r := range on {
			numbers = append(numbers, r.Rank)
			if device := strings.TrimSpace(r.Device + " " + r.PCI); device != "cpu" {
				devices = append(devices, nonEmpty(device)...)
			}
			cpus = append(cpus, nonEmpty(r.CPUs)...)
		}
		line := fmt.Sprintf("%s: ranks %s", on[0].Host, ranges.Format(numbers))
		if devices != nil {
			line += "; " + units.Some(devices)
		}
		if cpus != nil {
			line += "; CPUs " + units.Some(cpus)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
