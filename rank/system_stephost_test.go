package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/program"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/plan"
	"busbar/sweeps"
)

// stepWorker is the prefix of a worker that runs training steps.
const stepWorker = "step "

// Steps of both strategies, in every mode, leave the correct sums and parameters.
func TestStepsOnHosts(t *testing.T) {
	t.Parallel()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		backend, mpirun string
		np              int
	}{{"mpi", openMPI, 1}, {"mpi", openMPI, 3}, {"mpi", mpich, 2}, {"gloo", openMPI, 1}, {"gloo", openMPI, 3},
		{"gloo", mpich, 2}} {
		t.Run(fmt.Sprint(w.backend, " ", w.mpirun, " ", w.np), func(t *testing.T) {
			parallelOn(t, w.mpirun)
			if w.backend == "gloo" {
				glooShim(t)
			}
			o := rankRun{mpirun: w.mpirun, np: w.np, program: executable,
				env: []string{"BUSBAR_TEST_WORKER=" + stepWorker + w.backend, "BUSBAR_TEST_GRAPH=0",
					"BUSBAR_TEST_ROTATE=0", "BUSBAR_TEST_TOGETHER=1"}}.run(t)
			if o.code != 0 || strings.Count(o.stdout, "conforms") != w.np {
				t.Error(o)
			}
		})
	}
}

func stepsOnHost(j *job, name string, sweep *sweeps.Sweep) error {
	j.cfg.Step = plan.Defaults().Step
	j.cfg.Step.Threads, j.cfg.Step.Poll = 2, time.Nanosecond
	if err := j.compareRanks(); err != nil {
		return err
	}
	h := j.host()
	libraries, err := backend.Open(h, []string{name}, nil)
	if err != nil {
		return err
	}
	world, b, err := j.openWorld(libraries[0], sweep)
	if err != nil {
		return err
	}
	c, err := b.(backend.Trainer).Computing()
	if err != nil {
		return err
	}
	if text := c.String(); text != "2 threads of FMA" {
		return fmt.Errorf("computing is %q", text)
	}
	m := &step.Model{Name: "three layers", Optimizer: 1e-5, Layers: []step.Layer{
		{Name: "a", Params: 1001, Forward: 2e-5, Backward: 4e-5},
		{Name: "b", Params: 70_000, Forward: 2e-5, Backward: 2e-4}, {Name: "c", Params: 17, Backward: 1e-5}}}
	for _, strategy := range []step.Strategy{step.DDP, step.FSDP} {
		for _, t := range []coll.DataType{coll.Float32, coll.BFloat16, coll.Float64} {
			for _, w := range b.(backend.Trainer).Progress() {
				point := step.Point{Strategy: strategy, Bucket: step.PerLayer, Type: t, Progress: w}
				if err := trains(world.World, b.(backend.Trainer), c, m, point); err != nil {
					return fmt.Errorf("%s: %w", point, err)
				}
			}
		}
	}
	return errors.Join(refusesSteps(b.(backend.Trainer), c, m, name, j.world.Size()), c.Close(), b.Close(),
		world.Area.Free())
}

// trains runs a step twice in each mode that communicates, and compares every element of every operation.
func trains(world bench.World, b backend.Trainer, c backend.Computing, m *step.Model, point step.Point) error {
	p, err := step.NewPlan(m, point, world.Size, step.Options{})
	if err != nil {
		return err
	}
	if err := b.Reserve(p.Bytes); err != nil {
		return err
	}
	t, err := b.Train(c, p)
	if err != nil {
		return err
	}
	data, check := bench.NewData(world), result.Check{}
	for range 2 {
		for _, mode := range program.Modes {
			for i := range p.Ops {
				c, err := p.Case(i)
				if err := errors.Join(err, data.Load(c, t.Buffers(i))); err != nil {
					return err
				}
			}
			start, end, err := t.Run(mode)
			if err != nil {
				return err
			}
			if x := t.Spans().Step; x.Start < start || x.End > end || x.End <= x.Start {
				return fmt.Errorf("%s: the step is %+v, and its stamps %d and %d", mode, x, start, end)
			}
			if _, doing := t.Position(); doing != "" {
				return fmt.Errorf("%s: behind the step it is %s", mode, doing)
			}
			for i := range p.Ops {
				if c, _ := p.Case(i); mode.Communicates() {
					err = errors.Join(err, data.Verify(p.Ops[i].Name, c, t.Buffers(i)))
				}
			}
			if err != nil {
				return err
			}
		}
	}
	wrong, err := data.Collect(&check)
	if err == nil && check.Result != "ok" {
		err = fmt.Errorf("data is %s: %+v", check.Result, wrong)
	}
	return errors.Join(err, t.Close())
}

// refusesSteps checks that unsupported steps return an error and leave no resources.
func refusesSteps(b backend.Trainer, c backend.Computing, m *step.Model, name string, world int) error {
	points := map[notice.Code]step.Point{"not-supported": {Strategy: step.DDP, Type: coll.Float8E4M3,
		Progress: step.Thread}}
	if name == "gloo" {
		points["progress-unsupported"] = step.Point{Strategy: step.DDP, Type: coll.Float32, Progress: step.Poll}
	}
	for want, point := range points {
		p, err := step.NewPlan(m, point, world, step.Options{})
		if err != nil {
			return err
		}
		var lacks *bench.UnsupportedError
		if _, err := b.Train(c, p); !errors.As(err, &lacks) || notice.CodeOf(lacks.Cause) != want {
			return fmt.Errorf("%s: %w, not %q", point, err, want)
		}
	}
	p, err := step.NewPlan(&step.Model{Layers: []step.Layer{{Params: 1 << 40}}},
		step.Point{Strategy: step.DDP, Type: coll.Float32, Progress: step.Thread}, world, step.Options{})
	if err != nil {
		return err
	}
	var memory *bench.MemoryError
	if _, err := b.Train(c, p); !errors.As(err, &memory) {
		return fmt.Errorf("4 TiB are %w", err)
	}
	return nil
}
