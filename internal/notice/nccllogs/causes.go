package nccllogs

import (
	"slices"

	"busbar/internal/notice"
)

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
		"are not connected (NCCL_IB_HCA)"
	rails       = "if NICs of different rails do not reach each other: NCCL_CROSS_NIC=0"
	reach       = "test the two NICs with ib_write_bw -d DEVICE; " + rails + "; " + sameRoCE
	firstOfRank = "the cause is on the other rank: look there for the first WARN, Traceback, out of memory, " +
		"Segmentation fault or kill"
	returned     = "NCCL returned "
	before       = "; an earlier message of NCCL names the cause"
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
var causesOfMessages = slices.Concat(hostCauses, networkCauses, gpuCauses)

// hostCauses are those in hosts, processes and calls.
var hostCauses = []cause{
	{
		"shared-memory-full",
		notice.Error,
		"/dev/shm is full: NCCL's shared memory does not fit",
		notice.AdviceShared,
		notice.RuntimeDoc + ", Shared memory",
	},
	{
		"bus-error", notice.Error, "a process died of SIGBUS: in a container usually because /dev/shm is full, " +
			"elsewhere also of faulty memory",
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
			"not share it",
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
		"call-failed", notice.Warning, "NCCL returned an error to the program; an earlier message of NCCL names the " +
			"cause",
		again, returnedDoc,
	},
	{
		"returned-system-error", notice.Warning, returned + "“unhandled system error”" + before,
		possible + "in a container, /dev/shm is too small (--shm-size=8g or --ipc=host); between hosts, a wrong " +
			"interface (NCCL_SOCKET_IFNAME) or a firewall; with InfiniBand, the limit of locked memory or the GID " +
			"index; another rank ended; open files; " + again, returnedDoc,
	},
	{
		"returned-cuda-error", notice.Warning, returned + "“unhandled cuda error”" + before,
		possible + "GPU memory is full; driver, CUDA and NCCL do not fit together, or do not support this GPU " +
			"(nvidia-smi; RTX 50: NCCL 2.26.2 or later); peer access does not work, as in virtual machines, WSL2 and " +
			"containers (NCCL_P2P_DISABLE=1); two ranks use one GPU, or a rank one that it cannot see; a kernel " +
			"crashed before; " + again, returnedDoc,
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
		returned + "“remote error”: another rank failed or ended, or the network between them", firstOfRank,
		returnedDoc,
	},
	{
		"collective-mismatch", notice.Error,
		"two ranks exchanged messages of different sizes: they were in different collectives, or in one with " +
			"different sizes or settings",
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
		"nccl-too-old", notice.Error, "the program was built for another version of NCCL than the one that it loads",
		possible + "two NCCL packages (pip list | grep nccl: keep one nvidia-nccl-cu…, that of torch); " +
			"LD_LIBRARY_PATH or the system has another libnccl.so.2 (ldd); the framework is older than NCCL's " +
			"interface: load the NCCL that it was built with",
		ncclSource + "src/dev_runtime.cc",
	},
	{
		"topology-incomplete", notice.Error,
		"NCCL could not read the topology of the host from /sys, as in some virtual machines and containers",
		possible + "a virtual machine or container hides /sys (mount it, or use the cloud's NCCL_TOPO_FILE); " +
			"NCCL_GRAPH_FILE is set, also in /etc/nccl.conf; WSL2 with NCCL before 2.10; otherwise try a newer NCCL",
		ncclSource + "src/graph/topo.cc",
	},
	{
		"nccl-version-mismatch",
		notice.Error,
		"ranks run different versions of NCCL",
		notice.AdviceOneLibrary,
		ncclSource + "src/init.cc",
	},
	{
		"duplicate-rank", notice.Error, "two processes have the same rank", "check how ranks are numbered; " + otherJob,
		ncclSource + "src/bootstrap.cc",
	},
	{
		"world-size-mismatch", notice.Error,
		"processes of one communicator have different world sizes: often two jobs share one address",
		otherJob,
		ncclSource + "src/bootstrap.cc",
	},
	{
		"topology-file-invalid", notice.Error, "NCCL cannot use the topology that it read from a file or from /sys",
		possible + "the file that NCCL_TOPO_FILE or NCCL_GRAPH_FILE names (also in /etc/nccl.conf and ~/.nccl.conf) " +
			"does not fit this machine; /sys is not visible in a virtual machine or container; a NIC without a PCI " +
			"address, such as USB (exclude it with NCCL_SOCKET_IFNAME, or give a file); a defect of an old NCCL with " +
			"CPUs whose GPUs are not used (use a newer one)",
		ncclIssue + "1726",
	},
	{
		"program-out-of-memory", notice.Error,
		"the program ran out of GPU memory on a rank, for which the other ranks then wait",
		"use smaller batches or shards on that rank; nvidia-smi shows who else uses its GPU",
		"PyTorch documentation, CUDA semantics",
	},
	{
		"unix-socket-failed", notice.Error,
		"processes of one host could not exchange GPU memory handles over a Unix socket, as in containers that do " +
			"not share a network",
		"run the containers of a host with --network=host, or one container for each host; NCCL_CUMEM_ENABLE=0 runs " +
			"without it",
		ncclSource + "src/misc/ipcsocket.cc",
	},
	{
		"store-unreachable", notice.Error,
		"ranks did not reach PyTorch's store at MASTER_ADDR:MASTER_PORT: rank 0 did not start, or its host or port " +
			"is wrong or blocked",
		"see whether rank 0 runs, and test its port from the other hosts: nc -zv $MASTER_ADDR $MASTER_PORT",
		"PyTorch documentation, torch.distributed.TCPStore",
	},
	{
		"pytorch-watchdog-timeout", notice.Warning,
		`PyTorch's watchdog timed out: a rank did not arrive in time. PyTorch sets the timeout ` +
			`(init_process_group(timeout=…), 10 minutes for NCCL since 2.2, 30 before); NCCL has no NCCL_TIMEOUT`,
		"the cause is on the rank that did not call: it has the lowest “last enqueued NCCL work” (or see " +
			"TORCH_NCCL_DUMP_ON_TIMEOUT=1 with TORCH_NCCL_TRACE_BUFFER_SIZE=2000); " + possible +
			"code that one rank alone " +
			"runs (checkpoint, evaluation, if rank == 0 with a collective in it); data that differ between ranks " +
			"(number of batches, unused parameters, shapes); slow loading or tokenizing, for which a longer time " +
			"helps; a rank that crashed or ran out of memory; at the first collective, GPU peer access or the network",
		torchDoc + "; github.com/pytorch/pytorch, pull request 110947",
	},
	{
		"pytorch-heartbeat-timeout", notice.Warning,
		"PyTorch's watchdog thread itself hung, usually inside a CUDA or NCCL call " +
			"that does not return; the timeout is TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC",
		"find the rank that did not call; a longer timeout only hides it", torchDoc,
	},
	{
		"barrier-device-guessed", notice.Warning,
		"PyTorch guessed the GPU of a rank for a barrier; a wrong guess hangs or uses one GPU twice",
		"call torch.cuda.set_device(LOCAL_RANK) first and pass device_id to init_process_group; ignore it if the " +
			"program works",
		"github.com/pytorch/pytorch, pull request 134617",
	},
	{
		"process-group-left", notice.Info,
		"a process ended without destroy_process_group(), which blocks ranks that still communicate",
		"if ranks hang or fail at the end, call destroy_process_group() on all of them, in one order", torchDoc,
	},
	{
		"process-killed", notice.Error, "a process was killed with signal 9, usually because the host or the " +
			"container ran out of memory",
		"see dmesg there (oom-kill); raise the memory of the job (srun --mem=0) or of the container",
		"man 7 signal; man 5 proc, oom_score",
	},
	{
		"too-many-threads", notice.Error, "the process could not start another thread",
		"raise the limit of processes: ulimit -u, TasksMax of slurmd, docker run --pids-limit=-1",
		"man pthread_create, EAGAIN",
	},
	{
		"host-out-of-memory", notice.Error, "the host had no memory left for the process",
		"with EFA and forked workers, set FI_EFA_USE_HUGE_PAGE=0; see free -g and dmesg there; raise the memory of " +
			"the job (srun --mem=0) or of the container", "man malloc, ENOMEM",
	},
}
