package main

import (
	"errors"

	"busbar/internal/bench"
	"busbar/internal/notice/preflights"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/preflight"
	"busbar/sweeps"
)

// chooseForPreflight returns the backends of --backend. Its checks report a missing backend, which is no error here.
// Collective.
func (j checking) chooseForPreflight() (names []string, err error) {
	names, err = backend.Choose(
		&j.cfg.Options.Options,
		func() string { return backend.Auto(j.host(), []int{j.world.Size()}) },
	)
	switch exit.CodeOf(err) {
	case exit.OK:
		return names, nil
	case exit.Environment:
	default:
		if j.rank != 0 { // every rank has the error; rank 0 reports it
			err = exit.ErrElsewhere
		}
		return nil, err
	}
	if j.rank == 0 {
		j.checks.Add(preflight.Found("backend", preflights.BackendUnavailable{Failed: exit.FailureOf(err).Parts}))
	}
	return nil, nil
}

// tryBackends opens each library in a world of all ranks and tries it. Collective.
func (j checking) tryBackends(names []string, clock bench.Clock) error {
	var err error
	if j.libraries, err = backend.Open(j.host(), names, []int{j.world.Size()}); err != nil {
		return j.notOpened(names, err)
	}
	for _, lib := range j.libraries {
		if err := j.tryLibrary(lib, clock); err != nil {
			return err
		}
	}
	return nil
}

// notOpened adds a row for an error that all ranks know, and returns other errors.
func (j checking) notOpened(names []string, err error) error {
	const name = "backend"
	var known *exit.Error
	switch {
	case errors.Is(err, exit.ErrElsewhere):
	case !errors.As(err, &known):
		return err
	case j.checks.HasProblem("GPUs", "NCCL", "GPU of each rank", "GPU libraries"): // reported in detail
		j.checks.Add(preflight.Found(name, preflights.BackendNotTried{Backends: names}))
	default:
		j.checks.Add(preflight.Found(name, preflights.BackendUnavailable{Failed: exit.FailureOf(err).Parts}))
	}
	return nil
}

// tryLibrary measures one small case of each collective with a library. Collective.
func (j checking) tryLibrary(lib backend.Library, clock bench.Clock) error {
	world := j.session().World()
	b, err := lib.Open(world, backend.Method{Layout: j.cfg.Layout(sweeps.Default(), nil, j.rank)})
	if err != nil {
		return err
	}
	if err := j.checkRoom(lib, b); err != nil {
		return err
	}
	cases := preflight.Trials(j.world.Size())
	largest := 0.0
	for _, c := range cases {
		largest = max(largest, b.Memory(c))
	}
	j.watch.Phase("try "+lib.Name(), 0)
	if err := launch.Together(j.world, j.ranks, b.Reserve(int64(largest))); err != nil {
		return errors.Join(j.notOpened([]string{lib.Name()}, err), b.Close())
	}
	for i, c := range cases {
		j.watch.Case(uint64(i+1), c.String())
		r, err := preflight.Try(world.World, b, c, bench.Options{Precision: 1, Iterations: 1, Check: 1,
			Average: bench.Max, Clock: clock, Watch: j.watch})
		if err != nil {
			return err
		}
		if j.rank == 0 {
			j.checks.Add(r)
		}
	}
	j.watch.Case(uint64(len(cases)), "")
	j.watch.Phase("close "+lib.Name(), 0)
	return errors.Join(b.Close(), world.Area.Free())
}

// checkRoom checks the free memory of the GPUs; that of hosts has a row already. Collective.
func (j checking) checkRoom(lib backend.Library, b backend.Backend) error {
	if backend.OnHosts(lib.Name()) || backend.Simulates(lib) {
		return nil
	}
	_, limit, err := b.Room()
	if err == nil && j.rank == 0 {
		j.checks.Add(preflight.JudgeRoom(limit))
	}
	return err
}
