package analysis

import "busbar/internal/coll"

// tip is an entry of the catalogue of hints: what to try, and when. What is empty does not restrict.
type tip struct {
	Name        string // of the axis in a sweep, and in docs/analysis.md
	Kinds       []Kind
	Backends    []string
	Library     string // with which the library's name begins: "Open MPI"
	Collectives []coll.Collective
	Nodes       nodes
	Min, Max    int64 // bytes: findings that reach above Min, and begin below Max

	Says     string
	Source   string
	Variable string   // environment variable, or a flag; with several values each is a level of the sweep
	Values   []string // to try, in the order of trust
	With     []string // NAME=VALUE that the variable needs beside it
	NoSweep  bool     // no campaign can vary it: it belongs to the launcher, or its value to the site
	Untold   bool     // only where the library's way is not recorded
	Reduces  bool     // only where the GPU has NVLink SHARP, or its model is not recorded
}

// nodes says for which worlds a tip is.
type nodes int

const (
	anyNodes nodes = iota
	oneNode
	severalNodes
)

var (
	ncclLike = []string{"nccl", "ncclx"}
	onCPUs   = []string{"mpi", "gloo"}
	bends    = []Kind{Drop, Step, Plateau, Spike}    // the library's choice of a way shows here
	limits   = []Kind{LowCeiling, Scaling, Decline}  // not enough bandwidth at large sizes
	unsteady = []Kind{Variation, TwoModes, Drift}    // the same thing takes different times
	ofHosts  = []Kind{LateRank, SlowRank, Variation} // one place is unlike the others
	bendsAnd = append(append([]Kind{}, bends...), limits...)
)

const (
	ncclEnvironment = "NCCL documentation, Environment Variables, "
	ompiTuned       = "Open MPI documentation, Tuning Collectives (ompi_info --param coll tuned --level 9)"
	mpichVariables  = "MPICH, control variables as mpivars prints them"
)

