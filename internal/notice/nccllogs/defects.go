package nccllogs

// KnownDefect reports a defect of the version of NCCL that the log names, where the log shows its sign.
type KnownDefect struct {
	Version string `json:"version"`
	Defect  Defect `json:"defect"`
}

// Advice is that of the defect.
func (d KnownDefect) Advice() string { return defects[d.Defect].advice }

// Defect is a defect that a later version fixes. post/nccllog has its versions and its sign.
type Defect string

func (d Defect) String() string { return defects[d].text }

// defects are the known ones: what happens, and what to do.
var defects = map[Defect]struct{ text, advice string }{
	"rtx-50-shared-memory": {
		"it needs more shared memory than GPUs of the RTX 50 series have, and fails on them",
		"use NCCL 2.26.2 or later (nccl issue 1637)",
	},
	"peermem-name": {
		"it does not find the module nvidia-peermem, and uses GPUDirect RDMA only with the older nv_peer_mem",
		"use NCCL 2.23 or later, or DMA-BUF (nccl issue 1676)",
	},
	"ras-crash": {"its RAS thread may crash the program", "set NCCL_RAS_ENABLE=0, or use NCCL 2.25 or later (xgboost " +
		"issue 11154)"},
	"regression-2-29": {"collectives may hang", "use NCCL 2.29.3 or later (pytorch pull request 174338)"},
	"abort-hang":      {"ncclCommAbort may hang", "use NCCL 2.26.2 or later (pytorch pull request 149546)"},
	"merged-nic-tree": {"it fails without a path for the tree where NICs are merged", "use NCCL 2.27 or later (nccl " +
		"issue 1748)"},
	"copy-unsynced": {"a copy at init may fail, also where peer access is off",
		"use NCCL 2.18.6 or later (nccl issue 1024)"},
	"wsl-topology": {"it does not support WSL2", "use NCCL 2.10 or later, with a PyTorch that contains it (nccl " +
		"issues 442 and 511)"},
	"kernels-not-here": {"built locally, it fails where a kernel has no code for the GPU", "use a later NCCL, or an " +
		"official build (pytorch issue 164402)"},
}
