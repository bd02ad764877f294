package nccl

import (
	"os"
	"path/filepath"
	"strings"

	"busbar/cudart"
	"busbar/internal/dl"
)

// library is the file name that programs link NCCL by.
const library = "libnccl.so.2"

// Options select the library to load.
type Options struct {
	Path  string   // --nccl PATH: the library or its folder; then nothing else is tried
	Dirs  []string // folders in which libnccl.so.2 lies; default: see Load
	NCCLX bool     // reject libraries other than NCCLX
}

// find lists the libraries to try, in order, and the patterns that match no file.
func (o Options) find() (candidates []string, none []dl.Attempt) {
	switch {
	case o.Path != "":
		return pathCandidates(o.Path), nil
	case o.Dirs != nil:
		for _, dir := range o.Dirs {
			candidates = append(candidates, filepath.Join(dir, library))
		}
		return candidates, nil
	}
	return cudart.LibraryFiles(places())
}

// pathCandidates are the files that a path from the user may mean: itself, or the library in that folder. A bare name
// that is no file here is the loader's to find.
func pathCandidates(path string) []string {
	info, err := os.Stat(path)
	if err != nil {
		return []string{path}
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if !info.IsDir() {
		return []string{path}
	}
	return []string{filepath.Join(path, library), filepath.Join(path, "lib", library),
		filepath.Join(path, "libnccl.so")}
}

// places are the loader's name of the library and file patterns, in order.
func places() []string {
	return cudart.LibraryPlaces(library, []string{"nvidia/nccl/lib"},
		strings.Fields(`
			/usr/lib/*-linux-gnu /usr/lib64 /usr/lib /usr/local/lib /usr/local/lib64 /usr/local/cuda/lib64
			/usr/local/nccl*/lib /opt/nccl*/lib /opt/nvidia/nccl/lib
			/opt/nvidia/hpc_sdk/Linux_*/*/comm_libs/nccl/lib`))
}
