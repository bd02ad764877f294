package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"busbar/internal/dl"
)

// Options select the MPI to load.
type Options struct {
	// auto or "", which looks at the launcher; openmpi or mpich; or the path of a shim.
	Choice string
	// Folders in which the shims lie. Default: those in BUSBAR_LIB, then lib beside the folder of the executable, in
	// it, and that folder itself.
	Dirs []string
}

// find lists the shims to try, in order. The error is a *dl.LoadError.
func (o Options) find(launch Launch) ([]string, error) {
	var families []string
	switch {
	case o.Choice == "" || o.Choice == "auto":
		if families = launch.families; len(families) > 1 {
			families = append(families[:len(families):len(families)], "other")
		}
	case o.Choice == OpenMPI || o.Choice == MPICH:
		families = []string{o.Choice}
	case strings.ContainsRune(o.Choice, '/') || strings.HasSuffix(o.Choice, ".so"):
		path, err := filepath.Abs(o.Choice)
		if err != nil {
			return nil, unusable(o.Choice, launch, err.Error())
		}
		return []string{path}, nil
	default:
		return nil, unusable(o.Choice, launch, fmt.Sprintf("unknown MPI %q: --mpi accepts auto, openmpi, "+
			"mpich, or the path of a shim (busbar-mpi-*.so)", o.Choice))
	}
	dirs := o.Dirs
	if dirs == nil {
		dirs = dl.Folders()
	}
	var paths []string
	for _, family := range families {
		for _, dir := range dirs {
			paths = append(paths, filepath.Join(dir, "busbar-mpi-"+family+".so"))
		}
	}
	return paths, nil
}

// builder is what to type before the name of an mpicc to have a shim made: the bundle has a script for it, and no make.
func builder(beside string) string {
	script := filepath.Join(beside, "..", "build-mpi-shim")
	if _, err := os.Stat(script); beside == "" || err != nil {
		return "make mpi-shim MPICC="
	}
	if strings.ContainsRune(script, ' ') {
		script = "'" + script + "'"
	}
	return script + " "
}

// compiler is the mpicc of a family, as far as this machine shows it.
func compiler(family string) string {
	if family != "" {
		if _, err := exec.LookPath("mpicc." + family); err == nil {
			return "mpicc." + family
		}
	}
	switch family {
	case OpenMPI:
		return "mpicc   (that of Open MPI, or its path)"
	case MPICH:
		return "mpicc   (that of MPICH or its relative, or its path)"
	}
	return "mpicc   (that of the MPI whose mpirun or srun starts this program, or its path)"
}
