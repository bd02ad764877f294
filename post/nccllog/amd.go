package nccllog

import (
	"slices"
	"strings"

	"busbar/internal/advice"
)

// onAMD has what goes for AMD's GPUs in the place of what advice names for NVIDIA's.
var onAMD = strings.NewReplacer(
	advice.Peermem, "see that /sys/kernel/mm/memory_peers/amdkfd/version is there (newer kernels: under /sys/kernel or /sys), which a driver of the adapters with ib_peer_mem makes; "+
		"not needed with DMA-BUF: NCCL_DMABUF_ENABLE=1, and a kernel with CONFIG_PCI_P2PDMA and CONFIG_DMABUF_MOVE_NOTIFY",
	advice.MemoryErrors, "see rocm-smi --showrasinfo; reset the GPU or have it replaced",
	"nvidia-smi topo -m: where it shows NVLink (NV#)", "rocm-smi --showtopo: where it shows XGMI",
	"nvidia-smi topo -p2p r", "rocm-smi --showtopoaccess",
	"nvidia-smi topo -p2p n", "rocm-smi --showtopoaccess",
	"nvidia-smi topo -m", "rocm-smi --showtopo",
	"nvidia-smi nvlink --status", "amd-smi xgmi",
	"nvidia-smi", "rocm-smi",
)

// suited puts advice in words of the GPUs that the log is of, which RCCL tells.
func (l *Log) suited(all []Finding) {
	if len(l.Versions) == 0 || slices.ContainsFunc(l.Versions, func(v Version) bool { return v.Library != RCCL }) {
		return
	}
	for i := range all {
		all[i].Advice = onAMD.Replace(all[i].Advice)
	}
}
