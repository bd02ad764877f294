package machine

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// MemoryBound is one thing that bounds what a process can still take.
type MemoryBound struct {
	Name  string `json:"name"`              // "MemAvailable", "cgroup /slurm/job_7 memory.max", "RLIMIT_AS"
	Free  int64  `json:"free"`              // bytes
	Alone bool   `json:"process,omitempty"` // of this process, not shared by the ranks of its host
}

// MemoryBounds are all bounds that this process is under.
func MemoryBounds(root string) ([]MemoryBound, error) {
	bounds := append(cgroupMemory(root), processMemory(root)...)
	info := ReadText(root, "proc/meminfo")
	if free, ok := kilobytes(Field(info, "MemAvailable")); ok {
		return append(bounds, MemoryBound{Name: "MemAvailable", Free: free}), nil
	}
	if len(bounds) == 0 {
		return nil, errors.New("free memory is unknown: /proc/meminfo has no MemAvailable; is /proc mounted?")
	}
	return bounds, nil
}

// FreeMemory is the smallest of the bounds in bytes, and its name. What of it a rank may take is for PlanMemory to
// decide.
func FreeMemory(root string) (bytes int64, limit string, err error) {
	bounds, err := MemoryBounds(root)
	if err != nil {
		return 0, "", err
	}
	tightest := slices.MinFunc(bounds, func(a, b MemoryBound) int { return cmp.Compare(a.Free, b.Free) })
	return tightest.Free, tightest.Name, nil
}

// noLimit is above what cgroup version 1 writes for "none" (the largest multiple of a page) on any machine.
const noLimit = 1 << 60

// cgroupMemory is what each control group leaves. File cache that the kernel would give back counts as free.
// memory.high counts as a limit: a group over it is throttled, and its figures would be of the throttling.
func cgroupMemory(root string) []MemoryBound {
	var bounds []MemoryBound
	for _, g := range cgroupLevels(root, "memory") {
		limits, usage, cache := []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"
		if !g.v2 {
			limits, usage, cache = []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"
		}
		used, ok := ReadNumber(g.dir, usage)
		if !ok {
			continue
		}
		reclaimable, _ := strconv.ParseInt(Field(ReadText(g.dir, "memory.stat"), cache), 10, 64)
		for _, file := range limits {
			if limit, ok := ReadNumber(g.dir, file); ok && limit < noLimit {
				free := max(0, limit-max(0, used-reclaimable))
				bounds = append(bounds, MemoryBound{Name: "cgroup " + g.name + " " + file, Free: free})
			}
		}
	}
	return bounds
}

// processMemory is what ulimit -v leaves to this process.
func processMemory(root string) []MemoryBound {
	limit := ResourceLimit(root, "Max address space")
	if limit == Unknown || limit == Unlimited {
		return nil
	}
	used, _ := kilobytes(Field(ReadText(root, "proc/self/status"), "VmSize"))
	return []MemoryBound{{Name: "RLIMIT_AS (ulimit -v)", Free: max(0, limit-used), Alone: true}}
}

// What a resource limit may be besides a number.
const (
	Unlimited = math.MaxInt64
	Unknown   = -1
)

// ResourceLimit returns the soft limit of that name in /proc/self/limits, Unlimited or Unknown.
func ResourceLimit(root, name string) int64 {
	limit, _, _ := strings.Cut(Field(ReadText(root, "proc/self/limits"), name), " ")
	if limit == "unlimited" {
		return Unlimited
	}
	n, err := strconv.ParseInt(limit, 10, 64)
	if err != nil {
		return Unknown
	}
	return n
}

// RankMemory is what one rank reports.
type RankMemory struct {
	Rank   int           `json:"rank"`
	Host   string        `json:"host"`
	Bounds []MemoryBound `json:"bounds"`
	// shared by the ranks of containers with names of their own; empty: the host
	Machine string `json:"machine,omitempty"`
}

// MemoryPlan is the largest buffers that every rank can have at once.
type MemoryPlan struct {
	Bytes int64 // of buffers, a rank; math.MaxInt64 if nothing is known
	Limit notice.MemoryLimit
}

// What is kept back: a tenth of what is free, for the system and for all that is not counted, and for each rank what
// the program and its MPI take beside the buffers.
const (
	reserveShare   = 0.10
	reserveProcess = 32 << 20 // bytes
)

// PlanMemory computes how many bytes of buffers each of these ranks may have if all take the same at the same time.
// A bound is shared by the ranks of a host that report it under one name. scratch is what the library allocates beside
// the buffers, as a share of them (0.5: half as much again).
func PlanMemory(ranks []RankMemory, scratch float64) MemoryPlan {
	type key struct{ machine, name string }
	machine := func(r RankMemory) string { return cmp.Or(r.Machine, r.Host) }
	sharers := map[key]int{}
	for _, r := range ranks {
		for _, b := range r.Bounds {
			sharers[key{machine(r), b.Name}]++
		}
	}
	plan := MemoryPlan{Bytes: math.MaxInt64}
	for _, r := range ranks {
		for _, b := range r.Bounds {
			n := sharers[key{machine(r), b.Name}]
			if b.Alone {
				n = 1
			}
			each := float64(b.Free)*(1-reserveShare)/float64(n) - reserveProcess
			bytes := max(0, int64(each/(1+scratch)))
			if bytes < plan.Bytes {
				plan = MemoryPlan{Bytes: bytes, Limit: notice.MemoryLimit{
					Rank: r.Rank, Host: r.Host, Bytes: units.RoughBytes(bytes), Bound: b.Name,
					Free: units.RoughBytes(b.Free), Ranks: n, Kept: reserveProcess,
				}}
			}
		}
	}
	return plan
}
