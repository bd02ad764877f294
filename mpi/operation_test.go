//go:build cgo

package mpi

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/program"
	"busbar/internal/reference"
)

func TestOperations(t *testing.T) { run(t, "operations", append(worlds, world{OpenMPI, 4})...) }

func init() {
	workers["operations"] = func(m *MPI) error {
		c := m.World()
		if c.Size() == 4 {
			sub, err := c.Split(c.Rank()%2, 0)
			if err != nil {
				return err
			}
			return errors.Join(everything(m, c, []int64{13}), everything(m, sub, []int64{5}), sub.Free())
		}
		return everything(m, c, []int64{0, 1, 7, 1000})
	}
}

// everything runs all kinds, types, reductions and placements, with the counts as they are and as if they were too
// large for an int.
func everything(m *MPI, c *Comm, counts []int64) error {
	for kind := AllReduce; kind <= SendRecv; kind++ {
		for _, inPlace := range []bool{false, true} {
			if kind == Broadcast && !inPlace {
				continue
			}
			for t := Int8; t <= Float64; t++ {
				ops := []Op{0}
				if kind.reduces() {
					ops = []Op{Sum, Prod, Min, Max, Avg}
				}
				for _, op := range ops {
					for i, count := range counts {
						s := OpSpec{Kind: kind, Type: t, Op: op, InPlace: inPlace, Count: count,
							Root: (i + int(t)) % c.Size()}
						if quirk(m.info.Name, s) != nil {
							s.Root = 0
						}
						if err := variants(m, c, s); err != nil {
							return fmt.Errorf("%s %s %s in place %t, count %d, root %d of %d: %w", kind, t, op, inPlace,
								count, s.Root, c.Size(), err)
						}
					}
				}
			}
		}
	}
	return nil
}

func variants(m *MPI, c *Comm, s OpSpec) error {
	if s.Count == 7 {
		s.Slots = 4
	}
	if err := correct(c, s, ""); err != nil {
		return err
	}
	if s.Slots > 1 || !s.InPlace { // in place, a second operation would have the first one's result as its input
		s.Aggregate = 2
	}
	defer func() { m.intMax, m.noLarge = math.MaxInt32, false }()
	m.intMax = max(1, s.Count*2/5)
	total := s.Count
	if s.Kind.shared() {
		total *= int64(c.size)
	}
	for _, m.noLarge = range []bool{false, true} {
		note := ""
		switch {
		case total <= m.intMax:
		case m.info.LargeCounts == "native" && !m.noLarge:
			note = "_c"
		case s.Kind.reduces() || !s.Kind.shared():
			note = "parts of up to"
		default:
			note = "derived type"
		}
		if err := correct(c, s, note); err != nil {
			return fmt.Errorf("limit %d, native %t: %w", m.intMax, !m.noLarge, err)
		}
	}
	return nil
}

// correct runs the operation once per slot and compares every byte of both buffers on this rank.
func correct(c *Comm, s OpSpec, note string) error {
	trial := reference.Trial{Case: reference.Case(s.Kind, s.Type, s.Op, s.InPlace, s.Root, c.size, s.Count),
		Rank: c.rank, Slots: max(1, s.Slots), Scratch: s.Kind == ReduceScatter}
	s.SendStride, s.RecvStride = trial.Strides()
	return trial.Run(func(send, recv unsafe.Pointer) error {
		s.Send, s.Recv = send, recv
		o, err := c.Prepare(s)
		if err != nil {
			return err
		}
		notes := strings.Join(o.Notes(), "\n")
		if (note == "") != !strings.Contains(notes, "count ") || !strings.Contains(notes, note) {
			return fmt.Errorf("notes %q, want %q", notes, note)
		}
		if err := issue(o, max(1, s.Slots/max(1, s.Aggregate))); err != nil {
			return err
		}
		return o.Close()
	})
}

func TestAsync(t *testing.T) {
	run(t, "async", append(worlds, world{OpenMPI, 4}, world{OpenMPI, 1}, world{MPICH, 1})...)
}

func init() {
	workers["async"] = func(m *MPI) error {
		for _, kind := range []Kind{AllReduce, AllGather, ReduceScatter} {
			for _, inPlace := range []bool{false, true} {
				for t := Int8; t <= Float64; t++ {
					for _, count := range []int64{0, 1, 7, 1000} {
						for _, op := range []Op{Sum, Max} {
							s := OpSpec{Kind: kind, Type: t, Op: op, InPlace: inPlace, Count: count}
							if err := asyncVariants(m, s); err != nil {
								return fmt.Errorf("%s %s %s in place %t, count %d of %d ranks: %w", kind, t, op,
									inPlace, count, m.all.size, err)
							}
						}
					}
				}
			}
		}
		return errors.Join(several(m.World()), refusals(m))
	}
}

