package timeline

import (
	"maps"
	"slices"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/coll"
)

// kernelNames are kernels as profilers write them, at least one per row of the table.
var kernelNames = map[coll.Collective][]string{
	coll.AllReduce: {
		"ncclAllReduceRingLLKernel_sum_f32(ncclColl)",
		"ncclAllReduceTreeLL128Kernel_sum_f16(ncclColl)",
		"ncclAllReduceRingLLKernel",
		"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
		"ncclDevKernel_AllReduce_Sum_f32_TREE_LL(ncclDevComm*, unsigned long, ncclWork*)",
		"ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymDevArgs)",
		"void ncclKernelAllReduceCtranRing<float, (commRedOp_t)0, true>(int*, CtranAlgoDeviceState*, " +
			"ctran::allreduce::ring::KernArgs)",
		"pcclKernel_AllReduce_RING_LL_Sum_float(pcclDevComm*)",
		"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned long, " +
			"unsigned int**, unsigned long, unsigned long)",
		"void <unnamed>::multimem_one_shot_all_reduce_kernel<c10::BFloat16, (int)16, (int)8>(T1 *)",
		"_ZN12_GLOBAL__N_126multimem_all_reduce_kernelIN3c108BFloat16ELi16EEEvPT_mPPjmm",
		"_ZN52_GLOBAL__N__0cdb2b32_24_CUDASymmetricMemoryOps_cu_5626multimem_all_reduce_kernelEv",
		"void c10d::intra_node_comm::hybridCubeMeshAllReduceKernel<true>(at::BFloat16*)",
		"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, " +
			"__nv_bfloat16*, int, int)",
		"_ZN4vllm26cross_device_reduce_2stageIfLi2EEEvPNS_8RankDataENS_11RankSignalsEPNS_6SignalEPT_ii",
		"void aiter::cross_device_reduce_2stage_naive<__hip_bfloat16, 8>(RankData*)",
		"void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot<__half, CodecQ4<__half,4>, true>, " +
			"__half>(__half const*)",
		"void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 2>(c10::BFloat16**, " +
			"unsigned long)",
		"void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8, true, false>(AllReduceParams)",
		"lowPrecisionTwoShotAllReduceKernel",
		"void flashinfer::trtllm_mnnvl_allreduce::oneshotAllreduceFusionKernel<(unsigned char)2, __nv_bfloat16, " +
			"true>(Params)",
		"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(" +
			"flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, " +
			"__nv_bfloat16, 2, true, true>(flashinfer::trtllm_allreduce_fusion::AllReduceFusionParams<__nv_bfloat16>)",
		"moereduction_allreduce_fusion_kernel_oneshot_lamport",
		"void mscclpp::nccl::allreduceAllPairs<(mscclpp::ReduceOp)0, __half>(__half*)",
		"void sglang::device::push_all_reduce_1shot<__half, 8>(int)",
		"stream_executor::gpu::AllReduceKernelImpl<float>",
		"void allreduce_one_step<__half>(int)",
	},
	coll.ReduceScatter: {
		"ncclReduceScatterRingLLKernel_sum_f32(ncclColl)",
		"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"ncclSymkDevKernel_ReduceScatter_RailA2A_LsaLD_sum_bf16",
		"void aiter::reduce_scatter_cross_device_store<__half, 8>(RankData*)",
		"void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int)",
		"reduce_scatter_kernel",
	},
	coll.Reduce: {
		"ncclReduceRingKernel_sum_f32(ncclColl)",
	},
	coll.Other: {
		"ncclSendRecvKernel_copy_i8(ncclColl)",
		"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
		"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)",
		"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>) [clone .kd]",
		"ncclDevKernelDebug_Generic_1.kd",
		"_Z23ncclDevKernel_Generic_424ncclDevKernelArgsStorageILm4096EE",
		"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
		"void ncclKernelSend<true>(int*)",
		"ncclGinResetSignals(int)",
		"rcclGenericKernel(rcclArgs)",
		"mscclKernel_Sum_half_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)",
		"void (anonymous namespace)::multimem_one_shot_reduce_kernel<float, 16>(float*)",
		"void (anonymous namespace)::two_shot_all_reduce_kernel<float, 16, 8, true, false>(float**)",
		"put_signal_kernel(unsigned int**, int, int)",
		"(anonymous namespace)::barrier_kernel(unsigned int**, int, int, int, unsigned long)",
		"exchangeSplitAndOffset(long*)",
		"void flashinfer::trtllm_mnnvl_allreduce::rmsNormLamport<__nv_bfloat16, (flashinfer::QuantType)0, 2>(T1 *)",
		"void tensorrt_llm::kernels::moe_comm::moeA2ADispatchKernel<8, false>(int const*)",
		"kuserbuffers_pushsend(int*, int*, int4*, int4*, int)",
		"void deep_ep::intranode::combine<__nv_bfloat16, (int)8, (int)768, (int)4096>(T1 *, float *)",
		"void primus_turbo::deep_ep::intranode::cached_notify_dispatch<8>(int const*, int)",
		"hybrid_ep::device_sync_kernel(unsigned int*)",
		"EpDispatchIntraNodeKernel_bf16",
		"mscclpp_allreduce",
		"void mscclpp::executionKernel<__half, mscclpp::LL16Packet, true>(int)",
		"nvshmemi_proxy_quiet_entrypoint()",
		"void barrier_on_stream_kernel_threadgroup<(threadgroup_t)1>(int, int)",
		"rocshmem_barrier_all_kernel",
	},
	coll.AllGather: {
		"ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
		"ncclDevKernel_AllGatherV",
		"ncclSymkDevKernel_AllGather_STMC(ncclSymkDevWorkArgs4K)",
		"ncclKernelAllGatherCtranRecDbl(int*, CtranAlgoDeviceState*, ctran::allgather::KernelArgs)",
		"void (anonymous namespace)::multimem_all_gather_kernel<16>(char*, char*, unsigned long, unsigned int**, " +
			"unsigned long, unsigned long)",
		"_multimem_all_gather_kernel",
		"cross_device_all_gather",
		"mnnvl_lamport_all_gather",
		"void userbuffers_fp16_sum_inplace_gpu_rw_ag<2>(int, int, int, int, int, int, int, void**, int, unsigned long)",
		"_all_gather_kernel",
	},
	coll.Broadcast: {
		"_Z42ncclKernel_Broadcast_RING_LL_Sum_int8_t_x_P11ncclDevCommmP8ncclWork",
	},
	coll.AllToAll: {
		"void ncclKernelAllToAllv<true>(int*)",
		"allToAllV(void*, void*, long*)",
		"moeAllToAllKernel",
	},
}

