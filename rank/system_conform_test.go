package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"busbar/internal/bench/benchtest"
	"busbar/internal/golden"
	"busbar/mpi"
	"busbar/rank/backend"
	"busbar/rank/hang"
	"busbar/rank/launch"
	"busbar/sweeps"
)

// TestBackendConforms runs the suite of every backend over real MPI: the test binary starts itself again as ranks.
func TestBackendConforms(t *testing.T) {
	t.Parallel()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	compiled(t) // the simulated libraries are next to the programs
	for _, w := range golden.Table[struct {
		Backend, Mpirun             string
		NP, Rotate, Together, Graph int
	}](t, `
		Backend         Mpirun          NP  Rotate  Together  Graph
		mpi             mpirun.openmpi  2   -       1
		mpi             mpirun.openmpi  3   -       1
		mpi             mpirun.openmpi  4   -       1
		mpi             mpirun.openmpi  2   32<<10  3
		mpi             mpirun.mpich    2   -       1
		mpi             mpirun.mpich    2   32<<10  3
		gloo            mpirun.openmpi  1   -       1
		gloo            mpirun.openmpi  3   -       1
		gloo            mpirun.openmpi  2   32<<10  3
		gloo            mpirun.mpich    2   -       1
		gloo            TCP             1   -       1
		gloo            TCP             3   32<<10  3
		nccl-rehearsal  mpirun.openmpi  1   -       1
		nccl-rehearsal  mpirun.openmpi  3   -       1
		nccl-rehearsal  mpirun.openmpi  2   32<<10  3
		nccl-rehearsal  mpirun.openmpi  2   -       1         2
		nccl-rehearsal  mpirun.mpich    2   -       1
		nccl-rehearsal  TCP             3   -       1
		nccl-rehearsal  TCP             2   32<<10  3         2
	`) {
		t.Run(fmt.Sprintf("%s %s %d rotate %d graph %d", w.Backend, w.Mpirun, w.NP, w.Rotate, w.Graph),
			func(t *testing.T) {
				parallelOn(t, w.Mpirun)
				if w.Backend == "gloo" {
					glooShim(t)
				}
				o := rankRun{mpirun: w.Mpirun, np: w.NP, program: executable,
					env: []string{"BUSBAR_TEST_WORKER=" + w.Backend, fmt.Sprint("BUSBAR_TEST_GRAPH=", w.Graph),
						fmt.Sprint("BUSBAR_TEST_ROTATE=", w.Rotate),
						fmt.Sprint("BUSBAR_TEST_TOGETHER=", w.Together)}}.run(t)
				if o.code != 0 || strings.Count(o.stdout, "conforms") != w.NP {
					t.Error(o)
				}
			})
	}
}

// connectRanks connects the ranks of the test by what started them.
func connectRanks() (launch.Launch, error) {
	m, err := launch.BootstrapAuto.Choose(os.Getenv)
	if err != nil || m == nil {
		return launch.ConnectMPI(mpi.Options{}, func(string) {})
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return launch.ConnectTCP(ctx, m, nil, launch.BuildIdentity(), os.Stderr)
}

// conform runs one rank of that test.
func conform(name string) int {
	number := func(name string) int {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil {
			panic(err)
		}
		return n
	}
	connected, err := connectRanks()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	sweep := sweeps.Default()
	sweep.Aggregate = number("BUSBAR_TEST_TOGETHER")
	world := connected.World()
	if err := useComm(world); err != nil {
		fmt.Fprintf(os.Stderr, "rank %d: %v\n", world.Rank(), err)
		connected.Abort(1)
	}
	name, steps := strings.CutPrefix(name, stepWorker)
	j := &job{cfg: &config{}, ending: &ending{stderr: os.Stderr, world: world,
		rank: world.Rank(), watch: hang.NewWatchdog(time.Hour, func(launch.State) {})}}
	j.launched.Store(&connected)
	j.cfg.Simulate, j.cfg.Rotate = name == backend.Simulation, int64(number("BUSBAR_TEST_ROTATE"))
	if steps {
		err = stepsOnHost(j, name, sweep)
	} else {
		err = conforms(j, name, sweep, number("BUSBAR_TEST_GRAPH"))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "rank %d: %v\n", j.rank, err)
		connected.Abort(1)
	}
	if err := connected.Finalize(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("conforms")
	return 0
}

// compareRanks collects the facts of all ranks.
func (j *job) compareRanks() (err error) {
	j.ranks, err = launch.CompareRanks(j.world, j.facts())
	return err
}

// openWorld opens a library in the world of all ranks.
func (j *job) openWorld(lib backend.Library, sweep *sweeps.Sweep) (*backend.World, backend.Backend, error) {
	world := j.session().World()
	b, err := lib.Open(world, backend.Method{Layout: j.cfg.Layout(sweep, nil, j.rank), Aggregate: sweep.Aggregate,
		Iterations: sweep.Iterations})
	return world, b, err
}

func conforms(j *job, name string, sweep *sweeps.Sweep, graph int) error {
	if err := j.compareRanks(); err != nil {
		return err
	}
	if graph > 0 {
		j.cfg.GPU.Graph, sweep.Iterations = 1, graph
	}
	libraries, err := backend.Open(j.host(), []string{name}, nil)
	if err != nil {
		return err
	}
	world, b, err := j.openWorld(libraries[0], sweep)
	if err != nil {
		return err
	}
	sizes := []int64{8, 4096}
	if j.cfg.Rotate == 0 {
		sizes = append(sizes, 100_000)
	}
	span := 0.0
	for _, c := range benchtest.Cases(j.world.Size(), backend.Places(name), sizes) {
		span = max(span, b.Memory(c))
	}
	if err := b.Reserve(int64(span)); err != nil {
		return err
	}
	return errors.Join(benchtest.Suite(world.World, b, backend.Places(name), sizes), b.Close(), world.Area.Free())
}
