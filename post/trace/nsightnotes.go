package trace

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
)

// noteMissing says what figures lack because the recording or the export lacks it, and which command would have it.
func (n *nsight) noteMissing() {
	if len(n.file.Devices) == 0 {
		n.note("nothing that ran on a GPU is in this export", "record with nsys profile --trace=cuda,nvtx …")
		return
	}
	report := n.session.report
	if report == "" {
		report = "REPORT.nsys-rep"
	}
	switch {
	case n.nvtx.advanced && !n.nvtx.calls:
		n.note("NCCL was recorded by --trace=nccl, whose records are not read: sizes and communicators of its operations are not known",
			"record NCCL's own ranges: nsys profile --trace=cuda,nvtx …")
	case !n.nvtx.calls && n.runsNCCL():
		n.addNote(Note{
			"NCCL ran, but its calls are not in this export: sizes and communicators of its operations are not known",
			"record with nsys profile --trace=cuda,nvtx …, without NCCL_NVTX_DISABLE, then " + ExportCommand(report), true,
		})
	case n.nvtx.calls && !n.nvtx.carried:
		n.addNote(Note{
			"sizes and communicators of NCCL's operations are not in this export: it was made without the payloads of NVTX",
			"export again: " + ExportCommand(report), true,
		})
	case n.lacksRanks():
		n.note("how many ranks some communicators have is not in this export, so that the sizes of operations that deal out or gather are not known",
			"record from the start of the program, when communicators are made: without --delay and --capture-range")
	}
	n.noteUncalled()
}

// noteUncalled says of how many kernels of NCCL no call is known, where calls are in the file.
func (n *nsight) noteUncalled() {
	if !n.nvtx.calls {
		return
	}
	all, replayed, elsewhere := 0, 0, 0
	for _, d := range n.file.Devices {
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
		n.note(fmt.Sprintf("%d of %d kernels of NCCL ran in CUDA graphs, and how these were captured is not in this export: sizes and communicators of those kernels are not known", replayed, all),
			"record from the start of the program, before graphs are captured: nsys profile --trace=cuda,nvtx --cuda-graph-trace=node …")
	}
	if elsewhere > 0 {
		n.note(fmt.Sprintf("%d of %d kernels of NCCL were launched outside of its calls, as communicators that do not block do from threads of their own: sizes and communicators of those kernels are not known", elsewhere, all),
			"record with NCCL_COMM_BLOCKING=1 in the environment of every rank")
	}
}

// runsNCCL says whether a kernel of NCCL ran.
func (n *nsight) runsNCCL() bool {
	for _, d := range n.file.Devices {
		for _, name := range d.Names {
			if strings.HasPrefix(name, "nccl") {
				return true
			}
		}
	}
	return false
}

// lacksRanks says whether a size is unknown because the number of ranks is.
func (n *nsight) lacksRanks() bool {
	for _, d := range n.file.Devices {
		for _, c := range d.Calls {
			if c.What != coll.Other && c.What.Shared() && c.Bytes == Unknown && c.Group != Unknown && d.Groups[c.Group].Size == 0 {
				return true
			}
		}
	}
	return false
}
