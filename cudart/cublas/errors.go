package cublas

import "fmt"

// statuses are cublasStatus_t; its numbers have gaps.
var statuses = map[int]string{1: "CUBLAS_STATUS_NOT_INITIALIZED", 3: "CUBLAS_STATUS_ALLOC_FAILED",
	7: "CUBLAS_STATUS_INVALID_VALUE",
	8: "CUBLAS_STATUS_ARCH_MISMATCH", 11: "CUBLAS_STATUS_MAPPING_ERROR", 13: "CUBLAS_STATUS_EXECUTION_FAILED",
	14: "CUBLAS_STATUS_INTERNAL_ERROR", 15: "CUBLAS_STATUS_NOT_SUPPORTED", 16: "CUBLAS_STATUS_LICENSE_ERROR"}

// Error is a status of cuBLAS other than success.
type Error struct {
	Op   string // function of cuBLAS
	Code int    // cublasStatus_t
}

func (e *Error) Error() string {
	name, known := statuses[e.Code]
	if !known {
		name = "unknown status"
	}
	return fmt.Sprintf("%s failed: %s (%d)", e.Op, name, e.Code)
}

const advice = "cuBLAS comes with the CUDA toolkit, with PyTorch, and with: pip install nvidia-cublas-cu12 " +
	"(nvidia-cublas for CUDA 13); if it is in another folder, add that folder to LD_LIBRARY_PATH"
