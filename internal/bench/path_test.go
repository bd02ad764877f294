package bench_test

import (
	"errors"
	"testing"

	"busbar/internal/bench"
	"busbar/internal/bench/benchtest"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// telling is a backend whose library tells its way while it is watched.
type telling struct {
	benchtest.Fake
	path          *result.Path // of this rank
	watched, runs int          // watches begun, and operations within them
	open, dumb    bool
	fails         error
}

func (b *telling) Prepare(c coll.Case) (bench.Operation, error) {
	o, err := b.Fake.Prepare(c)
	return &tellingOperation{o, b}, err
}

type tellingOperation struct {
	bench.Operation
	b *telling
}

func (o *tellingOperation) Watch() bench.Operation {
	if o.b.dumb {
		return nil
	}
	o.b.watched, o.b.open = o.b.watched+1, true
	return o
}

func (o *tellingOperation) Path() *result.Path {
	o.b.open = false
	return o.b.path
}

func (o *tellingOperation) Run(batches, n int) (bench.Stamps, error) {
	if o.b.open {
		o.b.runs += batches * n
		if o.b.fails != nil {
			return bench.Stamps{}, o.b.fails
		}
	}
	return o.Operation.Run(batches, n)
}

// tell measures a case on ranks that take these ways, and returns the record and the backends.
func tell(t *testing.T, change func(*telling), paths ...*result.Path) (*result.Record, []*telling) {
	t.Helper()
	return tellWith(t, options, change, paths...)
}

func tellWith(
	t *testing.T, o bench.Options, change func(*telling), paths ...*result.Path,
) (*result.Record, []*telling) {
	t.Helper()
	var record *result.Record
	backends := make([]*telling, len(paths))
	c := sized(allReduce, len(paths), 4096)
	errs := benchtest.Run(len(paths), func(w bench.World) error {
		b := &telling{Fake: benchtest.Fake{World: w, Script: &benchtest.Script{}}, path: paths[w.Rank]}
		change(b)
		backends[w.Rank] = b
		r, err := bench.Measure(w, b, c, o)
		if w.Rank == 0 {
			record = r
		}
		return err
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return record, backends
}

func TestPathOfOneOperation(t *testing.T) {
	ring := &result.Path{Algorithm: "RING", Protocol: "LL", Channels: 4}
	same := *ring
	r, backends := tell(t, func(*telling) {}, ring, &same, ring)
	if r.Path == nil || *r.Path != *ring || len(r.Warnings) != 0 || r.Status != result.OK {
		t.Errorf("path %v, warnings %q, status %s", r.Path, r.Warnings, r.Status)
	}
	for rank, b := range backends {
		if b.watched != 1 || b.runs != 1 || b.open {
			t.Errorf("rank %d: %d watches of %d operations, still on: %t", rank, b.watched, b.runs, b.open)
		}
	}
	if r, _ := tell(t, func(b *telling) { b.dumb = true }, ring, ring); r.Path != nil || r.Status != result.OK {
		t.Errorf("a library that cannot tell: %v, %s", r.Path, r.Status)
	}
	if r, _ := tell(t, func(*telling) {}, nil, nil); r.Path != nil || len(r.Warnings) != 0 {
		t.Errorf("nothing was told: %v, %q", r.Path, r.Warnings)
	}
}

func TestRanksOnOtherPaths(t *testing.T) {
	ring := &result.Path{Algorithm: "RING", Protocol: "LL", Channels: 4}
	for want, other := range map[string]*result.Path{
		"TREE LL, 4 channels":         {Algorithm: "TREE", Protocol: "LL", Channels: 4},
		"RING LL, 5 channels":         {Algorithm: "RING", Protocol: "LL", Channels: 5},
		"nothing that it tells":       nil,
		"RING LL128, 4 channels":      {Algorithm: "RING", Protocol: "LL128", Channels: 4},
		"RING LL, at most 4 channels": {Algorithm: "RING", Protocol: "LL", Channels: 4, AtMost: true},
	} {
		differs := notice.PathDiffers{Ranks: 2, World: 3, Own: "RING LL, 4 channels", Rank: 1, Host: "node00",
			Other: want}
		r, _ := tell(t, func(*telling) {}, ring, other, other)
		if len(r.Warnings) != 1 || r.Warnings[0].Fact != differs || r.Path == nil || *r.Path != *ring {
			t.Errorf("path %v, warnings %v, want %v", r.Path, r.Warnings, differs)
		}
	}
	// Sends and receives: every rank has its own, the most channels count.
	r, _ := tell(t, func(*telling) {}, nil, &result.Path{Channels: 2}, &result.Path{Channels: 6})
	if len(r.Warnings) != 0 || r.Path == nil || *r.Path != (result.Path{Channels: 6}) {
		t.Errorf("path %v, warnings %q", r.Path, r.Warnings)
	}
}

// The operation that is watched takes a slot: what is looked at after a short run are those of the operations behind
// it.
func TestPathTakesASlot(t *testing.T) {
	for _, k := range []struct{ warmup, iterations, slots int }{{0, 3, 8}, {1, 1, 4}, {0, 2, 2}, {0, 5, 3}} {
		o := options
		o.Check, o.Warmup, o.Iterations = 1, k.warmup, k.iterations
		ring := &result.Path{Algorithm: "RING"}
		r, _ := tellWith(t, o, func(b *telling) { b.Script.Slots = k.slots }, ring, ring)
		if r.Status != result.OK || r.Check.Result != "ok" {
			t.Errorf("%+v: %s %s", k, r.Status, r.Reason)
		}
		broken := func(b *telling) {
			b.Script.Slots = k.slots
			b.Script.Corrupt = func(_ coll.Case, _ int, output []byte) {
				if !b.open && b.watched > 0 {
					output[0]++
				}
			}
		}
		if r, _ := tellWith(t, o, broken, ring, ring); r.Status != result.Wrong {
			t.Errorf("%+v: what timed operations leave is wrong, and the point is %s", k, r.Status)
		}
	}
}

// An operation that fails while it is watched costs its point, and the watch ends.
func TestPathThatFails(t *testing.T) {
	r, backends := tell(t, func(b *telling) {
		b.fails = &bench.OperationError{Err: errors.New("another rank's failed")}
		if b.World.Rank == 1 {
			b.fails = &bench.OperationError{Status: result.OOM, Err: errors.New("no memory")}
		}
	}, nil, nil)
	if r.Status != result.OOM || r.Path != nil ||
		r.Cause.Fact != (notice.RankFailed{Rank: 1, Host: "node00", Problem: "no memory"}) {
		t.Errorf("%s: %s, path %v", r.Status, r.Reason, r.Path)
	}
	for rank, b := range backends {
		if b.open || b.Recovered != 1 {
			t.Errorf("rank %d: still watched: %t, recovered %d times", rank, b.open, b.Recovered)
		}
	}
}
