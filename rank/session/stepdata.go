package session

import (
	"errors"

	"busbar/internal/bench"
	"busbar/internal/program"
	"busbar/internal/result"
)

// slowCheck is the minimum speed of filling and comparing buffers, in bytes per second.
const slowCheck = 200e6

// checkData runs the operations of each point -c times with test data. Every rank compares every element.
func (g *stepGroup) checkData() error {
	return g.each(g.runs, func(r *stepPoint) error {
		data := bench.NewData(g.s.world.World)
		for range g.s.run.Plan.Sweep.Check {
			if err := g.checkRound(r, data); err != nil || r.verdict.Over() {
				return err
			}
		}
		return nil
	})
}

// checkRound checks a point once; its verdict has the error.
func (g *stepGroup) checkRound(r *stepPoint, data *bench.Data) error {
	memory := seconds(float64(r.plan.Bytes) / slowCheck)
	g.s.run.Watch.Phase("fill", memory)
	for i := range r.plan.Ops {
		c, err := r.plan.Case(i)
		if err == nil {
			err = data.Load(c, r.train.Buffers(i))
		}
		if err != nil {
			return &bench.Fatal{Phase: "fill", Err: err}
		}
	}
	if _, _, err := g.run(r, program.Comm, "check, comm"); err != nil {
		return err
	}
	g.s.run.Watch.Phase("check", memory)
	for i, op := range r.plan.Ops {
		c, err := r.plan.Case(i)
		if err == nil {
			err = data.Verify(op.Name, c, r.train.Buffers(i))
		}
		if err != nil {
			return &bench.Fatal{Phase: "check", Err: err}
		}
	}
	r.check.Rounds++
	wrong, err := data.Collect(&r.check)
	if err != nil {
		return &bench.Fatal{Phase: "check", Err: err}
	}
	if r.check.Result == "wrong" {
		r.verdict = bench.Verdict{Status: result.Wrong, Cause: wrong}
	}
	return nil
}

// fill zeroes the buffers of all points before the timed part: sums of zeros remain zeros. The points share memory.
func (g *stepGroup) fill() error {
	for _, r := range g.alive() {
		g.s.run.Watch.Phase("fill", seconds(float64(r.plan.Bytes)/slowCheck))
		for i := range r.plan.Ops {
			b := r.train.Buffers(i)
			if err := errors.Join(b.Send.Set(0), b.Recv.Set(0)); err != nil {
				return &bench.Fatal{Phase: "fill", Err: err}
			}
		}
	}
	return nil
}
