package timeline

import (
	"regexp"

	"busbar/internal/coll"
)

// kernelRow is one kind of kernels that are communication, known by the name of their function.
//
// What a name does not tell is not made of it: NCCL's names carry the algorithm and the protocol of a stand-in, and the
// kernel that is named after sending and receiving carries any mixture of operations.
type kernelRow struct {
	by     string          // the library and, of NCCL, its versions
	scope  *regexp.Regexp  // of the namespaces; nil: any
	name   *regexp.Regexp  // of the function; the group op has the operation, where the name tells it
	only   coll.Collective // the operation of all of them; 0: op tells it, or nothing
	within bool            // it stays within one GPU, and is no communication
}

// The words of operations in names; what the kernel of NCCL for sends and groups carries is not told by its name.
const opWords = `(?P<op>(?i:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|reduce|gather|scatter))`

// The namespaces of libraries whose functions have everyday names.
var (
	expertScope  = regexp.MustCompile(`(^|::)(deep_ep|hybrid_ep|uccl|mori|mooncake|pplx)\w*(::|$)`)
	mscclppScope = regexp.MustCompile(`(^|::)mscclpp(::|$)`)
	unnamedScope = regexp.MustCompile(`(^|::)` + regexp.QuoteMeta(unnamed) + `$`)
	engineScope  = regexp.MustCompile(`(^|::)(vllm|sglang|aiter|flashinfer|tensorrt_llm|turbomind|quickreduce)(::|$)`)
)

