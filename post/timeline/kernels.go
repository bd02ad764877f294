package timeline

import (
	"cmp"
	"regexp"
	"sync"

	"busbar/internal/coll"
)

// kernelRow is one kind of communication kernel, recognised by the name of its function.
//
// A name is not always precise: NCCL's names contain the algorithm and protocol of one of several variants, and the
// kernel named SendRecv runs any mixture of operations.
type kernelRow struct {
	scope  string          // a regular expression for namespaces; "": any
	name   string          // matches the function; the group op is the operation, if the name has it
	only   coll.Collective // the operation of all of them; 0: from op, or unknown
	within bool            // stays within one GPU: not communication
}

// Patterns of operations in names; the name of NCCL's kernel for sends and groups does not contain its operation.
const (
	opWords = `(?P<op>(?i:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|reduce|gather|scatter))`
	fewOps  = `(?P<op>(?i:all_?reduce|all_?gather|reduce_?scatter))`
)

// Namespaces of libraries whose functions have common names.
const (
	expertScope  = `(^|::)(deep_ep|hybrid_ep|uccl|mori|mooncake|pplx)\w*(::|$)`
	mscclppScope = `(^|::)mscclpp(::|$)`
	unnamedScope = `(^|::)\(unnamed\)$`
	engineScope  = `(^|::)(vllm|sglang|aiter|flashinfer|tensorrt_llm|turbomind|quickreduce)(::|$)`
)

// kernelTable classifies kernels by name; the first match wins.
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
	// The first may scatter its result.
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
	// The second ends a two-shot all-reduce: it waits for the other GPUs' writes.
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

// compiled is the table with compiled expressions, built on first use.
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

// known is what a kernel's name shows.
type known struct {
	comm   bool
	within bool            // stays within one GPU
	own    bool            // busbar's own: it counts with a world size of 1 too
	what   coll.Collective // Other if the name has no collective
	name   string          // display name of the function
}

// recognise classifies a kernel's name.
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

// operationOf returns the collective for a word in a kernel's name.
func operationOf(word string) coll.Collective {
	what, err := coll.ParseCollective(word)
	if err != nil {
		return coll.Other
	}
	return what
}
