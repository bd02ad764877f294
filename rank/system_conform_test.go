package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"busbar/internal/bench"
	"busbar/internal/bench/benchtest"
	"busbar/mpi"
)

// The suite that every backend must pass, over real MPI: the test binary starts itself again as ranks.
func TestBackendConforms(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		mpirun           string
		np               int
		rotate, together int
	}{
		{openMPI, 2, 0, 1},
		{openMPI, 3, 0, 1},
		{openMPI, 4, 0, 1},
		{openMPI, 2, 32 << 10, 3},
		{mpich, 2, 0, 1},
		{mpich, 2, 32 << 10, 3},
	} {
		t.Run(fmt.Sprintf("%s %d rotate %d", w.mpirun, w.np, w.rotate), func(t *testing.T) {
			o := launch{mpirun: w.mpirun, np: w.np, program: executable, env: []string{"BUSBAR_TEST_WORKER=conform",
				fmt.Sprint("BUSBAR_TEST_ROTATE=", w.rotate), fmt.Sprint("BUSBAR_TEST_TOGETHER=", w.together)}}.run(t)
			if o.code != 0 || strings.Count(o.stdout, "conforms") != w.np {
				t.Error(o)
			}
		})
	}
}

// conform is the life of one rank of that test.
func conform() int {
	number := func(name string) int {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil {
			panic(err)
		}
		return n
	}
	lib, err := mpi.Load(mpi.Options{})
	if err == nil {
		_, err = lib.Init()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	world := lib.World()
	w := bench.World{Rank: world.Rank(), Size: world.Size(), Hosts: make([]string, world.Size()), Comm: mpiComm{world}}
	for r := range w.Hosts {
		w.Hosts[r] = hostName()
	}
	b := &mpiBackend{layout: layout{rank: w.Rank, rotate: int64(number("BUSBAR_TEST_ROTATE"))}, comm: world,
		watch: newWatchdog(time.Hour, func(state) {}), aggregate: number("BUSBAR_TEST_TOGETHER")}
	sizes := []int64{8, 4096}
	if b.rotate == 0 {
		sizes = append(sizes, 100_000)
	}
	cases := benchtest.Cases(w.Size, mpiPlaces, sizes)
	span := 0.0
	for _, c := range cases {
		span = max(span, b.memory(c))
	}
	if err = b.reserve(int64(span)); err == nil {
		err = errors.Join(benchtest.Suite(w, b, mpiPlaces, sizes), b.close())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "rank %d: %v\n", w.Rank, err)
		lib.Abort(1)
	}
	if err := lib.Finalize(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("conforms")
	return 0
}
