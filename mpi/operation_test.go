//go:build cgo

package mpi

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"busbar/internal/bench/benchtest"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/operation"
	"busbar/internal/program"
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

// cases are all variants of some collectives that MPI supports: a broadcast is in place, an alltoallv is not.
func cases(world int, of []coll.Collective, ops []coll.RedOp, counts ...int64) []coll.Case {
	places := func(c coll.Collective) []coll.Placement {
		switch c {
		case coll.Broadcast:
			return []coll.Placement{coll.InPlace}
		case coll.AllToAllV:
			return []coll.Placement{coll.OutOfPlace}
		}
		return []coll.Placement{coll.OutOfPlace, coll.InPlace}
	}
	return benchtest.Grid(world, of, places, coll.DataTypes()[:coll.Float64], ops, counts...)
}

// everything runs all operations, with plain counts and as if they exceeded an int.
func everything(m *MPI, c *Comm, counts []int64) error {
	ops := []coll.RedOp{coll.Sum, coll.Prod, coll.Min, coll.Max, coll.Avg}
	for _, k := range cases(c.size, coll.Collectives(), ops, counts...) {
		s := operation.Host{Spec: operation.Spec{Case: k}}
		if quirk(m.info.Name, s.Spec) != nil {
			s.Root = 0
		}
		if err := variants(m, c, s); err != nil {
			return fmt.Errorf("%s root %d of %d, count %d: %w", s.Point(), s.Root, c.size, s.Count, err)
		}
	}
	return nil
}

func variants(m *MPI, c *Comm, s operation.Host) error {
	if s.Count == 7 {
		s.Slots = 4
	}
	if err := correct(c, s, ""); err != nil {
		return err
	}
	if s.Slots > 1 || s.Placement != coll.InPlace { // in place, a second one would have the first one's result as input
		s.Aggregate = 2
	}
	defer func() { m.intMax, m.noLarge = math.MaxInt32, false }()
	m.intMax = max(1, s.Count*2/5)
	for _, m.noLarge = range []bool{false, true} {
		note := ""
		switch {
		case total(s) <= m.intMax:
		case m.info.LargeCounts == "native" && !m.noLarge:
			note = "_c"
		case s.Collective.Reduces() || !s.Collective.Shared():
			note = "parts of up to"
		default:
			note = "derived type"
		}
		err := correct(c, s, note)
		large := s.Collective == coll.AllToAllV && s.Count > m.intMax
		if lacks := (*operation.UnsupportedError)(nil); large && note != "_c" && errors.As(err, &lacks) {
			continue
		}
		if err != nil {
			return fmt.Errorf("limit %d, native %t: %w", m.intMax, !m.noLarge, err)
		}
	}
	return nil
}

// total is the number of elements that a call counts.
func total(s operation.Host) int64 {
	if s.Collective.Shared() {
		return s.Count * int64(s.World)
	}
	return s.Count
}

// try runs an operation over buffers that are compared byte by byte on this rank.
func try(c *Comm, s operation.Host, use func(*Operation) error) error {
	t := trial{Case: s.Case, Rank: c.rank, Slots: max(1, s.Slots),
		Scratch: s.Collective == coll.ReduceScatter}
	s.SendStride, s.RecvStride = t.Strides()
	return t.Run(func(send, recv unsafe.Pointer) error {
		s.Send, s.Recv = send, recv
		o, err := c.Prepare(s)
		if err != nil {
			return err
		}
		return errors.Join(use(o), o.Close())
	})
}

// correct runs the operation once per slot.
func correct(c *Comm, s operation.Host, note string) error {
	return try(c, s, func(o *Operation) error {
		notes := strings.Join(o.Notes(), "\n")
		if (note == "") != !strings.Contains(notes, "count ") || !strings.Contains(notes, note) {
			return fmt.Errorf("notes %q, want %q", notes, note)
		}
		return issue(o, max(1, s.Slots/max(1, s.Aggregate)))
	})
}

