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
						s := OpSpec{Kind: kind, Type: t, Op: op, InPlace: inPlace, Count: count, Root: (i + int(t)) % c.Size()}
						if quirk(m.info.Name, s) != nil {
							s.Root = 0
						}
						if err := variants(m, c, s); err != nil {
							return fmt.Errorf("%s %s %s in place %t, count %d, root %d of %d: %w", kind, t, op, inPlace, count, s.Root, c.Size(), err)
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
	trial := reference.Trial{Case: reference.Case(s.Kind, s.Type, s.Op, s.InPlace, s.Root, c.size, s.Count), Rank: c.rank, Slots: max(1, s.Slots), Scratch: s.Kind == ReduceScatter}
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

// issue runs the operation n times.
func issue(o *Operation, n int) error {
	steps := o.Steps()
	if steps.Wait != nil || steps.Sync == nil {
		return errors.New("the steps of an operation that blocks are to issue and to synchronise")
	}
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
			if err := reference.Halves(c.rank, func(t coll.DataType, op coll.RedOp, at unsafe.Pointer, count int64) error {
				o, err := c.Prepare(OpSpec{Kind: AllReduce, Type: Type(t), Op: Op(op), InPlace: true, Recv: at, Count: count})
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
