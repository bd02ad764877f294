package preflights

import (
	"fmt"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices of rank --preflight on GPUs and the libraries that drive them.

// DriverVersion is the version of NVIDIA's kernel module; "" if none is loaded.
type DriverVersion string

func (d DriverVersion) String() string {
	if d == "" {
		return "no driver loaded"
	}
	return "driver " + string(d)
}

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
	GPUs   int           `json:"gpus"`
	Driver DriverVersion `json:"driver,omitempty"`
}

// GPUsVisible are the GPUs that a rank may use.
type GPUsVisible struct {
	Models []GPUModel    `json:"models"`
	Driver DriverVersion `json:"driver,omitempty"`
	CUDA   CUDAVersion   `json:"cuda"` // newest version that the driver supports
}

// SimulatedGPUs reports a simulation.
type SimulatedGPUs struct {
	Models []GPUModel `json:"models"`
}

// GPUDriverUnusable reports that the CUDA driver cannot be used.
type GPUDriverUnusable struct{ Failed }

// NoGPUVisible reports a rank that sees no GPU.
type NoGPUVisible struct {
	OnBus  int           `json:"gpus_on_bus"`
	Driver DriverVersion `json:"driver,omitempty"`
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
type GPUDriversDiffer struct {
	Values RankValues `json:"values"`
}

// GPUModelsDiffer reports ranks with different GPUs.
type GPUModelsDiffer struct {
	Values RankValues `json:"values"`
}

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
type PeerAccessUnknown struct {
	GPUs int `json:"gpus"`
}

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
type GPUPersistenceOff struct {
	GPUs []string `json:"gpus"`
}

// Peermem is the state of the module nvidia-peermem where that needs no attention.
type Peermem struct {
	Loaded PeermemLoaded `json:"loaded"`
}

// PeermemLoaded is whether it is loaded; only EFA does without.
type PeermemLoaded bool

func (p PeermemLoaded) String() string {
	if p {
		return "nvidia-peermem is loaded: adapters reach GPU memory directly"
	}
	return "nvidia-peermem is not loaded; EFA does without"
}

// PeermemMissing reports that adapters may not reach GPU memory.
type PeermemMissing struct{}

// NCCLNetwork is how NCCL reaches other hosts.
type NCCLNetwork struct {
	Plugin PluginPath `json:"plugin,omitempty"`
}

// PluginPath is the file of NCCL's network plugin, or "".
type PluginPath string

func (p PluginPath) String() string {
	if p == "" {
		return "NCCL finds no network plugin; it has InfiniBand and RoCE built in"
	}
	return "NCCL finds the network plugin " + string(p)
}

// EFAWithoutPlugin reports EFA adapters that NCCL cannot use.
type EFAWithoutPlugin struct{}

func (GPUsUnused) Code() Code           { return "gpus-unused" }
func (GPUsVisible) Code() Code          { return "gpus-visible" }
func (SimulatedGPUs) Code() Code        { return "gpus-simulated" }
func (GPUDriverUnusable) Code() Code    { return "gpu-driver-unusable" }
func (NoGPUVisible) Code() Code         { return "no-gpu-visible" }
func (NCCLInUse) Code() Code            { return "nccl-in-use" }
func (NCCLUnusable) Code() Code         { return "nccl-unusable" }
func (NCCLWithoutGPUCode) Code() Code   { return "nccl-without-gpu-code" }
func (NCCLNeedsNewerDriver) Code() Code { return "nccl-needs-newer-driver" }
func (OwnGPUs) Code() Code              { return "own-gpus" }
func (GPUSlices) Code() Code            { return "gpu-slices" }
func (GPULibrariesAlike) Code() Code    { return "gpu-libraries-alike" }
func (NCCLVersionsDiffer) Code() Code   { return "nccl-versions-differ" }
func (GPUDriversDiffer) Code() Code     { return "gpu-drivers-differ" }
func (GPUModelsDiffer) Code() Code      { return "gpu-models-differ" }
func (GPUMemory) Code() Code            { return "gpu-memory" }
func (GPUMemoryShort) Code() Code       { return "gpu-memory-short" }
func (PeerAccess) Code() Code           { return "peer-access" }
func (PeerAccessUnknown) Code() Code    { return "peer-access-unknown" }
func (NoPeerAccess) Code() Code         { return "no-peer-access" }
func (GPUStateUnknown) Code() Code      { return "gpu-state-unknown" }
func (GPUsHealthy) Code() Code          { return "gpus-healthy" }
func (GPUMemoryErrors) Code() Code      { return "gpu-memory-errors" }
func (GPUClocksReduced) Code() Code     { return "gpu-clocks-reduced" }
func (GPUWithoutECC) Code() Code        { return "gpu-ecc-off" }
func (GPUPersistenceOff) Code() Code    { return "gpu-persistence-off" }
func (Peermem) Code() Code              { return "peermem" }
func (PeermemMissing) Code() Code       { return "peermem-missing" }
func (NCCLNetwork) Code() Code          { return "nccl-network" }
func (EFAWithoutPlugin) Code() Code     { return "efa-without-plugin" }

// Values for the documentation.
var (
	exampleGPUs   = []GPUModel{{8, "NVIDIA H100", 80 << 30}}
	exampleNCCL   = NCCLInUse{"NCCL 2.27.7", "/usr/lib/libnccl.so.2", "13.0"}
	exampleValues = func(a, b string) RankValues {
		return RankValues{
			{a, []notice.PlacedRank{{Rank: 0, Host: "node1"}, {Rank: 1, Host: "node1"}}},
			{b, []notice.PlacedRank{{Rank: 2, Host: "node2"}}},
		}
	}
	exampleGPUMemory = GPUMemory{
		notice.MemoryLimit{Rank: 3, Host: "node1", Bytes: 3 << 30, Bound: "the memory of GPU-5d2c",
			Free: 4 << 30, Ranks: 1, Kept: 32 << 20},
	}
)

const (
	ncclText = "{Library} ({Path})[, built for CUDA {BuiltFor}]"
)

var preflightGPUs = []notice.Entry{
	{Example: GPUsUnused{8, "550.54.15"},
		Text: "{GPUs GPU} of NVIDIA on the PCI bus, {Driver}; this run uses none without --backend nccl",
		Doc:  "The host has GPUs, and the backends of the run use none."},
	{Example: GPUsVisible{exampleGPUs, "550.54.15", 12040}, Text: "{Models}, {Driver} ({CUDA})",
		Doc: "Models, memory and driver of the GPUs that a rank sees."},
	{Example: SimulatedGPUs{exampleGPUs}, Severity: notice.Warning,
		Text: "simulated: {Models}", Advice: "leave out --simulate to check real ones",
		Doc: "With --simulate no GPU and no driver is checked."},
	{Example: GPUDriverUnusable{Failed{"the CUDA driver cannot be loaded: libcuda.so.1 was not found",
		Places{"/usr/lib"},
		"install NVIDIA's driver"}}, Severity: notice.Error,
		Text: failedText, Advice: "see nvidia-smi there",
		Doc: "The CUDA driver is missing, does not start, or is too old."},
	{Example: NoGPUVisible{8, "550.54.15"}, Severity: notice.Error,
		Text:   "no GPU is visible; {OnBus GPU} of NVIDIA on the PCI bus, {Driver}",
		Advice: "see nvidia-smi -L there, CUDA_VISIBLE_DEVICES, srun --gpus-per-node, docker run --gpus all",
		Doc:    "The driver works, and the rank sees no GPU."},
	{Example: exampleNCCL, Text: ncclText,
		Doc: "The NCCL-compatible library, and the CUDA version that it was built for."},
	{Example: NCCLUnusable{Failed{"no NCCL library (libnccl.so.2) could be loaded", Places{"/usr/lib"},
		"install one: pip install nvidia-nccl-cu12"}}, Severity: notice.Error,
		Text: failedText, Advice: "see --nccl PATH",
		Doc: "No NCCL-compatible library was found, or the one that was found cannot be used."},
	{Example: NCCLWithoutGPUCode{exampleNCCL, "7.0"}, Severity: notice.Error,
		Text:   ncclText + ": no support for GPUs of compute capability {Capability}",
		Advice: "install its build for CUDA 12 (pip install nvidia-nccl-cu12), or give its path with --nccl PATH",
		Doc:    "CUDA 13 dropped GPUs below compute capability 7.5: V100 and older."},
	{Example: NCCLNeedsNewerDriver{exampleNCCL, 12040}, Severity: notice.Error,
		Text: ncclText + "; the driver supports {Driver} only",
		Doc:  "The library was built for a newer major version of CUDA than the driver supports."},
	{Example: OwnGPUs{}, Text: "each rank has its own GPU",
		Doc: "No GPU is used by two ranks; GPUs are compared by their UUIDs."},
	{Example: GPUSlices{"0000:0a:00.0"}, Severity: notice.Warning,
		Text:   "each rank has its own GPU, but some are slices (MIG) of one at {PCI}",
		Advice: "use NCCL 2.30 or later, or whole GPUs: an older NCCL refuses two slices of one GPU",
		Doc:    "Ranks use different UUIDs at one PCI address."},
	{Example: GPULibrariesAlike{"NCCL 2.27.7", "550.54.15"}, Text: "all ranks have {Library}[, driver {Driver}]",
		Doc: "Library, driver and model of GPU are equal on all ranks."},
	{Example: NCCLVersionsDiffer{exampleValues("NCCL 2.27.7", "NCCL 2.19.3")}, Severity: notice.Error,
		Text: "the ranks have different libraries: {Values}", Advice: notice.AdviceOneLibrary,
		Doc: "Ranks would load different versions of NCCL, which cannot communicate."},
	{Example: GPUDriversDiffer{exampleValues("550.54.15", "535.104")}, Severity: notice.Warning,
		Text: "the ranks have different drivers: {Values}", Advice: notice.AdviceOneDriver,
		Doc: "The hosts have different versions of NVIDIA's kernel module."},
	{Example: GPUModelsDiffer{exampleValues("NVIDIA H100", "NVIDIA A100")}, Severity: notice.Warning,
		Text: "the ranks have different GPUs: {Values}", Advice: notice.AdviceOneModel,
		Doc: "The GPUs that the ranks use are of different models."},
	{Example: exampleGPUMemory, Text: "{Limit}", Doc: "The minimum of the free memory of all GPUs."},
	{Example: GPUMemoryShort{exampleGPUMemory}, Severity: notice.Warning,
		Text: "{Limit}", Advice: "see nvidia-smi there for who holds it; sizes that do not fit are skipped",
		Doc: "Buffers may use less than 4 GiB, which is less than an idle GPU has free."},
	{Example: PeerAccess{8}, Text: "all {GPUs GPU} reach each other's memory",
		Doc: "GPUs of one host can exchange data directly."},
	{Example: PeerAccessUnknown{1}, Text: "peer access is unknown: the rank sees {GPUs GPU}",
		Doc: "Peer access can be tested where a rank sees several GPUs."},
	{Example: NoPeerAccess{1, 6, []string{"0-1"}}, Severity: notice.Warning,
		Text:   "{Without} of {Of pair} of GPUs have no peer access: {Pairs}",
		Advice: notice.AdvicePeers + "; without it, data passes through host memory",
		Doc:    "Some GPUs cannot access each other's memory."},
	{Example: GPUStateUnknown{}, Text: "the state of the GPUs is unknown (no NVML)",
		Doc: "NVML, which reports the state of GPUs, cannot be loaded."},
	{Example: GPUsHealthy{8}, Text: "{GPUs GPU}: full clocks, no memory errors",
		Doc: "NVML reports neither reduced clocks nor memory errors; ECC and persistence mode are on or do not exist."},
	{Example: GPUMemoryErrors{[]GPUErrors{{"0000:0b:00.0", 3}}}, Severity: notice.Warning,
		Text: "memory errors that could not be corrected: {GPUs}", Advice: notice.AdviceMemoryErrors,
		Doc: "NVML counts uncorrected errors since the driver started."},
	{Example: GPUClocksReduced{[]GPUThrottle{{"0000:0b:00.0", []string{"sw_power_cap"}}}}, Severity: notice.Warning,
		Text: "clocks are reduced: {GPUs}", Advice: notice.AdviceHeldClocks,
		Doc: "NVML reports a reason, other than idleness, for which a GPU holds back its clocks."},
	{Example: GPUWithoutECC{[]string{"0000:0b:00.0"}}, Severity: notice.Warning,
		Text: "ECC is off: {GPUs}", Advice: "run nvidia-smi -e 1 and reboot; results with and without ECC differ",
		Doc: "Error correction of GPU memory is off."},
	{Example: GPUPersistenceOff{[]string{"0000:0b:00.0"}}, Severity: notice.Warning,
		Text:   "persistence mode is off: {GPUs}",
		Advice: "run nvidia-smi -pm 1, or start nvidia-persistenced: without it the driver starts anew for every job",
		Doc:    "The driver releases a GPU that no process uses."},
	{Example: Peermem{true}, Text: "{Loaded}", Doc: "The module nvidia-peermem lets RDMA adapters access GPU memory."},
	{Example: PeermemMissing{}, Severity: notice.Warning,
		Source: notice.GPUDoc + ", GPU-to-NIC communication",
		Text:   "nvidia-peermem is not loaded: GPU data may pass through host memory", Advice: notice.AdvicePeermem,
		Doc: "The host has RDMA adapters and GPUs, and the module nvidia-peermem is not loaded."},
	{Example: NCCLNetwork{"/opt/amazon/ofi-nccl/lib/libnccl-net.so"}, Text: "{Plugin}",
		Doc: "NCCL's network plugin, where the loader would find one."},
	{Example: EFAWithoutPlugin{}, Severity: notice.Warning,
		Source: notice.EnvironmentDoc + "NCCL_NET",
		Text:   "the host has EFA without NCCL's plugin for it: NCCL would use TCP", Advice: notice.AdvicePlugin,
		Doc: "NCCL uses EFA through the plugin aws-ofi-nccl."},
}
