package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/ranges"
	"busbar/internal/result"
	"busbar/internal/units"
)

// layout is where the ranks of a world ran. Runs of one launch, and often all runs, have the same.
type layout struct{ ranks []result.Rank } // by rank, without what differs from launch to launch

// layoutOf is that of the ranks of a file.
func (b *builder) layoutOf(ranks []result.Rank) *layout {
	l := &layout{}
	var key strings.Builder
	for _, r := range ranks {
		r.PID, r.State = 0, nil
		fmt.Fprintf(&key, "%d %q %q %q %q\n", r.Rank, r.Host, r.CPUs, r.Device, r.PCI)
		l.ranks = append(l.ranks, r)
	}
	if kept := b.layouts[key.String()]; kept != nil {
		return kept
	}
	slices.SortStableFunc(l.ranks, func(x, y result.Rank) int { return cmp.Compare(x.Rank, y.Rank) })
	b.layouts[key.String()] = l
	return l
}

// hosts are those of the ranks, each once, in the order of their lowest ranks.
func (l *layout) hosts() (hosts []string) {
	if l == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, r := range l.ranks {
		if !seen[r.Host] {
			seen[r.Host] = true
			hosts = append(hosts, r.Host)
		}
	}
	return hosts
}

// placedAs says whether all ranks are on the same hosts and devices in both.
func (l *layout) placedAs(other *layout) bool {
	if l == other || l == nil || other == nil {
		return l == other
	}
	return slices.EqualFunc(l.ranks, other.ranks, func(x, y result.Rank) bool {
		return x.Rank == y.Rank && x.Host == y.Host && x.PCI == y.PCI
	})
}

func (l *layout) hostList() string { return hostList(l.hosts()) }

// mostHosts is how many hosts are listed with their ranks.
const mostHosts = 32

// words list the hosts with the ranks, devices and cores on each, a line a host.
func (l *layout) words() string {
	if l == nil {
		return ""
	}
	hosts := l.hosts()
	on := map[string][]result.Rank{}
	for _, r := range l.ranks {
		on[r.Host] = append(on[r.Host], r)
	}
	var lines []string
	for _, host := range hosts[:min(len(hosts), mostHosts)] {
		ranks := on[host]
		numbers := make([]int, len(ranks))
		var devices, cpus []string
		for i, r := range ranks {
			numbers[i] = r.Rank
			if device := strings.TrimSpace(r.Device + " " + r.PCI); device != "" && device != "cpu" {
				devices = append(devices, device)
			}
			if r.CPUs != "" {
				cpus = append(cpus, r.CPUs)
			}
		}
		line := fmt.Sprintf("%s: ranks %s", host, ranges.Format(numbers))
		if len(ranks) == 1 {
			line = fmt.Sprintf("%s: rank %d", host, numbers[0])
		}
		if len(devices) > 0 {
			line += "; " + units.Some(devices)
		}
		if len(cpus) > 0 {
			line += "; CPUs " + units.Some(cpus)
		}
		lines = append(lines, line)
	}
	if n := len(hosts) - mostHosts; n > 0 {
		lines = append(lines, "and "+units.Count(n, "more host"))
	}
	return strings.Join(lines, "\n")
}

// hostList writes hosts as Slurm does, numbers of one name together: node[1-4,7], login.
func hostList(hosts []string) string {
	var groups []*hostGroup
	of := map[string]*hostGroup{}
	for _, host := range hosts {
		prefix := strings.TrimRight(host, "0123456789")
		key := fmt.Sprintf("%s %d", prefix, len(host)-len(prefix)) // numbers of one width: node01 is not node1
		if of[key] == nil || host == prefix {
			of[key] = &hostGroup{prefix: prefix}
			groups = append(groups, of[key])
		}
		if host != prefix {
			of[key].numbers = append(of[key].numbers, host[len(prefix):])
		}
	}
	var words []string
	for _, g := range groups {
		words = append(words, g.prefix+g.brackets())
	}
	return units.Some(words)
}

// hostGroup is hosts whose names differ in a number behind them.
type hostGroup struct {
	prefix  string
	numbers []string // of one width
}

func (g *hostGroup) brackets() string {
	if len(g.numbers) < 2 {
		return strings.Join(g.numbers, "")
	}
	slices.Sort(g.numbers)
	var words []string
	for i := 0; i < len(g.numbers); {
		last := i
		for last+1 < len(g.numbers) && follows(g.numbers[last], g.numbers[last+1]) {
			last++
		}
		word := g.numbers[i]
		if last > i {
			word += "-" + g.numbers[last]
		}
		words = append(words, word)
		i = last + 1
	}
	return "[" + strings.Join(words, ",") + "]"
}

// follows says whether the second number is the next after the first.
func follows(a, b string) bool {
	x, errA := strconv.ParseUint(a, 10, 64)
	y, errB := strconv.ParseUint(b, 10, 64)
	return errA == nil && errB == nil && y == x+1
}
