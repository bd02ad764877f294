package nccl

import (
	"errors"
	"fmt"
	"strings"
)

// The codes of steps (loop.StepError) are NCCL's results from 1; CUDA's are larger by cudaCode.
const (
	cudaCode        = 1000
	interruptedCode = 10000
)

// Results of NCCL that the package looks at.
const (
	unhandledCuda   = 1
	internalError   = 3
	invalidArgument = 4
	invalidUsage    = 5
)

var results = strings.Fields(`
	ncclSuccess ncclUnhandledCudaError ncclSystemError ncclInternalError ncclInvalidArgument ncclInvalidUsage
	ncclRemoteError ncclInProgress ncclTimeout`)

func resultName(code int) string {
	if code < 0 || code >= len(results) {
		return fmt.Sprintf("(%d)", code)
	}
	return results[code]
}

// ErrInterrupted is the error of a wait after Comm.Interrupt.
var ErrInterrupted = errors.New("the wait for NCCL was interrupted")

// ErrClosed is the error of a communicator's methods after Close or Abort.
var ErrClosed = errors.New("the NCCL communicator was closed or aborted")

// Error is a result of NCCL other than success.
type Error struct {
	Op   string // function of NCCL
	Code int    // ncclResult_t
	Name string // "ncclUnhandledCudaError"
	Text string // ncclGetErrorString
	Last string // ncclGetLastError, or ""

	mscclpp bool
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s failed: %s (%s, result %d)", e.Op, e.Text, e.Name, e.Code)
	if e.Last != "" {
		text += ": " + strings.ReplaceAll(e.Last, "\n", "; ")
	}
	return text
}

// Unsupported reports whether an operation failed because the library does not have it, for these types, reductions or
// GPUs: NCCL calls its arguments invalid, MSCCL++ has several results for it.
func (e *Error) Unsupported() bool {
	return e.Code == invalidArgument || e.mscclpp && (e.Code == internalError || e.Code == invalidUsage)
}

// Cuda reports that a CUDA call failed inside NCCL.
func (e *Error) Cuda() bool { return e.Code == unhandledCuda }

// advice is how to get a library.
func (o Options) advice() string {
	if o.NCCLX {
		return "NCCLX's libnccl.so.2 comes from building it (build_ncclx.sh of torchcomms) or from a Conda build " +
			"that links it as a shared library; the torchcomms wheel links NCCLX into a Python module and holds no " +
			"library that can be loaded. Set --nccl PATH"
	}
	return "NCCL comes with: pip install nvidia-nccl-cu12 (nvidia-nccl-cu13 for CUDA 13), or libnccl2 from NVIDIA's " +
		"repository for Debian and Ubuntu (libnccl for RHEL); or set --nccl PATH"
}

// versionText writes a version code for people: major·10000 + minor·100 + patch, or major·1000 + … up to NCCL 2.8.
func versionText(code int) string {
	major := 10000
	if code < major {
		major = 1000
	}
	return fmt.Sprintf("%d.%d.%d", code/major, code%major/100, code%100)
}
