package cudart

import (
	"os"
	"os/exec"
	"path/filepath"

	"busbar/internal/dl"
)

// LibraryPlaces are where a library of NVIDIA's that is no part of the driver may lie, in order: the loader's name of
// it; the Python packages of the active environment, of the python3 of PATH, of the user and of the system; and
// folders. packages are folders inside of site-packages. All but the name are patterns of files.
func LibraryPlaces(library string, packages, folders []string) []string {
	all := []string{library}
	python := func(prefix string) {
		for _, lib := range []string{"lib", "lib64"} {
			for _, site := range []string{"site-packages", "dist-packages"} {
				for _, p := range packages {
					all = append(all, filepath.Join(prefix, lib, "python3*", site, p, library))
				}
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
	// The python3 of PATH; it is not started.
	if program, err := exec.LookPath("python3"); err == nil {
		python(filepath.Dir(filepath.Dir(program)))
	}
	if home, err := os.UserHomeDir(); err == nil {
		python(filepath.Join(home, ".local"))
	}
	python("/usr/local")
	python("/usr")
	for _, dir := range folders {
		all = append(all, filepath.Join(dir, library))
	}
	return unique(all)
}

// LibraryFiles are the names, and the files that patterns match, in the order of the places, and the patterns that
// match none.
func LibraryFiles(places []string) (candidates []string, none []dl.Attempt) {
	for _, place := range places {
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
