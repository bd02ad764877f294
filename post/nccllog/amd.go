package nccllog

import (
	"slices"
	"strings"
)

// onAMD has the tools of AMD's GPUs for those that advice names for NVIDIA's.
var onAMD = strings.NewReplacer(
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