func TestAsync(t *testing.T) {
	run(t, "async", append(worlds, world{OpenMPI, 4}, world{OpenMPI, 1}, world{MPICH, 1})...)
}

func init() {
	workers["async"] = func(m *MPI) error {
		for _, k := range cases(m.all.size, coll.Collectives()[:3], []coll.RedOp{coll.Sum, coll.Max}, 0, 1, 7,
			1000) {
			if err := asyncVariants(m, operation.Host{Spec: operation.Spec{Case: k}}); err != nil {
				return fmt.Errorf("%s, count %d of %d ranks: %w", k.Point(), k.Count, k.World, err)
			}
		}
		return errors.Join(several(m.World()), refusals(m))
	}
}

// asyncVariants runs an operation alone, completed by tests and by waiting, with the plain count and as if it exceeded
// an int. Operations that need several calls are then refused.
func asyncVariants(m *MPI, s operation.Host) error {
	defer func() { m.intMax, m.noLarge = math.MaxInt32, false }()
	for _, m.intMax = range []int64{math.MaxInt32, max(1, s.Count*2/5)} {
		for _, m.noLarge = range []bool{false, true} {
			parts := total(s) > m.intMax && (m.noLarge || m.info.LargeCounts != "native") &&
				s.Collective != coll.AllGather
			for _, test := range []bool{false, true} {
				err := try(m.all, s, func(o *Operation) error {
					a, err := o.Async()
					if parts != (err != nil) || parts && !strings.Contains(err.Error(), "counts above 2³¹") {
						return fmt.Errorf("in parts %t: %w", parts, err)
					}
					if parts {
						return issue(o, 1)
					}
					return finish(o, test, a)
				})
				if err != nil {
					return fmt.Errorf("limit %d, native %t, by tests %t: %w", m.intMax, !m.noLarge, test, err)
				}
			}
		}
	}
	return nil
}

// finish starts operations in order and completes them as a step does: by waiting, or by tests beside computing and
// then waiting.
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
	return issueSteps(h.Steps(), 1, o.Error)
}

// several are in progress and restarted, as in a step
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
		o, err := c.Prepare(inPlace(coll.AllReduce, coll.Float32, coll.Sum, unsafe.Add(b.Pointer(),
			i*count*4), count))
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

// refusals: an operation that cannot run in the background has a reason.
func refusals(m *MPI) error {
	b, err := loop.AllocBuffer(4096)
	if err != nil {
		return err
	}
	defer b.Free()
	several := inPlace(coll.AllReduce, coll.Float32, coll.Sum, b.Pointer(), 1)
	several.Aggregate = 2
	for want, s := range map[string]operation.Host{
		"no non-blocking form of MPI_Alltoall": inPlace(coll.AllToAll, coll.Int8, 0, b.Pointer(), 1),
		"an average by MPI_Allreduce": inPlace(coll.AllReduce, coll.Float32, coll.Avg, b.Pointer(),
			1),
		"grouped operations": several,
	} {
		o, err := m.World().Prepare(s)
		if err != nil {
			return err
		}
		var lacks *operation.UnsupportedError
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
	return issueSteps(steps, n, o.Error)
}

// Two ranks combine every pattern of float16 and bfloat16 with another, and an average halves the sum.
func TestHalves(t *testing.T) { run(t, "halves", world{OpenMPI, 2}, world{MPICH, 2}) }

func init() {
	workers["halves"] = func(m *MPI) error {
		c := m.World()
		defer func() { m.intMax = math.MaxInt32 }()
		for _, m.intMax = range []int64{math.MaxInt32, 1 << 14} { // by MPI_Op_create_c if available
			if err := combineHalves(c.rank,
				func(t coll.DataType, op coll.RedOp, at unsafe.Pointer, count int64) error {
					o, err := c.Prepare(inPlace(coll.AllReduce, t, op, at, count))
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
