package bench_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"busbar/internal/bench"
	"busbar/internal/bench/benchtest"
	"busbar/internal/coll"

	"github.com/shoenig/test"
)

// fake is a backend for goroutine ranks: it moves and reduces the data for real, and takes the times of a script.
// Each rank has its own fake over the same script.
type fake struct {
	World  bench.World
	script *script
	now    int64 // this rank's clock, ns
	ops    int   // operations run so far in timed batches

	Recovered int // calls of Recover
}

// Recover implements bench.Recoverer.
func (f *fake) Recover() error {
	f.Recovered++
	if f.script.Recover != nil {
		return f.script.Recover(f.World.Rank)
	}
	return nil
}

// script is the behaviour of fakes.
type script struct {
	// Time is how long operation i takes on a rank; nil: 1 ms.
	Time func(c coll.Case, rank, i int) (seconds float64)
	// Late is how much later than the others a rank issues operation i; nil: not at all.
	Late func(rank, i int) (seconds float64)
	// Corrupt changes a rank's output after every operation; nil: nothing is wrong.
	Corrupt func(c coll.Case, rank int, output []byte)
	// Refuse is Prepare's error on a rank; nil: none.
	Refuse func(c coll.Case, rank int) error
	// Fail is Run's error on a rank; nil: none.
	Fail func(c coll.Case, rank int) error
	// Recover is Recover's error on a rank; nil: none.
	Recover func(rank int) error
	// Clock maps a time in seconds since the start to the rank's clock; nil: identity.
	Clock func(rank int, t float64) float64
	// Slots is the number of places that operations take in turn; 0: one.
	Slots int
}

// Prepare implements bench.Backend.
func (f *fake) Prepare(c coll.Case) (bench.Operation, error) {
	if f.script.Refuse != nil {
		if err := f.script.Refuse(c, f.World.Rank); err != nil {
			return nil, err
		}
	}
	o := &fakeOperation{f: f, c: c}
	s := int64(c.Type.Size())
	r := f.World.Rank
	for range max(1, f.script.Slots) {
		sent, received := c.SendCount(r)*s, c.RecvCount(r)*s
		if c.Placement != coll.InPlace {
			o.slots = append(o.slots, bench.Buffers{Send: make(bench.Host, sent), Recv: make(bench.Host, received)})
			continue
		}
		whole := make(bench.Host, max(sent, received))
		b := bench.Buffers{Send: whole[:sent], Recv: whole[:received]}
		part := int64(r) * c.Count * s
		switch {
		case c.Collective == coll.AllGather, c.Collective == coll.Gather && r == c.Root:
			b.Send = whole[part : part+c.Count*s]
		case c.Collective == coll.Scatter && r == c.Root, c.Collective == coll.ReduceScatter:
			b.Recv = whole[part : part+c.Count*s]
		}
		o.slots = append(o.slots, b)
	}
	return o, nil
}

type fakeOperation struct {
	f     *fake
	c     coll.Case
	slots []bench.Buffers
	next  int
}

func (o *fakeOperation) Buffers() []bench.Buffers { return o.slots }

func (o *fakeOperation) Close() error { return nil }

func (o *fakeOperation) Run(batches, n int) (s bench.Stamps, err error) {
	f := o.f
	if f.script.Fail != nil {
		if err := f.script.Fail(o.c, f.World.Rank); err != nil {
			return s, err
		}
	}
	ns := func(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }
	defer func() {
		for _, stamps := range [][]int64{s.Start, s.Issued, s.End} {
			for i := range stamps {
				stamps[i] = ns(f.clock(seconds(stamps[i])))
			}
		}
	}()
	for range batches {
		for i := range n {
			took, late := f.script.at(o.c, f.World.Rank, f.ops)
			if i == 0 {
				s.Start, s.Issued, s.End = append(s.Start, f.now+ns(late)), append(s.Issued, f.now+ns(late)),
					append(s.End, 0)
			}
			s.End[len(s.End)-1] = f.now + ns(late+took)
			f.now += ns(late + took)
			if f.World.Size > 1 && i == n-1 { // the next one starts when the last rank is done
				f.now = s.Start[len(s.Start)-1] - ns(late) + f.longest(o.c, n)
			}
			f.ops++
		}
	}
	// Only the last operations leave something behind; one per slot is enough.
	for range min(batches*n, len(o.slots)+1) {
		if err := o.exchange(); err != nil {
			return s, err
		}
	}
	return s, nil
}

// clock is what this rank's clock shows at a time in seconds.
func (f *fake) clock(t float64) float64 {
	if f.script.Clock == nil {
		return t
	}
	return f.script.Clock(f.World.Rank, t)
}

