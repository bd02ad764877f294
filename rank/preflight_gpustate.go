package main

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/advice"
	"busbar/internal/units"
)

// checkStates looks at how the GPUs of a host are set, and at their health.
func checkStates(host []setup) []row {
	const name = "GPU state"
	seen := map[string]bool{}
	var off, noECC, errors, held []string
	known := 0
	for _, s := range host {
		for _, d := range s.GPU.Devices {
			if d.State == nil || seen[d.UUID] {
				continue
			}
			seen[d.UUID] = true
			known++
			if d.State.Persistence == "off" {
				off = append(off, d.PCI)
			}
			if d.State.ECC == "off" {
				noECC = append(noECC, d.PCI)
			}
			if d.State.ECCErrors > 0 {
				errors = append(errors, fmt.Sprintf("%s (%d)", d.PCI, d.State.ECCErrors))
			}
			if t := d.State.Throttled(); len(t) > 0 {
				held = append(held, fmt.Sprintf("%s (%s)", d.PCI, strings.Join(t, ", ")))
			}
		}
	}
	if known == 0 {
		return []row{fine(name, "not known (no NVML)")}
	}
	var rows []row
	add := func(list []string, todo, text string) {
		if len(list) > 0 {
			rows = append(rows, warn(name, todo, "%s: %s", text, strings.Join(clipList(list), ", ")))
		}
	}
	add(errors, advice.MemoryErrors, "memory errors that could not be corrected")
	add(held, advice.HeldClocks, "clocks are held down")
	add(noECC, "nvidia-smi -e 1 and a reboot; figures with and without ECC differ", "ECC is off")
	add(off, "nvidia-smi -pm 1, or start nvidia-persistenced: without it the driver starts anew for every job", "persistence mode is off")
	if len(rows) == 0 {
		rows = append(rows, fine(name, "%s: clocks free, no memory errors", units.Count(known, "GPU")))
	}
	return rows
}

// checkPeermem asks whether adapters can read and write GPU memory.
func checkPeermem(f fabric) row {
	const name = "nvidia-peermem"
	switch {
	case f.Peermem:
		return fine(name, "loaded: adapters reach GPU memory directly")
	case !slices.ContainsFunc(f.Ports, func(p rdmaPort) bool { return !p.EFA }):
		return fine(name, "not loaded; EFA does without")
	}
	return warn(name, advice.Peermem,
		"not loaded: what GPUs send may pass through host memory")
}

// checkPlugin asks how NCCL would reach other hosts.
func checkPlugin(f fabric) row {
	const name = "NCCL network"
	efa := slices.ContainsFunc(f.Ports, func(p rdmaPort) bool { return p.EFA })
	switch {
	case f.Plugin != "":
		return fine(name, "plugin %s", f.Plugin)
	case efa:
		return warn(name, advice.Plugin, "EFA is there, NCCL's plugin for it is not: NCCL would use TCP")
	}
	return fine(name, "no plugin; InfiniBand and RoCE are NCCL's own")
}
