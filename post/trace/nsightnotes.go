package trace

import (
	"strings"

	"busbar/internal/notice"
)

// noteMissing notes what values lack because the recording or the export lacks it.
func (n *nsight) noteMissing() {
	if len(n.file.Devices) == 0 {
		n.file.note(notice.NoGPUActivity{Format: notice.Nsight})
		return
	}
	report := n.session.report
	if report == "" {
		report = "REPORT.nsys-rep"
	}
	switch {
	case !n.nvtx.calls && n.file.runsNCCL():
		n.file.note(notice.NCCLCallsMissing{Command: ExportCommand(report)})
	case n.nvtx.calls && !n.nvtx.carried:
		n.file.note(notice.PayloadsMissing{Command: ExportCommand(report)})
	}
	if n.nvtx.calls {
		n.file.noteGraphs()
	}
}

// noteGraphs notes how many kernels of NCCL ran in CUDA graphs, so that their calls are unknown.
func (f *File) noteGraphs() {
	all, replayed := 0, 0
	for _, d := range f.Devices {
		for i := range d.Activities {
			if a := &d.Activities[i]; a.Kind == Kernel && strings.HasPrefix(d.Names[a.Name], "nccl") {
				all++
				if a.Graph {
					replayed++
				}
			}
		}
	}
	if replayed > 0 {
		f.note(notice.KernelsInGraphs{Kernels: replayed, Of: all})
	}
}

// runsNCCL reports whether a kernel of NCCL ran.
func (f *File) runsNCCL() bool {
	for _, d := range f.Devices {
		for _, name := range d.Names {
			if strings.HasPrefix(name, "nccl") {
				return true
			}
		}
	}
	return false
}
