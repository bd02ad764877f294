package bench_test

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"busbar/internal/bench"
	"busbar/internal/bench/benchtest"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

var allReduce = coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1,
	Placement: coll.OutOfPlace, Mode: coll.Throughput}

var options = bench.Options{Precision: 0.02, Budget: 10 * time.Second, Warmup: 3, Check: 1, Average: bench.Max,
	Clock: bench.Clock{Resolution: 1e-9, Cost: 25e-9, Common: true, Uncertainty: 100e-9}}

// with are the options with a change.
func with(change func(o *bench.Options)) bench.Options {
	o := options
	change(&o)
	return o
}

// fixed returns options with a fixed number of timed operations.
func fixed(iterations int) bench.Options {
	return with(func(o *bench.Options) { o.Iterations = iterations })
}

// latency is a case in latency mode.
func latency(c coll.Case) coll.Case {
	c.Mode = coll.Latency
	return c
}

// run measures a case of 4 KiB on ranks with these backends, and returns rank 0's record and every rank's error.
func run(
	n int, c coll.Case, o bench.Options, backend func(bench.World) bench.Backend,
) (record *result.Record, errs []error) {
	c.World = n
	if c.SizeBytes == 0 {
		c = c.WithSize(4096)
	}
	errs = benchtest.Run(n, func(w bench.World) error {
		b, own := backend(w), o
		if f, ok := b.(*fake); ok && f.script.Clock != nil {
			own.Compare = func() (float64, float64, error) { return f.Offset(), 2e-6, nil }
		}
		r, err := bench.Measure(w, b, c, own)
		if w.Rank == 0 {
			record = r
		}
		return err
	})
	return record, errs
}

// measure runs one case of a scripted world that must succeed.
func measure(t *testing.T, n int, c coll.Case, o bench.Options, s script) *result.Record {
	t.Helper()
	r, errs := run(n, c, o, func(w bench.World) bench.Backend { return &fake{World: w, script: &s} })
	if err := errors.Join(errs...); err != nil || r == nil {
		t.Fatal(r, err)
	}
	return r
}

// takes is a script in which each rank takes this many seconds per operation.
func takes(seconds ...float64) script {
	return script{Time: func(_ coll.Case, rank, _ int) float64 { return seconds[rank] }}
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if math.Abs(got-want) > relative*math.Abs(want) {
		t.Errorf("%s is %g, wanted %g", what, got, want)
	}
}

func TestThroughput(t *testing.T) {
	r := measure(t, 4, allReduce, options, takes(1e-3, 2e-3, 3e-3, 4e-3))
	near(t, "time", r.Time.Seconds, 4e-3, 1e-6)
	near(t, "mean over ranks", r.Time.Mean, 2.5e-3, 1e-6)
	near(t, "busbw", r.BusBW(r.Time.Seconds), 4096/4e-3*2*3/4, 1e-6)
	if r.Ranks.Slowest != 3 || r.Ranks.SlowestHost != "node00" {
		t.Errorf("slowest is rank %d on %s", r.Ranks.Slowest, r.Ranks.SlowestHost)
	}
	if r.Check.Way != "in place" || r.Check.Seconds <= 0 || r.Check.Result != "ok" || r.Status != result.OK {
		t.Errorf("%s, check %+v", r.Status, r.Check)
	}
	if r.Time.Stop != "precision" || r.Time.Batch != 12 {
		t.Errorf("stop %q, batch %d", r.Time.Stop, r.Time.Batch)
	}
	for average, want := range map[bench.Average]float64{bench.Rank0: 1e-3, bench.Mean: 2e-3, bench.Min: 1e-3} {
		r := measure(t, 3, allReduce, with(func(o *bench.Options) { o.Average = average }), takes(1e-3, 2e-3, 3e-3))
		near(t, average.String(), r.Time.Seconds, want, 1e-6)
		test.StrContains(t, r.Time.Summary, average.String(), test.Sprint(average))
	}
}

