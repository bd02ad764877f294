package nccllogs

import "busbar/internal/notice"

// gpuCauses are those in GPUs, their drivers and links.
var gpuCauses = []cause{
	{
		"nvls-setup-failed", notice.Error, "memory of NVLink SHARP could not be set up in the NVSwitches",
		possible + "nvidia-fabricmanager does not run (systemctl status), or was restarted while GPUs were in use " +
			"(reset the GPUs or reboot); the driver is older than the CUDA of NCCL (update it); a virtual machine or " +
			"container without all GPUs; NCCL_NVLS_ENABLE=0 runs without it",
		ncclSource + "src/transport/nvls.cc; " + ncclIssue + "1488",
	},
	{
		"nvls-memory-exhausted", notice.Error,
		"the NVSwitches have no multicast group left for NVLink SHARP: too many communicators use it",
		"create fewer communicators; NCCL_NVLS_ENABLE=0 runs without it", ncclIssue + "2077",
	},
	{
		"nvswitch-not-ready", notice.Error, "the NVSwitches are not set up",
		"run systemctl start nvidia-fabricmanager, of the same version as the driver", "CUDA documentation, " +
			"cudaErrorSystemNotReady",
	},
	{
		"imex-not-ready", notice.Error, "NVLink connects the hosts, but the IMEX service that it needs does not work",
		"see nvidia-imex-ctl -N, and whether each container has the same /dev/nvidia-caps-imex-channels/channel* and " +
			"may open it; NCCL_MNNVL_ENABLE=0 runs without it",
		ncclSource + "src/mnnvl.cc",
	},
	{
		"nvlink-p2p-disabled", notice.Error,
		"two GPUs have NVLink between them and may not access each other, which points to the hardware",
		"see nvidia-smi topo -p2p n and nvidia-smi nvlink --status there; reset the GPUs",
		ncclSource + "src/graph/paths.cc",
	},
	{
		"duplicate-gpu", notice.Error, "two ranks use the same GPU", possible + "the program does not call " +
			"torch.cuda.set_device(LOCAL_RANK) or selects a fixed GPU; more ranks per host than GPUs " +
			"(nproc_per_node, srun --gpus-per-task=1); CUDA_VISIBLE_DEVICES is the same for ranks of " +
			"their own; the ranks use MIG instances of one GPU, which NCCL does not support",
		ncclSource + "src/init.cc",
	},
	{
		"cuda-library-missing", notice.Warning,
		"the driver's library libcuda.so was not found, so that NCCL uses fewer functions of CUDA",
		"put its folder on LD_LIBRARY_PATH (in WSL /usr/lib/wsl/lib); in a container: docker run --gpus all",
		ncclSource + "src/misc/cudawrap.cc",
	},
	{
		"nvml-failed", notice.Error, "the driver's management library is missing, or does not match the driver",
		"see nvidia-smi there; in a container: docker run --gpus all", ncclSource + "src/misc/nvmlwrap.cc",
	},
	{
		"iommu-translation", notice.Warning,
		"RCCL did not find iommu=pt on the kernel's command line; in virtual machines that is not a fault",
		notice.AdviceIOMMU,
		"github.com/ROCm/rccl, pull request 2112",
	},
	{
		"rccl-fine-grain", notice.Warning,
		"RCCL warns that GPUs without XGMI between them need HSA_FORCE_FINE_GRAIN_PCIE=1 to access each other over " +
			"PCIe",
		"set HSA_FORCE_FINE_GRAIN_PCIE=1 on all ranks; not needed with ROCm 5.7 or later",
		"github.com/ROCm/rccl, issue 92; github.com/ROCm/rccl-tests, issue 84",
	},
	{
		"rccl-warns-numa-balancing", notice.Warning,
		"RCCL warns that the kernel moves pages between NUMA nodes while they are in use", notice.AdviceBalancing,
		"github.com/ROCm/rccl, pull request 696",
	},
	{
		"gpu-out-of-memory", notice.Error, "no GPU memory was left for NCCL's own buffers",
		possible + memoryCauses + "nvidia-smi shows who uses it", ncclSource + "src/include/alloc.h; " + ncclIssue +
			"864 and 986",
	},
	{
		"gpu-memory-error", notice.Error, "GPU memory has an uncorrectable error", notice.AdviceMemoryErrors,
		"CUDA documentation, cudaErrorECCUncorrectable",
	},
	{
		"nvlink-error", notice.Error, "NVLink between GPUs has an uncorrectable error, or a GPU failed that another " +
			"one accessed",
		"see nvidia-smi nvlink --errorcounters and dmesg (Xid 74) there; reset the GPUs, and have the host checked " +
			"if it comes back",
		"CUDA documentation, cudaErrorNvlinkUncorrectable",
	},
	{
		"gpu-lost", notice.Error, "the driver lost a GPU: it no longer answers on PCIe",
		"see dmesg (Xid 79) there; take the host out of use, and restart it", "NVIDIA documentation, Xid Errors",
	},
	{
		"driver-too-old", notice.Error, "the driver is older than the CUDA version that NCCL was built for",
		"install a newer driver, or a framework and NCCL built for a CUDA that the driver supports (pip's -cu11, " +
			"-cu12, -cu13)", "CUDA documentation, cudaErrorInsufficientDriver",
	},
	{
		"gpu-peers-exhausted", notice.Error,
		"a GPU without NVSwitch can map the memory of 8 other GPUs at most, and more were asked for",
		"use 8 GPUs or fewer on this host (CUDA_VISIBLE_DEVICES), or one process per GPU; stop the X server there, " +
			"which maps peers too", "CUDA documentation, cudaErrorTooManyPeers",
	},
	{
		"gpu-not-supported", notice.Error, "the library was not built for this model of GPU",
		possible + "the GPU is newer than NCCL or the framework (RTX 50: NCCL 2.26.2 and CUDA 12.8 or later); NCCL " +
			"was built without it (NVCC_GENCODE; nvidia-smi --query-gpu=compute_cap --format=csv); the GPU is too " +
			"old for this CUDA",
		"CUDA documentation, cudaErrorInvalidDeviceFunction",
	},
	{
		"no-such-gpu", notice.Error, "a rank selects a GPU that it cannot see",
		possible + "more ranks per host than GPUs (nproc_per_node, slots of the hostfile, nccl-tests' -g beside one " +
			"rank per GPU); the program selects by global and not by local rank; CUDA_VISIBLE_DEVICES or the " +
			"container has fewer (nvidia-smi -L there)",
		"CUDA documentation, cudaErrorInvalidDevice",
	},
	{
		"peer-gpu-hidden", notice.Error,
		"a process cannot see the GPU of another rank of its host, and so cannot map its memory",
		"let each rank see all GPUs of the host, and select by the local rank: srun --gpus-per-node with " +
			"--gpu-bind=none instead of --gpus-per-task, all GPUs in each container, no CUDA_VISIBLE_DEVICES of one " +
			"GPU; NCCL_P2P_DISABLE=1 runs without it",
		ncclIssue + "1647 and 1948",
	},
	{
		"libcuda-mismatch", notice.Error,
		"the CUDA driver library that the process loads does not fit the driver that runs",
		possible + "LD_LIBRARY_PATH has lib64/stubs or cuda/compat of the toolkit or image (remove it); the driver " +
			"was updated without a reboot; a container holds its own libcuda.so; NCCL was built with another CUDA " +
			"runtime than the program",
		"CUDA documentation, cudaErrorSystemDriverMismatch, cudaErrorStubLibrary and " +
			"cudaErrorCompatNotSupportedOnDevice",
	},
	{
		"gpu-busy", notice.Error, "the GPU is used by another process, or allows one process only",
		"see nvidia-smi; end the other process, or run nvidia-smi -c DEFAULT as root; " + notice.AdviceOwnGPU,
		"CUDA documentation, cudaErrorDevicesUnavailable",
	},
	{
		"gpu-peer-access-failed", notice.Error, "a GPU could not map the memory of another one of the same host",
		possible + "containers without --ipc=host and --pid=host, or without all GPUs in each; GeForce and other " +
			"GPUs without peer access, a virtual machine, IOMMU or PCIe ACS (nvidia-smi topo -p2p r); " +
			"NCCL_P2P_DISABLE=1 runs without it, and must reach every worker (Ray, SSH)",
		notice.RuntimeDoc + ", GPU Direct",
	},
	{
		"gdrcopy-failed", notice.Warning, "GDRCopy, which NCCL_GDRCOPY_ENABLE asks for, does not work",
		"unset NCCL_GDRCOPY_ENABLE, or load the gdrdrv module; in a container: docker run --device=/dev/gdrdrv",
		ncclSource + "src/misc/gdrwrap.cc",
	},
	{
		"cuda-feature-missing", notice.Error, "CUDA does not support an operation here, as in some virtual machines, " +
			"containers and WSL",
		possible + "a vGPU without unified memory (VMware: pciPassthru0.cfg.enable_uvm=1); WSL2 or a container's " +
			"seccomp profile (NCCL_CUMEM_ENABLE=0, then NCCL_P2P_DISABLE=1); an IMEX channel that the container may " +
			"not open; NVLink SHARP (NCCL_NVLS_ENABLE=0); an old driver",
		"CUDA documentation, cudaErrorNotSupported",
	},
	{
		"cuda-init-failed", notice.Error,
		"CUDA could not start in a process: it was forked from one that had used CUDA, or the driver does not work " +
			"there",
		"see nvidia-smi there, and in a machine with NVSwitch systemctl status nvidia-fabricmanager; start worker " +
			"processes with spawn or forkserver, or before CUDA is first used",
		"CUDA documentation, cudaErrorInitializationError",
	},
	{
		"stream-captured", notice.Error,
		"during the capture of a CUDA graph, an operation ran that a graph cannot capture",
		"create communicators, register memory and call each collective once before the capture; if PyTorch's " +
			"watchdog is named, it queried an earlier event: use a newer PyTorch, or " +
			"capture_error_mode=\"thread_local\"",
		"CUDA documentation, cudaErrorStreamCaptureUnsupported",
	},
	{
		"gpu-context-broken", notice.Error,
		"a kernel broke the GPU's context; any kernel that ran before may be the cause, and NCCL only detected it",
		"run the program with CUDA_LAUNCH_BLOCKING=1, or under compute-sanitizer, to find which one: usually an " +
			"index out of range, or a custom kernel; dmesg has Xid 13 or 31",
		"CUDA documentation, cudaErrorIllegalAddress",
	},
	{
		"rccl-scratch-reclaim", notice.Warning,
		"RCCL warns that it is slow or unstable without HSA_NO_SCRATCH_RECLAIM=1 with this driver and firmware",
		"set HSA_NO_SCRATCH_RECLAIM=1 on all ranks, or update ROCm, driver and firmware",
		"github.com/ROCm/rccl, pull request 1867",
	},
	{
		"cuda-call-failed",
		notice.Error,
		"a CUDA call failed, with CUDA's own error text",
		"",
		ncclSource + "src/include/checks.h",
	},
}
