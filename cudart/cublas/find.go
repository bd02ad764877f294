// Package cublas is a small binding of cuBLAS, loaded at run time: products of half-precision matrices, which are
// what a GPU computes in a training. CUDA's streams and memory are package cudart's.
package cublas

import (
	"fmt"
	"path/filepath"
	"strings"

	"busbar/cudart"
	"busbar/internal/dl"
)

// The versions of the library whose words cublas.h has.
const newest, oldest = 13, 11

// Options select the library to load.
type Options struct {
	Dirs []string // folders in which it lies; default: where NVIDIA's libraries are looked for
	// newest CUDA version that the driver supports: 12040 for 12.4; a library for a newer one would not start
	Cuda int
}

// Info describes a loaded library.
type Info struct {
	Version   string // "12.4.5"
	Path      string
	Rehearsed bool // simulated: computes nothing
}

// find lists the libraries to try, in order, the newest that the driver supports first, and the patterns that match no
// file.
func (o Options) find() (candidates []string, none []dl.Attempt) {
	for version := min(newest, o.Cuda/1000); version >= oldest; version-- {
		library := fmt.Sprintf("libcublas.so.%d", version)
		if o.Dirs != nil {
			for _, dir := range o.Dirs {
				candidates = append(candidates, filepath.Join(dir, library))
			}
			continue
		}
		packages := []string{"nvidia/cublas/lib", fmt.Sprintf("nvidia/cu%d/lib", version)}
		files, missing := cudart.LibraryFiles(cudart.LibraryPlaces(library, packages,
			strings.Fields(`
				/usr/lib/*-linux-gnu /usr/lib64 /usr/local/cuda/lib64 /usr/local/cuda-*/lib64 /opt/cuda/lib64
				/usr/local/lib /opt/nvidia/hpc_sdk/Linux_*/*/math_libs/lib64
				/opt/nvidia/hpc_sdk/Linux_*/*/math_libs/*/lib64`)))
		candidates, none = append(candidates, files...), append(none, missing...)
	}
	return candidates, none
}
