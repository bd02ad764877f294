package trace

import (
	"strings"

	"busbar/internal/coll"
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
	case n.nvtx.advanced && !n.nvtx.calls:
		n.file.note(notice.NCCLRecordsUnread{})
	case !n.nvtx.calls && n.file.runsNCCL():
		n.file.note(notice.NCCLCallsMissing{Command: ExportCommand(report)})
	case n.nvtx.calls && !n.nvtx.carried:
		n.file.note(notice.PayloadsMissing{Command: ExportCommand(report)})
	case n.file.lacksRanks():
		n.file.note(notice.GroupSizesMissing{})
	}
	if n.nvtx.calls {
		n.file.noteUncalled()
	}
}

// noteUncalled notes of how many kernels of NCCL no call is known, in a file that has calls.
func (f *File) noteUncalled() {
	all, replayed, elsewhere := 0, 0, 0
	for _, d := range f.Devices {
		for i := range d.Activities {
			a := &d.Activities[i]
			if a.Kind != Kernel || !strings.HasPrefix(d.Names[a.Name], "nccl") {
				continue
			}
			all++
			switch {
			case a.Call != Unknown:
			case a.Graph:
				replayed++
			case a.Launch != NoTime:
				elsewhere++
			}
		}
	}
	if replayed > 0 {
		f.note(notice.KernelsInGraphs{Kernels: replayed, Of: all})
	}
	if elsewhere > 0 {
		f.note(notice.KernelsOutsideCalls{Kernels: elsewhere, Of: all})
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

// lacksRanks reports whether a size is unknown because the number of ranks is.
func (f *File) lacksRanks() bool {
	for _, d := range f.Devices {
		for _, c := range d.Calls {
			if c.What != coll.Other && c.What.Shared() && c.Bytes == Unknown && c.Group != Unknown &&
				d.Groups[c.Group].Size == 0 {
				return true
			}
		}
	}
	return false
}
