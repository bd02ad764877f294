package machine

import (
	"os"
	"path/filepath"
	"testing"

	"busbar/internal/result"
	"busbar/rank/machine/machinetest"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestPortRates(t *testing.T) {
	ib := func(device, state, rate, link string) map[string]string {
		dir := "sys/class/infiniband/" + device + "/ports/1/"
		return map[string]string{dir + "state": state + "\n", dir + "phys_state": "5: LinkUp\n",
			dir + "rate": rate + "\n", dir + "link_layer": link + "\n"}
	}
	root := machinetest.Root(t, map[string]string{
		"sys/class/net/eth0/device/": "", "sys/class/net/eth0/speed": "25000\n",
		"sys/class/net/eth1/device/": "", "sys/class/net/eth1/speed": "-1\n", // virtio
		"sys/class/net/eth2/device/": "", "sys/class/net/eth2/speed": "100000\n",
		"sys/class/net/eth2/operstate": "down\n",
		"sys/class/net/veth7/speed":    "10000\n",
	})
	for _, files := range []map[string]string{
		ib("mlx5_0", "4: ACTIVE", "400 Gb/sec (4X NDR)", "InfiniBand"),
		ib("mlx5_1", "1: DOWN", "10 Gb/sec (4X SDR)", "InfiniBand"),
		ib("mlx5_2", "4: ACTIVE", "2.5 Gb/sec (1X SDR)", "Ethernet"),
		ib("rdmap0", "4: ACTIVE", "100 Gb/sec (4X EDR)", "Unspecified"), ib("odd", "4: ACTIVE", "fast", "Ethernet"),
	} {
		machinetest.Write(t, root, files)
	}
	must.NoError(t, os.MkdirAll(filepath.Join(root, "sys/class/infiniband/rdmap0/device"), 0o755))
	must.NoError(t, os.Symlink("../../bus/pci/drivers/efa",
		filepath.Join(root, "sys/class/infiniband/rdmap0/device/driver")))
	want := []result.Port{{Name: "mlx5_0/1", Link: "InfiniBand", Rate: 400},
		{Name: "mlx5_2/1", Link: "Ethernet", Rate: 2.5}, {Name: "rdmap0/1", Link: "EFA", Rate: 100},
		{Name: "eth0", Rate: 25}}
	test.Eq(t, want, PortRates(root))
	if got := PortRates(t.TempDir()); got != nil {
		t.Errorf("without links: %+v", got)
	}
}

func TestReadLink(t *testing.T) {
	const slot = "sys/devices/pci0000:00/0000:00:01.0"
	for _, c := range []struct {
		name    string
		files   map[string]string
		virtual bool
		want    *result.PCIe
	}{
		{"a slot slower than its card, a lane lost", map[string]string{
			"max_link_speed": "32.0 GT/s PCIe", "max_link_width": "16", "current_link_speed": "2.5 GT/s PCIe",
			"current_link_width": "8",
			"../max_link_speed":  "16.0 GT/s PCIe", "../max_link_width": "16"}, false,
			&result.PCIe{Speed: 16, Width: 8, Lanes: 16}},
		{"a slot with fewer lanes", map[string]string{
			"max_link_speed": "16.0 GT/s PCIe", "max_link_width": "16", "current_link_width": "8",
			"../max_link_speed": "16.0 GT/s PCIe", "../max_link_width": "8"}, false,
			&result.PCIe{Speed: 16, Width: 8, Lanes: 8}},
		{"a virtual slot", map[string]string{
			"max_link_speed": "32.0 GT/s PCIe", "max_link_width": "16", "current_link_width": "16",
			"../max_link_speed": "2.5 GT/s PCIe", "../max_link_width": "1"}, true,
			&result.PCIe{Speed: 32, Width: 16, Lanes: 16}},
		{"a root complex above", map[string]string{"max_link_speed": "16.0 GT/s PCIe", "max_link_width": "4",
			"current_link_width": "4"}, false, &result.PCIe{Speed: 16, Width: 4, Lanes: 4}},
		{"no link of its own", map[string]string{"max_link_speed": "Unknown", "max_link_width": "255",
			"current_link_width": "63"}, false, nil},
		{"nothing reported", map[string]string{"vendor": "0x10de"}, false, nil},
	} {
		files := map[string]string{"sys/bus/pci/devices/": ""}
		for name, text := range c.files {
			files[filepath.Join(slot, "0000:1b:00.0", name)] = text + "\n"
		}
		root := machinetest.Root(t, files)
		must.NoError(t, os.Symlink("../../../devices/pci0000:00/0000:00:01.0/0000:1b:00.0",
			filepath.Join(root, "sys/bus/pci/devices/0000:1b:00.0")))
		test.Eq(t, c.want, PCIeLink(root, "0000:1B:00.0", c.virtual), test.Sprint(c.name))
	}
	if got := PCIeLink(t.TempDir(), "0000:1b:00.0", false); got != nil {
		t.Errorf("a device that is not there has %+v", got)
	}
}

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
