package trace

import (
	"strings"

	"busbar/internal/notice/profiles"
	"busbar/internal/units"
)

// noteMissing records which values are missing in the recording or the export.
func (n *nsight) noteMissing() {
	if len(n.file.Devices) == 0 {
		n.file.note(profiles.NoGPUActivity{Format: profiles.Nsight})
		return
	}
	report := n.session.report
	if report == "" {
		report = "REPORT.nsys-rep"
	}
	kernels, replayed := n.file.ncclKernels()
	switch {
	case !n.nvtx.calls && kernels > 0:
		n.file.note(profiles.NCCLCallsMissing{Command: ExportCommand(report)})
	case n.nvtx.calls && !n.nvtx.carried:
		n.file.note(profiles.PayloadsMissing{Command: ExportCommand(report)})
	}
	if n.nvtx.calls && replayed > 0 {
		n.file.note(profiles.KernelsInGraphs{Kernels: replayed, Of: kernels})
	}
}

// ncclKernels returns the number of NCCL kernels, and of those in CUDA graphs, whose calls are unknown.
func (f *File) ncclKernels() (all, replayed int) {
	for _, d := range f.Devices {
		for a := range units.Each(d.Activities) {
			if a.Kind == Kernel && strings.HasPrefix(d.Names[a.Name], "nccl") {
				all++
				if a.Graph {
					replayed++
				}
			}
		}
	}
	return all, replayed
}