// The loop runs many batches per call: Go's scheduler wakes threads at each call, which takes a significant part of a
// short batch on the rank's core.
func TestBatchesInOneCall(t *testing.T) {
	calls := 0
	r := measure(t, 1, allReduce, with(func(o *bench.Options) { o.Precision = 0.001 }), script{
		Time: func(_ coll.Case, _, i int) float64 { return 1e-5 * float64(1+i/100%7) },
		Fail: func(coll.Case, int) error { calls++; return nil },
	})
	if r.Time.Samples < 100 || calls > 15 {
		t.Errorf("%d batches in %d calls, those of the check and the warm-up among them", r.Time.Samples, calls)
	}
}

// A disturbed warm-up must not determine the batches of a whole case.
func TestBatchSizeAfterDisturbedWarmUp(t *testing.T) {
	n := 0
	r := measure(t, 1, allReduce, options, script{Time: func(coll.Case, int, int) float64 {
		if n++; n <= 4 { // a check and the warm-up
			return 0.2
		}
		return 1e-6
	}})
	if r.Time.Batch < 500 {
		t.Errorf("batches of %d operations of a microsecond", r.Time.Batch)
	}
}

func TestFixedIterations(t *testing.T) {
	for mode, samples := range map[coll.Mode]int{coll.Throughput: 1, coll.Latency: 7} {
		c := allReduce
		c.Mode = mode
		r := measure(t, 2, c, fixed(7), script{})
		if r.Time.Iterations != 7 || r.Time.Samples != samples || r.Time.Stop != "fixed" ||
			(r.Time.Lo == 0) != (samples == 1) {
			t.Errorf("%s: %+v", mode, r.Time)
		}
	}
}

// Ranks are slow in turn: each rank's own median is 1 ms, but every iteration takes 2 ms.
func TestLatencyIsMaximumOverRanks(t *testing.T) {
	r := measure(t, 2, latency(allReduce), fixed(100), script{Time: func(_ coll.Case, rank, i int) float64 {
		return 1e-3 * float64(1+(i+rank+1)%2)
	}})
	near(t, "median", r.Time.Seconds, 2e-3, 1e-6)
	near(t, "min", r.Time.Min, 2e-3, 1e-6)
}

// Rooted operations last from the first start to the last end if clocks are synchronised, even if they are days apart
// and drift: the offset is updated per batch.
func TestRootedLatencyAndClocks(t *testing.T) {
	drifting := func(rank int, at float64) float64 { return at*(1+40e-6*float64(rank)) + 1e5*float64(rank) }
	broadcast := coll.Case{Collective: coll.Broadcast, Type: coll.Float32, Placement: coll.OutOfPlace,
		Mode: coll.Latency}
	for name, k := range map[string]struct {
		c      coll.Case
		clock  func(int, float64) float64
		common bool
		want   float64
	}{
		"one clock":          {broadcast, nil, true, 12e-3},
		"no common clock":    {broadcast, nil, false, 8e-3},
		"drifting clocks":    {broadcast, drifting, true, 12e-3},
		"latency, drift":     {latency(allReduce), drifting, true, 8e-3},
		"throughput, drift ": {allReduce, drifting, true, 0},
	} {
		s := takes(1e-3, 5e-3, 8e-3)
		s.Late = func(rank, _ int) float64 { return []float64{0, 1e-3, 4e-3}[rank] }
		s.Clock = k.clock
		r := measure(t, 3, k.c, with(func(o *bench.Options) {
			o.Clock.Common, o.Precision, o.Budget = k.common, 0, 20*time.Second
		}), s)
		if k.want > 0 {
			near(t, name, r.Time.Seconds, k.want, 1e-3)
		}
		if _, warned := warning[notice.NoCommonClock](r); warned == k.common {
			t.Errorf("%s: warnings %v", name, r.Warnings)
		}
		if k.common {
			near(t, name+" lateness", r.Ranks.Lateness, 4e-3, 0.15)
		}
		if (r.Ranks.Latest == 2) != k.common || k.clock != nil && r.Ranks.Uncertainty < 2e-6 {
			t.Errorf("%s: latest %d, uncertainty %g", name, r.Ranks.Latest, r.Ranks.Uncertainty)
		}
	}
}

