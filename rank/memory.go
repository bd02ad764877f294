package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// memoryBound is one thing that bounds what a process can still take.
type memoryBound struct {
	Name  string `json:"name"`              // "MemAvailable", "cgroup /slurm/job_7 memory.max", "RLIMIT_AS"
	Free  int64  `json:"free"`              // bytes
	Alone bool   `json:"process,omitempty"` // of this process, not shared by the ranks of its host
}

// memoryBounds are all bounds that this process is under.
func memoryBounds(root string) ([]memoryBound, error) {
	bounds := append(cgroupMemory(root), processMemory(root)...)
	info := readText(root, "proc/meminfo")
	if free, ok := kilobytes(field(info, "MemAvailable")); ok {
		return append(bounds, memoryBound{Name: "MemAvailable", Free: free}), nil
	}
	free, ok1 := kilobytes(field(info, "MemFree"))
	cached, ok2 := kilobytes(field(info, "Cached"))
	if !ok1 || !ok2 {
		if len(bounds) == 0 {
			return nil, errors.New("free memory is unknown: /proc/meminfo has no MemAvailable; is /proc mounted?")
		}
		return bounds, nil
	}
	return append(bounds, memoryBound{Name: "MemFree and Cached", Free: free + cached}), nil
}

// freeMemory is the smallest of the bounds in bytes, and its name. What of it a rank may take is planMemory's to say.
func freeMemory(root string) (bytes int64, limit string, err error) {
	bounds, err := memoryBounds(root)
	if err != nil {
		return 0, "", err
	}
	tightest := bounds[0]
	for _, b := range bounds {
		if b.Free < tightest.Free {
			tightest = b
		}
	}
	return tightest.Free, tightest.Name, nil
}

// noLimit is above what cgroup version 1 writes for "none" (the largest multiple of a page) on any machine.
const noLimit = 1 << 60

// cgroupMemory is what each control group leaves. File cache that the kernel would give back counts as free.
// memory.high counts as a limit: a group over it is throttled, and its figures would be of the throttling.
func cgroupMemory(root string) []memoryBound {
	var bounds []memoryBound
	for _, g := range cgroupLevels(root, "memory") {
		limits, usage, cache := []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"
		if !g.v2 {
			limits, usage, cache = []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"
		}
		used, ok := readNumber(g.dir, usage)
		if !ok {
			continue
		}
		reclaimable, _ := strconv.ParseInt(field(readText(g.dir, "memory.stat"), cache), 10, 64)
		for _, file := range limits {
			if limit, ok := readNumber(g.dir, file); ok && limit < noLimit {
				free := max(0, limit-max(0, used-reclaimable))
				bounds = append(bounds, memoryBound{Name: "cgroup " + g.name + " " + file, Free: free})
			}
		}
	}
	return bounds
}

// processMemory is what ulimit -v and ulimit -d leave to this process.
func processMemory(root string) []memoryBound {
	limits, status := readText(root, "proc/self/limits"), readText(root, "proc/self/status")
	var bounds []memoryBound
	for _, l := range []struct{ name, limit, used string }{
		{"RLIMIT_AS (ulimit -v)", "Max address space", "VmSize"},
		{"RLIMIT_DATA (ulimit -d)", "Max data size", "VmData"},
	} {
		words := strings.Fields(field(limits, l.limit))
		if len(words) == 0 {
			continue
		}
		limit, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil { // "unlimited"
			continue
		}
		used, _ := kilobytes(field(status, l.used))
		bounds = append(bounds, memoryBound{Name: l.name, Free: max(0, limit-used), Alone: true})
	}
	return bounds
}

// rankMemory is what one rank reports.
type rankMemory struct {
	Rank    int           `json:"rank"`
	Host    string        `json:"host"`
	Bounds  []memoryBound `json:"bounds"`
	Machine string        `json:"machine,omitempty"` // shared by the ranks of containers with names of their own; empty: the host
}

// memoryPlan is the largest buffers that every rank can have at once.
type memoryPlan struct {
	Bytes int64 // of buffers, a rank; math.MaxInt64 if nothing is known
	Rank  int   // that has least
	Limit notice.MemoryLimit
}

// What is kept back: a tenth of what is free, for the system and for all that is not counted, and for each rank what
// the program and its MPI take beside the buffers.
const (
	reserveShare   = 0.10
	reserveProcess = 32 << 20 // bytes
)

// planMemory says how many bytes of buffers each of these ranks may have when all take as much at the same time.
// A bound is shared by the ranks of a host that report it under one name. scratch is what the library allocates beside
// the buffers, as a share of them (0.5: half as much again).
func planMemory(ranks []rankMemory, scratch float64) memoryPlan {
	type key struct{ machine, name string }
	machine := func(r rankMemory) string { return cmp.Or(r.Machine, r.Host) }
	sharers := map[key]int{}
	for _, r := range ranks {
		for _, b := range r.Bounds {
			sharers[key{machine(r), b.Name}]++
		}
	}
	plan := memoryPlan{Bytes: math.MaxInt64}
	for _, r := range ranks {
		for _, b := range r.Bounds {
			n := sharers[key{machine(r), b.Name}]
			if b.Alone {
				n = 1
			}
			each := float64(b.Free)*(1-reserveShare)/float64(n) - reserveProcess
			bytes := max(0, int64(each/(1+scratch)))
			if bytes < plan.Bytes {
				plan = memoryPlan{Bytes: bytes, Rank: r.Rank, Limit: notice.MemoryLimit{
					Rank: r.Rank, Host: r.Host, Bytes: units.RoughBytes(bytes), Bound: b.Name,
					Free: units.RoughBytes(b.Free), Ranks: n, Kept: reserveProcess,
				}}
			}
		}
	}
	return plan
}

// binary writes bytes to three digits: 1.5 GiB.
func binary(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n)/(1<<10), "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB", "PiB", "EiB"} {
		if x < 999.5 { // what has three digits when it is rounded
			break
		}
		x, unit = x/(1<<10), next
	}
	return fmt.Sprintf("%.3g %s", x, unit)
}
