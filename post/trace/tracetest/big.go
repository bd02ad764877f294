package tracetest

import (
	"fmt"
	"io"
)

// Big writes a trace of at least so many bytes, with the mix of events that training with Python stacks has: of each
// kernel its call, the arrow, a few operators and Python functions; every fiftieth is a collective.
func Big(w io.Writer, bytes int64) error {
	group := Group{Name: "0", About: "default_pg", Ranks: []int{0, 1, 2, 3, 4, 5, 6, 7}}
	t := NewWriter(w, Options{Rank: 0, World: 8, NCCL: "2.27.5", Base: 1700000000_000000000, Devices: 8,
		Groups: []Group{group}})
	const period, perStep = 40_000, 5000
	for i := int64(0); t.Written() < bytes; i++ {
		now := 4458677009_853422 + i*period
		if i%perStep == 0 {
			t.Range(fmt.Sprintf("ProfilerStep#%d", i/perStep), now, perStep*period-1000)
		}
		for n := range int64(3) {
			t.Function(fmt.Sprintf("torch/nn/modules/module.py(%d): _call_impl", 1500+i%400), now+n*100, 20_000-n*200)
		}
		for n, name := range []string{"aten::linear", "aten::addmm"} {
			t.Operator(name, now+1000*int64(n), 15_000)
		}
		k := Kernel{Name: fmt.Sprintf("void at::native::vectorized_elementwise_kernel<4, "+
			"at::native::CUDAFunctor_add<float>, std::array<char*, %dul> >(int, ...)", i%97),
			Stream: ComputeStream, Start: now + 30_000, Took: 25_000, Launch: now + 4000}
		if i%50 == 49 {
			k.Name, k.Stream = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", CommStream
			k.Collective = &Collective{
				Name:  "allreduce",
				Type:  "Float",
				In:    6553600,
				Out:   6553600,
				Group: group,
				Seq:   i,
			}
		}
		t.Kernel(k)
	}
	return t.Close()
}