// A delay below the uncertainty of the clocks is not reported.
func TestLateRank(t *testing.T) {
	late := script{Late: func(rank, _ int) float64 { return map[int]float64{3: 20e-3}[rank] }}
	for _, c := range []coll.Case{allReduce, latency(allReduce)} {
		for uncertainty, latest := range map[float64]int{1e-6: 3, 30e-3: -1} {
			o := fixed(25)
			o.Clock.Uncertainty = uncertainty
			r := measure(t, 5, c, o, late)
			if r.Ranks.Latest != latest || (latest < 0) != (r.Ranks.Lateness == 0) {
				t.Errorf("%s, uncertainty %g: latest is %d", c.Mode, uncertainty, r.Ranks.Latest)
			}
			if latest >= 0 {
				near(t, c.Mode.String()+" lateness", r.Ranks.Lateness, 20e-3, 1e-3)
			}
		}
	}
}

func TestWrongElementReported(t *testing.T) {
	c := allReduce
	c.World = 3
	r := measure(t, 3, c.WithSize(1<<16), options, script{Corrupt: func(_ coll.Case, rank int, out []byte) {
		if rank == 2 {
			out[4*5000] ^= 0x40
			out[4*9000] ^= 0x40
		}
	}})
	f := r.Check.First
	if r.Status != result.Wrong || r.Check.Wrong != 2 || f == nil || f.Want == f.Got {
		t.Fatalf("%s, %+v, first %+v", r.Status, r.Check, f)
	}
	want := notice.DataWrong{Wrong: 2, Elements: r.Check.Elements, WrongElement: notice.WrongElement{
		Rank: 2, Host: "node00", Index: 5000, Want: f.Want, Got: f.Got,
	}}
	if r.Cause.Fact != want || *f != (result.Wrong1{Rank: 2, Host: "node00", Index: 5000, Want: f.Want, Got: f.Got}) {
		t.Errorf("%+v, %+v, want %+v", r.Cause.Fact, f, want)
	}
}

// Errors that occur only in timed operations are detected too; wrong values are kept and marked.
func TestWrongDataInTimedPhase(t *testing.T) {
	operations := 0
	r := measure(t, 2, allReduce, fixed(10), script{Corrupt: func(_ coll.Case, rank int, out []byte) {
		if rank == 1 {
			if operations++; operations > 1 {
				out[0] ^= 1
			}
		}
	}})
	if r.Status != result.Wrong || r.Time == nil || r.Time.Iterations != 10 {
		t.Errorf("status %s, time %+v", r.Status, r.Time)
	}
}

// An operation without effect leaves the poison.
func TestUntouchedOutput(t *testing.T) {
	for _, typ := range []coll.DataType{coll.Int8, coll.UInt8, coll.Float16, coll.Float32, coll.Int64} {
		c := allReduce
		c.Type = typ
		r := measure(t, 2, c, options, script{Corrupt: func(_ coll.Case, rank int, out []byte) {
			for i := range out {
				if rank == 0 {
					out[i] = 0xFF
				}
			}
		}})
		if r.Status != result.Wrong || r.Check.Wrong != int64(4096/typ.Size()) {
			t.Errorf("%s: %s, %d elements wrong", typ, r.Status, r.Check.Wrong)
		}
	}
}

// Operations that do not fit into the remaining time are not started, except without a warm-up. For long operations
// one warm-up is enough.
func TestTimeLimits(t *testing.T) {
	for _, k := range []struct {
		iterations, warmup int
		limit, warmupTime  time.Duration
		want               result.Status
		n                  int // operations of 2 s, one of them for the check
	}{
		{100, 1, time.Minute, 0, result.Skipped, 1 + 1}, {100, 1, 0, 0, result.OK, 1 + 1 + 100},
		{29, 1, time.Minute, 0, result.OK, 1 + 1 + 29}, {100, 0, time.Minute, 0, result.OK, 1 + 100},
		{3, 5, 0, 0, result.OK, 1 + 5 + 3}, {3, 5, 0, time.Second, result.OK, 1 + 1 + 3},
		{3, 5, 0, time.Hour, result.OK, 1 + 5 + 3},
	} {
		n := 0
		o := fixed(k.iterations)
		o.Warmup, o.Limit, o.WarmupTime = k.warmup, k.limit, k.warmupTime
		r := measure(t, 1, allReduce, o,
			script{Time: func(coll.Case, int, int) float64 { n++; return 2 }})
		if r.Status != k.want || n != k.n {
			t.Errorf("%+v: %s after %d operations", k, r.Status, n)
		}
		if r.Status == result.Skipped &&
			(r.Cause.Fact != (notice.TakesTooLong{Operations: 100, Takes: 200, Left: 60}) ||
				r.Time != nil || r.Check.Result != "none") {
			t.Errorf("%+v, %+v, %+v", r.Cause.Fact, r.Time, r.Check)
		}
	}
}

