package backend

import "time"

// Options are what the command line asks of libraries.
type Options struct {
	Backends []string // names; empty: auto
	NCCL     string   // file or folder of the library; empty: it is looked for
	CUDA     string   // file or folder of the driver; empty: it is looked for
	Simulate bool     // the CUDA driver and NCCL are simulated
	ShareGPU bool     // several ranks may use one GPU
	Profile  bool     // begin and end the driver's profiler range
	Like     string   // tool whose settings of NCCL are measured; empty: none
	GPU      NCCLOptions
	Gloo     GlooOptions
	Compute  ComputeOptions
}

// ComputeOptions are how a training step computes.
type ComputeOptions struct {
	Poll    time.Duration // between two calls that test, where they poll
	Threads int           // that compute, on a host
	Kernel  string        // that computes on a GPU: auto, gemm, fma
}
