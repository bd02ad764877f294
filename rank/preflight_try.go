package main

import (
	"errors"

	"busbar/internal/bench"
	"busbar/internal/notice"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/preflight"
	"busbar/sweeps"
)

// chooseForPreflight is what --backend asks for; that it cannot be had is found by its checks, not an error. Collective.
func (j *job) chooseForPreflight() (names []string, err error) {
	names, err = backend.Choose(&j.cfg.Options, func() string { return backend.Auto(j.host(), []int{j.size}) })
	switch exit.CodeOf(err) {
	case exit.OK:
		return names, nil
	case exit.Environment:
	default:
		return nil, j.elsewhere(err)
	}
	if j.rank == 0 {
		j.checks.Add(preflight.Found("backend", notice.BackendUnavailable{Failed: exit.FailureOf(err).Parts}))
	}
	return nil, nil
}

// tryBackends opens each library in a world of all ranks and tries it there. Collective.
func (j *job) tryBackends(names []string, clock bench.Clock) error {
	p := &plan{sweep: sweeps.Default(), backends: names, worlds: []int{j.size}}
	var err error
	if j.libraries, err = backend.Open(j.host(), names, p.worlds); err != nil {
		return j.notOpened(names, err)
	}
	for _, lib := range j.libraries {
		if err := j.tryLibrary(p, lib, clock); err != nil {
			return err
		}
	}
	return nil
}

// notOpened makes a row of an error that all ranks know of: nothing was tried. Other errors it returns.
func (j *job) notOpened(names []string, err error) error {
	const name = "backend"
	var known *exit.Error
	switch {
	case errors.Is(err, exit.ErrElsewhere):
	case !errors.As(err, &known):
		return err
	case j.checks.HasProblem("GPUs", "NCCL", "GPU of each rank", "GPU libraries"): // at length
		j.checks.Add(preflight.Found(name, notice.BackendNotTried{Backends: names}))
	default:
		j.checks.Add(preflight.Found(name, notice.BackendUnavailable{Failed: exit.FailureOf(err).Parts}))
	}
	return nil
}

func (j *job) tryLibrary(p *plan, lib backend.Library, clock bench.Clock) (err error) {
	s := &session{subworld: j.newSubworld(p, j.world, firstRanks(j.size)), lib: lib}
	s.clock = clock
	if s.backend, err = lib.Open(s.forLibraries(), s.method()); err != nil {
		return err
	}
	if err := s.checkRoom(); err != nil {
		return err
	}
	cases := preflight.Trials(j.size)
	largest := 0.0
	for _, c := range cases {
		largest = max(largest, s.backend.Memory(c))
	}
	j.watch.Phase("try "+lib.Name(), 0)
	if err := j.Together(s.backend.Reserve(int64(largest))); err != nil {
		return errors.Join(j.notOpened([]string{lib.Name()}, err), s.backend.Close())
	}
	for i, c := range cases {
		j.watch.Case(uint64(i+1), c.String())
		r, err := preflight.Try(s.world, s.backend, c, bench.Options{Precision: 1, Iterations: 1, Check: 1, Average: bench.Max, Clock: clock, Watch: j.watch})
		if err != nil {
			return err
		}
		if j.rank == 0 {
			j.checks.Add(r)
		}
	}
	j.watch.Case(uint64(len(cases)), "")
	j.watch.Phase("close "+lib.Name(), 0)
	return errors.Join(s.backend.Close(), s.area.Free())
}

// checkRoom asks how much memory the GPUs have free; that of the hosts has a row already. Collective.
func (s *session) checkRoom() error {
	if name := s.lib.Name(); backend.OnHosts(name) || backend.Simulates(s.lib) {
		return nil
	}
	_, limit, err := s.backend.Room()
	if err == nil && s.world.Rank == 0 {
		s.j.checks.Add(preflight.JudgeRoom(limit))
	}
	return err
}
