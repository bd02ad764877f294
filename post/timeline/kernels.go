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

// kernelTable classifies kernels by name. The first row that fits counts.
var kernelTable = []kernelRow{
	// NCCL, one rank
	{name: `^oneRankReduce$`, within: true},

	// NCCL ≤ 2.7
	{name: `^nccl(SendRecv|` + opWords + `(Ring|Tree|CollNet)?(LL128|LL)?)Kernel`},
	// NCCL 2.8–2.18
	{name: `^ncclKernel_(` + opWords + `_)?`},
	// NCCL ≥2.19, RCCL
	{name: `^ncclDevKernel(Debug)?_Generic`},
	// NCCL ≥ 2.19
	{name: `^ncclDevKernel(Debug)?_(` + opWords + `V?(_|$))?`},
	// NCCL 2.27 (symmetric)
	{name: `^ncclSymDevKernel_(` + opWords + `)?`},
	// NCCL ≥2.28 (symmetric)
	{name: `^ncclSymkDevKernel_(` + opWords + `)?`},
	// NCCLX
	{name: `^ncclKernel(` + opWords + `|[A-Z])`},
	// NCCL
	{name: `^nccl[A-Z_]`},
	// RCCL
	{name: `^rccl[A-Z_]`},
	// MSCCL
	{name: `^mscclKernel`},
	// NCCL-compatible library
	{name: `^[a-z]{1,3}ccl(Symk?)?(Dev)?Kernel_(` + opWords + `)?`},

	// PyTorch, symmetric memory
	{name: `^_?multimem_((one_shot_|two_shot_)?` + fewOps + `)?`},
	// The first may scatter what it reduced.
	{name: `^(two_shot_all_reduce_kernel|(put|wait)_signal_kernel)$`},
	{scope: unnamedScope, name: `^barrier_kernel$`},
	// PyTorch, NVSHMEM
	{name: `^((?P<op>allToAll)V|exchangeSplitAndOffset)`},
	// PyTorch, intra-node
	{name: `^hybridCubeMeshAllReduceKernel`, only: coll.AllReduce},

	// vLLM, SGLang, AITER
	{name: `^cross_device_reduce_[12]stage`, only: coll.AllReduce},
	{name: `^cross_device_` + fewOps},
	{name: `^reduce_scatter_cross_device`, only: coll.ReduceScatter},
	// QuickReduce (vLLM, SGLang)
	{name: `^allreduce_prototype`, only: coll.AllReduce},
	// PyTorch, TensorRT-LLM, FlashInfer
	{only: coll.AllReduce,
		name: `(?i)^(lamport_style_|low_?precision_?)?(one|two)_?shot_?all_?reduce`},
	// TensorRT-LLM, FlashInfer
	{name: `^(\w+_)?allreduce_fusion_kernel|^lamport_allreduce`, only: coll.AllReduce},
	// The second ends a two-shot all-reduce: it waits for what the other GPUs write.
	{name: `^(mnnvl_lamport_` + fewOps + `|rmsNormLamport)`},
	// TensorRT-LLM, FlashInfer (MoE)
	{name: `^moe((?P<op>AllToAll)|A2A(Dispatch|Combine))Kernel`},

	// userbuffers (TransformerEngine, TensorRT-LLM)
	{name: `^userbuffers_\w*_ag(_|$)`, only: coll.AllGather},
	{name: `^userbuffers_\w*_rs(_|$)`, only: coll.ReduceScatter},
	{name: `^k?userbuffers_`},

	// expert parallelism (DeepEP)
	{scope: expertScope, name: `get_dispatch_layout`, within: true},
	{scope: expertScope,
		name: `(?i)(dispatch|combine|notify|barrier|device_sync|clean_low_latency)`},
	// expert parallelism (MORI)
	{name: `^Ep(Dispatch|Combine)\w*Kernel`},

	// MSCCL++
	{name: `^mscclpp`},
	{scope: mscclppScope, name: opWords + `|^executionKernel`},
	// NVSHMEM
	{name: `^(nvshmem|(barrier|barrier_all|sync|sync_all)_on_stream_kernel)`},
	// rocSHMEM
	{name: `^roc_?shmem`},

	// an inference engine
	{scope: engineScope,
		name: `(?P<op>(?i:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all))`},
	// Nothing that stays within one GPU is named so from its first letter on.
	// by its name
	{name: `^_?` + fewOps},
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

// known is what the name of a kernel shows.
type known struct {
	comm   bool
	within bool            // it is known to stay within one GPU
	own    bool            // busbar ran it itself: its name is right, in a world of one rank too
	what   coll.Collective // Other if the name has no collective
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
		k := known{comm: !row.within, within: row.within, what: cmp.Or(row.only, coll.Other), name: f.name}
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
