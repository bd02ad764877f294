package main

import (
	"slices"

	"busbar/internal/notice"
	"busbar/rank/machine"
)

// checkStates looks at how the GPUs of a host are set, and at their health.
func checkStates(host []setup) (rows []row) {
	const name = "GPU state"
	seen := map[string]bool{}
	var off, noECC []string
	var errors []notice.GPUErrors
	var held []notice.GPUThrottle
	for _, s := range host {
		for _, d := range s.GPU.Devices {
			if d.State == nil || seen[d.UUID] {
				continue
			}
			seen[d.UUID] = true
			if d.State.Persistence == "off" {
				off = append(off, d.PCI)
			}
			if d.State.ECC == "off" {
				noECC = append(noECC, d.PCI)
			}
			if n := d.State.ECCErrors; n > 0 {
				errors = append(errors, notice.GPUErrors{PCI: d.PCI, Errors: int64(n)})
			}
			if t := d.State.Throttled(); len(t) > 0 {
				held = append(held, notice.GPUThrottle{PCI: d.PCI, Reasons: t})
			}
		}
	}
	if len(seen) == 0 {
		return []row{found(name, notice.GPUStateUnknown{})}
	}
	if errors != nil {
		rows = append(rows, found(name, notice.GPUMemoryErrors{GPUs: errors}))
	}
	if held != nil {
		rows = append(rows, found(name, notice.GPUClocksReduced{GPUs: held}))
	}
	if noECC != nil {
		rows = append(rows, found(name, notice.GPUWithoutECC{GPUs: noECC}))
	}
	if off != nil {
		rows = append(rows, found(name, notice.GPUPersistenceOff{GPUs: off}))
	}
	if rows == nil {
		rows = []row{found(name, notice.GPUsHealthy{GPUs: len(seen)})}
	}
	return rows
}

// checkPeermem asks whether adapters can read and write GPU memory.
func checkPeermem(f fabric) row {
	const name = "nvidia-peermem"
	if !f.Peermem && slices.ContainsFunc(f.Ports, func(p machine.RDMAPort) bool { return !p.EFA }) {
		return found(name, notice.PeermemMissing{})
	}
	return found(name, notice.Peermem{Loaded: notice.PeermemLoaded(f.Peermem)})
}

// checkPlugin asks how NCCL would reach other hosts.
func checkPlugin(f fabric) row {
	const name = "NCCL network"
	if f.Plugin == "" && slices.ContainsFunc(f.Ports, func(p machine.RDMAPort) bool { return p.EFA }) {
		return found(name, notice.EFAWithoutPlugin{})
	}
	return found(name, notice.NCCLNetwork{Plugin: notice.PluginPath(f.Plugin)})
}
