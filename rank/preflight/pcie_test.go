package preflight

import (
	byteorder "encoding/binary"
	"slices"
	"testing"

	"busbar/rank/machine/machinetest"
)

// configSpace returns a bridge's configuration space whose capability chain ends with ACS and this control register.
func configSpace(control uint16) string {
	b := make([]byte, 4096)
	byteorder.LittleEndian.PutUint32(b[0x100:], 0x0001|1<<16|0x148<<20) // error reporting, next at 0x148
	byteorder.LittleEndian.PutUint32(b[0x148:], 0x000d|1<<16)
	byteorder.LittleEndian.PutUint16(b[0x14e:], control)
	return string(b)
}

func TestReadPCIe(t *testing.T) {
	const at = "sys/bus/pci/devices/"
	root := machinetest.Root(t, map[string]string{
		"proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release " +
			"Build\nGCC version:  gcc version 12.2.0\n",
		"sys/class/iommu/dmar0/": "", "sys/class/iommu/dmar1/": "",
		at + "0000:01:00.0/vendor": "0x10de\n", at + "0000:01:00.0/class": "0x030200\n",
		at + "0000:01:00.0/iommu_group/type": "DMA-FQ\n",
		at + "0000:02:00.0/vendor":           "0x10de\n", at + "0000:02:00.0/class": "0x030200\n",
		at + "0000:02:00.0/iommu_group/type": "identity\n",
		at + "0000:03:00.0/vendor":           "0x10de\n", at + "0000:03:00.0/class": "0x068000\n", // an NVSwitch
		at + "0000:04:00.0/infiniband/mlx5_0/": "", at + "0000:04:00.0/iommu_group/type": "DMA\n",
		at + "0000:05:00.0/class": "0x010802\n", at + "0000:05:00.0/iommu_group/type": "DMA\n", // a disk
		// SrcValid, ReqRedir, CmpltRedir, UpstreamFwd
		at + "0000:00:01.0/class": "0x060400\n", at + "0000:00:01.0/config": configSpace(0x1d),
		at + "0000:00:02.0/class": "0x060400\n", at + "0000:00:02.0/config": configSpace(0x11),
		at + "0000:00:03.0/class": "0x060400\n", at + "0000:00:03.0/config": string(make([]byte, 4096)), // no ACS
		at + "0000:00:04.0/class": "0x060400\n", at + "0000:00:04.0/config": string(make([]byte, 256)),
	})
	p := readPCIe(root)
	if p.Driver != "550.54.15" || p.Units != 2 || !slices.Equal(p.GPUs, []string{"0000:01:00.0", "0000:02:00.0"}) ||
		!slices.Equal(p.Translated, []string{"0000:01:00.0", "0000:04:00.0"}) || p.Bridges != 2 ||
		!slices.Equal(p.Redirect, []string{"0000:00:01.0"}) || p.Hidden {
		t.Errorf("%+v", p)
	}
	proprietary := "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104  Sat Aug\n"
	hidden := readPCIe(machinetest.Root(t,
		map[string]string{at + "0000:00:01.0/class": "0x060400\n",
			at + "0000:00:01.0/config":   string(make([]byte, 64)),
			"proc/driver/nvidia/version": proprietary}))
	if !hidden.Hidden || hidden.Bridges != 0 || hidden.Driver != "535.104" {
		t.Errorf("%+v", hidden)
	}
}

// A capability chain with a loop, or beyond the data, ends.
func TestAccessControl(t *testing.T) {
	loop := make([]byte, 4096)
	byteorder.LittleEndian.PutUint32(loop[0x100:], 0x0001|0x100<<20)
	out := make([]byte, 0x104)
	byteorder.LittleEndian.PutUint32(out[0x100:], 0x000d)
	for _, b := range [][]byte{loop, out, nil, make([]byte, 64)} {
		if _, found := accessControl(b); found {
			t.Errorf("found in %d bytes", len(b))
		}
	}
	if c, found := accessControl([]byte(configSpace(0x1d))); c != 0x1d || !found {
		t.Errorf("%#x, %v", c, found)
	}
}

func TestCheckPCIe(t *testing.T) {
	gpus, five := []string{"0000:01:00.0"}, []string{"a", "b", "c", "d", "e"}
	for name, c := range map[string]struct {
		p       pcie
		virtual bool
	}{
		"nothing":      {pcie{}, false},
		"no device":    {pcie{Units: 2}, false},
		"off":          {pcie{GPUs: gpus, Bridges: 4}, false},
		"pass-through": {pcie{GPUs: gpus, Units: 2}, false},
		"translates":   {pcie{GPUs: gpus, Units: 2, Translated: gpus}, false},
		"redirects":    {pcie{GPUs: gpus, Bridges: 9, Redirect: five}, false},
		"hidden":       {pcie{GPUs: gpus, Hidden: true}, false},
		"a machine":    {pcie{GPUs: gpus, Units: 1, Translated: gpus, Redirect: gpus}, true},
	} {
		host := hostOf(1, Setup{Fabric: fabric{pcie: c.p}, Node: node{Virtual: c.virtual}})
		expect(t, name, perGroup(checkIOMMU)(host))
		expect(t, name+", ACS", perGroup(checkACS)(host))
	}
}
