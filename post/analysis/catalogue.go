package analysis

import (
	"busbar/internal/coll"
	"busbar/internal/notice"
)

// tip is an entry of the catalogue of hints: what to try, and when. What is empty does not restrict.
type tip struct {
	Name        string // of the axis in a sweep, and in docs/analysis.md
	Kinds       []Kind
	Backends    []string
	Library     string // with which the library's name begins: "Open MPI"
	Collectives []coll.Collective
	Nodes       nodes
	Min, Max    int64 // bytes: findings that reach above Min, and begin below Max

	Tip      notice.Tip
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
	unsteady = []Kind{Variation, TwoModes, Drifts}   // the same thing takes different times
	ofHosts  = []Kind{LateRank, SlowRank, Variation} // one place is unlike the others
	bendsAnd = append(append([]Kind{}, bends...), limits...)
)

// catalogue are all hints, the likeliest first.
var catalogue = []tip{
	{Name: "path", Kinds: bends, Backends: ncclLike, Untold: true,
		Tip: "nccl-path", Variable: "--path"},
	{Name: "protocol", Kinds: bends, Backends: ncclLike, Max: 64 << 20,
		Tip: "nccl-protocol", Variable: "NCCL_PROTO", Values: []string{"Simple", "LL"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: ncclLike, Collectives: []coll.Collective{coll.AllReduce},
		Tip: "nccl-algorithm", Variable: "NCCL_ALGO", Values: []string{"Ring", "Tree"}},
	{Name: "nvls", Kinds: bendsAnd, Backends: ncclLike, Reduces: true, Collectives: []coll.Collective{coll.AllReduce,
		coll.AllGather, coll.ReduceScatter}, Min: 64 << 10,
		Tip: "nccl-nvls", Variable: "NCCL_NVLS_ENABLE", Values: []string{"0"}},
	{Name: "channels", Kinds: []Kind{LowCeiling, Plateau, Decline, Scaling}, Backends: ncclLike, Min: 1 << 20,
		Tip: "nccl-channels", Variable: "--min-ctas", Values: []string{"16", "32"}},
	{Name: "buffer", Kinds: []Kind{LowCeiling, Plateau, Scaling, Drop}, Backends: ncclLike, Nodes: severalNodes,
		Min: 1 << 20,
		Tip: "nccl-buffer", Variable: "NCCL_BUFFSIZE", Values: []string{"8388608"}},
	{Name: "gdr", Kinds: []Kind{LowCeiling, Scaling, Plateau}, Backends: ncclLike, Nodes: severalNodes, Min: 1 << 20,
		Tip: "nccl-gdr", Variable: "NCCL_NET_GDR_LEVEL", Values: []string{"PHB"}},
	{Name: "cards", Kinds: []Kind{LowCeiling, Scaling}, Backends: ncclLike, Nodes: severalNodes, Min: 1 << 20,
		Tip: "nccl-cards", Variable: "NCCL_IB_HCA", Values: []string{"mlx5"}, NoSweep: true},
	{Name: "queues", Kinds: []Kind{LowCeiling, Scaling, Variation}, Backends: ncclLike, Nodes: severalNodes,
		Min: 1 << 20,
		Tip: "nccl-queues", Variable: "NCCL_IB_QPS_PER_CONNECTION", Values: []string{"4"}},
	{Name: "rails", Kinds: []Kind{LowCeiling, Scaling}, Backends: ncclLike, Nodes: severalNodes, Min: 1 << 20,
		Tip: "nccl-rails", Variable: "NCCL_CROSS_NIC", Values: []string{"0", "1"}},
	{Name: "sockets", Kinds: []Kind{LowCeiling, Scaling}, Backends: ncclLike, Nodes: severalNodes, Min: 1 << 20,
		Tip: "nccl-sockets", Variable: "NCCL_NSOCKS_PERTHREAD", Values: []string{"4"},
		With: []string{"NCCL_SOCKET_NTHREADS=4"}},
	{Name: "pxn", Kinds: []Kind{Scaling, LowCeiling}, Backends: ncclLike, Nodes: severalNodes,
		Collectives: []coll.Collective{coll.AllToAll, coll.Gather, coll.Scatter, coll.SendRecv},
		Tip:         "nccl-pxn", Variable: "NCCL_PXN_DISABLE", Values: []string{"1"}},
	{Name: "registration", Kinds: []Kind{LowCeiling, PlacementOf, Plateau}, Backends: ncclLike, Min: 64 << 10,
		Tip: "nccl-registration", Variable: "--register", Values: []string{"buffer"}, With: []string{"--alloc=nccl"}},
	{Name: "affinity", Kinds: []Kind{Variation, TwoModes, LateRank}, Backends: ncclLike,
		Tip: "nccl-affinity", Variable: "NCCL_IGNORE_CPU_AFFINITY", Values: []string{"1"}},

	{Name: "protocol", Kinds: bends, Backends: []string{"rccl"}, Max: 64 << 20,
		Tip: "rccl-protocol", Variable: "NCCL_PROTO", Values: []string{"Simple", "LL"}, NoSweep: true},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"rccl"}, Collectives: []coll.Collective{coll.AllReduce},
		Tip: "rccl-algorithm", Variable: "NCCL_ALGO", Values: []string{"Ring", "Tree"}, NoSweep: true},

	{Name: "eager", Kinds: bends, Backends: []string{"mpi"}, Library: "Open MPI", Nodes: oneNode, Max: 256 << 10,
		Tip: "openmpi-eager", Variable: "OMPI_MCA_btl_vader_eager_limit", Values: []string{"16384", "65536"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "Open MPI",
		Collectives: []coll.Collective{coll.AllReduce},
		Tip:         "openmpi-algorithm", Variable: "OMPI_MCA_coll_tuned_allreduce_algorithm",
		Values: []string{"4", "3", "5"}, With: []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "Open MPI",
		Collectives: []coll.Collective{coll.AllGather},
		Tip:         "openmpi-algorithm-allgather", Variable: "OMPI_MCA_coll_tuned_allgather_algorithm",
		Values: []string{"4", "2"}, With: []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "Open MPI",
		Collectives: []coll.Collective{coll.AllToAll},
		Tip:         "openmpi-algorithm-alltoall", Variable: "OMPI_MCA_coll_tuned_alltoall_algorithm",
		Values: []string{"2", "3"}, With: []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "Open MPI",
		Collectives: []coll.Collective{coll.Broadcast},
		Tip:         "openmpi-algorithm-broadcast", Variable: "OMPI_MCA_coll_tuned_bcast_algorithm",
		Values: []string{"3", "6"}, With: []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1"}},
	{Name: "levels", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "Open MPI", Nodes: severalNodes,
		Tip: "openmpi-levels", Variable: "OMPI_MCA_coll_han_priority", Values: []string{"100"}},
	{Name: "links", Kinds: []Kind{LowCeiling, Scaling}, Backends: []string{"mpi"}, Library: "Open MPI",
		Nodes: severalNodes, Min: 64 << 10,
		Tip: "openmpi-links", Variable: "OMPI_MCA_btl_tcp_links", Values: []string{"4"}},
	{Name: "rails", Kinds: []Kind{LowCeiling, Scaling, Plateau}, Backends: []string{"mpi"}, Nodes: severalNodes,
		Min: 64 << 10,
		Tip: "ucx-rails", Variable: "UCX_MAX_RNDV_RAILS", Values: []string{"1", "4"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "MPICH",
		Collectives: []coll.Collective{coll.AllReduce},
		Tip:         "mpich-algorithm", Variable: "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM",
		Values: []string{"reduce_scatter_allgather", "recursive_doubling"},
		With:   []string{"MPIR_CVAR_DEVICE_COLLECTIVES=none"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "MPICH",
		Collectives: []coll.Collective{coll.AllGather},
		Tip:         "mpich-algorithm", Variable: "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM",
		Values: []string{"ring", "brucks"},
		With:   []string{"MPIR_CVAR_DEVICE_COLLECTIVES=none"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "MPICH",
		Collectives: []coll.Collective{coll.AllToAll},
		Tip:         "mpich-algorithm", Variable: "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM",
		Values: []string{"pairwise", "brucks"}, With: []string{"MPIR_CVAR_DEVICE_COLLECTIVES=none"}},
	{Name: "algorithm", Kinds: bendsAnd, Backends: []string{"mpi"}, Library: "MPICH",
		Collectives: []coll.Collective{coll.Broadcast},
		Tip:         "mpich-algorithm", Variable: "MPIR_CVAR_BCAST_INTRA_ALGORITHM",
		Values: []string{"scatter_ring_allgather", "binomial"}, With: []string{"MPIR_CVAR_DEVICE_COLLECTIVES=none"}},

	{Name: "interface", Kinds: []Kind{LowCeiling, Scaling}, Backends: []string{"gloo"}, Nodes: severalNodes,
		Tip: "gloo-interface", Variable: "--gloo-iface", NoSweep: true},

	{Name: "caches", Kinds: []Kind{Decline, Spike, PlacementOf}, Backends: onCPUs, Min: 64 << 10,
		Tip: "any-caches", Variable: "--rotate", Values: []string{"1G"}},
	{Name: "warming", Kinds: []Kind{Drifts},
		Tip: "any-warming", Variable: "--warmup-iters", Values: []string{"50"}},
	{Name: "pairs", Kinds: append([]Kind{Scaling}, ofHosts...), Nodes: severalNodes,
		Tip: "any-pairs", Variable: "--pattern", Values: []string{"pairs"}, NoSweep: true},
	{Name: "binding", Kinds: append([]Kind{LateRank, SlowRank, Scaling}, unsteady...),
		Backends: append([]string{"nccl", "ncclx"}, onCPUs...),
		Tip:      "any-binding", Variable: "srun --cpu-bind", Values: []string{"cores"}, NoSweep: true},
	{Name: "preflight", Kinds: []Kind{LateRank, Variation},
		Tip: "any-preflight", Variable: "--preflight", NoSweep: true},
}
