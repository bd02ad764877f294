package nccllogs

import (
	"cmp"

	"busbar/internal/notice"
)

// Notices on warnings and errors that a library, PyTorch or a program printed. post/nccllog has the patterns by which
// the messages are recognised.

// LibraryMessage reports messages whose cause is known; each cause has its code.
type LibraryMessage struct {
	Cause    notice.Code `json:"cause"`
	Messages []Quoted    `json:"messages" alike:"-"`
	Vendor   Vendor      `json:"vendor"`
}

// Code is that of the cause.
func (m LibraryMessage) Code() notice.Code { return m.Cause }

// Advice is that of the cause, for the tools of the vendor.
func (m LibraryMessage) Advice() string {
	advice := causeOf(m.Cause).advice
	return m.Vendor.pick(advice, cmp.Or(amdAdvice[m.Cause], advice))
}

// amdAdvice is the advice of causes for which AMD has other tools.
var amdAdvice = map[notice.Code]string{
	"nic-cannot-reach-gpu": AMD.peermem(),
	"nvlink-p2p-disabled":  "see rocm-smi --showtopoaccess and amd-smi xgmi there; reset the GPUs",
	"nvml-failed":          "see rocm-smi there; in a container: docker run --device=/dev/kfd --device=/dev/dri",
	"gpu-out-of-memory":    possible + memoryCauses + "rocm-smi shows who uses it",
	"gpu-not-supported": "install an RCCL or a framework that supports it, or build RCCL with GPU_TARGETS=gfx…; " +
		"rocminfo shows the architecture; GPUs of different gfx in one process may need HSA_OVERRIDE_GFX_VERSION",
	"returned-cuda-error": possible + "GPU memory is full; RCCL does not support this GPU (rocminfo, gfx…), or does " +
		"not fit ROCm and amdgpu; peer access does not work (NCCL_P2P_DISABLE=1); two ranks use one GPU; a kernel " +
		"crashed before; " + again,
	"no-such-gpu": "see rocm-smi there; start as many ranks as there are GPUs, and select by the local rank among " +
		"those in HIP_VISIBLE_DEVICES",
	"cuda-init-failed": "see rocm-smi there; start worker processes with spawn or forkserver, or before HIP is " +
		"first used",
	"cuda-library-missing": "see rocm-smi there; in a container: docker run --device=/dev/kfd --device=/dev/dri",
	"gpu-busy":             "see rocm-smi --showpids, and end the other process; " + notice.AdviceOwnGPU,
	"gpu-peer-access-failed": possible + "containers without --ipc=host, or without all GPUs in each; amdgpu-dkms is " +
		"missing or does not fit ROCm; an IOMMU without iommu=pt; a virtual machine (rocm-smi --showtopoaccess); " +
		"NCCL_P2P_DISABLE=1 runs without it",
	"nvlink-error": "see amd-smi xgmi and dmesg there; reset the GPUs, and have the host checked if it " +
		"comes back",
	"program-out-of-memory": "use smaller batches or shards on that rank; rocm-smi shows who else uses its GPU",
	"gpu-memory-error":      "see rocm-smi --showrasinfo; reset the GPU or replace it",
}

// Unexplained reports messages whose cause is not known.
type Unexplained struct {
	By       Printer  `json:"by"`
	Messages []Quoted `json:"messages" alike:"-"`
}

// Printer is who printed a message.
type Printer string

// Who prints messages.
const (
	ByLibrary Printer = "library"
	ByProgram Printer = "program"
)

var printerTexts = map[Printer]string{ByLibrary: "the library", ByProgram: "the program"}

func (p Printer) String() string { return printerTexts[p] }

func (Unexplained) Code() notice.Code { return "unexplained-message" }

var exampleMessage = Quoted{"WARN", "NET/IB : Got completion with error 12", "net_ib.cc:1297", 2, 41, ""}

// ncclMessages are the entries of those causes.
var ncclMessages = messageEntries()

func messageEntries() []notice.Entry {
	all := []notice.Entry{{
		Example:  Unexplained{ByLibrary, []Quoted{exampleMessage}},
		Severity: notice.Warning,
		Text:     "{By} reports a warning or an error that post log does not explain",
		Details:  []string{"{Messages...}"},
		Doc: `Each warning and error of the library, of PyTorch or of the program is compared with the messages whose
			cause is known. The text of other messages is shown; messages that differ only in numbers
			count once.`,
	}}
	for _, c := range causesOfMessages {
		all = append(all, notice.Entry{
			Example:  LibraryMessage{c.code, []Quoted{exampleMessage}, NVIDIA},
			Severity: c.severity,
			Source:   c.source,
			Text:     c.text,
			Details:  []string{"{Messages...}"},
			Doc: "Messages with this cause are reported together. Those that follow from another failure are an " +
				"error only if the log lacks that failure.",
		})
	}
	return all
}