func TestPrepareOutcomes(t *testing.T) {
	lacks := notice.NotSupported{Library: "NCCL", What: "int3"}
	failed := func(problem string) notice.Fact {
		return notice.RankFailed{Rank: 2, Host: "node00", Problem: problem}
	}
	for name, k := range map[string]struct {
		err    error
		rank   int // that has it
		status result.Status
		cause  notice.Fact
		needed int64
	}{
		"unsupported": {&bench.UnsupportedError{Cause: lacks}, 2, result.Unsupported,
			notice.LibraryLacks{Problem: "NCCL does not support int3"}, 0},
		"unsupported on rank 0": {&bench.UnsupportedError{Cause: lacks}, 0, result.Unsupported, lacks, 0},
		"memory": {&bench.MemoryError{Needed: 12345, Err: errors.New("all gone")}, 2, result.OOM,
			failed("cannot allocate 12345 bytes for buffers: all gone"), 12345},
		"failed": {errors.New("odd"), 2, result.Failed, failed("odd"), 0},
	} {
		r := measure(t, 3, allReduce, options, script{Refuse: func(_ coll.Case, rank int) error {
			if rank == k.rank {
				return k.err
			}
			return nil
		}})
		if r.Status != k.status || r.Time != nil || r.Cause.Fact != k.cause || r.Needed != k.needed {
			t.Errorf("%s: %s, %+v, needed %d", name, r.Status, r.Cause.Fact, r.Needed)
		}
	}
	c := coll.Case{Collective: coll.AllGather, Type: coll.Float32, Root: -1, World: 4}.WithSize(8)
	if r := measure(t, 4, c, options, script{}); r.Status != result.Skipped ||
		r.Cause.Fact != (notice.TooSmall{Ranks: 4}) {
		t.Errorf("too small: %s, %+v", r.Status, r.Cause.Fact)
	}
}

// An operation that fails on one rank without exits costs its point, and the backend is reset for the next; any other
// failure ends the run.
func TestFailingOperation(t *testing.T) {
	boom := errors.New("boom")
	for status, cause := range map[result.Status]notice.Fact{
		result.Failed:      notice.RankFailed{Rank: 1, Host: "node00", Problem: "boom"},
		result.OOM:         notice.RankFailed{Rank: 1, Host: "node00", Problem: "boom"},
		result.Unsupported: notice.LibraryLacks{Problem: "boom"},
	} {
		var recovered atomic.Int32
		r := measure(t, 2, allReduce, options, script{
			Fail: func(_ coll.Case, rank int) error {
				if rank == 1 {
					return &bench.OperationError{Status: status, Err: boom}
				}
				return &bench.OperationError{Err: errors.New("told to leave off")}
			},
			Recover: func(int) error { recovered.Add(1); return nil },
		})
		if r.Status != status || r.Cause.Fact != cause || r.Time != nil || r.Check.Result != "none" ||
			recovered.Load() != 2 {
			t.Errorf("%s: %s %+v, time %v, check %q, %d ranks recovered", status, r.Status, r.Cause.Fact, r.Time,
				r.Check.Result, recovered.Load())
		}
	}
	for phase, fail := range map[string]error{"check": boom,
		"recover": &bench.OperationError{Status: result.Failed, Err: boom}} {
		_, errs := run(2, allReduce, options, func(w bench.World) bench.Backend {
			return &fake{World: w, script: &script{Fail: func(coll.Case, int) error { return fail },
				Recover: func(int) error { return errors.New("no way back") }}}
		})
		for r, err := range errs {
			var fatal *bench.Fatal
			if !errors.As(err, &fatal) || fatal.Phase != phase || !strings.Contains(err.Error(), "boom") {
				t.Errorf("rank %d: %v, want one of %s", r, err, phase)
			}
		}
	}
}

