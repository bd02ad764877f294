package backend

import (
	"busbar/cudart"
	"busbar/internal/result"
	"busbar/rank/launch"
	"busbar/rank/machine"
)

// watchGPU is the state of this rank's GPU before the first case; nil where NVIDIA's management library is missing or
// tells nothing. Nothing that is measured depends on it.
func (l *ncclLibrary) watchGPU(pci string) *result.GPU {
	if l.Simulated() {
		return nil
	}
	if l.nvml == nil {
		l.nvml, _ = cudart.LoadNVML(nil)
	}
	return l.gpuState(pci)
}

func (l *ncclLibrary) gpuState(pci string) *result.GPU {
	if l.nvml == nil {
		return nil
	}
	h, err := l.nvml.Device(pci)
	if err != nil {
		return nil
	}
	return &result.GPU{SMClock: h.SMClock, MemoryClock: h.MemoryClock, Temperature: h.Temperature, Power: h.Power,
		Throttle: h.Throttled(), ECC: h.ECC, ECCErrors: h.ECCErrors, Persistence: h.Persistence}
}

// Links implements Accelerator.
func (l *ncclLibrary) Links() string {
	if l.Simulated() {
		return ""
	}
	return machine.GPULinks()
}

// findThrottled finds the ranks of a world whose GPU holds back its clocks now. Collective; the answer is on rank 0.
func (b *ncclBackend) findThrottled() ([]result.Throttled, error) {
	var mine []string
	if g := b.l.gpuState(b.l.ranks[b.l.h.Rank].PCI); g != nil {
		mine = g.Throttle
	}
	all, err := launch.GatherJSON(b.w.Group, mine)
	if err != nil {
		return nil, err
	}
	var out []result.Throttled
	for r, reasons := range all {
		if len(reasons) > 0 {
			out = append(out, result.Throttled{Rank: b.w.Name(r), Host: b.w.Hosts[r], Reasons: reasons})
		}
	}
	return out, nil
}
