package timeline

import (
	"cmp"
	"regexp"
	"sync"

	"busbar/internal/coll"
)

// kernelRow is one kind of kernels that are communication, known by the name of their function.
//
// What a name does not say is not made of it: NCCL's names carry the algorithm and the protocol of one variant of
// several, and the kernel that is named after sending and receiving carries any mixture of operations.
type kernelRow struct {
	by     string          // the library and, of NCCL, its versions
	scope  string          // a regular expression for namespaces; "": any
	name   string          // one for the function; the group op has the operation, where the name has it
	only   coll.Collective // the operation of all of them; 0: op has it, or nothing
	within bool            // it stays within one GPU, and is no communication
}

// The words of operations in names; what the kernel of NCCL for sends and groups carries is not in its name.
const (
	opWords = `(?P<op>(?i:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|reduce|gather|scatter))`
	fewOps  = `(?P<op>(?i:all_?reduce|all_?gather|reduce_?scatter))`
)

// The namespaces of libraries whose functions have everyday names.
const (
	expertScope  = `(^|::)(deep_ep|hybrid_ep|uccl|mori|mooncake|pplx)\w*(::|$)`
	mscclppScope = `(^|::)mscclpp(::|$)`
	unnamedScope = `(^|::)\(unnamed\)$`
	engineScope  = `(^|::)(vllm|sglang|aiter|flashinfer|tensorrt_llm|turbomind|quickreduce)(::|$)`
)

// kernelTable is by what names kernels are known. The first row that fits counts.
var kernelTable = []kernelRow{
	{by: "NCCL, one rank", name: `^oneRankReduce$`, within: true},

	{by: "NCCL ≤ 2.7", name: `^nccl` + opWords + `(Ring|Tree|CollNet)?(LL128|LL)?Kernel`},
	{by: "NCCL ≤ 2.7", name: `^ncclSendRecvKernel`},
	{by: "NCCL 2.8–2.18", name: `^ncclKernel_(` + opWords + `_)?`},
	{by: "NCCL ≥2.19, RCCL", name: `^ncclDevKernel(Debug)?_Generic`},
	{by: "NCCL ≥ 2.19", name: `^ncclDevKernel(Debug)?_(` + opWords + `V?(_|$))?`},
	{by: "NCCL 2.27 (symmetric)", name: `^ncclSymDevKernel_(` + opWords + `)?`},
	{by: "NCCL ≥2.28 (symmetric)", name: `^ncclSymkDevKernel_(` + opWords + `)?`},
	{by: "NCCLX", name: `^ncclKernel` + opWords},
	{by: "NCCLX", name: `^ncclKernel[A-Z]`},
	{by: "NCCL", name: `^nccl[A-Z_]`},
	{by: "RCCL", name: `^rccl[A-Z_]`},
	{by: "MSCCL", name: `^mscclKernel`},
	{by: "NCCL-compatible library", name: `^[a-z]{1,3}ccl(Symk?)?(Dev)?Kernel_(` + opWords + `)?`},

	{by: "PyTorch, symmetric memory", name: `^_?multimem_(one_shot_|two_shot_)?` + fewOps},
	{by: "PyTorch, symmetric memory", name: `^_?multimem_`},
	// The same kernel scatters what it reduced, where it is told to.
	{by: "PyTorch, symmetric memory", name: `^two_shot_all_reduce_kernel$`},
	{by: "PyTorch, symmetric memory", name: `^(put|wait)_signal_kernel$`},
	{by: "PyTorch, symmetric memory", scope: unnamedScope, name: `^barrier_kernel$`},
	{by: "PyTorch, NVSHMEM", name: `^(?P<op>allToAll)V`},
	{by: "PyTorch, NVSHMEM", name: `^exchangeSplitAndOffset`},
	{by: "PyTorch, intra-node", name: `^hybridCubeMeshAllReduceKernel`, only: coll.AllReduce},

	{by: "vLLM, SGLang, AITER", name: `^cross_device_reduce_[12]stage`, only: coll.AllReduce},
	{by: "vLLM, SGLang, AITER", name: `^cross_device_` + fewOps},
	{by: "vLLM, SGLang, AITER", name: `^reduce_scatter_cross_device`, only: coll.ReduceScatter},
	{by: "QuickReduce (vLLM, SGLang)", name: `^allreduce_prototype`, only: coll.AllReduce},
	{by: "PyTorch, TensorRT-LLM, FlashInfer", only: coll.AllReduce,
		name: `(?i)^(lamport_style_|low_?precision_?)?(one|two)_?shot_?all_?reduce`},
	{by: "TensorRT-LLM, FlashInfer", name: `^(\w+_)?allreduce_fusion_kernel|^lamport_allreduce`, only: coll.AllReduce},
	{by: "TensorRT-LLM, FlashInfer", name: `^mnnvl_lamport_` + fewOps},
	// It ends a two-shot all-reduce: it waits for what the other GPUs write.
	{by: "TensorRT-LLM, FlashInfer", name: `^rmsNormLamport`},
	{by: "TensorRT-LLM, FlashInfer (MoE)", name: `^moe(?P<op>AllToAll)Kernel`},
	{by: "TensorRT-LLM, FlashInfer (MoE)", name: `^moeA2A(Dispatch|Combine)Kernel`},

	{by: "userbuffers (TransformerEngine, TensorRT-LLM)", name: `^userbuffers_\w*_ag(_|$)`, only: coll.AllGather},
	{by: "userbuffers (TransformerEngine, TensorRT-LLM)", name: `^userbuffers_\w*_rs(_|$)`, only: coll.ReduceScatter},
	{by: "userbuffers (TransformerEngine, TensorRT-LLM)", name: `^k?userbuffers_`},

	{by: "expert parallelism (DeepEP)", scope: expertScope, name: `get_dispatch_layout`, within: true},
	{by: "expert parallelism (DeepEP)", scope: expertScope,
		name: `(?i)(dispatch|combine|notify|barrier|device_sync|clean_low_latency)`},
	{by: "expert parallelism (MORI)", name: `^Ep(Dispatch|Combine)\w*Kernel`},

	{by: "MSCCL++", name: `^mscclpp`},
	{by: "MSCCL++", scope: mscclppScope, name: `(?i)` + opWords},
	{by: "MSCCL++", scope: mscclppScope, name: `^executionKernel`},
	{by: "NVSHMEM", name: `^nvshmem`},
	{by: "NVSHMEM", name: `^(barrier|barrier_all|sync|sync_all)_on_stream_kernel`},
	{by: "rocSHMEM", name: `^roc_?shmem`},

	{by: "an inference engine", scope: engineScope,
		name: `(?P<op>(?i:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all))`},
	// Nothing that stays within one GPU is named so from its first letter on.
	{by: "by its name", name: `^_?` + fewOps},
}

// compiled is the table with its regular expressions, made when the first kernel is looked up.
var compiled = sync.OnceValue(func() (rows []compiledRow) {
	for _, row := range kernelTable {
		rows = append(rows, compiledRow{row, regexp.MustCompile(row.scope), regexp.MustCompile(row.name)})
	}
	return rows
})

type compiledRow struct {
	kernelRow
	scope, name *regexp.Regexp
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
	for _, row := range compiled() {
		m := row.name.FindStringSubmatch(f.name)
		if m == nil || !row.scope.MatchString(f.scope) {
			continue
		}
		k := known{comm: !row.within, within: row.within, by: row.by, what: cmp.Or(row.only, coll.Other), name: f.name}
		if op := row.name.SubexpIndex("op"); op > 0 {
			k.what = operationOf(m[op])
		}
		return k
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
