package notice

// Advice about faults of a set-up that several notices share: preflight finds them on the machine, logs and timelines
// after a run.

// The host.
const (
	// adviceShared is for too little of /dev/shm.
	adviceShared = "give it more: docker run --shm-size=8g (or --ipc=host); on a host: mount -o remount,size=50% " +
		"/dev/shm; delete what dead jobs left in it"
	// adviceLocked is for a ulimit -l that keeps RDMA from registering memory.
	adviceLocked = "set it to unlimited: /etc/security/limits.conf (memlock), LimitMEMLOCK=infinity of slurmd and " +
		"sshd, docker run --ulimit memlock=-1"
	// adviceFiles is for a ulimit -n that is too small.
	adviceFiles = "raise it: /etc/security/limits.conf (nofile), LimitNOFILE of slurmd and sshd, docker run --ulimit " +
		"nofile=65536"
	// adviceBalancing is for a kernel that moves pages between NUMA nodes.
	adviceBalancing = "run sysctl kernel.numa_balancing=0 as root"
	// adviceCores is for ranks that share cores.
	adviceCores = "start fewer ranks a host or give each cores of its own (mpirun --bind-to core, srun --cpus-per-task)"
)

// Network and bus.
const (
	// adviceCable is for a port of an adapter that is down.
	adviceCable = "look at cable and switch; a port that is INIT waits for a subnet manager; one without a cable may " +
		"stay so"
	// adviceDevices is for adapters that programs cannot open.
	adviceDevices = "in a container: docker run --device=/dev/infiniband; else modprobe ib_uverbs, and let users " +
		"read and write /dev/infiniband/uverbs*"
	// advicePlugin is for EFA without NCCL's plugin.
	advicePlugin = "install aws-ofi-nccl, and put the folder of its libnccl-net.so on LD_LIBRARY_PATH"
	// advicePeermem is for adapters that do not reach GPU memory.
	advicePeermem = "run modprobe nvidia-peermem as root; where it is loaded: NCCL 2.23 or later, older ones may not " +
		"find it; not needed where NCCL finds DMA-BUF: NVIDIA's open kernel modules on Linux 5.12 or later " +
		"(NCCL_DEBUG=INFO prints GPU Direct RDMA Enabled)"
	// adviceIOMMU is for one that translates between devices.
	adviceIOMMU = "boot with iommu=pt (or switch the IOMMU off in the firmware, if no virtual machines run here)"
	// adviceACS is for bridges that send traffic between devices through the processor.
	adviceACS = "switch ACS off in the firmware, or as root at each boot: setpci -s BRIDGE ECAP_ACS+6.w=0000"
	// adviceOpenTCP is for hosts that cannot connect to each other.
	adviceOpenTCP = "open TCP between the hosts (any port from 1024 on)"
)

// GPUs and their libraries.
const (
	// advicePeers is for GPUs of one host that do not reach each other's memory.
	advicePeers = "see nvidia-smi topo -p2p r" + mayForbid
	mayForbid   = "; an IOMMU, PCIe ACS or a virtual machine may forbid it, and GeForce cards have none"
	// adviceOneLibrary is for ranks with different versions of a library.
	adviceOneLibrary = "give all hosts the same one: --nccl PATH on a shared filesystem, or the same image"
	// adviceOneDriver is for hosts with different drivers.
	adviceOneDriver = "install one driver everywhere"
	// adviceOneModel is for ranks whose GPUs are of different models, or unlike in speed.
	adviceOneModel = "leave out the hosts that differ: every collective is as slow as its slowest GPU"
	// adviceHeldClocks is for a GPU that is slower than it should be.
	adviceHeldClocks = "see nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER: cooling, power supply, or a power cap"
	// adviceMemoryErrors is for errors in GPU memory that could not be corrected.
	adviceMemoryErrors = "see nvidia-smi -q -d ECC,ROW_REMAPPER; reset the GPU or have it replaced"
	// adviceOwnGPU is for several ranks on one GPU.
	adviceOwnGPU = "start as many ranks a host as it has GPUs (srun --gpus-per-task=1)"
)
