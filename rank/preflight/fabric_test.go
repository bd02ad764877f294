package preflight

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"busbar/internal/notice/preflights"
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
	const ndr = "InfiniBand 400 Gb/sec (4X NDR)"
	ports := func(countsAndKinds ...any) want {
		var all []preflights.PortKind
		for w := range slices.Chunk(countsAndKinds, 2) {
			all = append(all, preflights.PortKind{Ports: w[0].(int), Kind: w[1].(string)})
		}
		return preflights.RDMAPorts{Ports: all}
	}
	slow := func(rate string) want {
		return preflights.RDMALinkNarrow{Links: []preflights.PortRate{{Port: "mlx5_1/1", Rate: rate}}}
	}
	for name, c := range map[string]struct {
		second machine.RDMAPort
		want   want
	}{
		"two up": {up("mlx5_1/1"), ports(2, ndr)},
		"down": {with(func(p *machine.RDMAPort) { p.State, p.Phys = "DOWN", "Polling" }),
			preflights.RDMAPortsDown{Active: 1, Of: 2, Down: []preflights.PortState{{Port: "mlx5_1/1", State: "DOWN",
				Physical: "Polling"}}}},
		"one lane": {with(func(p *machine.RDMAPort) { p.Rate = "100 Gb/sec (1X NDR)" }), slow("100 Gb/sec (1X NDR)")},
		"slowest":  {with(func(p *machine.RDMAPort) { p.Rate = "10 Gb/sec (4X SDR)" }), slow("10 Gb/sec (4X SDR)")},
		"Ethernet": {with(func(p *machine.RDMAPort) { p.Rate, p.Link = "25 Gb/sec (1X EDR)", "Ethernet" }), ports(1,
			"Ethernet 25 Gb/sec (1X EDR)", 1, ndr)},
		"EFA": {with(func(p *machine.RDMAPort) { p.EFA = true }), ports(1, "EFA 400 Gb/sec (4X NDR)", 1, ndr)},
		"no file": {with(func(p *machine.RDMAPort) { p.Open = false }),
			preflights.RDMANotPermitted{Ports: []string{"mlx5_1/1"}}},
		"two lanes": {with(func(p *machine.RDMAPort) { p.Rate = "100 Gb/sec (2X HDR)" }),
			ports(1, "InfiniBand 100 Gb/sec (2X HDR)",
				1, ndr)},
		"unknown": {with(func(p *machine.RDMAPort) { p.Rate, p.Link = "", "" }), ports(1, ndr, 1,
			"unknown link at an unknown rate")},
	} {
		expect(t, name,
			checkRDMA(hostOf(2, Setup{Fabric: fabric{Ports: []machine.RDMAPort{up("mlx5_0/1"), c.second}}})), c.want)
	}
	down := with(func(p *machine.RDMAPort) { p.State, p.Open = "INIT", false })
	expect(t, "nothing works", checkRDMA(hostOf(1, Setup{Fabric: fabric{Ports: []machine.RDMAPort{down}}})),
		preflights.RDMAPortsDown{Of: 1,
			Down: []preflights.PortState{{Port: "mlx5_1/1", State: "INIT", Physical: "LinkUp"}}})
	expect(t, "none", checkRDMA(hostOf(1, Setup{})), preflights.NoRDMADevice{})
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
