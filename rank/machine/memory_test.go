package machine

import (
	"math"
	"testing"

	"busbar/rank/machine/machinetest"

	"github.com/shoenig/test"
)

const gibibyte = 1 << 30

func TestFreeMemory(t *testing.T) {
	meminfo := "MemTotal: 16777216 kB\nMemFree: 1048576 kB\nMemAvailable: 8388608 kB\nCached: 2097152 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		free  int64
		limit string
	}{
		"no limit": {nil, 8 * gibibyte, "MemAvailable"},
		"v2, own group": {map[string]string{"proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "4294967296\n", "sys/fs/cgroup/a/b/memory.current": "2147483648\n",
			"sys/fs/cgroup/a/b/memory.stat": "anon 1\nfile 2\ninactive_file 1073741824\n"}, 3 * gibibyte,
			"cgroup /a/b memory.max"},
		"v2, a group above": {map[string]string{"proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.current": "1\n",
			"sys/fs/cgroup/a/memory.max": "2147483648\n", "sys/fs/cgroup/a/memory.current": "1073741824\n"}, gibibyte,
			"cgroup /a memory.max"},
		"v2, throttled": {map[string]string{"proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max":  "max\n",
			"sys/fs/cgroup/a/memory.high": "1073741824\n", "sys/fs/cgroup/a/memory.current": "4096\n"}, gibibyte - 4096,
			"cgroup /a memory.high"},
		"v2, over the limit": {map[string]string{"proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "4096\n",
			"sys/fs/cgroup/a/memory.current": "8192\n"}, 0, "cgroup /a memory.max"},
		"v2, wide": {map[string]string{"proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "999999999999\n",
			"sys/fs/cgroup/a/memory.current": "0\n"}, 8 * gibibyte, "MemAvailable"},
		"v1 beside v2": {map[string]string{"proc/self/cgroup": "4:memory:/job\n3:cpuset:/job\n0::/\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "2147483648\n",
			"sys/fs/cgroup/memory/job/memory.usage_in_bytes": "1073741824\n",
			"sys/fs/cgroup/memory/job/memory.stat":           "inactive_file 5\ntotal_inactive_file 536870912\n",
			"sys/fs/cgroup/unified/":                         ""}, gibibyte + gibibyte/2,
			"cgroup /job memory.limit_in_bytes"},
		"v1 without": {map[string]string{"proc/self/cgroup": "4:memory:/job\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/job/memory.usage_in_bytes": "1\n"}, 8 * gibibyte, "MemAvailable"},
		"a container that sees its subtree": {map[string]string{"proc/self/cgroup": "4:memory:/docker/abc\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "0\n"}, gibibyte, "cgroup / memory.limit_in_bytes"},
		"a path outside of the mount": {map[string]string{"proc/self/cgroup": "0::/../../x\n",
			"sys/fs/cgroup/memory.max": "1073741824\n", "sys/fs/cgroup/memory.current": "0\n"}, gibibyte,
			"cgroup / memory.max"},
		"ulimit -v": {map[string]string{"proc/self/limits": "Limit                     Soft Limit           Hard " +
			"Limit           Units     \n" +
			"Max data size             unlimited            unlimited            bytes     \nMax address space       " +
			"  1073741824           unlimited            bytes     \n",
			"proc/self/status": "VmSize:\t  524288 kB\n"}, gibibyte / 2, "RLIMIT_AS (ulimit -v)"},
	} {
		t.Run(name, func(t *testing.T) {
			root := machinetest.Root(t, map[string]string{"proc/meminfo": meminfo})
			machinetest.Write(t, root, c.files)
			free, limit, err := FreeMemory(root)
			if err != nil || free != c.free || limit != c.limit {
				t.Errorf("%d by %q, %v; want %d by %q", free, limit, err, c.free, c.limit)
			}
		})
	}
	root := machinetest.Root(t, map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		"sys/fs/cgroup/memory/memory.usage_in_bytes": "1\n"})
	if bounds, err := MemoryBounds(root); err != nil || len(bounds) != 1 {
		t.Errorf("no limit is a bound: %+v, %v", bounds, err)
	}
	_, _, err := FreeMemory(t.TempDir())
	test.ErrorContains(t, err, "/proc")
}

func TestPlanMemory(t *testing.T) {
	const reserve = 32 << 20
	rank := func(n int, host string, bounds ...MemoryBound) RankMemory {
		return RankMemory{Rank: n, Host: host, Bounds: bounds}
	}
	shared := func(free int64) MemoryBound { return MemoryBound{Name: "MemAvailable", Free: free} }
	for name, c := range map[string]struct {
		ranks   []RankMemory
		scratch float64
		bytes   int64
		rank    int
		why     []string
	}{
		"one": {[]RankMemory{rank(0, "a", shared(10*gibibyte))}, 0, 9*gibibyte - reserve, 0,
			[]string{"rank 0 on a", "MemAvailable leaves 10 GiB,"}},
		"two share, one is alone": {[]RankMemory{rank(0, "a", shared(10*gibibyte)), rank(1, "b", shared(10*gibibyte)),
			rank(2, "b", shared(10*gibibyte))}, 0,
			9*gibibyte/2 - reserve, 1, []string{"rank 1 on b", "for 2 ranks"}},
		"scratch": {[]RankMemory{rank(0, "a", shared(10*gibibyte))}, 0.5, 6*gibibyte - 22369621 - 1, 0, nil},
		"a bound of the process is not shared": {[]RankMemory{rank(0, "a", shared(10*gibibyte),
			MemoryBound{"RLIMIT_AS", 5 * gibibyte, true}),
			rank(1, "a", shared(10*gibibyte), MemoryBound{"RLIMIT_AS", 6 * gibibyte, true})}, 0,
			gibibyte*45/10 - reserve, 0, nil},
		"groups of their own": {[]RankMemory{rank(0, "a", MemoryBound{"cgroup /0", 2 * gibibyte, false}),
			rank(1, "a", MemoryBound{"cgroup /1", 2 * gibibyte, false})}, 0,
			gibibyte*18/10 - reserve, 0, nil},
		"nothing left": {[]RankMemory{rank(0, "a", shared(1<<20))}, 0, 0, 0, []string{"may use 0 B"}},
		"unknown":      {[]RankMemory{rank(0, "a")}, 0, math.MaxInt64, 0, []string{"unknown"}},
	} {
		got := PlanMemory(c.ranks, c.scratch)
		if diff := got.Bytes - c.bytes; diff < -2 || diff > 2 || got.Limit.Rank != c.rank {
			t.Errorf("%s: %d bytes by rank %d, want %d by %d", name, got.Bytes, got.Limit.Rank, c.bytes, c.rank)
		}
		for _, w := range c.why {
			test.StrContains(t, got.Limit.String(), w, test.Sprint(name))
		}
	}
}