// kernelTable is by what names kernels are known. The first row that fits counts.
var kernelTable = []kernelRow{
	{by: "NCCL, one rank", name: regexp.MustCompile(`^oneRankReduce$`), within: true},

	{by: "NCCL ≤ 2.7", name: regexp.MustCompile(`^nccl` + opWords + `(Ring|Tree|CollNet)?(LL128|LL)?Kernel`)},
	{by: "NCCL ≤ 2.7", name: regexp.MustCompile(`^ncclSendRecvKernel`)},
	{by: "NCCL 2.8–2.18", name: regexp.MustCompile(`^ncclKernel_(` + opWords + `_)?`)},
	{by: "NCCL ≥2.19, RCCL", name: regexp.MustCompile(`^ncclDevKernel(Debug)?_Generic`)},
	{by: "NCCL ≥ 2.19", name: regexp.MustCompile(`^ncclDevKernel(Debug)?_(` + opWords + `V?(_|$))?`)},
	{by: "NCCL 2.27 (symmetric)", name: regexp.MustCompile(`^ncclSymDevKernel_(` + opWords + `)?`)},
	{by: "NCCL ≥2.28 (symmetric)", name: regexp.MustCompile(`^ncclSymkDevKernel_(` + opWords + `)?`)},
	{by: "NCCLX", name: regexp.MustCompile(`^ncclKernel` + opWords)},
	{by: "NCCLX", name: regexp.MustCompile(`^ncclKernel[A-Z]`)},
	{by: "NCCL", name: regexp.MustCompile(`^nccl[A-Z_]`)},
	{by: "RCCL", name: regexp.MustCompile(`^rccl[A-Z_]`)},
	{by: "MSCCL", name: regexp.MustCompile(`^mscclKernel`)},
	{by: "NCCL-compatible library", name: regexp.MustCompile(`^[a-z]{1,3}ccl(Symk?)?(Dev)?Kernel_(` + opWords + `)?`)},

	{by: "PyTorch, symmetric memory",
		name: regexp.MustCompile(`^_?multimem_(one_shot_|two_shot_)?(?P<op>all_reduce|all_gather|reduce_scatter)`)},
	{by: "PyTorch, symmetric memory", name: regexp.MustCompile(`^_?multimem_`)},
	// The same kernel scatters what it reduced, where it is told to.
	{by: "PyTorch, symmetric memory", name: regexp.MustCompile(`^two_shot_all_reduce_kernel$`)},
	{by: "PyTorch, symmetric memory", name: regexp.MustCompile(`^(put|wait)_signal_kernel$`)},
	{by: "PyTorch, symmetric memory", scope: unnamedScope, name: regexp.MustCompile(`^barrier_kernel$`)},
	{by: "PyTorch, NVSHMEM", name: regexp.MustCompile(`^(?P<op>allToAll)V`)},
	{by: "PyTorch, NVSHMEM", name: regexp.MustCompile(`^exchangeSplitAndOffset`)},
	{by: "PyTorch, intra-node", name: regexp.MustCompile(`^hybridCubeMeshAllReduceKernel`), only: coll.AllReduce},

	{by: "vLLM, SGLang, AITER", name: regexp.MustCompile(`^cross_device_reduce_[12]stage`), only: coll.AllReduce},
	{by: "vLLM, SGLang, AITER", name: regexp.MustCompile(`^cross_device_(?P<op>all_gather|reduce_scatter)`)},
	{by: "vLLM, SGLang, AITER", name: regexp.MustCompile(`^reduce_scatter_cross_device`), only: coll.ReduceScatter},
	{by: "QuickReduce (vLLM, SGLang)", name: regexp.MustCompile(`^allreduce_prototype`), only: coll.AllReduce},
	{by: "PyTorch, TensorRT-LLM, FlashInfer",
		name: regexp.MustCompile(`(?i)^(lamport_style_|low_?precision_?)?(one|two)_?shot_?all_?reduce`),
		only: coll.AllReduce},
	{by: "TensorRT-LLM, FlashInfer",
		name: regexp.MustCompile(`^(\w+_)?allreduce_fusion_kernel|^lamport_allreduce`), only: coll.AllReduce},
	{by: "TensorRT-LLM, FlashInfer",
		name: regexp.MustCompile(`^mnnvl_lamport_(?P<op>all_gather|reduce_scatter|all_reduce)`)},
	// It ends a two-shot all-reduce: it waits for what the other GPUs write.
	{by: "TensorRT-LLM, FlashInfer", name: regexp.MustCompile(`^rmsNormLamport`)},
	{by: "TensorRT-LLM, FlashInfer (MoE)", name: regexp.MustCompile(`^moe(?P<op>AllToAll)Kernel`)},
	{by: "TensorRT-LLM, FlashInfer (MoE)", name: regexp.MustCompile(`^moeA2A(Dispatch|Combine)Kernel`)},

	{by: "userbuffers (TransformerEngine, TensorRT-LLM)", name: regexp.MustCompile(`^userbuffers_\w*_ag(_|$)`),
		only: coll.AllGather},
	{by: "userbuffers (TransformerEngine, TensorRT-LLM)", name: regexp.MustCompile(`^userbuffers_\w*_rs(_|$)`),
		only: coll.ReduceScatter},
	{by: "userbuffers (TransformerEngine, TensorRT-LLM)", name: regexp.MustCompile(`^k?userbuffers_`)},

	{by: "expert parallelism (DeepEP)", scope: expertScope, name: regexp.MustCompile(`get_dispatch_layout`), within: true},
	{by: "expert parallelism (DeepEP)", scope: expertScope,
		name: regexp.MustCompile(`(?i)(dispatch|combine|notify|barrier|device_sync|clean_low_latency)`)},
	{by: "expert parallelism (MORI)", name: regexp.MustCompile(`^Ep(Dispatch|Combine)\w*Kernel`)},

	{by: "MSCCL++", name: regexp.MustCompile(`^mscclpp`)},
	{by: "MSCCL++", scope: mscclppScope, name: regexp.MustCompile(`(?i)` + opWords)},
	{by: "MSCCL++", scope: mscclppScope, name: regexp.MustCompile(`^executionKernel`)},
	{by: "NVSHMEM", name: regexp.MustCompile(`^nvshmem`)},
	{by: "NVSHMEM", name: regexp.MustCompile(`^(barrier|barrier_all|sync|sync_all)_on_stream_kernel`)},
	{by: "rocSHMEM", name: regexp.MustCompile(`^roc_?shmem`)},

	{by: "an inference engine", scope: engineScope,
		name: regexp.MustCompile(`(?P<op>(?i:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all))`)},
	// Nothing that stays within one GPU is named so from its first letter on.
	{by: "by its name", name: regexp.MustCompile(`^_?(?P<op>(?i:all_?reduce|all_?gather|reduce_?scatter))`)},
}

// known is what the name of a kernel tells.
type known struct {
	comm   bool
	within bool            // it is known to stay within one GPU
	own    bool            // busbar ran it itself: it is what its name says, in a world of one rank too
	by     string          // library and versions
	what   coll.Collective // Other where the name does not tell one
	name   string          // of the function, for people
}

// recognise looks a kernel's name up.
func recognise(kernel string) known {
	if k, ok := recogniseOwn(kernel); ok {
		return k
	}
	f := functionOf(kernel)
	for i := range kernelTable {
		row := &kernelTable[i]
		if row.scope != nil && !row.scope.MatchString(f.scope) {
			continue
		}
		m := row.name.FindStringSubmatch(f.name)
		if m == nil {
			continue
		}
		what := row.only
		if what == 0 {
			what = coll.Other
		}
		if op := row.name.SubexpIndex("op"); op > 0 {
			what = operationOf(m[op])
		}
		return known{comm: !row.within, within: row.within, by: row.by, what: what, name: f.name}
	}
	return known{name: f.name}
}

// operationOf is the collective that a word in a kernel's name names.
func operationOf(word string) coll.Collective {
	what, err := coll.ParseCollective(word)
	if err != nil {
		return coll.Other
	}
	return what
}
