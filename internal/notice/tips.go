package notice

// Tip is something to try about a finding: a setting and why. Its text is here; when it applies is decided in
// post/analysis.
type Tip string

// Text is what to do, without full stop; "" of a tip that is not in the catalogue.
func (t Tip) Text() string { return tips[t].text }

// Source is the documentation that the tip comes from.
func (t Tip) Source() string { return tips[t].source }

var tips = map[Tip]struct{ text, source string }{
	"nccl-path": {"record which algorithm, protocol and number of channels NCCL uses at each size",
		"docs/nccl.md"},
	"nccl-protocol": {
		"fix the protocol: if the fixed one is faster at these sizes, NCCL switches too early or too late",
		"NCCL documentation, Environment Variables, NCCL_PROTO"},
	"nccl-algorithm": {"fix the algorithm",
		"NCCL documentation, Environment Variables, NCCL_ALGO"},
	"nccl-nvls": {"disable NVLink SHARP: a finding that remains has another cause",
		"NCCL documentation, Environment Variables, NCCL_NVLS_ENABLE"},
	"nccl-channels": {"use more thread blocks, and so more channels; too few do not fill the links",
		"NCCL documentation, Environment Variables, NCCL_MIN_CTAS, and ncclConfig_t's minCTAs"},
	"nccl-buffer": {"double the buffer between two GPUs (4 MiB by default), for links with a high latency",
		"NCCL documentation, Environment Variables, NCCL_BUFFSIZE"},
	"nccl-gdr": {"allow GPU Direct RDMA over longer PCIe paths, where NCCL avoids it",
		"NCCL documentation, Environment Variables, NCCL_NET_GDR_LEVEL"},
	"nccl-cards": {"check that all NICs are used: those whose names begin with this value",
		"NCCL documentation, Environment Variables, NCCL_IB_HCA"},
	"nccl-queues": {"spread a connection over more queue pairs, if the network selects paths by their hash",
		"NCCL documentation, Environment Variables, NCCL_IB_QPS_PER_CONNECTION"},
	"nccl-rails": {
		"forbid or allow a ring to use another NIC on the next node; the right value depends on whether each NIC " +
			"has its own rail",
		"NCCL documentation, Environment Variables, NCCL_CROSS_NIC"},
	"nccl-sockets": {"use more sockets per connection, where NCCL uses TCP",
		"NCCL documentation, Environment Variables, NCCL_SOCKET_NTHREADS and NCCL_NSOCKS_PERTHREAD"},
	"nccl-pxn": {"send through each GPU's own NIC, not through another GPU that is closer to one",
		"NCCL documentation, Environment Variables, NCCL_PXN_DISABLE"},
	"nccl-registration": {"register the buffers, so that NCCL need not copy through its own",
		"NCCL documentation, User Buffer Registration"},
	"nccl-affinity": {"let NCCL place its threads by the GPU alone, ignoring the job's CPU affinity",
		"NCCL documentation, Environment Variables, NCCL_IGNORE_CPU_AFFINITY"},
	"rccl-protocol": {"fix the protocol",
		"RCCL documentation, RCCL environment variables"},
	"rccl-algorithm": {"fix the algorithm",
		"RCCL documentation, RCCL environment variables"},
	"openmpi-eager": {"move the eager limit of shared memory (4 KiB by default; transport vader of Open MPI 4)",
		"ompi_info --param btl vader --level 9"},
	"openmpi-algorithm": {"fix the algorithm: 3 is recursive doubling, 4 a ring, 5 a ring in segments",
		"Open MPI documentation, Tuning Collectives (ompi_info --param coll tuned --level 9)"},
	"openmpi-algorithm-allgather": {"fix the algorithm: 2 is Bruck's, 4 a ring",
		"Open MPI documentation, Tuning Collectives (ompi_info --param coll tuned --level 9)"},
	"openmpi-algorithm-alltoall": {"fix the algorithm: 2 goes by pairs, 3 is Bruck's",
		"Open MPI documentation, Tuning Collectives (ompi_info --param coll tuned --level 9)"},
	"openmpi-algorithm-broadcast": {"fix the algorithm: 3 is a pipeline, 6 a binomial tree",
		"Open MPI documentation, Tuning Collectives (ompi_info --param coll tuned --level 9)"},
	"openmpi-levels": {"use the component han: within nodes first, then between them",
		"ompi_info --param coll han --level 9"},
	"openmpi-links": {"use more connections per pair of processes, where Open MPI uses TCP",
		"ompi_info --param btl tcp --level 9"},
	"ucx-rails": {"use one NIC per process, or four, where MPI uses UCX (two by default)",
		"UCX documentation, Frequently Asked Questions, Multi-rail"},
	"mpich-algorithm": {"fix the algorithm",
		"MPICH, control variables as mpivars prints them"},
	"gloo-interface": {"name the interface of the fast network",
		"docs/gloo.md"},
	"any-caches": {
		"rotate through buffers larger than the caches: large sizes may be slower only because they no longer fit",
		"docs/method.md"},
	"any-warming": {"warm up longer before a point is timed",
		"docs/method.md"},
	"any-pairs": {"find out whether one node or link is slow",
		"docs/pattern.md"},
	"any-binding": {
		"bind each rank to cores of its own, near its device and memory (with Open MPI: mpirun --bind-to core " +
			"--map-by numa)",
		"srun(1), --cpu-bind; mpirun(1), Mapping, Ranking, and Binding"},
	"any-preflight": {"check load, clocks and limits of the hosts before the next run",
		"docs/preflight.md"},
}
