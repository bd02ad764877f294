package machine

import (
	"testing"

	"busbar/rank/machine/machinetest"

	"github.com/shoenig/test"
)

func TestTopology(t *testing.T) {
	files := map[string]string{
		"sys/devices/system/cpu/online": "0-3\n", "sys/devices/system/node/online": "0-1\n",
		"sys/devices/system/node/node0/cpulist":        "0,2\n",
		"sys/devices/system/node/node0/meminfo":        "Node 0 MemTotal:       1048576 kB\nNode 0 MemFree: 1 kB\n",
		"sys/devices/system/node/node1/cpulist":        "1,3\n",
		"sys/devices/system/node/node1/meminfo":        "Node 1 MemTotal:       2097152 kB\n",
		"sys/class/infiniband/mlx5_0/device/numa_node": "1\n", "sys/class/net/eth0/device/numa_node": "0\n",
		"sys/class/net/lo/mtu":                "65536\n",
		"sys/class/net/eth1/device/numa_node": "-1\n",
	}
	for cpu, at := range map[string][2]string{"0": {"0", "0,2"}, "1": {"1", "1,3"}, "2": {"0", "0,2"},
		"3": {"1", "1,3"}} {
		dir := "sys/devices/system/cpu/cpu" + cpu + "/topology/"
		files[dir+"physical_package_id"], files[dir+"thread_siblings_list"] = at[0], at[1]
	}
	want := "2 sockets, 2 cores, 4 hardware threads\nNUMA node 0: CPUs 0,2, 1 GiB, eth0\nNUMA node 1: CPUs 1,3, 2 " +
		"GiB, mlx5_0"
	test.EqOp(t, want, Topology(machinetest.Root(t, files)))
	test.EqOp(t, "", Topology(t.TempDir()))
}
