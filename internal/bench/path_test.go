package bench_test

import (
	"errors"
	"testing"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// watched is a backend whose library reports its path while it is watched.
type watched struct {
	fake
	path          *result.Path // of this rank
	watches, runs int          // watches begun, and operations within them
	open, silent  bool
	fails         error
}

func (b *watched) Prepare(c coll.Case) (bench.Operation, error) {
	o, err := b.fake.Prepare(c)
	return &watchedOperation{o, b}, err
}

type watchedOperation struct {
	bench.Operation
	b *watched
}

func (o *watchedOperation) Watch() bench.Operation {
	if o.b.silent {
		return nil
	}
	o.b.watches, o.b.open = o.b.watches+1, true
	return o
}

func (o *watchedOperation) Path() *result.Path {
	o.b.open = false
	return o.b.path
}

func (o *watchedOperation) Run(batches, n int) (bench.Stamps, error) {
	if o.b.open {
		o.b.runs += batches * n
		if o.b.fails != nil {
			return bench.Stamps{}, o.b.fails
		}
	}
	return o.Operation.Run(batches, n)
}

// watch measures a case on ranks that take these paths, and returns the record and the backends.
func watch(
	t *testing.T, o bench.Options, change func(*watched), paths ...*result.Path,
) (*result.Record, []*watched) {
	t.Helper()
	backends := make([]*watched, len(paths))
	record, errs := run(len(paths), allReduce, o, func(w bench.World) bench.Backend {
		b := &watched{fake: fake{World: w, script: &script{}}, path: paths[w.Rank]}
		change(b)
		backends[w.Rank] = b
		return b
	})
	must.NoError(t, errors.Join(errs...))
	return record, backends
}

func asItIs(*watched) {}

func ring() *result.Path { return &result.Path{Algorithm: "RING", Protocol: "LL", Channels: 4} }

func TestSingleOperationPath(t *testing.T) {
	r, backends := watch(t, options, asItIs, ring(), ring(), ring())
	if r.Path == nil || *r.Path != *ring() || len(r.Warnings) != 0 || r.Status != result.OK {
		t.Errorf("path %v, warnings %q, status %s", r.Path, r.Warnings, r.Status)
	}
	for rank, b := range backends {
		if b.watches != 1 || b.runs != 1 || b.open {
			t.Errorf("rank %d: %d watches of %d operations, still on: %t", rank, b.watches, b.runs, b.open)
		}
	}
	silent, _ := watch(t, options, func(b *watched) { b.silent = true }, ring(), ring())
	none, _ := watch(t, options, asItIs, nil, nil)
	for _, r := range []*result.Record{silent, none} {
		if r.Path != nil || len(r.Warnings) != 0 || r.Status != result.OK {
			t.Errorf("no path: %v, %q, %s", r.Path, r.Warnings, r.Status)
		}
	}
	// Sends and receives: every rank has its own path, and the maximum number of channels counts.
	r, _ = watch(t, options, asItIs, nil, &result.Path{Channels: 2}, &result.Path{Channels: 6})
	if len(r.Warnings) != 0 || r.Path == nil || *r.Path != (result.Path{Channels: 6}) {
		t.Errorf("path %v, warnings %q", r.Path, r.Warnings)
	}
}

func TestPathsDifferBetweenRanks(t *testing.T) {
	tree, fewer, most := ring(), ring(), ring()
	tree.Algorithm, fewer.Channels, most.AtMost = "TREE", 3, true
	for want, other := range map[string]*result.Path{
		"TREE LL, 4 channels": tree, "RING LL, 3 channels": fewer, "RING LL, at most 4 channels": most,
		"not reported": nil,
	} {
		differs := notice.PathDiffers{Ranks: 2, World: 3, Own: "RING LL, 4 channels", Rank: 1, Host: "node00",
			Other: want}
		r, _ := watch(t, options, asItIs, ring(), other, other)
		if len(r.Warnings) != 1 || r.Warnings[0].Fact != differs || r.Path == nil || *r.Path != *ring() {
			t.Errorf("path %v, warnings %v, want %v", r.Path, r.Warnings, differs)
		}
	}
}

// The watched operation uses a slot: after a short run, the checked slots are those of later operations.
func TestPathUsesSlot(t *testing.T) {
	for _, k := range []struct{ warmup, iterations, slots int }{{0, 3, 8}, {1, 1, 4}, {0, 2, 2}, {0, 5, 3}} {
		for _, broken := range []bool{false, true} {
			o := fixed(k.iterations)
			o.Warmup = k.warmup
			r, _ := watch(t, o, func(b *watched) {
				b.script.Slots = k.slots
				b.script.Corrupt = func(_ coll.Case, _ int, output []byte) {
					if broken && !b.open && b.watches > 0 {
						output[0]++
					}
				}
			}, ring(), ring())
			test.EqOp(t, map[bool]result.Status{false: result.OK, true: result.Wrong}[broken], r.Status,
				test.Sprint(k, r.Reason))
		}
	}
}

// An operation that fails while watched costs its point, and the watch ends.
func TestPathFailure(t *testing.T) {
	r, backends := watch(t, options, func(b *watched) {
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