// Offset is this rank's clock minus rank 0's now, in seconds: what comparing them finds.
func (f *fake) Offset() float64 {
	if f.script.Clock == nil {
		return 0
	}
	now := seconds(f.now)
	return f.script.Clock(f.World.Rank, now) - f.script.Clock(0, now)
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// at is how long operation i takes on a rank and how late it is issued there.
func (s *script) at(c coll.Case, rank, i int) (took, late float64) {
	took = 1e-3
	if s.Time != nil {
		took = s.Time(c, rank, i)
	}
	if s.Late != nil {
		late = s.Late(rank, i)
	}
	return took, late
}

// longest is the time in ns from the common start of the batch of n operations that ends now to the end of its last
// rank.
func (f *fake) longest(c coll.Case, n int) int64 {
	longest := 0.0
	for r := range f.World.Size {
		sum := 0.0
		for i := f.ops - n + 1; i <= f.ops; i++ {
			took, late := f.script.at(c, r, i)
			sum += took + late
		}
		longest = max(longest, sum)
	}
	return int64(math.Round(longest * 1e9))
}

// exchange does the collective on the slot that is next.
func (o *fakeOperation) exchange() error {
	slot := o.slots[o.next%len(o.slots)]
	send, recv := slot.Send.(bench.Host), slot.Recv.(bench.Host)
	o.next++
	c, me := o.c, o.f.World.Rank
	s := c.Type.Size()
	all := benchtest.Exchange(o.f.World, slices.Clone(send))
	input := func(r int) []byte { return all[r].(bench.Host) }
	share := int(c.Count) * s
	switch c.Collective {
	case coll.AllReduce, coll.Reduce, coll.ReduceScatter:
		first := 0
		if c.Collective == coll.ReduceScatter {
			first = me * share
		}
		for at := 0; at < len(recv); at += s {
			reduceElement(c, recv[at:at+s], func(r int) []byte { return input(r)[first+at : first+at+s] })
		}
	case coll.Broadcast:
		copy(recv, input(c.Root))
	case coll.Scatter:
		copy(recv, input(c.Root)[me*share:])
	case coll.SendRecv:
		copy(recv, input((me-1+c.World)%c.World))
	case coll.AllGather, coll.Gather, coll.AllToAll:
		if len(recv) == 0 {
			break
		}
		for r := range c.World {
			from := input(r)
			if c.Collective == coll.AllToAll {
				from = from[me*share:]
			}
			copy(recv[r*share:(r+1)*share], from)
		}
	case coll.AllToAllV:
		at := 0
		for r, count := range c.Receives(me) {
			n := int(count) * s
			copy(recv[at:at+n], input(r)[int(c.Offsets(me)[r])*s:])
			at += n
		}
	default:
		return fmt.Errorf("fake: no %s", c.Collective)
	}
	if o.f.script.Corrupt != nil {
		o.f.script.Corrupt(c, me, recv)
	}
	return nil
}

// reduceElement reduces one element over the ranks, in the order of the ranks; float64 is exact for the suite's data.
func reduceElement(c coll.Case, out []byte, of func(rank int) []byte) {
	x := bench.Decode(c.Type, of(0))
	for r := 1; r < c.World; r++ {
		y := bench.Decode(c.Type, of(r))
		switch c.Op {
		case coll.Prod:
			x *= y
		case coll.Min:
			x = min(x, y)
		case coll.Max:
			x = max(x, y)
		default:
			x += y
		}
	}
	switch c.Op {
	case coll.Avg:
		if x /= float64(c.World); !c.Type.Float() {
			x = math.Trunc(x)
		}
	case coll.MulSum:
		x *= coll.MulFactor
	}
	bench.Encode(c.Type, x, out)
}

func both(coll.Collective) []coll.Placement {
	return []coll.Placement{coll.OutOfPlace, coll.InPlace}
}

// The fake must pass the suite that the real backends must pass.
func TestFakePassesSuite(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		for r, err := range benchtest.Run(n, func(w bench.World) error {
			return benchtest.Suite(w, &fake{World: w, script: &script{}}, both, []int64{8, 1024, 10_000})
		}) {
			test.NoError(t, err, test.Sprint(n, r))
		}
	}
}

// Buffers that rotate are checked slot by slot.
func TestFakePassesSuiteWithSlots(t *testing.T) {
	for r, err := range benchtest.Run(3, func(w bench.World) error {
		return benchtest.Suite(w, &fake{World: w, script: &script{Slots: 3}}, both, []int64{4096})
	}) {
		test.NoError(t, err, test.Sprint(r))
	}
}

// The suite must be able to fail.
func TestSuiteFindsWrongData(t *testing.T) {
	errs := benchtest.Run(2, func(w bench.World) error {
		return benchtest.Suite(w, &fake{World: w, script: &script{Corrupt: func(c coll.Case, rank int, out []byte) {
			if rank == 1 && len(out) > 9 {
				out[9] ^= 1
			}
		}}}, both, []int64{1024})
	})
	for r, err := range errs {
		if err == nil {
			t.Errorf("rank %d did not see the wrong data", r)
		}
	}
}
