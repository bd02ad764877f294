package analysis

import (
	"slices"

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
	With     string   // NAME=VALUE that the variable needs beside it
	NoSweep  bool     // no campaign can vary it: it belongs to the launcher, or its value to the site
	Untold   bool     // only where the library's way is not recorded
	Reduces  bool     // only where the GPU has NVLink SHARP, or its model is not recorded
}

// nodes limits a tip to worlds with one node, or with several.
type nodes int

const (
	anyNodes nodes = iota
	oneNode
	severalNodes
)

var (
	ncclLike = []string{"nccl", "ncclx"}
	onCPUs   = []string{"mpi", "gloo"}
	bends    = []Kind{Drop, Step, Spike}             // the library's choice of a way shows here
	limits   = []Kind{LowCeiling, Scaling, Decline}  // not enough bandwidth at large sizes
	unsteady = []Kind{Variation, TwoModes, Drifts}   // the same thing takes different times
	ofHosts  = []Kind{LateRank, SlowRank, Variation} // one place is unlike the others
	network  = []Kind{LowCeiling, Scaling}           // not enough bandwidth between nodes
	bendsAnd = slices.Concat(bends, limits)
)

// catalogue are all hints, the likeliest first.
var catalogue = slices.Concat(
	tips(tip{Backends: ncclLike},
		tip{Name: "path", Kinds: bends, Untold: true, Tip: "nccl-path", Variable: "--algorithms"},
		tip{Name: "protocol", Kinds: bends, Max: 64 << 20,
			Tip: "nccl-protocol", Variable: "NCCL_PROTO", Values: []string{"Simple", "LL"}},
		tip{Name: "algorithm", Kinds: bendsAnd, Collectives: []coll.Collective{coll.AllReduce},
			Tip: "nccl-algorithm", Variable: "NCCL_ALGO", Values: []string{"Ring", "Tree"}},
		tip{Name: "nvls", Kinds: bendsAnd, Reduces: true, Min: 64 << 10,
			Collectives: []coll.Collective{coll.AllReduce, coll.AllGather, coll.ReduceScatter},
			Tip:         "nccl-nvls", Variable: "NCCL_NVLS_ENABLE", Values: []string{"0"}},
		tip{Name: "channels", Kinds: []Kind{LowCeiling, Decline, Scaling}, Min: 1 << 20,
			Tip: "nccl-channels", Variable: "--min-ctas", Values: []string{"16", "32"}},
	),
	tips(tip{Backends: ncclLike, Nodes: severalNodes, Min: 1 << 20, Kinds: network},
		tip{Name: "buffer", Kinds: []Kind{LowCeiling, Scaling, Drop},
			Tip: "nccl-buffer", Variable: "NCCL_BUFFSIZE", Values: []string{"8388608"}},
		tip{Name: "gdr", Tip: "nccl-gdr", Variable: "NCCL_NET_GDR_LEVEL", Values: []string{"PHB"}},
		tip{Name: "cards", Tip: "nccl-cards", Variable: "NCCL_IB_HCA", Values: []string{"mlx5"}, NoSweep: true},
		tip{Name: "queues", Kinds: []Kind{LowCeiling, Scaling, Variation},
			Tip: "nccl-queues", Variable: "NCCL_IB_QPS_PER_CONNECTION", Values: []string{"4"}},
		tip{Name: "rails", Tip: "nccl-rails", Variable: "NCCL_CROSS_NIC", Values: []string{"0", "1"}},
		tip{Name: "sockets", Tip: "nccl-sockets", Variable: "NCCL_NSOCKS_PERTHREAD", Values: []string{"4"},
			With: "NCCL_SOCKET_NTHREADS=4"},
	),
	tips(tip{Backends: ncclLike},
		tip{Name: "pxn", Kinds: []Kind{Scaling, LowCeiling}, Nodes: severalNodes,
			Collectives: []coll.Collective{coll.AllToAll, coll.Gather, coll.Scatter, coll.SendRecv},
			Tip:         "nccl-pxn", Variable: "NCCL_PXN_DISABLE", Values: []string{"1"}},
		tip{Name: "registration", Kinds: []Kind{LowCeiling, PlacementOf}, Min: 64 << 10,
			Tip: "nccl-registration", Variable: "--register", Values: []string{"buffer"}, With: "--alloc=nccl"},
		tip{Name: "affinity", Kinds: []Kind{Variation, TwoModes, LateRank},
			Tip: "nccl-affinity", Variable: "NCCL_IGNORE_CPU_AFFINITY", Values: []string{"1"}},
	),
	tips(tip{Backends: []string{"rccl"}, NoSweep: true},
		tip{Name: "protocol", Kinds: bends, Max: 64 << 20,
			Tip: "rccl-protocol", Variable: "NCCL_PROTO", Values: []string{"Simple", "LL"}},
		tip{Name: "algorithm", Kinds: bendsAnd, Collectives: []coll.Collective{coll.AllReduce},
			Tip: "rccl-algorithm", Variable: "NCCL_ALGO", Values: []string{"Ring", "Tree"}},
	),
	tips(tip{Backends: []string{"mpi"}, Library: "Open MPI", Kinds: bendsAnd},
		tip{Name: "eager", Kinds: bends, Nodes: oneNode, Max: 256 << 10,
			Tip: "openmpi-eager", Variable: "OMPI_MCA_btl_vader_eager_limit", Values: []string{"16384", "65536"}},
		openMPIAlgorithm(coll.AllReduce, "openmpi-algorithm", "allreduce", "4", "3", "5"),
		openMPIAlgorithm(coll.AllGather, "openmpi-algorithm-allgather", "allgather", "4", "2"),
		openMPIAlgorithm(coll.AllToAll, "openmpi-algorithm-alltoall", "alltoall", "2", "3"),
		openMPIAlgorithm(coll.Broadcast, "openmpi-algorithm-broadcast", "bcast", "3", "6"),
		tip{Name: "levels", Nodes: severalNodes,
			Tip: "openmpi-levels", Variable: "OMPI_MCA_coll_han_priority", Values: []string{"100"}},
		tip{Name: "links", Kinds: network, Nodes: severalNodes, Min: 64 << 10,
			Tip: "openmpi-links", Variable: "OMPI_MCA_btl_tcp_links", Values: []string{"4"}},
	),
	tips(tip{Backends: []string{"mpi"}},
		tip{Name: "rails", Kinds: network, Nodes: severalNodes, Min: 64 << 10,
			Tip: "ucx-rails", Variable: "UCX_MAX_RNDV_RAILS", Values: []string{"1", "4"}},
	),
	tips(tip{Backends: []string{"mpi"}, Library: "MPICH", Kinds: bendsAnd},
		mpichAlgorithm(coll.AllReduce, "ALLREDUCE", "reduce_scatter_allgather", "recursive_doubling"),
		mpichAlgorithm(coll.AllGather, "ALLGATHER", "ring", "brucks"),
		mpichAlgorithm(coll.AllToAll, "ALLTOALL", "pairwise", "brucks"),
		mpichAlgorithm(coll.Broadcast, "BCAST", "scatter_ring_allgather", "binomial"),
	),
	tips(tip{Backends: []string{"gloo"}},
		tip{Name: "interface", Kinds: network, Nodes: severalNodes,
			Tip: "gloo-interface", Variable: "--gloo-iface", NoSweep: true},
	),
	tips(tip{},
		tip{Name: "caches", Kinds: []Kind{Decline, Spike, PlacementOf}, Backends: onCPUs, Min: 64 << 10,
			Tip: "any-caches", Variable: "--rotate", Values: []string{"1G"}},
		tip{Name: "warming", Kinds: []Kind{Drifts},
			Tip: "any-warming", Variable: "--warmup-iters", Values: []string{"50"}},
		tip{Name: "pairs", Kinds: append([]Kind{Scaling}, ofHosts...), Nodes: severalNodes,
			Tip: "any-pairs", Variable: "--pattern", Values: []string{"pairs"}, NoSweep: true},
		tip{Name: "binding", Kinds: append([]Kind{LateRank, SlowRank, Scaling}, unsteady...),
			Backends: append(ncclLike[:2:2], onCPUs...),
			Tip:      "any-binding", Variable: "srun --cpu-bind", Values: []string{"cores"}, NoSweep: true},
		tip{Name: "preflight", Kinds: []Kind{LateRank, Variation},
			Tip: "any-preflight", Variable: "--preflight", NoSweep: true},
	),
)

// tips are hints that have in common what they do not set.
func tips(common tip, all ...tip) []tip {
	for i := range all {
		t := &all[i]
		t.Library, t.NoSweep = common.Library, common.NoSweep || t.NoSweep
		t.Nodes, t.Min = max(t.Nodes, common.Nodes), max(t.Min, common.Min)
		if t.Backends == nil {
			t.Backends = common.Backends
		}
		if t.Kinds == nil {
			t.Kinds = common.Kinds
		}
	}
	return all
}

func openMPIAlgorithm(of coll.Collective, hint notice.Tip, name string, values ...string) tip {
	return tip{Name: "algorithm", Collectives: []coll.Collective{of}, Tip: hint, Values: values,
		Variable: "OMPI_MCA_coll_tuned_" + name + "_algorithm", With: "OMPI_MCA_coll_tuned_use_dynamic_rules=1"}
}

func mpichAlgorithm(of coll.Collective, name string, values ...string) tip {
	return tip{Name: "algorithm", Collectives: []coll.Collective{of}, Tip: "mpich-algorithm", Values: values,
		Variable: "MPIR_CVAR_" + name + "_INTRA_ALGORITHM", With: "MPIR_CVAR_DEVICE_COLLECTIVES=none"}
}
