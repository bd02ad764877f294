//go:build cgo

package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"busbar/internal/needs"

	"github.com/shoenig/test/must"
)

// The tests of this package run it under mpirun: the test binary starts itself as ranks, with the worker's name in
// BUSBAR_MPI_WORKER.

// shims returns the folder of the shims of both MPIs.
func shims(t *testing.T) string { return filepath.Join(needs.Programs(t), "lib") }

// workers are what ranks do; the error of any rank fails the test.
var workers = map[string]func(m *MPI) error{}

func TestMain(t *testing.M) {
	if worker := os.Getenv("BUSBAR_MPI_WORKER"); worker != "" {
		runtime.LockOSThread()
		os.Exit(rank(worker))
	}
	os.Exit(t.Run())
}

// rank is the life of one rank.
func rank(worker string) int {
	m, err := Load(Options{Choice: os.Getenv("BUSBAR_MPI_CHOICE"), Dirs: []string{os.Getenv("BUSBAR_MPI_SHIMS")}})
	if err == nil {
		_, err = m.Init()
	}
	if err == nil {
		err = workers[worker](m)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "rank %d: %v\n", Launcher(os.Getenv).Rank, err)
		if m != nil {
			m.Abort(1)
		}
		return 1
	}
	if err := m.Finalize(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// world is a launch.
type world struct {
	family string
	ranks  int
}

func (w world) String() string { return w.family + " " + strconv.Itoa(w.ranks) }

var worlds = []world{{OpenMPI, 2}, {OpenMPI, 3}, {MPICH, 2}}

// launch runs a worker under a family's mpirun and returns its output and exit code.
func launch(t *testing.T, w world, worker string, env ...string) (output string, code int) {
	t.Helper()
	executable, err := os.Executable()
	must.NoError(t, err)
	args := []string{"mpirun." + w.family, "-np", strconv.Itoa(w.ranks)}
	if w.family == OpenMPI {
		// With yielding, ranks on one core do not starve other packages' tests.
		args = append([]string{"taskset", "-c", firstCore(t)}, append(args, "--oversubscribe")...)
	}
	dir := shims(t) // may build them, which does not count
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], append(args[1:], executable)...)
	cmd.Env = append(os.Environ(), "BUSBAR_MPI_WORKER="+worker, "BUSBAR_MPI_SHIMS="+dir,
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_mpi_yield_when_idle=1",
		"OMPI_MCA_hwloc_base_binding_policy=none")
	cmd.Env = append(cmd.Env, env...)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err = cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s: %s did not end\n%s", w, worker, b.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return b.String(), cmd.ProcessState.ExitCode()
}

// firstCore is the first core that this process may use.
func firstCore(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	must.NoError(t, err)
	_, list, _ := strings.Cut(string(status), "Cpus_allowed_list:\t")
	return list[:strings.IndexAny(list, "-,\n")]
}

// run is launch for workers that must pass.
func run(t *testing.T, worker string, worlds ...world) {
	for _, w := range worlds {
		t.Run(w.String(), func(t *testing.T) {
			if w.family == MPICH {
				needs.TestAll(t)
			}
			if out, code := launch(t, w, worker); code != 0 {
				t.Errorf("exit code %d\n%s", code, out)
			}
		})
	}
}

func TestInfo(t *testing.T) { run(t, "info", worlds...) }

func init() { workers["info"] = workInfo }

// workInfo checks that --mpi auto took the MPI of the launcher, and its description.
func workInfo(m *MPI) error {
	i, l := m.Info(), Launcher(os.Getenv)
	want := map[string][3]string{OpenMPI: {"Open MPI", "3.1", "parts"}, MPICH: {"MPICH", "4.0", "native"}}[l.Family]
	w := m.World()
	named := strings.HasPrefix(i.Name, want[0]+" ") && strings.HasPrefix(i.Library, want[0]) &&
		strings.HasPrefix(i.LibraryFull, want[0]) && i.CompiledFor == i.Name && i.Family == l.Family
	able := i.Standard == want[1] && i.LargeCounts == want[2] && i.ThreadLevel == ThreadMultiple && m.Initialized()
	files := filepath.IsAbs(i.LibMPIPath) && strings.Contains(i.LibMPIPath, "libmpi") && len(i.BuildID) == 40 &&
		strings.HasSuffix(i.ShimPath, "/busbar-mpi-"+i.Family+".so")
	launched := l.Rank == w.Rank() && l.LocalRank == w.Rank() && l.Size == w.Size() && l.LocalSize == w.Size() &&
		w.Size() > 1
	if !named || !able || !files || !launched {
		return fmt.Errorf("named %t, able %t, files %t, launched %t: %+v, %+v, rank %d of %d", named, able, files,
			launched,
			i, l, w.Rank(), w.Size())
	}
	return nil
}

// Another MPI's launcher starts ranks with worlds of size 1; comparing sizes must show that.
func TestAlone(t *testing.T) {
	for _, env := range [][]string{
		{"BUSBAR_MPI_CHOICE=openmpi"},
		{"BUSBAR_MPI_CHOICE=mpich"},
		{"PMI_SIZE=13", "PMI_RANK=0", "MPI_LOCALNRANKS=13", "MPI_LOCALRANKID=0"},
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "BUSBAR_MPI_WORKER=alone", "BUSBAR_MPI_SHIMS="+shims(t))
		cmd.Env = append(cmd.Env, env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", env, err, out)
		}
	}
}

func init() {
	workers["alone"] = func(m *MPI) error {
		if m.World().Size() != 1 {
			return fmt.Errorf("%d ranks", m.World().Size())
		}
		return nil
	}
}

func TestAbort(t *testing.T) {
	for _, w := range []world{{OpenMPI, 2}, {MPICH, 2}} {
		if out, code := launch(t, w, "abort"); code != 4 {
			t.Errorf("%s: exit code %d\n%s", w, code, out)
		}
	}
}

func init() {
	workers["abort"] = func(m *MPI) error {
		if m.World().Rank() == 1 {
			go func() {
				time.Sleep(50 * time.Millisecond)
				m.Abort(4)
			}()
			return m.World().Barrier() // which rank 0 never enters
		}
		time.Sleep(time.Minute)
		return errors.New("no rank aborted")
	}
}
