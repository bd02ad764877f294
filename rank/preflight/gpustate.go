package preflight

import (
	"slices"

	"busbar/internal/notice"
	"busbar/rank/machine"
)

// checkStates looks at how the GPUs of a host are set, and at their health.
func checkStates(host []Setup) (rows []Row) {
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
		return []Row{Found(name, notice.GPUStateUnknown{})}
	}
	if errors != nil {
		rows = append(rows, Found(name, notice.GPUMemoryErrors{GPUs: errors}))
	}
	if held != nil {
		rows = append(rows, Found(name, notice.GPUClocksReduced{GPUs: held}))
	}
	if noECC != nil {
		rows = append(rows, Found(name, notice.GPUWithoutECC{GPUs: noECC}))
	}
	if off != nil {
		rows = append(rows, Found(name, notice.GPUPersistenceOff{GPUs: off}))
	}
	if rows == nil {
		rows = []Row{Found(name, notice.GPUsHealthy{GPUs: len(seen)})}
	}
	return rows
}

// checkPeermem asks whether adapters can read and write GPU memory.
func checkPeermem(f fabric) Row {
	const name = "nvidia-peermem"
	if !f.Peermem && slices.ContainsFunc(f.Ports, func(p machine.RDMAPort) bool { return !p.EFA }) {
		return Found(name, notice.PeermemMissing{})
	}
	return Found(name, notice.Peermem{Loaded: notice.PeermemLoaded(f.Peermem)})
}

// checkPlugin asks how NCCL would reach other hosts.
func checkPlugin(f fabric) Row {
	const name = "NCCL network"
	if f.Plugin == "" && slices.ContainsFunc(f.Ports, func(p machine.RDMAPort) bool { return p.EFA }) {
		return Found(name, notice.EFAWithoutPlugin{})
	}
	return Found(name, notice.NCCLNetwork{Plugin: notice.PluginPath(f.Plugin)})
}