func TestBudgetEndsNoisyCases(t *testing.T) {
	noise := uint64(1)
	r := measure(t, 1, allReduce, with(func(o *bench.Options) { o.Precision, o.Budget = 1e-6, time.Second/5 }),
		script{Time: func(coll.Case, int, int) float64 {
			noise = noise*6364136223846793005 + 1442695040888963407
			return 1e-3 * (1 + float64(noise>>33)/float64(1<<31))
		}})
	if r.Time.Stop != "budget" || r.Time.Elapsed > 0.5 {
		t.Errorf("stop %q after %g s", r.Time.Stop, r.Time.Elapsed)
	}
}

func TestWarnings(t *testing.T) {
	r := measure(t, 2, latency(allReduce), fixed(50), takes(200e-9, 200e-9))
	if w, warned := warning[notice.TimerCost](r); !warned || w.Reading != 25e-9 ||
		math.Abs(float64(w.Share)-0.125) > 0.01 {
		t.Errorf("clock resolution of an eighth of the interval: %v", r.Warnings)
	}
	for n, r := range map[int]*result.Record{
		2: measure(t, 2, latency(allReduce), fixed(50), script{}),
		1: measure(t, 1, allReduce, options, script{}),
	} {
		if len(r.Warnings) != 0 || r.Ranks.Latest != -1 {
			t.Errorf("world of %d: %v, latest %d", n, r.Warnings, r.Ranks.Latest)
		}
	}
}

// With many ranks, quantiles and the slowest are kept, by rank number in the whole launch.
func TestShorten(t *testing.T) {
	n := 1000
	r := &result.Ranks{Median: make([]float64, n), Late: make([]float64, n)}
	w := bench.World{Size: n, Names: make([]int, n)}
	for i := range n {
		r.Median[i], w.Names[i] = float64((i*37)%n), 100+i
	}
	all := bench.Shorten(r, w)
	if len(all.Median) != n || len(all.Late) != n || r.Median != nil || len(r.Worst) != 8 || len(r.Spread) != 5 {
		t.Fatalf("%d %d %v", len(all.Median), len(all.Late), r)
	}
	if r.Worst[0].S != 999 || r.Worst[7].S != 992 || all.Median[r.Worst[0].Rank-100] != 999 {
		t.Errorf("worst: %+v", r.Worst)
	}
	if r.Spread[0] != 0 || r.Spread[4] != 999 || math.Abs(r.Spread[2]-500) > 1 {
		t.Errorf("spread: %v", r.Spread)
	}
	if all := bench.Shorten(&result.Ranks{Median: make([]float64, 64)}, w); all.Median != nil {
		t.Error("64 ranks are in the record itself")
	}
}

// warning is the warning of a type that a record has.
func warning[F notice.Fact](r *result.Record) (found F, has bool) {
	for _, k := range r.Warnings {
		if f, is := k.Fact.(F); is {
			return f, true
		}
	}
	return found, false
}

// others stand for groups that measure longer: this one runs more batches.
type others struct{ started, batches int }

func (o *others) Start() error { o.started++; return nil }

func (o *others) Finish(batch func() error) (err error) {
	for ; err == nil && o.batches < 3; o.batches++ {
		err = batch()
	}
	return err
}

// A world that measures at the same time as others goes on until these are done; what it runs then does not count.
func TestTogether(t *testing.T) {
	c := allReduce
	c.World = 2
	for more, name := range []string{"alone", "together"} {
		errs := benchtest.Run(2, func(w bench.World) error {
			o, group := fixed(20), &others{}
			if more > 0 {
				o.Together = group
			}
			r, err := bench.Measure(w, &fake{World: w, script: &script{}}, c.WithSize(4096), o)
			if w.Rank == 0 && (r.Time.Iterations != 20 || r.Time.Samples != 1) {
				t.Errorf("%s: %d iterations in %d samples, want 20 in 1", name, r.Time.Iterations, r.Time.Samples)
			}
			if group.started != more || group.batches != 3*more {
				t.Errorf("%s: started %d times, %d batches after measuring", name, group.started, group.batches)
			}
			return err
		})
		must.NoError(t, errors.Join(errs...))
	}
}
