//go:build cgo

package mpi

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/dl"
	"busbar/internal/needs"
)

// clearLauncher takes away the variables of whatever launcher runs the tests.
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
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := f.DynamicSymbols()
		if err != nil {
			t.Fatal(err)
		}
		var defined []string
		for _, s := range symbols {
			if s.Section != elf.SHN_UNDEF {
				defined = append(defined, s.Name)
			}
		}
		if !slices.Equal(defined, []string{"busbar_mpi"}) {
			t.Errorf("%s: the shim exports %q", family, defined)
		}
	}
}

func TestNoShim(t *testing.T) {
	clearLauncher(t)
	empty := t.TempDir()
	t.Setenv("BUSBAR_LIB", "/somewhere/lib:/else")
	for _, c := range []struct {
		name   string
		env    map[string]string
		o      Options
		want   []string
		absent string
	}{
		{"hydra", map[string]string{"PMI_RANK": "0", "MPI_LOCALRANKID": "0"}, Options{Dirs: []string{empty}},
			[]string{"--mpi auto", "started by hydra, the mpirun of MPICH",
				filepath.Join(empty, "busbar-mpi-mpich.so") + ": cannot open", "make mpi-shim MPICC=mpicc.mpich"},
			"busbar-mpi-openmpi"},
		{"Open MPI", map[string]string{"OMPI_COMM_WORLD_SIZE": "2"}, Options{Dirs: []string{empty}},
			[]string{"started by mpirun of Open MPI", "busbar-mpi-openmpi.so", "make mpi-shim MPICC=mpicc.openmpi"},
			"busbar-mpi-mpich"},
		{"no launcher", nil, Options{Dirs: []string{empty}},
			[]string{"busbar-mpi-openmpi.so", "busbar-mpi-mpich.so", "make mpi-shim MPICC=mpicc"}, "started by"},
		{"default folders", nil, Options{},
			[]string{"/somewhere/lib/busbar-mpi-openmpi.so", "/else/busbar-mpi-mpich.so", "/lib/busbar-mpi-openmpi.so"},
			""},
		{"a family", nil, Options{Choice: "mpich", Dirs: []string{empty}},
			[]string{"--mpi mpich", "busbar-mpi-mpich.so", "MPICC=mpicc.mpich"}, "busbar-mpi-openmpi"},
		{"a path", nil, Options{Choice: "/no/such/shim.so"},
			[]string{"--mpi /no/such/shim.so", "/no/such/shim.so: cannot open"}, "busbar-mpi"},
		{"an unknown word", nil, Options{Choice: "lam"},
			[]string{`no MPI called "lam"`, "auto, openmpi, mpich, or the path"}, "tried"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			_, err := Load(c.o)
			var failed *dl.LoadError
			if !errors.As(err, &failed) {
				t.Fatalf("error %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in:\n%v", want, err)
				}
			}
			if c.absent != "" && strings.Contains(err.Error(), c.absent) {
				t.Errorf("%q is in:\n%v", c.absent, err)
			}
		})
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

func TestBuilderOfTheBundle(t *testing.T) {
	for _, c := range []struct{ folder, want string }{
		{"bundle", "%s/build-mpi-shim "},
		{"a bundle", "'%s/build-mpi-shim' "},
	} {
		top := filepath.Join(t.TempDir(), c.folder)
		beside := filepath.Join(top, "bin")
		if err := os.MkdirAll(beside, 0o755); err != nil {
			t.Fatal(err)
		}
		if got := builder(beside); got != "make mpi-shim MPICC=" {
			t.Errorf("without the script: %q", got)
		}
		if err := os.WriteFile(filepath.Join(top, "build-mpi-shim"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
		if got, want := builder(beside), strings.ReplaceAll(c.want, "%s", top); got != want {
			t.Errorf("in the bundle: %q, want %q", got, want)
		}
	}
}
