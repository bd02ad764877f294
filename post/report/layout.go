package report

import (
	"cmp"
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
	byRank := func(x, y result.Rank) int { return cmp.Compare(x.Rank, y.Rank) }
	return slices.SortedStableFunc(slices.Values(ranks), byRank)
}

// hosts are those of the ranks, each once, in the order of their lowest ranks.
func (l layout) hosts() (hosts []string) {
	seen := map[string]bool{}
	for _, r := range l {
		if !seen[r.Host] {
			seen[r.Host] = true
			hosts = append(hosts, r.Host)
		}
	}
	return hosts
}

// words list the hosts with the ranks, devices and cores on each, a line a host.
func (l layout) words() string {
	numbers, devices, cpus := map[string][]int{}, map[string][]string{}, map[string][]string{}
	for _, r := range l {
		numbers[r.Host] = append(numbers[r.Host], r.Rank)
		if device := strings.TrimSpace(r.Device + " " + r.PCI); device != "" && device != "cpu" {
			devices[r.Host] = append(devices[r.Host], device)
		}
		if r.CPUs != "" {
			cpus[r.Host] = append(cpus[r.Host], r.CPUs)
		}
	}
	var lines []string
	for _, host := range l.hosts() {
		line := fmt.Sprintf("%s: ranks %s", host, ranges.Format(numbers[host]))
		if devices[host] != nil {
			line += "; " + units.Some(devices[host])
		}
		if cpus[host] != nil {
			line += "; CPUs " + units.Some(cpus[host])
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
