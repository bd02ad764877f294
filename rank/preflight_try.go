package main

import (
	"errors"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/sweeps"
)

// trials are the cases that are tried: every rank is heard by every rank; the smallest message; and one that is large
// enough to take the path of large ones.
func trials(world int) []coll.Case {
	c := coll.Case{Collective: coll.AllGather, Type: coll.Float32, Root: -1, Placement: coll.OutOfPlace, Mode: coll.Throughput, World: world}
	reduce := c
	reduce.Collective, reduce.Op = coll.AllReduce, coll.Sum
	return []coll.Case{c.WithSize(64 * int64(world)), reduce.WithSize(8), reduce.WithSize(1 << 20)}
}

// tryCase runs a case once and checks every element on every rank; the row is rank 0's. Collective.
func tryCase(w bench.World, b bench.Backend, c coll.Case, o bench.Options) (row, error) {
	r, err := bench.Measure(w, b, c, o)
	if err != nil || r == nil {
		return row{}, err
	}
	return judgeTrial(r), nil
}

func judgeTrial(r *result.Record) row {
	what := r.Case.Point()
	var f notice.Fact = notice.CollectiveCorrect{Case: what, Ranks: r.Case.World}
	switch {
	case r.Status == result.Wrong || r.Check.Result == "wrong":
		f = notice.CollectiveWrong{Case: what, Cause: r.Cause}
	case r.Status != result.OK:
		f = notice.CollectiveFailed{Case: what, Status: string(r.Status), Cause: r.Cause}
	}
	return found(r.Case.Collective.String(), f)
}

// chooseForPreflight is what --backend asks for; that it cannot be had is found by its checks, not an error. Collective.
func (j *job) chooseForPreflight() (names []string, err error) {
	names, err = chooseBackends(j.cfg, func() string { return j.autoBackend([]int{j.size}) })
	switch exit.CodeOf(err) {
	case exit.OK:
		return names, nil
	case exit.Environment:
	default:
		return nil, j.elsewhere(err)
	}
	if j.rank == 0 {
		j.checks.add(found("backend", notice.BackendUnavailable{Failed: exit.FailureOf(err).Parts}))
	}
	return nil, nil
}

// tryBackends opens each library in a world of all ranks and tries it there. Collective.
func (j *job) tryBackends(names []string, clock bench.Clock) error {
	p := &plan{sweep: sweeps.Default(), backends: names, worlds: []int{j.size}}
	if err := j.openLibraries(p); err != nil {
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
	case errors.Is(err, errElsewhere):
	case !errors.As(err, &known):
		return err
	case j.checks.hasProblem("GPUs", "NCCL", "GPU of each rank", "GPU libraries"): // at length
		j.checks.add(found(name, notice.BackendNotTried{Backends: names}))
	default:
		j.checks.add(found(name, notice.BackendUnavailable{Failed: exit.FailureOf(err).Parts}))
	}
	return nil
}

func (j *job) tryLibrary(p *plan, lib library, clock bench.Clock) (err error) {
	s := &session{subworld: j.newSubworld(p, j.world, firstRanks(j.size)), lib: lib}
	s.clock = clock
	if s.backend, err = lib.open(s); err != nil {
		return err
	}
	if err := s.checkRoom(); err != nil {
		return err
	}
	cases := trials(j.size)
	largest := 0.0
	for _, c := range cases {
		largest = max(largest, s.backend.memory(c))
	}
	j.watch.Phase("try "+lib.name(), 0)
	if err := j.together(s.backend.reserve(int64(largest))); err != nil {
		return errors.Join(j.notOpened([]string{lib.name()}, err), s.backend.close())
	}
	for i, c := range cases {
		j.watch.Case(uint64(i+1), c.String())
		r, err := tryCase(s.world, s.backend, c, bench.Options{Precision: 1, Iterations: 1, Check: 1, Average: bench.Max, Clock: clock, Watch: j.watch})
		if err != nil {
			return err
		}
		if j.rank == 0 {
			j.checks.add(r)
		}
	}
	j.watch.Case(uint64(len(cases)), "")
	j.watch.Phase("close "+lib.name(), 0)
	return errors.Join(s.backend.close(), s.area.free())
}

// gpuMemoryEnough is less than an idle GPU of any use has free.
const gpuMemoryEnough = 4 << 30

// checkRoom asks how much memory the GPUs have free; that of the hosts has a row already. Collective.
func (s *session) checkRoom() error {
	if name := s.lib.name(); onHosts(name) || name == rehearsal {
		return nil
	}
	_, limit, err := s.backend.room()
	if err == nil && s.world.Rank == 0 {
		s.j.checks.add(judgeRoom(limit))
	}
	return err
}

func judgeRoom(limit notice.MemoryLimit) row {
	const name = "GPU memory"
	m := notice.GPUMemory{Limit: limit}
	if limit.Bytes < gpuMemoryEnough {
		return found(name, notice.GPUMemoryShort{GPUMemory: m})
	}
	return found(name, m)
}
