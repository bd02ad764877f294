package nccllogs

import "busbar/internal/notice"

// networkCauses are those in NICs, fabrics and connections.
var networkCauses = []cause{
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
			"unset NCCL_IB_GID_INDEX", ncclIssue + "925",
	},
	{
		"rdma-setup-failed", notice.Error,
		"a NIC could not set up its InfiniBand or RoCE connection to the NIC of another host",
		reach,
		notice.NetworkDoc + ", InfiniBand; " + ncclIssue + "1405, 426, 769 and 2013",
	},
	{
		"gid-unreadable", notice.Error, "NCCL read a GID of a RoCE NIC that the container does not have; NCCL 2.22 " +
			"to 2.25 end there",
		"use NCCL 2.26 or later, or an older one; with 2.22 to 2.25, set NCCL_IB_GID_INDEX to an index that " +
			"show_gids lists in the container", ncclIssue + "1573",
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
			"(lspci -vvv | grep ACSCtl)", "github.com/NVIDIA/nccl, issue 1524",
	},
	{"nic-event", notice.Info, "the NIC reported a network change that does not end communication", "", portSource},
	{
		"network-plugin-missing", notice.Error, "the network that NCCL_NET names was not found: its plugin is missing",
		"add the folder of its libnccl-net.so to LD_LIBRARY_PATH, or unset NCCL_NET", ncclSource + "src/net.cc",
	},
	{
		"libfabric-no-provider", notice.Error, "aws-ofi-nccl found no network that it can use",
		"see fi_info -p efa there; install the EFA driver, rdma-core and EFA's libfabric, put /opt/amazon/efa/lib on " +
			"LD_LIBRARY_PATH; in a container: docker run --device=/dev/infiniband/uverbs0, one for each adapter",
		"github.com/aws/aws-ofi-nccl, src/nccl_ofi_net.cpp",
	},
	{
		"libfabric-version", notice.Error,
		"libfabric does not have an option that aws-ofi-nccl needs: the two do not fit together",
		"build aws-ofi-nccl against the libfabric that it loads (ldd libnccl-net.so), or install the EFA driver's " +
			"newest libfabric in host and container", "github.com/aws/aws-ofi-nccl, issue 241",
	},
	{
		"libfabric-registration", notice.Error, "an EFA or libfabric adapter could not register memory",
		possible + "the limit of locked memory (ulimit -l unlimited); no huge pages left, as with forked data " +
			"loaders (FI_EFA_USE_HUGE_PAGE=0); EFA driver and libfabric not of one installer; for GPU memory, an " +
			"instance type without GPUDirect RDMA", "github.com/aws/aws-ofi-nccl, src/nccl_ofi_net.cpp",
	},
	{
		"libfabric-failed", notice.Error, "a transfer through libfabric failed",
		possible + "the security group does not allow all traffic within itself, in and out (RC 113 and most " +
			"others); the other rank ended or failed (look at its first error); versions of libfabric, plugin and " +
			"EFA driver differ between hosts", "AWS documentation, EFA security groups",
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
		"nic-count-differs", notice.Warning, "hosts have different numbers of NICs for NCCL",
		"see which host lacks one; NCCL_IGNORE_NET_MISMATCH=1 only hides it and may hang; " + notice.AdviceCable,
		ncclSource + "src/init.cc",
	},
	{
		"no-usable-interface", notice.Error,
		"no network interface can be used, or the one that NCCL_SOCKET_IFNAME names is " +
			"missing, so ranks cannot connect",
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
		"nic-unusable", notice.Error, "a NIC could not be used for InfiniBand or RoCE",
		"see ibv_devinfo there: the port must be active; " + notice.AdviceDevices + "; " + reach,
		notice.NetworkDoc + ", InfiniBand",
	},
	{
		"address-in-use", notice.Error, "an address or a port is in use, or no port is left",
		otherJob + "; end the processes of older jobs; with many ranks, widen net.ipv4.ip_local_port_range and leave " +
			"PXN on", notice.NetworkDoc + ", IP network interfaces",
	},
	{
		"address-not-local", notice.Error, "rank 0 cannot listen on the address that was given: it is of another host",
		"let NCCL_COMM_ID (or MASTER_ADDR) name the host of rank 0, by an address of its own",
		notice.NetworkDoc + ", IP network interfaces",
	},
	{
		"address-not-resolved", notice.Error, "the address at which ranks meet cannot be read or resolved",
		"see getent hosts NAME there; NCCL_COMM_ID is HOST:PORT",
		"NCCL documentation, Environment Variables, NCCL_COMM_ID",
	},
	{
		"no-unique-id", notice.Error, "a rank did not get NCCL's id from rank 0 through PyTorch's store: rank 0 " +
			"failed or did not start",
		"look at the output of rank 0, and whether all ranks create this process group, in the same order",
		"PyTorch's source, torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp",
	},
	{
		"host-unreachable", notice.Error,
		"there is no route from here to the address of another rank: usually a wrong interface",
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
		"proxy-failed", notice.Warning, "NCCL's proxy thread hit a failure that an earlier message reports",
		"look at the message before this one, of the same process", ncclSource + "src/proxy.cc",
	},
	{
		"bootstrap-mismatch", notice.Warning,
		"ranks exchanged different data while connecting: one of them is a step ahead, belongs to another job, or " +
			"runs another version of NCCL",
		"compare what the ranks called; " + otherJob, ncclSource + "src/bootstrap.cc",
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
			"vendor's number for it): the remote NIC did not answer, despite retries",
		"if it comes at once: check that the NICs reach each other (ib_write_bw between the two), and the GID index " +
			"and traffic class on RoCE; " + rails +
			"; if it comes later: cables, congestion, or the other process ended; " +
			"NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT allow more time", verbsSource,
	},
	{
		"rdma-receiver-not-ready", notice.Error,
		"an RDMA operation failed with status 13 (IBV_WC_RNR_RETRY_EXC_ERR): the remote end was not ready to " +
			"receive, despite retries",
		firstOfRank, verbsSource,
	},
	{
		"rdma-failed", notice.Error, "an RDMA operation failed; the message has its status (libibverbs' ibv_wc_status)",
		"",
		verbsSource,
	},
}
