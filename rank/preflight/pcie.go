package preflight

import (
	byteorder "encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"busbar/internal/notice/preflights"
	"busbar/rank/machine"
)

// pcie holds what slows transfers between devices of a host, or makes them hang: an IOMMU that translates, or bridges
// with ACS that redirect transfers through the processor.
type pcie struct {
	GPUs       []string // by PCI address; needs no driver
	Driver     string   // version of NVIDIA's kernel module; "" without it
	Units      int      // IOMMUs
	Translated []string // GPUs and RDMA adapters behind a translating IOMMU
	Bridges    int      // with readable ACS settings
	Redirect   []string // bridges that redirect
	Hidden     bool     // only root can read the settings
}

// driverVersion finds "550.54.15" in "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release …".
var driverVersion = regexp.MustCompile(`\b\d+\.\d+(\.\d+)?\b`)

func readPCIe(root string) pcie {
	version, _, _ := strings.Cut(machine.ReadText(root, "proc/driver/nvidia/version"), "\n")
	p := pcie{Driver: driverVersion.FindString(version)}
	units, _ := os.ReadDir(filepath.Join(root, "sys/class/iommu"))
	p.Units = len(units)
	devices, _ := filepath.Glob(filepath.Join(root, "sys/bus/pci/devices/*"))
	for _, dir := range devices {
		address := filepath.Base(dir)
		class := machine.ReadText(dir, "class")
		gpu := machine.ReadText(dir, "vendor") == "0x10de" && strings.HasPrefix(class, "0x03")
		if gpu {
			p.GPUs = append(p.GPUs, address)
		}
		if (gpu || machine.Exists(dir, "infiniband")) && translates(dir) {
			p.Translated = append(p.Translated, address)
		}
		if strings.HasPrefix(class, "0x0604") {
			p.bridge(address, filepath.Join(dir, "config"))
		}
	}
	return p
}

// translates reports whether an IOMMU translates the addresses of a device.
func translates(dir string) bool {
	return strings.HasPrefix(machine.ReadText(dir, "iommu_group/type"), "DMA")
}

// bridge reads the ACS settings of a bridge from its configuration space.
func (p *pcie) bridge(address, path string) {
	config, err := os.ReadFile(path)
	if err != nil || len(config) <= 64 { // only root can read the rest
		p.Hidden = p.Hidden || len(config) == 64
		return
	}
	control, found := accessControl(config)
	if !found {
		return
	}
	p.Bridges++
	const requests, completions = 1 << 2, 1 << 3
	if control&(requests|completions) != 0 {
		p.Redirect = append(p.Redirect, address)
	}
}

// accessControl is the control register of the ACS capability (PCI Express base specification, 7.7.11).
func accessControl(config []byte) (uint16, bool) {
	const first, capability = 0x100, 0x0d
	for at, seen := first, 0; at >= first && at+8 <= len(config) && seen < 64; seen++ {
		head := byteorder.LittleEndian.Uint32(config[at:])
		if head&0xffff == capability {
			return byteorder.LittleEndian.Uint16(config[at+6:]), true
		}
		at = int(head >> 20)
	}
	return 0, false
}

// direct reports whether a host has devices that transfer data to each other.
func (f fabric) direct() bool { return len(f.GPUs) > 0 || len(f.Ports) > 0 }

// checkIOMMU checks for translation between GPUs and adapters.
func checkIOMMU(host []Setup) Row {
	f := host[0].Fabric
	state := preflights.IOMMUPasses
	switch {
	case host[0].Node.Virtual:
		state = preflights.IOMMUVirtual
	case len(f.Translated) > 0:
		return found(preflights.IOMMUTranslates{Devices: f.Translated})
	case f.Units == 0:
		state = preflights.IOMMUOff
	case !f.direct():
		state = preflights.IOMMUUnused
	}
	return found(preflights.IOMMU{State: state})
}

// checkACS checks for bridges that redirect transfers between devices. Without such bridges it reports nothing.
func checkACS(host []Setup) Row {
	f := host[0].Fabric
	switch {
	case !f.direct() || host[0].Node.Virtual:
		return Row{}
	case len(f.Redirect) > 0:
		return found(preflights.ACSRedirects{Redirecting: len(f.Redirect), Of: f.Bridges, Bridges: f.Redirect})
	case f.Hidden:
		return found(preflights.ACSHidden{})
	}
	return found(preflights.ACSBridges{Bridges: f.Bridges})
}