// catalogue are all hints, the likeliest first.
var catalogue = []tip{
	{Name: "path", Kinds: bends, Backends: ncclLike, Untold: true,
		Says:   "let NCCL tell which algorithm, protocol and number of channels it takes at each size",
		Source: "docs/nccl.md", Variable: "--path"},
	{Name: "protocol", Kinds: bends, Backends: ncclLike, Max: 64 << 20,
		Says:   "fix the protocol: where the fixed one is faster at these sizes, NCCL changes it too early or too late",
		Source: ncclEnvironment + "NCCL_PROTO", Variable: "NCCL_PROTO", Values: []string{"Simple", "LL"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: ncclLike, Collectives: []coll.Collective{coll.AllReduce},
		Says:   "fix the algorithm; with NCCL 2.31 and newer rank's --algo does it for single collectives",
		Source: ncclEnvironment + "NCCL_ALGO", Variable: "NCCL_ALGO", Values: []string{"Ring", "Tree"}},
	{Name: "nvls", Kinds: bendsAnd, Backends: ncclLike, Reduces: true, Collectives: []coll.Collective{coll.AllReduce, coll.AllGather, coll.ReduceScatter}, Min: 64 << 10,
		Says:   "go without NVLink SHARP, where the switches have it: what remains then is not its doing",
		Source: ncclEnvironment + "NCCL_NVLS_ENABLE", Variable: "NCCL_NVLS_ENABLE", Values: []string{"0"}},
	{Name: "channels", Kinds: []Kind{LowCeiling, Plateau, Decline, Scaling}, Backends: ncclLike, Min: 1 << 20,
		Says:   "ask for more thread blocks, and with them channels; too few do not fill the links",
		Source: ncclEnvironment + "NCCL_MIN_CTAS, and ncclConfig_t's minCTAs", Variable: "--min-ctas", Values: []string{"16", "32"}},
	{Name: "buffer", Kinds: []Kind{LowCeiling, Plateau, Scaling, Drop}, Backends: ncclLike, Nodes: severalNodes, Min: 1 << 20,
		Says:   "twice the buffer between two GPUs (4 MiB by default), for links with a long way",
		Source: ncclEnvironment + "NCCL_BUFFSIZE", Variable: "NCCL_BUFFSIZE", Values: []string{"8388608"}},
	{Name: "gdr", Kinds: []Kind{LowCeiling, Scaling, Plateau}, Backends: ncclLike, Nodes: severalNodes, Min: 1 << 20,
		Says:   "let cards reach GPUs by themselves over a longer way through the host, where NCCL refrains from it",
		Source: ncclEnvironment + "NCCL_NET_GDR_LEVEL", Variable: "NCCL_NET_GDR_LEVEL", Values: []string{"PHB"}},
	{Name: "cards", Kinds: []Kind{LowCeiling, Scaling}, Backends: ncclLike, Nodes: severalNodes, Min: 1 << 20,
		Says:   "see that all cards are used: those whose names begin with this",
		Source: ncclEnvironment + "NCCL_IB_HCA", Variable: "NCCL_IB_HCA", Values: []string{"mlx5"}, NoSweep: true},
	{Name: "queues", Kinds: []Kind{LowCeiling, Scaling, Variation}, Backends: ncclLike, Nodes: severalNodes, Min: 1 << 20,
		Says:   "spread a connection over more queue pairs, where the network chooses ways by a hash of them",
		Source: ncclEnvironment + "NCCL_IB_QPS_PER_CONNECTION", Variable: "NCCL_IB_QPS_PER_CONNECTION", Values: []string{"4"}},
	{Name: "rails", Kinds: []Kind{LowCeiling, Scaling}, Backends: ncclLike, Nodes: severalNodes, Min: 1 << 20,
		Says:   "forbid, or allow, that a ring goes on by another card at the next node: what is right depends on whether each card has a network of its own",
		Source: ncclEnvironment + "NCCL_CROSS_NIC", Variable: "NCCL_CROSS_NIC", Values: []string{"0", "1"}},
	{Name: "sockets", Kinds: []Kind{LowCeiling, Scaling}, Backends: ncclLike, Nodes: severalNodes, Min: 1 << 20,
		Says:   "more sockets for a connection, where NCCL goes over TCP",
		Source: ncclEnvironment + "NCCL_SOCKET_NTHREADS and NCCL_NSOCKS_PERTHREAD", Variable: "NCCL_NSOCKS_PERTHREAD", Values: []string{"4"}, With: []string{"NCCL_SOCKET_NTHREADS=4"}},
	{Name: "pxn", Kinds: []Kind{Scaling, LowCeiling}, Backends: ncclLike, Nodes: severalNodes, Collectives: []coll.Collective{coll.AllToAll, coll.Gather, coll.Scatter, coll.SendRecv},
		Says:   "send by each GPU's own card, and not through another GPU that is nearer to one",
		Source: ncclEnvironment + "NCCL_PXN_DISABLE", Variable: "NCCL_PXN_DISABLE", Values: []string{"1"}},
	{Name: "registration", Kinds: []Kind{LowCeiling, PlacementOf, Plateau}, Backends: ncclLike, Min: 64 << 10,
		Says:   "register the buffers, so that NCCL need not copy through its own",
		Source: "NCCL documentation, User Buffer Registration", Variable: "--register", Values: []string{"buffer"}, With: []string{"--alloc=nccl"}},
	{Name: "affinity", Kinds: []Kind{Variation, TwoModes, LateRank}, Backends: ncclLike,
		Says:   "let NCCL place its threads by the GPU alone, and not by what the job was given",
		Source: ncclEnvironment + "NCCL_IGNORE_CPU_AFFINITY", Variable: "NCCL_IGNORE_CPU_AFFINITY", Values: []string{"1"}},

	{Name: "protocol", Kinds: bends, Backends: []string{"rccl"}, Max: 64 << 20,
		Says:   "fix the protocol",
		Source: "RCCL documentation, RCCL environment variables", Variable: "NCCL_PROTO", Values: []string{"Simple", "LL"}, NoSweep: true},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"rccl"}, Collectives: []coll.Collective{coll.AllReduce},
		Says:   "fix the algorithm",
		Source: "RCCL documentation, RCCL environment variables", Variable: "NCCL_ALGO", Values: []string{"Ring", "Tree"}, NoSweep: true},

	{Name: "eager", Kinds: bends, Backends: []string{"mpi"}, Library: "Open MPI", Nodes: oneNode, Max: 256 << 10,
		Says:   "move the size from which messages in shared memory are no longer sent at once (4 KiB by default; transport vader of Open MPI 4)",
		Source: "ompi_info --param btl vader --level 9", Variable: "OMPI_MCA_btl_vader_eager_limit", Values: []string{"16384", "65536"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "Open MPI", Collectives: []coll.Collective{coll.AllReduce},
		Says:   "fix the algorithm: 3 is recursive doubling, 4 a ring, 5 a ring in segments",
		Source: ompiTuned, Variable: "OMPI_MCA_coll_tuned_allreduce_algorithm", Values: []string{"4", "3", "5"}, With: []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "Open MPI", Collectives: []coll.Collective{coll.AllGather},
		Says:   "fix the algorithm: 2 is Bruck's, 4 a ring",
		Source: ompiTuned, Variable: "OMPI_MCA_coll_tuned_allgather_algorithm", Values: []string{"4", "2"}, With: []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "Open MPI", Collectives: []coll.Collective{coll.AllToAll},
		Says:   "fix the algorithm: 2 goes by pairs, 3 is Bruck's",
		Source: ompiTuned, Variable: "OMPI_MCA_coll_tuned_alltoall_algorithm", Values: []string{"2", "3"}, With: []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "Open MPI", Collectives: []coll.Collective{coll.Broadcast},
		Says:   "fix the algorithm: 3 is a pipeline, 6 a binomial tree",
		Source: ompiTuned, Variable: "OMPI_MCA_coll_tuned_bcast_algorithm", Values: []string{"3", "6"}, With: []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1"}},
	{Name: "levels", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "Open MPI", Nodes: severalNodes,
		Says:   "let the component han go within nodes first, then between them",
		Source: "ompi_info --param coll han --level 9", Variable: "OMPI_MCA_coll_han_priority", Values: []string{"100"}},
	{Name: "links", Kinds: []Kind{LowCeiling, Scaling}, Backends: []string{"mpi"}, Library: "Open MPI", Nodes: severalNodes, Min: 64 << 10,
		Says:   "more connections for each pair of processes, where Open MPI goes over TCP",
		Source: "ompi_info --param btl tcp --level 9", Variable: "OMPI_MCA_btl_tcp_links", Values: []string{"4"}},
	{Name: "rails", Kinds: []Kind{LowCeiling, Scaling, Plateau}, Backends: []string{"mpi"}, Nodes: severalNodes, Min: 64 << 10,
		Says:   "one card for each process, or four, where the MPI goes over UCX (two by default)",
		Source: "UCX documentation, Frequently Asked Questions, Multi-rail", Variable: "UCX_MAX_RNDV_RAILS", Values: []string{"1", "4"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "MPICH", Collectives: []coll.Collective{coll.AllReduce},
		Says:   "fix the algorithm",
		Source: mpichVariables, Variable: "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", Values: []string{"reduce_scatter_allgather", "recursive_doubling"}, With: []string{"MPIR_CVAR_DEVICE_COLLECTIVES=none"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "MPICH", Collectives: []coll.Collective{coll.AllGather},
		Says:   "fix the algorithm",
		Source: mpichVariables, Variable: "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM", Values: []string{"ring", "brucks"}, With: []string{"MPIR_CVAR_DEVICE_COLLECTIVES=none"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "MPICH", Collectives: []coll.Collective{coll.AllToAll},
		Says:   "fix the algorithm",
		Source: mpichVariables, Variable: "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM", Values: []string{"pairwise", "brucks"}, With: []string{"MPIR_CVAR_DEVICE_COLLECTIVES=none"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "MPICH", Collectives: []coll.Collective{coll.Broadcast},
		Says:   "fix the algorithm",
		Source: mpichVariables, Variable: "MPIR_CVAR_BCAST_INTRA_ALGORITHM", Values: []string{"scatter_ring_allgather", "binomial"}, With: []string{"MPIR_CVAR_DEVICE_COLLECTIVES=none"}},

	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"gloo"}, Collectives: []coll.Collective{coll.AllReduce},
		Says:   "Gloo's other algorithm",
		Source: "docs/gloo.md", Variable: "--gloo-algo", Values: []string{"bcube"}},
	{Name: "thread", Kinds: append([]Kind{LowCeiling, LateRank}, unsteady...), Backends: []string{"gloo"},
		Says:   "let Gloo's thread run on any CPU that the system grants, beside that of its rank",
		Source: "docs/gloo.md", Variable: "--gloo-cpus", Values: []string{"any"}},
	{Name: "interface", Kinds: []Kind{LowCeiling, Scaling}, Backends: []string{"gloo"}, Nodes: severalNodes,
		Says:   "see that the fast network is taken: name its interface",
		Source: "docs/gloo.md", Variable: "--gloo-iface", NoSweep: true},

	{Name: "caches", Kinds: []Kind{Decline, Spike, PlacementOf}, Backends: onCPUs, Min: 64 << 10,
		Says:   "walk through buffers larger than the caches: what is lost at large sizes may be that they no longer fit",
		Source: "docs/method.md", Variable: "--rotate", Values: []string{"1G"}},
	{Name: "warming", Kinds: []Kind{Drift},
		Says:   "warm up for longer before a case is timed",
		Source: "docs/method.md", Variable: "--warmup-iters", Values: []string{"50"}},
	{Name: "pairs", Kinds: append([]Kind{Scaling}, ofHosts...), Nodes: severalNodes,
		Says:   "find out whether one node or link is weak",
		Source: "docs/pattern.md", Variable: "--pattern", Values: []string{"pairs"}, NoSweep: true},
	{Name: "binding", Kinds: append([]Kind{LateRank, SlowRank, Scaling}, unsteady...), Backends: append([]string{"nccl", "ncclx"}, onCPUs...),
		Says:   "bind each rank to cores of its own, near its device and memory (mpirun --bind-to core --map-by numa is the same for Open MPI)",
		Source: "srun(1), --cpu-bind; mpirun(1), Mapping, Ranking, and Binding", Variable: "srun --cpu-bind", Values: []string{"cores"}, NoSweep: true},
	{Name: "preflight", Kinds: []Kind{LateRank, Variation},
		Says:   "look at load, clocks and limits of the hosts before the next run",
		Source: "docs/preflight.md", Variable: "--preflight", NoSweep: true},
}
