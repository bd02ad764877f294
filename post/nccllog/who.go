package nccllog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/notice/nccllogs"
	"busbar/internal/units"
)

// who names processes, which may repeat, by their ranks and hosts; "" where they are all that wrote, or none is known.
func (l *Log) who(processes []int) string {
	processes = slices.Compact(slices.Sorted(slices.Values(processes)))
	if len(processes) == 0 || len(processes) == len(l.Processes) {
		return ""
	}
	return l.name(processes)
}

// name names processes by their ranks and hosts: "ranks 0-7 on node01", "pid 42 on node07".
func (l *Log) name(processes []int) string {
	var ranks []int
	var hosts, rest []string
	for _, i := range processes {
		if i < 0 || i >= len(l.Processes) {
			continue
		}
		p := l.Processes[i]
		hosts = append(hosts, p.Host)
		if len(p.Ranks) == 0 {
			rest = append(rest, strconv.Itoa(p.PID))
		}
		ranks = append(ranks, p.Ranks...)
	}
	slices.Sort(ranks)
	slices.Sort(hosts)
	var parts []string
	if len(ranks) > 0 {
		parts = append(parts, nccllogs.Ranks(ranks).String())
	}
	if len(rest) == 1 {
		parts = append(parts, "pid "+rest[0])
	} else if len(rest) > 1 {
		parts = append(parts, units.Count(len(rest), "process")+" without a rank")
	}
	text := strings.Join(parts, ", ")
	if len(hosts) > 0 && len(l.hosts()) > 1 {
		text += " on " + nccllogs.Hosts(slices.Compact(hosts)).String()
	}
	return text
}

// hosts are the names of all hosts that wrote.
func (l *Log) hosts() (names []string) {
	for _, p := range l.Processes {
		names = append(names, p.Host)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// hostsOf are the names of the hosts of processes, without those that are not known.
func (l *Log) hostsOf(processes []int) (names []string) {
	for _, i := range processes {
		if i >= 0 && i < len(l.Processes) && l.Processes[i].Host != "" {
			names = units.AddOnce(names, l.Processes[i].Host)
		}
	}
	return names
}

// largest is the communicator with the most ranks, the first of several; nil without communicators.
func (l *Log) largest() (largest *Communicator) {
	for c := range units.Each(l.Communicators) {
		if largest == nil || c.Ranks > largest.Ranks {
			largest = c
		}
	}
	return largest
}

// nodes is the number of nodes of the communicator that has most; 0: not known.
func (l *Log) nodes() int {
	n := 0
	for _, c := range l.Communicators {
		n = max(n, c.Nodes)
	}
	if n > 0 {
		return n
	}
	if h := len(l.hosts()); h > 1 {
		return h
	}
	return 0
}

// oneHost reports whether the log is of one host, as far as all ranks wrote.
func (l *Log) oneHost() bool { return l.nodes() == 1 || l.nodes() == 0 && len(l.hosts()) <= 1 }

// hostOf is the host of a rank of a communicator; "" where it did not write.
func (l *Log) hostOf(comm, rank int) string {
	if comm < 0 || comm >= len(l.Communicators) {
		return ""
	}
	members := l.Communicators[comm].Members
	i, found := slices.BinarySearchFunc(members, rank,
		func(m Member, rank int) int { return cmp.Compare(m.Rank, rank) })
	if !found || members[i].Process < 0 || members[i].Process >= len(l.Processes) {
		return ""
	}
	return l.Processes[members[i].Process].Host
}

// setting is the value of a variable that was set from outside, or "".
func (l *Log) setting(name string) string {
	for _, s := range l.Settings {
		if s.Name == name && s.given() {
			return s.Value
		}
	}
	return ""
}

// given reports whether the value was set by the environment or the program.
func (s Setting) given() bool { return s.From == "environment" || s.From == "config" }

// on reads a switch as NCCL does: a number other than 0.
func on(value string) bool {
	n, err := strconv.ParseInt(strings.TrimSpace(value), 0, 64)
	return err == nil && n != 0
}