func TestRecogniseKernels(t *testing.T) {
	for what, kernels := range kernelNames {
		for _, k := range kernels {
			got := recognise(k)
			must.True(t, got.comm && got.what == what, must.Sprint(k, got))
		}
	}
}

func TestKernelTableRowsHaveExamples(t *testing.T) {
	used := map[int]bool{}
	for _, k := range append(slices.Concat(slices.Collect(maps.Values(kernelNames))...), withinNames...) {
		f := functionOf(k)
		i := slices.IndexFunc(kernelTable(), func(row kernelRow) bool {
			return row.scope.MatchString(f.scope) && row.name.MatchString(f.name)
		})
		used[i] = true
	}
	must.EqOp(t, len(kernelTable()), len(used))
}

// withinNames are kernels of communication libraries that move nothing between GPUs.
var withinNames = []string{
	"void (anonymous namespace)::oneRankReduce<FuncPreMulSum<float> >(void*, void*, unsigned long, unsigned long, " +
		"bool)",
	"void oneRankReduce<FuncPreMulSum<__half>>(void *, void *, unsigned long, unsigned long, bool)",
	"_ZN42_GLOBAL__N__a1b2c3d4_9_onerank_cu_0123456713oneRankReduceI13FuncPreMulSumIfEEEvPvS3_mmb",
	"void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)",
}

// Compute kernels with names of collectives in their names, arguments or types.
var computeNames = append([]string{
	"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, " +
		"float>, unsigned int, float, 4> >(at::native::ReduceOp<float>)",
	"void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, long, long, bool)",
	"void at::native::_scatter_gather_elementwise_kernel<128, 4, " +
		"at::native::_cuda_scatter_gather_internal_kernel<false, at::native::OpaqueType<4> > >(int)",
	"void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, true, true, " +
		"false>(cublasLt::cublasSplitKParams<float>)",
	"void broadcast_kernel<float>(float*)",
	"void cudnn::reduced_divisor_kernel(int)",
	"triton_red_fused_all_reduce_native_layer_norm_3",
	"triton_poi_fused_broadcast_tensors_0",
	"triton_poi_fused_all_gather_into_tensor_wait_tensor_1",
	"triton_red_fused__to_copy_reduce_scatter_tensor_2",
	"void at::native::multi_tensor_apply_kernel<at::native::TensorListMetadata<1>, (anonymous " +
		"namespace)::AllReduceOp>(int)",
	"void at::native::(anonymous namespace)::indexSelectLargeIndex<all_gather>(int)",
	"void flash_fwd_mla_combine_kernel<float>(int)",
	"flash_fwd_splitkv_combine_kernel",
	"void moe_combine<float>(int)",
	"void consumer<ncclDevKernel_AllReduce_Sum_f32_RING_LL>(int)",
	"void elementwise(std::function<void (ncclDevComm*)>)",
	"void at::native::elementwise_kernel<128, 2, " +
		"at::native::gpu_kernel_impl_nocast<ncclKernel_AllReduce>::{lambda(int)#1}>(int)",
	"scatter_reduce_kernel",
	"cub::DeviceReduceKernel",
	"Memcpy DtoD (Device -> Device)",
	"",
}, withinNames...)

func TestRecogniseRejectsComputation(t *testing.T) {
	for _, k := range computeNames {
		must.False(t, recognise(k).comm, must.Sprint(k))
	}
}
