package timeline

import (
	"testing"

	"github.com/shoenig/test"
)

func TestFunctionOf(t *testing.T) {
	for kernel, want := range map[string]string{
		"ampere_sgemm_128x64_nn": "ampere_sgemm_128x64_nn",
		"void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous " +
			"namespace)::OpaqueType<4u>, 1>(int)": "at::native::(unnamed)::CatArrayBatchedCopy",
		"void at::native::<unnamed>::CatArrayBatchedCopy<(int)4>(T1 *)": "at::native::(unnamed)::CatArrayBatchedCopy",
		"std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type " +
			"vllm::norm<c10::BFloat16, 8>(int)": "vllm::norm",
		"foo(int) [clone .kd]": "foo",
		"foo [clone .kd]":      "foo",
		"foo.kd":               "foo",
		"_ZN2at6native12_GLOBAL__N_119CatArrayBatchedCopyILi4EEEvPT_": "at::native::(unnamed)::CatArrayBatchedCopy",
		"_Z3fooIiEvT_": "foo",
		"_ZL3foov":     "foo",
		"_Znonsense":   "_Znonsense",
		"_Z99short":    "_Z99short",
		"":             "",
		"a<b":          "a",
	} {
		test.EqOp(t, want, functionOf(kernel).String(), test.Sprint(kernel))
	}
}

func FuzzFunctionOf(f *testing.F) {
	for _, kernels := range kernelNames {
		f.Add(kernels[0])
	}
	f.Fuzz(func(_ *testing.T, kernel string) { recognise(kernel) })
}
