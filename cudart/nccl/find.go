package nccl

import (
	"os"
	"os/exec"
	"path/filepath"

	"busbar/internal/dl"
)

// library is the file name that programs link NCCL by.
const library = "libnccl.so.2"

// Options say which library to load.
type Options struct {
	Path  string   // --nccl PATH: the library or its folder; then nothing else is tried
	Dirs  []string // folders in which libnccl.so.2 lies; default: see Load
	NCCLX bool     // refuse what is not NCCLX
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
	for _, place := range places() {
		if filepath.Base(place) == place {
			candidates = append(candidates, place)
			continue
		}
		files, err := filepath.Glob(place)
		switch {
		case err != nil: // a bracket in a variable
			none = append(none, dl.Attempt{Candidate: place, Why: err.Error()})
		case files == nil:
			none = append(none, dl.Attempt{Candidate: place, Why: "no such file"})
		}
		candidates = append(candidates, files...)
	}
	return candidates, none
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
	return []string{filepath.Join(path, library), filepath.Join(path, "lib", library), filepath.Join(path, "libnccl.so")}
}

// places are the loader's name of the library and file patterns, in order.
func places() []string {
	all := []string{library}
	python := func(prefix string) {
		for _, lib := range []string{"lib", "lib64"} {
			for _, packages := range []string{"site-packages", "dist-packages"} {
				all = append(all, filepath.Join(prefix, lib, "python3*", packages, "nvidia/nccl/lib", library))
			}
		}
	}
	if dir := os.Getenv("VIRTUAL_ENV"); dir != "" {
		python(dir)
	}
	if dir := os.Getenv("CONDA_PREFIX"); dir != "" {
		python(dir)
		all = append(all, filepath.Join(dir, "lib", library))
	}
	// The python3 of PATH, whatever it is; it is not started.
	if program, err := exec.LookPath("python3"); err == nil {
		python(filepath.Dir(filepath.Dir(program)))
	}
	if home, err := os.UserHomeDir(); err == nil {
		python(filepath.Join(home, ".local"))
	}
	python("/usr/local")
	python("/usr")
	for _, dir := range []string{"/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib", "/usr/local/lib64",
		"/usr/local/cuda/lib64", "/usr/local/nccl*/lib", "/opt/nccl*/lib", "/opt/nvidia/nccl/lib",
		"/opt/nvidia/hpc_sdk/Linux_*/*/comm_libs/nccl/lib"} {
		all = append(all, filepath.Join(dir, library))
	}
	return unique(all)
}

// unique keeps the first of equal places.
func unique(all []string) []string {
	seen := map[string]bool{}
	kept := all[:0]
	for _, place := range all {
		if !seen[place] {
			seen[place] = true
			kept = append(kept, place)
		}
	}
	return kept
}
