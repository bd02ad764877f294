package preflight

import (
	"os"
	"path/filepath"
	"testing"

	"busbar/rank/machine"
	"busbar/rank/machine/machinetest"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestReadPorts(t *testing.T) {
	const at = "sys/class/infiniband/"
	root := machinetest.Root(t, map[string]string{
		at + "mlx5_0/ports/1/state": "4: ACTIVE\n", at + "mlx5_0/ports/1/phys_state": "5: LinkUp\n",
		at + "mlx5_0/ports/1/rate":       "400 Gb/sec (4X NDR)\n",
		at + "mlx5_0/ports/1/link_layer": "InfiniBand\n", at + "mlx5_0/device/": "",
		"sys/class/infiniband_verbs/uverbs7/ibdev": "mlx5_0\n", "dev/infiniband/uverbs7": "",
		at + "rdmap0/ports/1/state": "4: ACTIVE\n", at + "rdmap0/ports/1/rate": "100 Gb/sec (4X EDR)\n",
		at + "rdmap0/device/":                      "",
		"sys/class/infiniband_verbs/uverbs8/ibdev": "rdmap0\n", // no file under /dev
		"sys/module/nvidia_peermem/":               "",
	})
	must.NoError(t, os.Symlink("../../bus/pci/drivers/efa", filepath.Join(root, at, "rdmap0/device/driver")))
	f := readFabric(root, noVariables)
	want := []machine.RDMAPort{
		{Name: "mlx5_0/1", State: "ACTIVE", Phys: "LinkUp", Rate: "400 Gb/sec (4X NDR)", Link: "InfiniBand",
			Open: true},
		{Name: "rdmap0/1", State: "ACTIVE", Rate: "100 Gb/sec (4X EDR)", EFA: true},
	}
	if len(f.Ports) != 2 || f.Ports[0] != want[0] || f.Ports[1] != want[1] || !f.Peermem {
		t.Errorf("%+v", f)
	}
	if f := readFabric(t.TempDir(), noVariables); f.Ports != nil || f.Peermem || f.Plugin != "" || f.Units != 0 ||
		f.GPUs != nil {
		t.Errorf("no devices: %+v", f)
	}
}

func TestCheckRDMA(t *testing.T) {
	up := func(name string) machine.RDMAPort {
		return machine.RDMAPort{Name: name, State: "ACTIVE", Phys: "LinkUp", Rate: "400 Gb/sec (4X NDR)",
			Link: "InfiniBand", Open: true}
	}
	with := func(change func(*machine.RDMAPort)) machine.RDMAPort {
		p := up("mlx5_1/1")
		change(&p)
		return p
	}
	for name, second := range map[string]machine.RDMAPort{
		"two up":    up("mlx5_1/1"),
		"down":      with(func(p *machine.RDMAPort) { p.State, p.Phys = "DOWN", "Polling" }),
		"one lane":  with(func(p *machine.RDMAPort) { p.Rate = "100 Gb/sec (1X NDR)" }),
		"slowest":   with(func(p *machine.RDMAPort) { p.Rate = "10 Gb/sec (4X SDR)" }),
		"Ethernet":  with(func(p *machine.RDMAPort) { p.Rate, p.Link = "25 Gb/sec (1X EDR)", "Ethernet" }),
		"EFA":       with(func(p *machine.RDMAPort) { p.EFA = true }),
		"no file":   with(func(p *machine.RDMAPort) { p.Open = false }),
		"two lanes": with(func(p *machine.RDMAPort) { p.Rate = "100 Gb/sec (2X HDR)" }),
		"unknown":   with(func(p *machine.RDMAPort) { p.Rate, p.Link = "", "" }),
	} {
		expect(t, name, checkRDMA(hostOf(2, Setup{Fabric: fabric{Ports: []machine.RDMAPort{up("mlx5_0/1"), second}}})))
	}
	down := with(func(p *machine.RDMAPort) { p.State, p.Open = "INIT", false })
	expect(t, "nothing works", checkRDMA(hostOf(1, Setup{Fabric: fabric{Ports: []machine.RDMAPort{down}}})))
	expect(t, "none", checkRDMA(hostOf(1, Setup{})))
}

func TestNetPlugin(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		env   map[string]string
		want  string
	}{
		"none": {nil, nil, ""},
		"on the path": {[]string{"opt/ofi/lib/libnccl-net.so", "usr/lib/libnccl-net.so"},
			map[string]string{"LD_LIBRARY_PATH": "/none:/opt/ofi/lib"}, "/opt/ofi/lib/libnccl-net.so"},
		"standard folder": {[]string{"usr/lib/libnccl-net.so"}, nil, "/usr/lib/libnccl-net.so"},
		"named": {[]string{"usr/lib/libnccl-net-ofi.so", "usr/lib/libnccl-net.so"},
			map[string]string{"NCCL_NET_PLUGIN": "ofi"}, "/usr/lib/libnccl-net-ofi.so"},
		"by its file": {[]string{"usr/lib/libx.so"}, map[string]string{"NCCL_NET_PLUGIN": "libx.so"},
			"/usr/lib/libx.so"},
		"by its path": {[]string{"x/y.so"}, map[string]string{"NCCL_NET_PLUGIN": "/x/y.so"}, "/x/y.so"},
		"by a path to none": {[]string{"usr/lib/libnccl-net.so"}, map[string]string{"NCCL_NET_PLUGIN": "/x/y.so"},
			""},
		"switched off":     {[]string{"usr/lib/libnccl-net.so"}, map[string]string{"NCCL_NET_PLUGIN": "none"}, ""},
		"another is there": {[]string{"usr/lib/libnccl-net.so"}, map[string]string{"NCCL_NET_PLUGIN": "ofi"}, ""},
		"a folder":         {[]string{"usr/lib/libnccl-net.so/x"}, nil, ""},
	} {
		files := map[string]string{}
		for _, f := range c.files {
			files[f] = ""
		}
		got := netPlugin(machinetest.Root(t, files), func(k string) string { return c.env[k] })
		test.EqOp(t, c.want, got, test.Sprint(name))
	}
	cache := "ld.so-1.7.0\x00glibc-ld.so.cache1.1\x00libx.so\x00/usr/lib/libx.so\x00" +
		"libnccl-net.so\x00/opt/amazon/ofi-nccl/lib/libnccl-net.so\x00libz.so\x00"
	test.EqOp(t, "/opt/amazon/ofi-nccl/lib/libnccl-net.so", netPlugin(machinetest.Root(t,
		map[string]string{"etc/ld.so.cache": cache, "opt/amazon/ofi-nccl/lib/libnccl-net.so": ""}), noVariables))
}

func noVariables(string) string { return "" }
