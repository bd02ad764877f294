package machine

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"busbar/internal/notice"
	"busbar/internal/ranges"
	"busbar/internal/units"

	"golang.org/x/sys/unix"
)

// Affinity is the list of CPUs that this process may use, as Linux writes it ("0-3,8"), and how many they are. Unknown
// is "" and 0. Rank 0's main thread is meant, before any library has bound its own threads.
func Affinity(root string) (list string, count int) {
	list = Field(ReadText(root, "proc/self/status"), "Cpus_allowed_list")
	cpus, err := ParseCPUs(list)
	if err != nil {
		return "", 0
	}
	return list, len(cpus)
}

// ParseCPUs reads a list of CPUs or NUMA nodes in Linux's manner: "0-3,8", "" for none. The result is sorted.
func ParseCPUs(list string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		if part == "" {
			continue
		}
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || a < 0 || b < a || b > 1<<20 {
			return nil, fmt.Errorf("%q is not a list of CPUs such as 0-3,8", list)
		}
		for ; a <= b; a++ {
			cpus = append(cpus, a)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}

// CPUQuota is the number of CPUs' worth of time that the cgroups grant (docker --cpus, Kubernetes' limits), which no
// affinity shows; 0 where there is no limit.
func CPUQuota(root string) float64 {
	quota := 0.0
	for _, level := range cgroupLevels(root, "cpu") {
		var limit, period int64
		if level.v2 {
			words := strings.Fields(ReadText(level.dir, "cpu.max"))
			if len(words) != 2 || words[0] == "max" {
				continue
			}
			limit, _ = strconv.ParseInt(words[0], 10, 64)
			period, _ = strconv.ParseInt(words[1], 10, 64)
		} else {
			limit, _ = ReadNumber(level.dir, "cpu.cfs_quota_us")
			period, _ = ReadNumber(level.dir, "cpu.cfs_period_us")
		}
		if limit <= 0 || period <= 0 {
			continue
		}
		if q := float64(limit) / float64(period); quota == 0 || q < quota {
			quota = q
		}
	}
	return quota
}

// Place is where a rank may run.
type Place struct {
	Rank  int
	Host  string
	CPUs  string  // "0-3,8"; "" if unknown
	Quota float64 // CPUs' worth of time, 0 without a limit
}

// Oversubscribed is a warning for each host (the first few) on which ranks must share cores. Ranks that are bound to
// overlapping sets are found as well as hosts with more ranks than cores.
func Oversubscribed(places []Place) []notice.Fact {
	const most = 3
	var warnings []notice.Fact
	more := 0
	for _, host := range units.GroupBy(places, func(p Place) string { return p.Host }) {
		ranks, cores, limit := Crowd(host)
		switch {
		case ranks == 0:
		case len(warnings) == most:
			more++
		default:
			warnings = append(warnings, notice.Oversubscribed{Ranks: ranks, Cores: cores, Host: host[0].Host,
				Limit: limit})
		}
	}
	if more > 0 {
		warnings = append(warnings, notice.OversubscribedHosts{Hosts: more})
	}
	return warnings
}

// Crowd finds the largest group of a host's ranks that has fewer cores than members: all ranks whose set of cores lies
// within one that some rank has, or within all sets together. 0 ranks if no such group exists.
func Crowd(ranks []Place) (members, cores int, limit notice.CoreLimit) {
	var all []int
	sharers, keys := map[string]int{}, []string{""} // by the set; "" is that of all
	quota := math.Inf(1)
	for _, p := range ranks {
		cpus, err := ParseCPUs(p.CPUs)
		if err != nil || len(cpus) == 0 {
			return 0, 0, notice.CoreLimit{}
		}
		all = append(all, cpus...)
		key := ranges.Format(cpus)
		if sharers[key] == 0 {
			keys = append(keys, key)
		}
		sharers[key]++
		if p.Quota > 0 {
			quota = min(quota, p.Quota)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if n := max(1, int(math.Ceil(quota-0.01))); quota < float64(len(all)) && len(ranks) > n {
		return len(ranks), n, notice.CoreLimit{Quota: quota}
	}
	sharers[""] = len(ranks)
	for _, key := range keys {
		cpus, _ := ParseCPUs(key)
		if key == "" {
			cpus = all
		}
		if n := sharers[key]; n > len(cpus) && n > members {
			members, cores, limit = n, len(cpus), notice.CoreLimit{CPUs: key}
		}
	}
	return members, cores, limit
}

// CountNodes counts the machines of ranks, given by rank, and the largest number of ranks on one.
func CountNodes(machines []string) (nodes, ranksPerNode int) {
	groups := units.GroupBy(machines, func(m string) string { return m })
	for _, g := range groups {
		ranksPerNode = max(ranksPerNode, len(g))
	}
	return len(groups), ranksPerNode
}

// GrantedCPUs are those on which the system lets a thread of this process run, whatever its launcher has bound it to;
// nil if unknown.
func GrantedCPUs() []int {
	found := make(chan []int)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine, and nothing else runs where it may
		var all, granted unix.CPUSet
		const most = 8 * int(unsafe.Sizeof(all))
		for i := range most {
			all.Set(i)
		}
		var cpus []int
		if unix.SchedSetaffinity(0, &all) == nil && unix.SchedGetaffinity(0, &granted) == nil {
			for i := range most {
				if granted.IsSet(i) {
					cpus = append(cpus, i)
				}
			}
		}
		found <- cpus
	}()
	return <-found
}
