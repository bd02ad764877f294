package nccllogs

import "busbar/internal/notice"

// cause is a known cause of messages.
type cause struct {
	code     notice.Code
	severity notice.Severity
	text     string
	advice   string
	source   string
}

func causeOf(code notice.Code) *cause {
	for i := range causesOfMessages {
		if causesOfMessages[i].code == code {
			return &causesOfMessages[i]
		}
	}
	return &cause{}
}

const (
	sameRoCE = "on RoCE, see show_gids on both hosts: the GID index must be of one kind (RoCE v2), its address " +
		"reachable on that NIC's subnet (NCCL 2.21 and later choose the index: leave NCCL_IB_GID_INDEX unset); on " +
		"InfiniBand, see ibstat and the partition keys: one subnet, one partition; leave out NICs of networks that " +
		"are " +
		"not connected (NCCL_IB_HCA)"
	rails       = "if NICs of different rails do not reach each other: NCCL_CROSS_NIC=0"
	reach       = "test the two NICs with ib_write_bw -d DEVICE; " + rails + "; " + sameRoCE
	firstOfRank = "the cause is on the other rank: look there for the first WARN, Traceback, out of memory, " +
		"Segmentation " +
		"fault or kill"
	returned     = "NCCL returned to the program: "
	before       = "; a message of NCCL before it names the cause"
	again        = "run again with NCCL_DEBUG=INFO, and look for the first warning"
	returnedDoc  = notice.RuntimeDoc + ", Errors"
	possible     = "possible causes, the most frequent first: "
	otherJob     = "check that no second job uses the same address (NCCL_COMM_ID, MASTER_PORT)"
	memoryCauses = "the framework's pool takes all (smaller batches, a limit for the pool); ranks of several " +
		"processes share a GPU; many communicators or all-to-all (NCCL_MAX_NCHANNELS lower, splitShare of " +
		"ncclCommSplit); "
	torchDoc = "PyTorch documentation, ProcessGroupNCCL Environment Variables"
	direct   = "run once with NCCL_NET_GDR_LEVEL=LOC: if that works, GPUDirect RDMA is the cause: check IOMMU and " +
		"PCIe ACS, and that the driver's module for it is loaded and of its version"
	verbsSource = ncclSource + "src/include/ibvcore.h (ibv_wc_status); " + ncclIssue + "426"
	portSource  = ncclSource + "src/transport/net_ib/common.cc"
)

