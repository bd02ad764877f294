// Package cudart is the part of a CUDA runtime that a benchmark needs. It uses the driver (libcuda.so.1) and the
// device's primary context, so that it shares the device with the runtime inside NCCL. No toolkit and no versioned
// libcudart is needed: every machine with a working GPU has the driver. It is loaded at run time, through one table of
// functions (cuda.h), which C code of cudart/nccl uses too.
//
// It launches no kernels but its own, which fill and compare buffers, and it knows no collective.
package cudart

import "fmt"

// Options select the driver to load.
type Options struct {
	Path string   // --cuda PATH: libcuda.so.1 or its folder; then nothing else is tried
	Dirs []string // folders in which libcuda.so.1 lies; default: the loader's path, then the usual folders
}

// Info describes the loaded driver.
type Info struct {
	Path    string // file of libcuda.so.1
	Version int    // newest CUDA version that the driver supports: 12040 for 12.4
}

// String is the version in words: "CUDA 12.4".
func (i Info) String() string { return versionText(i.Version) }

// versionText turns 12040 into "CUDA 12.4".
func versionText(v int) string { return fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10) }

// Device is a GPU that this process may use. CUDA_VISIBLE_DEVICES chooses and orders them.
type Device struct {
	Name         string // "NVIDIA H200"
	UUID         string // "GPU-xxxxxxxx-…"; of a slice of a GPU "MIG-xxxxxxxx-…"
	PCI          string // "0000:1b:00.0"
	NUMA         int    // memory node of the host next to it; -1 if unknown
	Major, Minor int    // compute capability
	Bytes        int64  // memory, all of it
}

// Pointer is an address in device memory.
type Pointer uint64
