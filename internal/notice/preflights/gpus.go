package preflights

import (
	"fmt"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices of rank --preflight on GPUs and the libraries that drive them.

// CUDAVersion is a version as the driver codes it: 12040 is CUDA 12.4. 0: unknown.
type CUDAVersion int

func (v CUDAVersion) String() string {
	if v == 0 {
		return "CUDA version unknown"
	}
	return fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10)
}

// GPUModel is equal GPUs.
type GPUModel struct {
	GPUs   int              `json:"gpus"`
	Name   string           `json:"name"`
	Memory units.RoughBytes `json:"memory_bytes"`
}

func (m GPUModel) String() string { return fmt.Sprintf("%d x %s with %s", m.GPUs, m.Name, m.Memory) }

// GPUsUnused states that a host has GPUs and the run uses none.
type GPUsUnused struct {
	GPUs   int    `json:"gpus"`
	Driver string `json:"driver,omitempty"`
}

// GPUsVisible are the GPUs that a rank may use.
type GPUsVisible struct {
	Models []GPUModel  `json:"models"`
	Driver string      `json:"driver,omitempty"`
	CUDA   CUDAVersion `json:"cuda"` // newest version that the driver supports
}

// SimulatedGPUs reports a simulation.
type SimulatedGPUs struct {
	Models []GPUModel `json:"models"`
}

// GPUDriverUnusable reports that the CUDA driver cannot be used.
type GPUDriverUnusable struct{ Failed }

// NoGPUVisible reports a rank that sees no GPU.
type NoGPUVisible struct {
	OnBus  int    `json:"gpus_on_bus"`
	Driver string `json:"driver,omitempty"`
}

// NCCLInUse is the library of a rank.
type NCCLInUse struct {
	Library  string `json:"library"`
	Path     string `json:"path"`
	BuiltFor string `json:"built_for_cuda,omitempty"` // "12.9"
}

// NCCLUnusable reports that the library cannot be used.
type NCCLUnusable struct{ Failed }

// NCCLWithoutGPUCode reports a library without code for a GPU that is present.
type NCCLWithoutGPUCode struct {
	NCCLInUse
	Capability string `json:"compute_capability"`
}

// NCCLNeedsNewerDriver reports a library that was built for a newer CUDA than the driver supports.
type NCCLNeedsNewerDriver struct {
	NCCLInUse
	Driver CUDAVersion `json:"driver_cuda"`
}

// Advice names the CUDA version of the driver.
func (n NCCLNeedsNewerDriver) Advice() string {
	const text = "install a newer driver, or the library's build for CUDA %d (pip install nvidia-nccl-cu%[1]d)"
	return fmt.Sprintf(text, n.Driver/1000)
}

// OwnGPUs states that no GPU is used by two ranks.
type OwnGPUs struct{}

// GPUSlices reports ranks that use slices of one GPU.
type GPUSlices struct {
	PCI string `json:"pci"`
}

// GPULibrariesAlike states that all ranks have the same libraries.
type GPULibrariesAlike struct {
	Library string `json:"library"`
	Driver  string `json:"driver,omitempty"`
}

// NCCLVersionsDiffer reports ranks with different libraries.
type NCCLVersionsDiffer struct {
	Values RankValues `json:"values"`
}

// GPUDriversDiffer reports ranks with different drivers.
type GPUDriversDiffer NCCLVersionsDiffer

// GPUModelsDiffer reports ranks with different GPUs.
type GPUModelsDiffer NCCLVersionsDiffer

// GPUMemory is the memory for buffers on the GPU that has the minimum.
type GPUMemory struct {
	Limit notice.MemoryLimit `json:"limit"`
}

// GPUMemoryShort reports little of it.
type GPUMemoryShort struct{ GPUMemory }

// PeerAccess states that all GPUs of a rank reach each other's memory.
type PeerAccess struct {
	GPUs int `json:"gpus"`
}

// PeerAccessUnknown states that a rank sees too few GPUs to test peer access.
type PeerAccessUnknown PeerAccess

// NoPeerAccess reports GPUs that do not reach each other's memory.
type NoPeerAccess struct {
	Without int      `json:"without"`
	Of      int      `json:"of"`
	Pairs   []string `json:"pairs"`
}

// GPUStateUnknown states that NVML is missing.
type GPUStateUnknown struct{}

// GPUsHealthy are GPUs without findings.
type GPUsHealthy struct {
	GPUs int `json:"gpus"`
}

// GPUMemoryErrors reports memory errors that were not corrected.
type GPUMemoryErrors struct {
	GPUs []GPUErrors `json:"gpus"`
}

// GPUErrors are those of a GPU.
type GPUErrors struct {
	PCI    string `json:"pci"`
	Errors int64  `json:"errors"`
}

func (e GPUErrors) String() string { return fmt.Sprintf("%s (%d)", e.PCI, e.Errors) }

// GPUClocksReduced reports GPUs that hold back their clocks.
type GPUClocksReduced struct {
	GPUs []GPUThrottle `json:"gpus"`
}

// GPUThrottle is why a GPU holds back its clocks, in NVML's words.
type GPUThrottle struct {
	PCI     string   `json:"pci"`
	Reasons []string `json:"reasons"`
}

func (t GPUThrottle) String() string {
	return fmt.Sprintf("%s (%s)", t.PCI, strings.Join(t.Reasons, ", "))
}

// GPUWithoutECC reports GPUs without error correction.
type GPUWithoutECC struct {
	GPUs []string `json:"gpus"`
}

// GPUPersistenceOff reports GPUs whose driver starts anew for each job.
type GPUPersistenceOff GPUWithoutECC

// Peermem is the state of the module nvidia-peermem where that needs no attention.
type Peermem struct {
	Loaded bool `json:"loaded"`
}

// PeermemMissing reports that adapters may not reach GPU memory.
type PeermemMissing struct{}

// NCCLNetwork is how NCCL reaches other hosts.
type NCCLNetwork struct {
	Plugin string `json:"plugin,omitempty"`
}

// EFAWithoutPlugin reports EFA adapters that NCCL cannot use.
type EFAWithoutPlugin struct{}
