package preflight

import (
	"slices"

	"busbar/internal/notice/preflights"
	"busbar/rank/machine"
)

// checkStates checks settings and health of the GPUs of a host.
func checkStates(host []Setup) (rows []Row) {
	seen := map[string]bool{}
	var off, noECC []string
	var errors []preflights.GPUErrors
	var held []preflights.GPUThrottle
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
				errors = append(errors, preflights.GPUErrors{PCI: d.PCI, Errors: int64(n)})
			}
			if t := d.State.Throttled(); len(t) > 0 {
				held = append(held, preflights.GPUThrottle{PCI: d.PCI, Reasons: t})
			}
		}
	}
	if len(seen) == 0 {
		return []Row{found(preflights.GPUStateUnknown{})}
	}
	if errors != nil {
		rows = append(rows, found(preflights.GPUMemoryErrors{GPUs: errors}))
	}
	if held != nil {
		rows = append(rows, found(preflights.GPUClocksReduced{GPUs: held}))
	}
	if noECC != nil {
		rows = append(rows, found(preflights.GPUWithoutECC{GPUs: noECC}))
	}
	if off != nil {
		rows = append(rows, found(preflights.GPUPersistenceOff{GPUs: off}))
	}
	if rows == nil {
		rows = []Row{found(preflights.GPUsHealthy{GPUs: len(seen)})}
	}
	return rows
}

// checkPeermem checks whether adapters can access GPU memory.
func checkPeermem(host []Setup) Row {
	f := host[0].Fabric
	if !f.Peermem && slices.ContainsFunc(f.Ports, func(p machine.RDMAPort) bool { return !p.EFA }) {
		return found(preflights.PeermemMissing{})
	}
	return found(preflights.Peermem{Loaded: f.Peermem})
}

// checkPlugin checks how NCCL reaches other hosts.
func checkPlugin(host []Setup) Row {
	f := host[0].Fabric
	if f.Plugin == "" && slices.ContainsFunc(f.Ports, func(p machine.RDMAPort) bool { return p.EFA }) {
		return found(preflights.EFAWithoutPlugin{})
	}
	return found(preflights.NCCLNetwork{Plugin: f.Plugin})
}
