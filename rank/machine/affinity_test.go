package machine

import (
	"fmt"
	"slices"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/ranges"
	"busbar/rank/machine/machinetest"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestCPUs(t *testing.T) {
	for list, want := range map[string][]int{
		"": {}, "0": {0}, "0-3,8": {0, 1, 2, 3, 8}, "8,0-1\n": {0, 1, 8}, "2,2,1-2": {1, 2},
	} {
		got, err := ParseCPUs(list)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", list, got, err, want)
		}
	}
	for _, list := range []string{"a", "1-", "3-1", "-1", "0-99999999999", "1:2"} {
		if got, err := ParseCPUs(list); err == nil {
			t.Errorf("%q is parsed as %v", list, got)
		}
	}
	for _, list := range []string{"", "5", "0-3,8", "0,2,4-5"} {
		cpus, _ := ParseCPUs(list)
		test.EqOp(t, list, ranges.Format(cpus))
	}
}

func TestAffinity(t *testing.T) {
	list, n := Affinity(machinetest.Root(t,
		map[string]string{"proc/self/status": "Cpus_allowed:\tff\nCpus_allowed_list:\t0-3,8\n"}))
	if list != "0-3,8" || n != 5 {
		t.Errorf("%q, %d", list, n)
	}
	if list, n := Affinity(t.TempDir()); list != "" || n != 0 {
		t.Errorf("unknown is %q, %d", list, n)
	}
}

func TestCPUQuota(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  float64
	}{
		"none": {map[string]string{"sys/fs/cgroup/a/cpu.max": "max 100000\n"}, 0},
		"v2 above": {map[string]string{"sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
			"sys/fs/cgroup/a/cpu.max": "150000 100000\n",
			"proc/self/cgroup":        "0::/a/b\n"}, 1.5},
		"v1": {map[string]string{"sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "200000\n",
			"sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n",
			"proc/self/cgroup":                      "3:cpu,cpuacct:/x\n"}, 2},
		"v1 without": {map[string]string{"sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "-1\n",
			"sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n",
			"proc/self/cgroup":                      "3:cpu,cpuacct:/x\n"}, 0},
	} {
		root := machinetest.Root(t, map[string]string{"proc/self/cgroup": "0::/a\n"})
		machinetest.Write(t, root, c.files)
		test.EqOp(t, c.want, CPUQuota(root), test.Sprint(name))
	}
}

func TestOversubscribed(t *testing.T) {
	host := func(name string, n int, cpus ...string) (all []Place) {
		for i := range n {
			all = append(all, Place{Host: name, CPUs: cpus[i%len(cpus)]})
		}
		return all
	}
	quota := host("a", 4, "0-7")
	for i := range quota {
		quota[i].Quota = 2
	}
	var hosts []Place
	for i := range 5 {
		hosts = append(hosts, host(fmt.Sprint("node", i), 3, "0-1")...)
	}
	crowd := func(ranks, cores int, host string, limit notice.CoreLimit) notice.Fact {
		return notice.Oversubscribed{Ranks: ranks, Cores: cores, Host: host, Limit: limit}
	}
	none := notice.CoreLimit{}
	for name, c := range map[string]struct {
		places []Place
		want   []notice.Fact
	}{
		"room":            {host("a", 4, "0-3"), nil},
		"bound one each":  {host("a", 2, "0", "1"), nil},
		"bound by halves": {host("a", 4, "0-1", "2-3"), nil},
		"unknown":         {host("a", 9, ""), nil},
		"too many":        {host("a", 4, "0-1"), []notice.Fact{crowd(4, 2, "a", none)}},
		"bound to one":    {host("a", 2, "0"), []notice.Fact{crowd(2, 1, "a", none)}},
		"one core for two of 3": {host("a", 3, "0", "0", "1-3"),
			[]notice.Fact{crowd(2, 1, "a", notice.CoreLimit{CPUs: "0"})}},
		"within another's set": {host("a", 3, "0", "1", "0-1"), []notice.Fact{crowd(3, 2, "a", none)}},
		"quota":                {quota, []notice.Fact{crowd(4, 2, "a", notice.CoreLimit{Quota: 2})}},
		"two hosts, one crowded": {append(host("a", 2, "0-1"), host("b", 3, "0-1")...),
			[]notice.Fact{crowd(3, 2, "b", none)}},
		"many hosts": {hosts, []notice.Fact{crowd(3, 2, "node0", none), crowd(3, 2, "node1", none),
			crowd(3, 2, "node2", none),
			notice.OversubscribedHosts{Hosts: 2}}},
	} {
		test.SliceEqOp(t, c.want, Oversubscribed(c.places), test.Sprint(name))
	}
}

func TestGrantedCPUs(t *testing.T) {
	own, _ := Affinity("/")
	mine, err := ParseCPUs(own)
	must.NoError(t, err)
	test.SliceContainsSubset(t, GrantedCPUs(), mine)
	if after, _ := Affinity("/"); after != own {
		t.Errorf("asking has moved this thread from %s to %s", own, after)
	}
}
