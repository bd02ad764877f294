// Package advice is what to do about faults of a set-up that several programs find: rank before a run, by looking at the
// machine, and post after it, in logs and timelines. Each is said in the same words, so that who has read one knows the other.
//
// It knows neither who finds a fault nor how. What one program alone says stands there.
package advice

// The host.
const (
	// Shared is for too little of /dev/shm.
	Shared = "give it more: docker run --shm-size=8g (or --ipc=host); on a host: mount -o remount,size=50% /dev/shm; delete what dead jobs left in it"
	// Locked is for a ulimit -l that keeps RDMA from registering memory.
	Locked = "set it to unlimited: /etc/security/limits.conf (memlock), LimitMEMLOCK=infinity of slurmd and sshd, docker run --ulimit memlock=-1"
	// Files is for a ulimit -n that is too small.
	Files = "raise it: /etc/security/limits.conf (nofile), LimitNOFILE of slurmd and sshd, docker run --ulimit nofile=65536"
	// Balancing is for a kernel that moves pages between NUMA nodes.
	Balancing = "run sysctl kernel.numa_balancing=0 as root"
	// Cores is for ranks that share cores.
	Cores = "start fewer ranks a host or give each cores of its own (mpirun --bind-to core, srun --cpus-per-task)"
)

// Network and bus.
const (
	// Cable is for a port of an adapter that is down.
	Cable = "look at cable and switch; a port that is INIT waits for a subnet manager; one without a cable may stay so"
	// Devices is for adapters that programs cannot open.
	Devices = "in a container: docker run --device=/dev/infiniband; else modprobe ib_uverbs, and let users read and write /dev/infiniband/uverbs*"
	// Plugin is for EFA without NCCL's plugin.
	Plugin = "install aws-ofi-nccl, and put the folder of its libnccl-net.so on LD_LIBRARY_PATH"
	// Peermem is for adapters that do not reach GPU memory.
	Peermem = "run modprobe nvidia-peermem as root; not needed where NCCL finds DMA-BUF: NVIDIA's open kernel modules on Linux 5.12 or later (NCCL_DEBUG=INFO says GPU Direct RDMA Enabled)"
	// IOMMU is for one that translates between devices.
	IOMMU = "boot with iommu=pt (or switch the IOMMU off in the firmware, if no virtual machines run here)"
	// ACS is for bridges that send traffic between devices through the processor.
	ACS = "switch ACS off in the firmware, or as root at each boot: setpci -s BRIDGE ECAP_ACS+6.w=0000"
	// OpenTCP is for hosts that cannot connect to each other.
	OpenTCP = "open TCP between the hosts (any port from 1024 on)"
)

// GPUs and their libraries.
const (
	// Peers is for GPUs of one host that do not reach each other's memory.
	Peers = "see nvidia-smi topo -p2p r; an IOMMU, PCIe ACS or a virtual machine may forbid it"
	// OneLibrary is for ranks with different versions of a library.
	OneLibrary = "give all hosts the same one: --nccl PATH on a shared filesystem, or the same image"
	// OneDriver is for hosts with different drivers.
	OneDriver = "install one driver everywhere"
	// OneModel is for ranks whose GPUs are of different models, or unlike in speed.
	OneModel = "leave out the hosts that differ: every collective is as slow as its slowest GPU"
	// HeldClocks is for a GPU that is slower than it should be.
	HeldClocks = "see nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER: cooling, power supply, or a power cap"
	// MemoryErrors is for errors in GPU memory that could not be corrected.
	MemoryErrors = "see nvidia-smi -q -d ECC,ROW_REMAPPER; reset the GPU or have it replaced"
	// OwnGPU is for several ranks on one GPU.
	OwnGPU = "start as many ranks a host as it has GPUs (srun --gpus-per-task=1)"
)