// asyncVariants runs an operation by itself, completed by tests and by waiting, with the count as it is and as if it
// were too large for an int. What takes several calls then is refused.
func asyncVariants(m *MPI, s OpSpec) error {
	defer func() { m.intMax, m.noLarge = math.MaxInt32, false }()
	for _, limit := range []int64{math.MaxInt32, max(1, s.Count*2/5)} {
		for _, m.noLarge = range []bool{false, true} {
			m.intMax = limit
			total := s.Count
			if s.Kind.shared() {
				total *= int64(m.all.size)
			}
			parts := total > limit && (m.noLarge || m.info.LargeCounts != "native") && s.Kind != AllGather
			for _, test := range []bool{false, true} {
				trial := reference.Trial{Case: reference.Case(s.Kind, s.Type, s.Op, s.InPlace, 0, m.all.size, s.Count),
					Rank: m.all.rank, Slots: 1, Scratch: s.Kind == ReduceScatter}
				err := trial.Run(func(send, recv unsafe.Pointer) error {
					s.Send, s.Recv = send, recv
					o, err := m.World().Prepare(s)
					if err != nil {
						return err
					}
					a, err := o.Async()
					if parts != (err != nil) || parts && !strings.Contains(err.Error(), "counts past 2³¹") {
						return fmt.Errorf("in parts %t: %w", parts, err)
					}
					if parts {
						return errors.Join(issue(o, 1), o.Close())
					}
					return errors.Join(finish(o, test, a), o.Close())
				})
				if err != nil {
					return fmt.Errorf("limit %d, native %t, by tests %t: %w", limit, !m.noLarge, test, err)
				}
			}
		}
	}
	return nil
}

// finish starts operations in their order and completes them, as the program of a step does: by waiting for them, or
// by tests beside some computing and then by waiting.
func finish(o *Operation, test bool, all ...loop.Async) error {
	crew, err := program.NewCrew(1)
	if err != nil {
		return err
	}
	defer crew.Close()
	spec := program.HostSpec{Segments: []uint64{40}}
	if test {
		spec.Interval = 1 // ns: at every look at the clock
	}
	for _, a := range all {
		spec.Ops = append(spec.Ops, program.HostOp{Link: program.Link{After: -1, Before: 1}, Async: a})
	}
	h, err := program.NewHost(crew, spec)
	if err != nil {
		return err
	}
	defer h.Close()
	return runs(o, h.Steps(), 1)
}

// several are on their way at once, and are started again: what a step does.
func several(c *Comm) error {
	const n, count = 5, 3000
	b, err := loop.AllocBuffer(n * count * 4)
	if err != nil {
		return err
	}
	defer b.Free()
	x := unsafe.Slice((*float32)(b.Pointer()), n*count)
	var ops []*Operation
	var all []loop.Async
	for i := range n {
		o, err := c.Prepare(OpSpec{Kind: AllReduce, Type: Float32, Op: Sum, InPlace: true,
			Recv: unsafe.Add(b.Pointer(), i*count*4), Count: count})
		if err != nil {
			return err
		}
		a, err := o.Async()
		if err != nil {
			return err
		}
		ops, all = append(ops, o), append(all, a)
	}
	for round := range 4 {
		for i := range x {
			x[i] = float32(i % 100)
		}
		if err := finish(ops[0], round%2 == 0, all...); err != nil {
			return err
		}
		for i, v := range x {
			if want := float32(i%100) * float32(c.size); v != want {
				return fmt.Errorf("round %d: element %d is %g, not %g", round, i, v, want)
			}
		}
	}
	for _, o := range ops {
		err = errors.Join(err, o.Close())
	}
	return err
}

// refusals: what cannot go on by itself says why.
func refusals(m *MPI) error {
	b, err := loop.AllocBuffer(4096)
	if err != nil {
		return err
	}
	defer b.Free()
	at := b.Pointer()
	for want, s := range map[string]OpSpec{
		"no non-blocking form of MPI_Alltoall": {Kind: AllToAll, Type: Int8, Send: at, Recv: at, Count: 1},
		"an average by MPI_Allreduce": {Kind: AllReduce, Type: Float32, Op: Avg, InPlace: true, Recv: at,
			Count: 1},
		"several operations that are issued as": {Kind: AllReduce, Type: Float32, Op: Sum, InPlace: true, Recv: at,
			Count: 1, Aggregate: 2},
	} {
		o, err := m.World().Prepare(s)
		if err != nil {
			return err
		}
		var lacks *UnsupportedError
		if _, err := o.Async(); !errors.As(err, &lacks) || !strings.Contains(lacks.Reason, want) {
			return fmt.Errorf("%w, not %q", err, want)
		}
		if err := o.Close(); err != nil {
			return err
		}
	}
	return nil
}

// issue runs the operation n times.
func issue(o *Operation, n int) error {
	steps := o.Steps()
	if steps.Wait != nil || steps.Sync == nil {
		return errors.New("the steps of an operation that blocks are to issue and to synchronise")
	}
	return runs(o, steps, n)
}

// runs runs steps n times; o turns their error codes into words.
func runs(o *Operation, steps loop.Steps, n int) error {
	l, err := loop.New(steps, 1)
	if err != nil {
		return err
	}
	defer l.Close()
	var step *loop.StepError
	if _, err := l.Run(1, n); errors.As(err, &step) {
		return o.Error(step.Code)
	} else if err != nil {
		return err
	}
	return nil
}

// Two ranks combine every pattern of float16 and bfloat16 with another, and an average halves the sum.
func TestHalves(t *testing.T) { run(t, "halves", world{OpenMPI, 2}, world{MPICH, 2}) }

func init() {
	workers["halves"] = func(m *MPI) error {
		c := m.World()
		defer func() { m.intMax = math.MaxInt32 }()
		for _, m.intMax = range []int64{math.MaxInt32, 1 << 14} { // by MPI_Op_create_c where there is one
			if err := reference.Halves(c.rank,
				func(t coll.DataType, op coll.RedOp, at unsafe.Pointer, count int64) error {
					o, err := c.Prepare(OpSpec{Kind: AllReduce, Type: Type(t), Op: Op(op), InPlace: true, Recv: at,
						Count: count})
					if err != nil {
						return err
					}
					return errors.Join(issue(o, 1), o.Close())
				}); err != nil {
				return err
			}
		}
		return nil
	}
}
