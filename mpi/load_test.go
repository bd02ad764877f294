//go:build cgo

package mpi

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/dl"
	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// clearLauncher unsets the variables of the launcher that runs the tests.
func clearLauncher(t *testing.T) {
	t.Helper()
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "MPI_LOCALRANKID", "PMIX_RANK", "SLURM_STEP_ID",
		"SLURM_STEPID"} {
		t.Setenv(name, "")
	}
}

func TestOneSymbol(t *testing.T) {
	for _, family := range []string{OpenMPI, MPICH} {
		f, err := elf.Open(filepath.Join(shims(t), "busbar-mpi-"+family+".so"))
		must.NoError(t, err)
		symbols, err := f.DynamicSymbols()
		must.NoError(t, err)
		var defined []string
		for _, s := range symbols {
			if s.Section != elf.SHN_UNDEF {
				defined = append(defined, s.Name)
			}
		}
		test.SliceEqOp(t, []string{"busbar_mpi"}, defined, test.Sprint(family))
	}
}

func TestNoShim(t *testing.T) {
	clearLauncher(t)
	dirs := []string{t.TempDir()}
	const openmpi, mpich = "busbar-mpi-openmpi.so", "busbar-mpi-mpich.so"
	for _, c := range []struct {
		env          string
		o            Options
		tried, build string
	}{
		{"MPI_LOCALRANKID", Options{Dirs: dirs}, mpich, "mpicc.mpich"},
		{"OMPI_COMM_WORLD_SIZE", Options{Dirs: dirs}, openmpi, "mpicc.openmpi"},
		{"", Options{Dirs: dirs}, openmpi + " " + mpich + " busbar-mpi-other.so", "mpicc"},
		{"", Options{Choice: "mpich", Dirs: dirs}, mpich, "mpicc.mpich"},
		{"", Options{Choice: "/no/such/shim.so"}, "shim.so", "mpicc"},
		{"", Options{Choice: "lam"}, "", "mpicc"},
	} {
		t.Run(c.env+c.o.Choice, func(t *testing.T) {
			if c.env != "" {
				t.Setenv(c.env, "0")
				t.Setenv("PMI_RANK", "0")
			}
			_, err := Load(c.o)
			var failed *dl.LoadError
			if !errors.As(err, &failed) || !strings.Contains(failed.Remedy+" ", "make mpi-shim MPICC="+c.build+" ") {
				t.Fatalf("error %v", err)
			}
			var tried []string
			for _, a := range failed.Tried {
				tried = append(tried, filepath.Base(a.Candidate))
			}
			test.EqOp(t, c.tried, strings.Join(tried, " "))
		})
	}
	t.Setenv("BUSBAR_LIB", "/somewhere/lib:/else")
	_, err := Load(Options{})
	for _, want := range []string{"/somewhere/lib/" + openmpi, "/else/" + mpich} {
		test.ErrorContains(t, err, want)
	}
}

func TestWrongShim(t *testing.T) {
	clearLauncher(t)
	for _, c := range []struct{ name, source, want string }{
		{"another version", "const unsigned busbar_mpi[100] = {999};", "number 999"},
		{"not a shim", "int x;", "not an MPI shim"},
		{"a missing symbol", "int f(void); int busbar_mpi(void) { return f(); }", "undefined symbol: f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			so := needs.SharedLibrary(t, "busbar-mpi-openmpi.so", c.source)
			_, err := Load(Options{Choice: OpenMPI, Dirs: []string{filepath.Dir(so)}})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), so) ||
				!strings.Contains(err.Error(), "make mpi-shim MPICC=mpicc.openmpi") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestBundleBuilder(t *testing.T) {
	for _, c := range []struct{ folder, want string }{
		{"bundle", "%s/build-mpi-shim "},
		{"a bundle", "'%s/build-mpi-shim' "},
	} {
		top := filepath.Join(t.TempDir(), c.folder)
		beside := filepath.Join(top, "bin")
		must.NoError(t, os.MkdirAll(beside, 0o755))
		test.EqOp(t, "make mpi-shim MPICC=", builder(beside))
		must.NoError(t, os.WriteFile(filepath.Join(top, "build-mpi-shim"), nil, 0o755))
		test.EqOp(t, strings.ReplaceAll(c.want, "%s", top), builder(beside))
	}
}
