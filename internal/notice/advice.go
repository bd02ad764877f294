package notice

// Advice about faults of a set-up that several notices share: preflight finds them on the machine, logs and timelines
// after a run.

// The host.
const (
	// AdviceShared is for too little of /dev/shm.
	AdviceShared = "enlarge /dev/shm: docker run --shm-size=8g (or --ipc=host); on a host: mount -o remount,size=50% " +
		"/dev/shm; delete files of dead jobs in it"
	// AdviceLocked is for a ulimit -l that keeps RDMA from registering memory.
	AdviceLocked = "set ulimit -l unlimited: /etc/security/limits.conf (memlock), LimitMEMLOCK=infinity of slurmd " +
		"and sshd, docker run --ulimit memlock=-1"
	// AdviceFiles is for a ulimit -n that is too small.
	AdviceFiles = "raise ulimit -n: /etc/security/limits.conf (nofile), LimitNOFILE of slurmd and sshd, docker run " +
		"--ulimit nofile=65536"
	// AdviceBalancing is for a kernel that moves pages between NUMA nodes.
	AdviceBalancing = "run sysctl kernel.numa_balancing=0 as root"
	// AdviceCores is for ranks that share cores.
	AdviceCores = "start fewer ranks per host or give each its own cores (mpirun --bind-to core, srun --cpus-per-task)"
)

// Network and bus.
const (
	// AdviceCable is for a port of an adapter that is down.
	AdviceCable = "check cable and switch; a port in state INIT waits for a subnet manager; one without a cable may " +
		"stay down"
	// AdviceDevices is for adapters that programs cannot open.
	AdviceDevices = "in a container: docker run --device=/dev/infiniband; else modprobe ib_uverbs, and let users " +
		"read and write /dev/infiniband/uverbs*"
	// AdvicePlugin is for EFA without NCCL's plugin.
	AdvicePlugin = "install aws-ofi-nccl, and put the folder of its libnccl-net.so on LD_LIBRARY_PATH"
	// AdvicePeermem is for adapters that do not reach GPU memory.
	AdvicePeermem = "run modprobe nvidia-peermem as root; if it is loaded, use NCCL 2.23 or later: older ones may " +
		"not find it; not needed with DMA-BUF, as with NVIDIA's open kernel modules on Linux 5.12 or later " +
		"(NCCL_DEBUG=INFO prints GPU Direct RDMA Enabled)"
	// AdviceIOMMU is for one that translates between devices.
	AdviceIOMMU = "boot with iommu=pt (or switch the IOMMU off in the firmware, if no virtual machines run here)"
	// AdviceACS is for bridges that send traffic between devices through the processor.
	AdviceACS = "switch ACS off in the firmware, or as root at each boot: setpci -s BRIDGE ECAP_ACS+6.w=0000"
	// AdviceOpenTCP is for hosts that cannot connect to each other.
	AdviceOpenTCP = "open TCP between the hosts (any port from 1024 on)"
)

// GPUs and their libraries.
const (
	// AdvicePeers is for GPUs of one host that do not reach each other's memory.
	AdvicePeers = "see nvidia-smi topo -p2p r" + MayForbid
	MayForbid   = "; an IOMMU, PCIe ACS or a virtual machine may prevent peer access; GeForce GPUs have none"
	// AdviceOneLibrary is for ranks with different versions of a library.
	AdviceOneLibrary = "use the same library on all hosts: --nccl PATH on a shared filesystem, or the same image"
	// AdviceOneDriver is for hosts with different drivers.
	AdviceOneDriver = "install the same driver on all hosts"
	// AdviceOneModel is for ranks whose GPUs are of different models, or unlike in speed.
	AdviceOneModel = "leave out the hosts that differ: every collective is as slow as its slowest GPU"
	// AdviceHeldClocks is for a GPU that is slower than it should be.
	AdviceHeldClocks = "see nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER: cooling, power supply, or a power cap"
	// AdviceMemoryErrors is for errors in GPU memory that could not be corrected.
	AdviceMemoryErrors = "see nvidia-smi -q -d ECC,ROW_REMAPPER; reset the GPU or have it replaced"
	// AdviceOwnGPU is for several ranks on one GPU.
	AdviceOwnGPU = "start one rank per GPU (srun --gpus-per-task=1)"
)

// Sources of several entries.
const (
	EnvironmentDoc = "NCCL documentation, Environment Variables, "
	GPUDoc         = "NCCL documentation, GPU troubleshooting"
	NetworkDoc     = "NCCL documentation, Networking Troubleshooting"
	RuntimeDoc     = "NCCL documentation, Runtime and MPI issues"
)