// causesOfMessages are the known causes.
var causesOfMessages = []cause{
	{
		"shared-memory-full",
		notice.Error,
		"/dev/shm is full: NCCL's shared memory does not fit",
		notice.AdviceShared,
		notice.RuntimeDoc + ", Shared memory",
	},
	{
		"bus-error", notice.Error, "a process died of SIGBUS: in a container usually because /dev/shm is full, " +
			"elsewhere also " +
			"of faulty memory",
		"see df -h /dev/shm, and dmesg for faulty memory; " + notice.AdviceShared,
		notice.RuntimeDoc + ", Shared memory",
	},
	{
		"shared-memory-removed", notice.Warning,
		"NCCL's files in /dev/shm were removed; systemd does this for users who are not logged in",
		"set RemoveIPC=no in /etc/systemd/logind.conf, and restart systemd-logind",
		notice.RuntimeDoc + ", Shared memory",
	},
	{
		"shared-memory-failed", notice.Error,
		"shared memory in /dev/shm could not be created or attached: it is too small, or processes of one host do " +
			"not " +
			"share it",
		notice.AdviceShared + "; many communicators need much; if the message has size 0, set NCCL_CUMEM_HOST_ENABLE=0",
		notice.RuntimeDoc +
			", Shared memory",
	},
	{
		"shared-memory-handle", notice.Error, "a rank got an invalid handle of shared memory from a rank of its host",
		possible + "a NUMA node without memory, or a container that forbids cuMem host memory (set " +
			"NCCL_CUMEM_HOST_ENABLE=0); ranks with different versions of NCCL", ncclIssue + "2059",
	},
	{
		"too-many-open-files",
		notice.Error,
		"the process has no file descriptors left",
		notice.AdviceFiles,
		notice.RuntimeDoc + ", File Descriptors",
	},
	{
		"nic-cannot-reach-gpu",
		notice.Error,
		"the NIC cannot access GPU memory",
		notice.AdvicePeermem,
		"github.com/Mellanox/nv_peer_memory, issue 27",
	},
	{
		"dmabuf-unsupported", notice.Error, "the InfiniBand driver does not support DMA-BUF",
		"set NCCL_DMABUF_ENABLE=0, or install a newer NCCL or InfiniBand driver", ncclIssue + "778",
	},
	{
		"locked-memory-limit", notice.Error,
		"the NIC could not lock memory, usually because the limit of locked memory is too small", notice.AdviceLocked +
			"; where ulimit -l in the job is unlimited: too many connections (alltoall of hundreds of nodes: PXN on, " +
			"NCCL_NCHANNELS_PER_NET_PEER=1), or on DGX Spark kernel 7.0.0-1019 (boot 6.17)", notice.NetworkDoc +
			", InfiniBand",
	},
	{
		"wrong-gid-index", notice.Error,
		"an RDMA connection could not be set up, on RoCE usually because of a wrong GID index",
		"before NCCL 2.21: see show_gids, and set NCCL_IB_GID_INDEX to the one of RoCE v2; since 2.21: leave it unset",
		notice.NetworkDoc + ", RDMA over Converged Ethernet",
	},
	{
		"nic-without-gid", notice.Error,
		"a NIC has no address (GID) at this index here, as in a container that sees NICs or " +
			"virtual functions of other containers",
		"name in NCCL_IB_HCA only the NICs that show_gids lists in the container, or run it with --network=host; " +
			"unset " +
			"NCCL_IB_GID_INDEX", ncclIssue + "925",
	},
	{
		"rdma-setup-failed", notice.Error,
		"a NIC could not set up its InfiniBand or RoCE connection to the NIC of another " +
			"host",
		reach,
		notice.NetworkDoc + ", InfiniBand; " + ncclIssue + "1405, 426, 769 and 2013",
	},
	{
		"gid-unreadable", notice.Error, "NCCL read a GID of a RoCE NIC that the container does not have; NCCL 2.22 " +
			"to 2.25 " +
			"end " +
			"there",
		"use NCCL 2.26 or later, or an older one; with 2.22 to 2.25, set NCCL_IB_GID_INDEX to an index that " +
			"show_gids " +
			"lists in the container", ncclIssue + "1573",
	},
	{
		"nic-port-error",
		notice.Error,
		"the NIC reported a fault of its own, such as a port that went down",
		notice.AdviceCable,
		portSource,
	},
	{
		"rdma-access-refused", notice.Error,
		"a NIC reported an access violation: it refused data or a request of its peer",
		"compare active_mtu of both NICs in ibv_devinfo: NCCL 2.20 and later do not adapt it; then check PCIe ACS " +
			"(lspci " +
			"-vvv | grep ACSCtl)", "github.com/NVIDIA/nccl, issue 1524",
	},
	{"nic-event", notice.Info, "the NIC reported a network change that ends no communication", "", portSource},
	{
		"network-plugin-missing", notice.Error, "the network that NCCL_NET names was not found: its plugin is missing",
		"add the folder of its libnccl-net.so to LD_LIBRARY_PATH, or unset NCCL_NET", ncclSource + "src/net.cc",
	},
	{
		"nvls-setup-failed", notice.Error, "memory of NVLink SHARP could not be set up in the NVSwitches",
		possible + "nvidia-fabricmanager does not run (systemctl status), or was restarted while GPUs were in use " +
			"(reset " +
			"the GPUs or reboot); the driver is older than the CUDA of NCCL (update it); a virtual machine or " +
			"container " +
			"without all GPUs; NCCL_NVLS_ENABLE=0 runs without it",
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
		"call-failed", notice.Warning, "NCCL returned an error to the program; a message of NCCL before it names the " +
			"cause",
		again, returnedDoc,
	},
	{
		"returned-system-error", notice.Warning, returned + "“unhandled system error”" + before,
		possible + "in a container, /dev/shm is too small (--shm-size=8g or --ipc=host); between hosts, a wrong " +
			"interface (NCCL_SOCKET_IFNAME) or a firewall; with InfiniBand, the limit of locked memory or the GID " +
			"index; " +
			"another rank ended; open files; " + again, returnedDoc,
	},
	{
		"returned-cuda-error", notice.Warning, returned + "“unhandled cuda error”" + before,
		possible + "GPU memory is full; driver, CUDA and NCCL do not fit together, or do not support this GPU " +
			"(nvidia-smi; RTX 50: NCCL 2.26.2 or later); peer access does not work, as in virtual machines, WSL2 and " +
			"containers (NCCL_P2P_DISABLE=1); two ranks use one GPU, or a rank one that it cannot see; a kernel " +
			"crashed " +
			"before; " + again, returnedDoc,
	},
	{
		"returned-usage-error", notice.Warning, returned + "“invalid usage” or “invalid argument”" + before,
		possible + "two ranks use one GPU; ranks run different versions of NCCL; ranks call different collectives or " +
			"sizes; a tensor is on another device; " + again, returnedDoc,
	},
	{
		"returned-internal-error", notice.Warning, returned + "“internal error”" + before,
		possible + "another rank ended or failed (look at its output); a wrong interface, IPv6 or a proxy between " +
			"hosts; " +
			"a topology file or virtual machine with wrong topology; different versions of NCCL; " + again, returnedDoc,
	},
	{
		"returned-remote-error", notice.Warning,
		returned + "“remote error”: another rank failed or ended, or the network " +
			"between them", firstOfRank,
		returnedDoc,
	},
	{
		"collective-mismatch", notice.Error,
		"two ranks exchanged messages of different sizes: they were in different collectives, or in one with " +
			"different " +
			"sizes or settings",
		possible + "ranks call another collective, order, size or type (compare with NCCL_DEBUG_SUBSYS=COLL); NCCL_* " +
			"variables differ (then NCCL_PROTO=SIMPLE works); NCCL versions differ; on NVIDIA's NICs, mlxconfig's " +
			"PCI_WR_ORDERING is not per_mkey",
		ncclIssue + "615 and 969",
	},
	{
		"invalid-call", notice.Error, "the program called NCCL with arguments that NCCL rejects",
		"look at the call that the message names: its root, type, pointers, device and communicator",
		notice.RuntimeDoc + ", Errors",
	},
	{
		"no-transport", notice.Error, "two ranks cannot reach each other: every way between them is disabled or does " +
			"not work",
		"unset NCCL_P2P_DISABLE, NCCL_SHM_DISABLE and NCCL_NET, or make one of GPU-to-GPU access, shared memory and " +
			"network work",
		ncclSource + "src/transport.cc",
	},
	{
		"no-algorithm", notice.Error, "NCCL_ALGO and NCCL_PROTO leave no algorithm and protocol for this collective",
		"unset NCCL_ALGO and NCCL_PROTO, or allow more in them (Ring and Simple support every collective)",
		ncclSource + "src/enqueue.cc",
	},
	{
		"imex-not-ready", notice.Error, "NVLink connects the hosts, but the IMEX service that it needs does not work",
		"see nvidia-imex-ctl -N, and whether each container has the same /dev/nvidia-caps-imex-channels/channel* and " +
			"may " +
			"open it; NCCL_MNNVL_ENABLE=0 runs without it",
		ncclSource + "src/mnnvl.cc",
	},
	{
		"nccl-too-old", notice.Error, "the program was built for another version of NCCL than the one that it loads",
		possible + "two NCCL packages (pip list | grep nccl: keep one nvidia-nccl-cu…, that of torch); " +
			"LD_LIBRARY_PATH " +
			"or the system has another libnccl.so.2 (ldd); the framework is older than NCCL's interface: load the " +
			"NCCL that " +
			"it was built with",
		ncclSource + "src/dev_runtime.cc",
	},
	{
		"topology-incomplete", notice.Error,
		"NCCL could not read the topology of the host from /sys, as in some virtual " +
			"machines and containers",
		possible + "a virtual machine or container hides /sys (mount it, or use the cloud's NCCL_TOPO_FILE); " +
			"NCCL_GRAPH_FILE is set, also in /etc/nccl.conf; WSL2 with NCCL before 2.10; otherwise try a newer NCCL",
		ncclSource + "src/graph/topo.cc",
	},
	{
		"libfabric-no-provider", notice.Error, "aws-ofi-nccl found no network that it can use",
		"see fi_info -p efa there; install the EFA driver, rdma-core and EFA's libfabric, put /opt/amazon/efa/lib on " +
			"LD_LIBRARY_PATH; in a container: docker run --device=/dev/infiniband/uverbs0, one for each adapter",
		"github.com/aws/aws-ofi-nccl, src/nccl_ofi_net.cpp",
	},
	{
		"libfabric-version", notice.Error,
		"libfabric does not have an option that aws-ofi-nccl needs: the two do not fit " +
			"together",
		"build aws-ofi-nccl against the libfabric that it loads (ldd libnccl-net.so), or install the EFA driver's " +
			"newest " +
			"libfabric in host and container", "github.com/aws/aws-ofi-nccl, issue 241",
	},
	{
		"libfabric-registration", notice.Error, "an EFA or libfabric adapter could not register memory",
		possible + "the limit of locked memory (ulimit -l unlimited); no huge pages left, as with forked data " +
			"loaders " +
			"(FI_EFA_USE_HUGE_PAGE=0); EFA driver and libfabric not of one installer; for GPU memory, an instance " +
			"type " +
			"without GPUDirect RDMA", "github.com/aws/aws-ofi-nccl, src/nccl_ofi_net.cpp",
	},
	{
		"libfabric-failed", notice.Error, "a transfer through libfabric failed",
		possible + "the security group does not allow all traffic within itself, in and out (RC 113 and most " +
			"others); " +
			"the other " +
			"rank ended or failed (look at its first error); versions of libfabric, plugin and EFA driver differ " +
			"between " +
			"hosts", "AWS documentation, EFA security groups",
	},
	{
		"mixed-fabrics", notice.Error, "an InfiniBand port tried to connect to a RoCE port",
		"name NICs of one kind: NCCL_IB_HCA",
		ncclSource + "src/transport/net_ib/connect.cc",
	},
	{
		"libibverbs-missing", notice.Warning,
		"the library for InfiniBand and RoCE is missing, so that NCCL does not use them",
		"install libibverbs (rdma-core) on the host, or in the image", ncclSource + "src/misc/ibvsymbols.cc",
	},
	{
		"nvlink-p2p-disabled", notice.Error,
		"two GPUs have NVLink between them and may not access each other, which points to the hardware",
		"see nvidia-smi topo -p2p n and nvidia-smi nvlink --status there; reset the GPUs",
		ncclSource + "src/graph/paths.cc",
	},
	{
		"duplicate-gpu", notice.Error, "two ranks use the same GPU", possible + "the program does not call " +
			"torch.cuda.set_device(LOCAL_RANK) or selects a fixed GPU; more ranks a host than GPUs (nproc_per_node, " +
			"srun " +
			"--gpus-per-task=1); CUDA_VISIBLE_DEVICES is the same for ranks of their own; the ranks use MIG " +
			"instances of " +
			"one GPU, which NCCL does not support",
		ncclSource + "src/init.cc",
	},
	{
		"nccl-version-mismatch",
		notice.Error,
		"ranks run different versions of NCCL",
		notice.AdviceOneLibrary,
		ncclSource + "src/init.cc",
	},
	{
		"nic-count-differs", notice.Warning, "hosts have different numbers of NICs for NCCL",
		"see which host lacks one; " +
			"NCCL_IGNORE_NET_MISMATCH=1 only hides it and may hang; " + notice.AdviceCable,
		ncclSource + "src/init.cc",
	},
	{
		"duplicate-rank", notice.Error, "two processes have the same rank", "check how ranks are numbered; " + otherJob,
		ncclSource + "src/bootstrap.cc",
	},
	{
		"world-size-mismatch", notice.Error,
		"processes that met have different world sizes: often two jobs share one address",
		otherJob,
		ncclSource + "src/bootstrap.cc",
	},
	{
		"no-usable-interface", notice.Error,
		"no network interface can be used, or the one that NCCL_SOCKET_IFNAME names is " +
			"not " +
			"there, so that ranks cannot meet",
		"see ip -br address on each host, and NCCL_SOCKET_IFNAME", notice.NetworkDoc + ", IP network interfaces",
	},
	{
		"peer-address-unknown", notice.Error, "a rank got no address of the rank that it should connect to",
		"check that all nodes load the same version of NCCL (NCCL_DEBUG=VERSION); then NCCL_SOCKET_IFNAME on each host",
		"github.com/NVIDIA/nccl, issue 1267",
	},
	{
		"no-usable-network", notice.Error,
		"no network can be used: the one that NCCL_NET or NCCL_NET_PLUGIN names is missing or did not start",
		"unset NCCL_NET and NCCL_NET_PLUGIN, or add the plugin's folder to LD_LIBRARY_PATH",
		ncclSource + "src/plugin/net.cc",
	},
	{
		"topology-file-invalid", notice.Error, "NCCL cannot use the topology that it read from a file or from /sys",
		possible + "the file that NCCL_TOPO_FILE or NCCL_GRAPH_FILE names (also in /etc/nccl.conf and ~/.nccl.conf) " +
			"does not fit this machine; /sys is not visible in a virtual machine or container; a NIC without a PCI " +
			"address, such as USB (exclude it with NCCL_SOCKET_IFNAME, or give a file); a defect of an old NCCL with " +
			"CPUs " +
			"whose GPUs are not used (use a newer one)",
		ncclIssue + "1726",
	},
	{
		"cuda-library-missing", notice.Warning,
		"the driver's library libcuda.so was not found, so that NCCL uses fewer " +
			"functions of CUDA",
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
			"one " +
			"accessed",
		"see nvidia-smi nvlink --errorcounters and dmesg (Xid 74) there; reset the GPUs, and have the host checked " +
			"if it " +
			"comes back",
		"CUDA documentation, cudaErrorNvlinkUncorrectable",
	},
	{
		"gpu-lost", notice.Error, "the driver lost a GPU: it no longer answers on PCIe",
		"see dmesg (Xid 79) there; take the host out of use, and restart it", "NVIDIA documentation, Xid Errors",
	},
	{
		"program-out-of-memory", notice.Error,
		"the program ran out of GPU memory on a rank, for which the other ranks then " +
			"wait",
		"use smaller batches or shards on that rank; nvidia-smi shows who else uses its GPU",
		"PyTorch documentation, " +
			"CUDA semantics",
	},
	{
		"driver-too-old", notice.Error, "the driver is older than the CUDA version that NCCL was built for",
		"install a newer driver, or a framework and NCCL built for a CUDA that the driver supports (pip's -cu11, " +
			"-cu12, " +
			"-cu13)", "CUDA documentation, cudaErrorInsufficientDriver",
	},
	{
		"gpu-peers-exhausted", notice.Error,
		"a GPU without NVSwitch can map the memory of 8 other GPUs at most, and more " +
			"were " +
			"asked for",
		"use 8 GPUs or fewer on this host (CUDA_VISIBLE_DEVICES), or one process per GPU; stop the X server there, " +
			"which " +
			"maps peers too", "CUDA documentation, cudaErrorTooManyPeers",
	},
	{
		"gpu-not-supported", notice.Error, "the library was not built for this model of GPU",
		possible + "the GPU is newer than NCCL or the framework (RTX 50: NCCL 2.26.2 and CUDA 12.8 or later); NCCL " +
			"was " +
			"built without it (NVCC_GENCODE; nvidia-smi --query-gpu=compute_cap --format=csv); the GPU is too old " +
			"for this CUDA",
		"CUDA documentation, cudaErrorInvalidDeviceFunction",
	},
	{
		"no-such-gpu", notice.Error, "a rank selects a GPU that it cannot see",
		possible + "more ranks a host than GPUs (nproc_per_node, slots of the hostfile, nccl-tests' -g beside one " +
			"rank a " +
			"GPU); the program selects by global and not by local rank; CUDA_VISIBLE_DEVICES or the container has " +
			"fewer " +
			"(nvidia-smi -L there)",
		"CUDA documentation, cudaErrorInvalidDevice",
	},
	{
		"peer-gpu-hidden", notice.Error,
		"a process cannot see the GPU of another rank of its host, and so cannot map its " +
			"memory",
		"let each rank see all GPUs of the host, and select by the local rank: srun --gpus-per-node with " +
			"--gpu-bind=none " +
			"instead of --gpus-per-task, all GPUs in each container, no CUDA_VISIBLE_DEVICES of one GPU; " +
			"NCCL_P2P_DISABLE=1 " +
			"runs without it",
		ncclIssue + "1647 and 1948",
	},
	{
		"libcuda-mismatch", notice.Error,
		"the CUDA driver library that the process loads does not fit the driver that runs",
		possible + "LD_LIBRARY_PATH has lib64/stubs or cuda/compat of the toolkit or image (remove it); the driver " +
			"was " +
			"updated without a reboot; a container holds its own libcuda.so; NCCL was built with another CUDA " +
			"runtime " +
			"than the program",
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
			"GPUs " +
			"without peer access, a virtual machine, IOMMU or PCIe ACS (nvidia-smi topo -p2p r); NCCL_P2P_DISABLE=1 " +
			"runs " +
			"without it, and must reach every worker (Ray, SSH)",
		notice.RuntimeDoc + ", GPU Direct",
	},
	{
		"unix-socket-failed", notice.Error,
		"processes of one host could not exchange GPU memory handles over a Unix socket, as in containers that do " +
			"not " +
			"share a network",
		"run the containers of a host with --network=host, or one container for each host; NCCL_CUMEM_ENABLE=0 runs " +
			"without it",
		ncclSource + "src/misc/ipcsocket.cc",
	},
	{
		"gdrcopy-failed", notice.Warning, "GDRCopy, which NCCL_GDRCOPY_ENABLE asks for, does not work",
		"unset NCCL_GDRCOPY_ENABLE, or load the gdrdrv module; in a container: docker run --device=/dev/gdrdrv",
		ncclSource + "src/misc/gdrwrap.cc",
	},
	{
		"cuda-feature-missing", notice.Error, "CUDA does not support an operation here, as in some virtual machines, " +
			"containers " +
			"and WSL",
		possible + "a vGPU without unified memory (VMware: pciPassthru0.cfg.enable_uvm=1); WSL2 or a container's " +
			"seccomp " +
			"profile (NCCL_CUMEM_ENABLE=0, then NCCL_P2P_DISABLE=1); an IMEX channel that the container may not " +
			"open; " +
			"NVLink SHARP (NCCL_NVLS_ENABLE=0); an old driver",
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
		"an operation ran that a CUDA graph cannot capture while one was being captured",
		"create communicators, register memory and call each collective once before the capture; where PyTorch's " +
			"watchdog is named, it queried an event of before: use a newer PyTorch, or " +
			"capture_error_mode=\"thread_local\"",
		"CUDA documentation, cudaErrorStreamCaptureUnsupported",
	},
	{
		"gpu-context-broken", notice.Error,
		"a kernel broke the GPU's context; any kernel that ran before may be the cause, and NCCL only detected it",
		"run the program with CUDA_LAUNCH_BLOCKING=1, or under compute-sanitizer, to find which one: usually an " +
			"index " +
			"out of range, or a custom kernel; dmesg has Xid 13 or 31",
		"CUDA documentation, cudaErrorIllegalAddress",
	},
	{
		"store-unreachable", notice.Error,
		"ranks did not reach PyTorch's store at MASTER_ADDR:MASTER_PORT: rank 0 did not start, or its host or port " +
			"is " +
			"wrong or blocked",
		"see whether rank 0 runs, and test its port from the other hosts: nc -zv $MASTER_ADDR $MASTER_PORT",
		"PyTorch documentation, torch.distributed.TCPStore",
	},
	{
		"pytorch-watchdog-timeout", notice.Warning,
		`PyTorch's watchdog gave up: a rank did not arrive in time. The time is PyTorch's ` +
			`(init_process_group(timeout=…), 10 minutes for NCCL since 2.2, 30 before); NCCL has no NCCL_TIMEOUT`,
		"the cause is on the rank that did not call: it has the lowest “last enqueued NCCL work” (or see " +
			"TORCH_NCCL_DUMP_ON_TIMEOUT=1 with TORCH_NCCL_TRACE_BUFFER_SIZE=2000); " + possible +
			"code that one rank alone " +
			"runs (checkpoint, evaluation, if rank == 0 with a collective in it); data that differ between ranks " +
			"(number of " +
			"batches, unused parameters, shapes); slow loading or tokenizing, for which a longer time helps; a rank " +
			"that " +
			"crashed or ran out of memory; at the first collective, GPU peer access or the network",
		torchDoc + "; github.com/pytorch/pytorch, pull request 110947",
	},
	{
		"pytorch-heartbeat-timeout", notice.Warning,
		"PyTorch's watchdog thread itself hung, usually inside a CUDA or NCCL call " +
			"that does not return; the time is TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC",
		"find the rank that did not call; a longer time only hides it", torchDoc,
	},
	{
		"barrier-device-guessed", notice.Warning,
		"PyTorch guessed the GPU of a rank for a barrier; a wrong guess hangs or uses " +
			"one GPU twice",
		"call torch.cuda.set_device(LOCAL_RANK) first and pass device_id to init_process_group; ignore it where all " +
			"goes " +
			"well",
		"github.com/pytorch/pytorch, pull request 134617",
	},
	{
		"process-group-left", notice.Info,
		"a process ended without destroy_process_group(), which blocks ranks that still " +
			"communicate",
		"if ranks hang or fail at the end, call destroy_process_group() on all of them, in one order", torchDoc,
	},
	{
		"rccl-scratch-reclaim", notice.Warning,
		"RCCL warns that it is slow or unstable without HSA_NO_SCRATCH_RECLAIM=1 with " +
			"this driver and firmware",
		"set HSA_NO_SCRATCH_RECLAIM=1 on all ranks, or update ROCm, driver and firmware",
		"github.com/ROCm/rccl, pull " +
			"request 1867",
	},
	{
		"nic-unusable", notice.Error, "a NIC could not be used for InfiniBand or RoCE",
		"see ibv_devinfo there: the port must be active; " + notice.AdviceDevices + "; " + reach,
		notice.NetworkDoc + ", InfiniBand",
	},
	{
		"address-in-use", notice.Error, "an address or a port is in use, or no port is left",
		otherJob + "; end the processes of older jobs; with many ranks, widen net.ipv4.ip_local_port_range and leave " +
			"PXN " +
			"on", notice.NetworkDoc + ", IP network interfaces",
	},
	{
		"address-not-local", notice.Error, "rank 0 cannot listen on the address that was given: it is of another host",
		"let NCCL_COMM_ID (or MASTER_ADDR) name the host of rank 0, by an address of its own",
		notice.NetworkDoc + ", IP " +
			"network interfaces",
	},
	{
		"address-not-resolved", notice.Error, "the address at which ranks meet cannot be read or resolved",
		"see getent hosts NAME there; NCCL_COMM_ID is HOST:PORT",
		"NCCL documentation, Environment Variables, NCCL_COMM_ID",
	},
	{
		"no-unique-id", notice.Error, "a rank did not get NCCL's id from rank 0 through PyTorch's store: rank 0 " +
			"failed or " +
			"did not " +
			"start",
		"look at the output of rank 0, and whether all ranks create this process group, in the same order",
		"PyTorch's source, torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp",
	},
	{
		"process-killed", notice.Error, "a process was killed with signal 9, usually because the host or the " +
			"container ran " +
			"out " +
			"of memory",
		"see dmesg there (oom-kill); raise the memory of the job (srun --mem=0) or of the container",
		"man 7 signal; man " +
			"5 proc, oom_score",
	},
	{
		"too-many-threads", notice.Error, "the process could not start another thread",
		"raise the limit of processes: ulimit -u, TasksMax of slurmd, docker run --pids-limit=-1",
		"man pthread_create, " +
			"EAGAIN",
	},
	{
		"host-out-of-memory", notice.Error, "the host had no memory left for the process",
		"with EFA and forked workers, set FI_EFA_USE_HUGE_PAGE=0; see free -g and dmesg there; raise the memory of " +
			"the " +
			"job (srun --mem=0) or of the container", "man malloc, ENOMEM",
	},
	{
		"host-unreachable", notice.Error,
		"there is no route from here to the address of another rank: usually a wrong " +
			"interface",
		meetCauses,
		notice.NetworkDoc + ", IP network interfaces",
	},
	{
		"connection-refused", notice.Error,
		"another rank's host refused the connection: its process ended, or the address belongs to another host",
		"if it ended: " + firstOfRank + "; else " + meetCauses, notice.NetworkDoc + ", IP network interfaces",
	},
	{
		"connection-failed", notice.Error, "a connection to another rank could not be made",
		meetCauses + "; a busy host that drops connections (net.core.somaxconn, tcp_max_syn_backlog): NCCL 2.24 and " +
			"later try again",
		notice.NetworkDoc + ", IP network interfaces",
	},
	{
		"remote-closed", notice.Warning, "the other end closed the connection: its process failed or ended first",
		firstOfRank +
			"; where no process failed: a NIC or network that fails (NET/IB errors in the logs of its host), an " +
			"Istio sidecar (sidecar.istio.io/inject: \"false\"), other versions of NCCL, or, " +
			"before NCCL 2.27.3, a port scanner",
		ncclSource + "src/misc/socket.cc",
	},
	{
		"proxy-failed", notice.Warning, "NCCL's own thread met a failure that was reported before",
		"look at the message before this one, of the same process", ncclSource + "src/proxy.cc",
	},
	{
		"bootstrap-mismatch", notice.Warning,
		"ranks exchanged different data while they met: one of them is a step ahead, of another job, or runs another " +
			"version of NCCL",
		"compare what the ranks called; " + otherJob, ncclSource + "src/bootstrap.cc",
	},
	{
		"cuda-call-failed",
		notice.Error,
		"a CUDA call failed, with CUDA's own error text",
		"",
		ncclSource + "src/include/checks.h",
	},

	{
		"rdma-local-protection", notice.Error,
		"an RDMA operation failed with status 4 (IBV_WC_LOC_PROT_ERR): it used memory that is not registered with " +
			"the NIC",
		direct,
		verbsSource,
	},
	{
		"rdma-flushed", notice.Warning,
		"an RDMA operation was dropped with status 5 (IBV_WC_WR_FLUSH_ERR): its connection had failed before",
		"look for the first completion with another status", verbsSource,
	},
	{
		"rdma-refused", notice.Error,
		"an RDMA operation failed with status 9 (IBV_WC_REM_INV_REQ_ERR): the remote NIC refused the operation",
		"compare active_mtu of both NICs in ibv_devinfo; look for async events of the other host", verbsSource + "; " +
			ncclIssue + "1710",
	},
	{
		"rdma-remote-access", notice.Error,
		"an RDMA operation failed with status 10 (IBV_WC_REM_ACCESS_ERR): the remote memory may not be accessed",
		direct,
		verbsSource,
	},
	{
		"rdma-remote-failed", notice.Error,
		"an RDMA operation failed with status 11 (IBV_WC_REM_OP_ERR): the remote end could not perform it", firstOfRank,
		verbsSource,
	},
	{
		"rdma-no-answer", notice.Error, "an RDMA operation failed with status 12 (IBV_WC_RETRY_EXC_ERR; 129 is the " +
			"vendor's " +
			"number for it): the remote NIC did not answer, despite retries",
		"if it comes at once: check that the NICs reach each other (ib_write_bw between the two), and the GID index " +
			"and " +
			"traffic class on RoCE; " + rails +
			"; if it comes later: cables, congestion, or the other process ended; " +
			"NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT allow more time", verbsSource,
	},
	{
		"rdma-receiver-not-ready", notice.Error,
		"an RDMA operation failed with status 13 (IBV_WC_RNR_RETRY_EXC_ERR): the remote end was not ready to " +
			"receive, " +
			"despite retries",
		firstOfRank, verbsSource,
	},
	{
		"rdma-failed", notice.Error, "an RDMA operation failed; the message has its status (libibverbs' ibv_wc_status)",
		"",
		verbsSource,
	},
}
