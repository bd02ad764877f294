package bench_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"busbar/internal/bench"
	"busbar/internal/bench/benchtest"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

var allReduce = coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1,
	Placement: coll.OutOfPlace,
	Mode:      coll.Throughput}

var options = bench.Options{Precision: 0.02, Budget: 10 * time.Second, Warmup: 3, Check: 1, Average: bench.Max,
	Clock: bench.Clock{Resolution: 1e-9, Cost: 25e-9, Common: true, Uncertainty: 100e-9}}

// measure runs one case of a scripted world and returns rank 0's record and every rank's error.
func measure(n int, c coll.Case, o bench.Options, s benchtest.Script) (*result.Record, []error) {
	var record *result.Record
	c.World = n
	errs := benchtest.Run(n, func(w bench.World) error {
		r, err := bench.Measure(w, &benchtest.Fake{World: w, Script: &s}, c, o)
		if w.Rank == 0 {
			record = r
		}
		return err
	})
	return record, errs
}

func mustMeasure(t *testing.T, n int, c coll.Case, o bench.Options, s benchtest.Script) *result.Record {
	t.Helper()
	r, errs := measure(n, c, o, s)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if r == nil {
		t.Fatal("no record on rank 0")
	}
	return r
}

func sized(c coll.Case, n int, bytes int64) coll.Case {
	c.World = n
	return c.WithSize(bytes)
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if math.Abs(got-want) > relative*math.Abs(want) {
		t.Errorf("%s is %g, wanted %g", what, got, want)
	}
}

func TestThroughputIsTheSlowestRanksTime(t *testing.T) {
	r := mustMeasure(t, 4, sized(allReduce, 4, 4096), options, benchtest.Script{
		Time: func(_ coll.Case, rank, i int) float64 { return 1e-3 * float64(1+rank) },
	})
	near(t, "time", r.Time.Seconds, 4e-3, 1e-6)
	near(t, "mean over ranks", r.Time.Mean, 2.5e-3, 1e-6)
	near(t, "algbw", r.AlgBW(r.Time.Seconds), 4096/4e-3, 1e-6)
	near(t, "busbw", r.BusBW(r.Time.Seconds), 4096/4e-3*2*3/4, 1e-6)
	if r.Ranks.Slowest != 3 || r.Ranks.SlowestHost != "node00" {
		t.Errorf("slowest is rank %d on %s", r.Ranks.Slowest, r.Ranks.SlowestHost)
	}
	if r.Check.Way != "in place" || r.Check.Seconds <= 0 {
		t.Errorf("checked %q in %g s", r.Check.Way, r.Check.Seconds)
	}
	if r.Time.Stop != "precision" || r.Time.Batch != 12 || r.Check.Result != "ok" || r.Status != result.OK {
		t.Errorf("stop %q, batch %d, check %q, status %q", r.Time.Stop, r.Time.Batch, r.Check.Result, r.Status)
	}
}

// The loop is called for many batches at once: the scheduler of Go wakes threads at each call, and on the core of the
// rank that is a part of a short batch.
func TestBatchesShareACall(t *testing.T) {
	calls := 0
	o := options
	o.Precision, o.Budget = 0.001, 10*time.Second
	r := mustMeasure(t, 1, sized(allReduce, 1, 4096), o, benchtest.Script{
		Time: func(_ coll.Case, _, i int) float64 { return 1e-5 * float64(1+i/100%7) },
		Fail: func(coll.Case, int) error { calls++; return nil },
	})
	if r.Time.Samples < 100 || calls > 15 {
		t.Errorf("%d batches in %d calls, those of the check and the warm-up among them", r.Time.Samples, calls)
	}
}

func TestAverages(t *testing.T) {
	for average, want := range map[bench.Average]float64{bench.Rank0: 1e-3, bench.Mean: 2e-3, bench.Min: 1e-3,
		bench.Max: 3e-3} {
		o := options
		o.Average = average
		r := mustMeasure(t, 3, sized(allReduce, 3, 4096), o, benchtest.Script{
			Time: func(_ coll.Case, rank, _ int) float64 { return 1e-3 * float64(1+rank) },
		})
		near(t, average.String(), r.Time.Seconds, want, 1e-6)
		if !strings.Contains(r.Time.Summary, average.String()) {
			t.Errorf("the record says %q of the %s", r.Time.Summary, average)
		}
	}
}

func TestFixedIterations(t *testing.T) {
	o := options
	o.Iterations = 7
	for mode, samples := range map[coll.Mode]int{coll.Throughput: 1, coll.Latency: 7} {
		c := sized(allReduce, 2, 4096)
		c.Mode = mode
		r := mustMeasure(t, 2, c, o, benchtest.Script{})
		if r.Time.Iterations != 7 || r.Time.Samples != samples || r.Time.Stop != "fixed" {
			t.Errorf("%s: %d iterations in %d samples, stop %q", mode, r.Time.Iterations, r.Time.Samples, r.Time.Stop)
		}
		if mode == coll.Throughput && r.Time.Lo != 0 {
			t.Errorf("one batch has no interval, the record says %g", r.Time.Lo)
		}
	}
}

func TestLatencyIsTheSlowestRankOfEachIteration(t *testing.T) {
	c := sized(allReduce, 2, 4096)
	c.Mode = coll.Latency
	o := options
	o.Iterations = 100
	// The ranks take turns at being slow: each rank's own median is 1 ms, yet every iteration takes 2 ms.
	r := mustMeasure(t, 2, c, o, benchtest.Script{Time: func(_ coll.Case, rank, i int) float64 {
		if i%2 == rank {
			return 2e-3
		}
		return 1e-3
	}})
	near(t, "median", r.Time.Seconds, 2e-3, 1e-6)
	near(t, "min", r.Time.Min, 2e-3, 1e-6)
}

func TestRootedLatencyCountsUntilTheLastIsDone(t *testing.T) {
	c := sized(coll.Case{Collective: coll.Broadcast, Type: coll.Float32, Placement: coll.OutOfPlace,
		Mode: coll.Latency},
		3, 4096)
	o := options
	o.Iterations = 20
	s := benchtest.Script{
		Time: func(_ coll.Case, rank, _ int) float64 { return []float64{1e-6, 5e-3, 8e-3}[rank] },
		Late: func(rank, _ int) float64 { return []float64{0, 1e-3, 4e-3}[rank] },
	}
	r := mustMeasure(t, 3, c, o, s)
	near(t, "first start to last end", r.Time.Seconds, 12e-3, 1e-3)
	o.Clock.Common = false
	r = mustMeasure(t, 3, c, o, s)
	near(t, "without a common clock", r.Time.Seconds, 8e-3, 1e-3)
	if _, warned := warning[notice.NoCommonClock](r); !warned {
		t.Errorf("warnings: %v", r.Warnings)
	}
}

// Hosts whose clocks are days apart and drift: the offset is followed from batch to batch.
func TestDriftingClocks(t *testing.T) {
	clock := func(rank int, at float64) float64 { return at*(1+40e-6*float64(rank)) + 1e5*float64(rank) }
	time := func(_ coll.Case, rank, _ int) float64 { return []float64{1e-3, 5e-3, 8e-3}[rank] }
	late := func(rank, _ int) float64 { return []float64{0, 1e-3, 4e-3}[rank] }
	for _, k := range []struct {
		c    coll.Collective
		mode coll.Mode
		want float64
	}{{coll.Broadcast, coll.Latency, 12e-3}, {coll.AllReduce, coll.Latency, 8e-3},
		{coll.AllReduce, coll.Throughput, 0}} {
		c := coll.Case{Collective: k.c, Type: coll.Float32, Root: 0, Placement: coll.OutOfPlace, Mode: k.mode, World: 3}
		if k.c == coll.AllReduce {
			c.Op, c.Root = coll.Sum, -1
		}
		c = c.WithSize(4096)
		s := &benchtest.Script{Time: time, Late: late, Clock: clock}
		var record *result.Record
		errs := benchtest.Run(3, func(w bench.World) error {
			fake := &benchtest.Fake{World: w, Script: s}
			o := options
			o.Precision, o.Budget = 0, 20_000_000_000
			o.Compare = func() (float64, float64, error) { return fake.Offset(), 2e-6, nil }
			r, err := bench.Measure(w, fake, c, o)
			if w.Rank == 0 {
				record = r
			}
			return err
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if k.mode == coll.Latency {
			near(t, c.String()+" time", record.Time.Seconds, k.want, 1e-3)
		}
		near(t, c.String()+" lateness", record.Ranks.Lateness, 4e-3, 0.15)
		if record.Ranks.Latest != 2 || record.Ranks.Uncertainty < 2e-6 {
			t.Errorf("%s: latest %d, uncertainty %g", c, record.Ranks.Latest, record.Ranks.Uncertainty)
		}
	}
}

func TestWorldOfOneWarnsOfNothing(t *testing.T) {
	r := mustMeasure(t, 1, sized(allReduce, 1, 4096), options, benchtest.Script{})
	if len(r.Warnings) != 0 || r.Ranks.Late[0] != 0 {
		t.Errorf("%q, late %v", r.Warnings, r.Ranks.Late)
	}
}

// A warm-up that was disturbed must not fix the batches of a whole case.
func TestBatchIsFoundAgain(t *testing.T) {
	n := 0
	r := mustMeasure(t, 1, sized(allReduce, 1, 4096), options,
		benchtest.Script{Time: func(coll.Case, int, int) float64 {
			if n++; n <= 4 { // a check and the warm-up
				return 0.2
			}
			return 1e-6
		}})
	if r.Time.Batch < 500 {
		t.Errorf("batches of %d operations of a microsecond", r.Time.Batch)
	}
}

func TestLateRankIsNamed(t *testing.T) {
	for _, mode := range []coll.Mode{coll.Throughput, coll.Latency} {
		c := sized(allReduce, 5, 4096)
		c.Mode = mode
		o := options
		o.Iterations = 25
		late := func(rank, _ int) float64 {
			if rank == 3 {
				return 20e-3
			}
			return 0
		}
		r := mustMeasure(t, 5, c, o, benchtest.Script{Late: late})
		if r.Ranks.Latest != 3 {
			t.Errorf("%s: latest is %d", mode, r.Ranks.Latest)
		}
		near(t, mode.String()+" lateness", r.Ranks.Lateness, 20e-3, 1e-3)
		o.Clock.Uncertainty = 30e-3
		if r = mustMeasure(t, 5, c, o, benchtest.Script{Late: late}); r.Ranks.Latest != -1 || r.Ranks.Lateness != 0 {
			t.Errorf("%s: below the uncertainty rank %d is claimed to be late", mode, r.Ranks.Latest)
		}
	}
}

func TestWrongElementIsNamed(t *testing.T) {
	c := sized(allReduce, 3, 1<<16)
	r := mustMeasure(t, 3, c, options, benchtest.Script{Corrupt: func(_ coll.Case, rank int, out []byte) {
		if rank == 2 {
			out[4*5000] ^= 0x40
			out[4*9000] ^= 0x40
		}
	}})
	if r.Status != result.Wrong || r.Check.Wrong != 2 || r.Check.First == nil {
		t.Fatalf("%s, %+v", r.Status, r.Check)
	}
	if f := r.Check.First; f.Rank != 2 || f.Index != 5000 || f.Want == f.Got || f.Host != "node00" {
		t.Errorf("first wrong: %+v", f)
	}
	f := r.Check.First
	want := notice.DataWrong{Wrong: 2, Elements: r.Check.Elements, WrongElement: notice.WrongElement{
		Rank: 2, Host: "node00", Index: 5000, Want: f.Want, Got: f.Got,
	}}
	if r.Cause.Fact != want {
		t.Errorf("%+v, want %+v", r.Cause.Fact, want)
	}
}

// What goes wrong only while operations are timed is found as well.
func TestWrongOnlyWhileTimed(t *testing.T) {
	operations := 0
	o := options
	o.Iterations = 10
	r := mustMeasure(t, 2, sized(allReduce, 2, 4096), o,
		benchtest.Script{Corrupt: func(_ coll.Case, rank int, out []byte) {
			if rank == 1 {
				if operations++; operations > 1 {
					out[0] ^= 1
				}
			}
		}})
	if r.Status != result.Wrong || r.Time == nil || r.Time.Iterations != 10 {
		t.Errorf("status %s, time %+v: the figures of wrong data are kept and marked", r.Status, r.Time)
	}
}

func TestUntouchedOutputIsWrong(t *testing.T) {
	// An operation that moves nothing: the output keeps what it held.
	for _, n := range []coll.DataType{coll.Int8, coll.UInt8, coll.Float16, coll.Float32, coll.Int64} {
		c := allReduce
		c.Type = n
		var kept []byte
		r := mustMeasure(t, 2, sized(c, 2, 4096), options,
			benchtest.Script{Corrupt: func(_ coll.Case, rank int, out []byte) {
				if rank == 0 {
					for i := range out {
						out[i] = 0xFF
					}
					kept = out
				}
			}})
		if r.Status != result.Wrong || r.Check.Wrong != int64(len(kept)/n.Size()) {
			t.Errorf("%s: %s, %d of %d elements wrong", n, r.Status, r.Check.Wrong, len(kept)/n.Size())
		}
	}
}

// A number of operations that does not fit the time that is left is not begun; without a warm-up that is not known.
func TestTooManyIterations(t *testing.T) {
	for _, k := range []struct {
		iterations, warmup int
		limit              time.Duration
		want               result.Status
		n                  int
	}{
		{100, 1, time.Minute, result.Skipped, 1 + 1}, {100, 1, 0, result.OK, 1 + 1 + 100},
		{29, 1, time.Minute, result.OK, 1 + 1 + 29}, {100, 0, time.Minute, result.OK, 1 + 100},
	} {
		n := 0
		o := options
		o.Iterations, o.Warmup, o.Limit = k.iterations, k.warmup, k.limit
		r := mustMeasure(t, 1, sized(allReduce, 1, 4096), o,
			benchtest.Script{Time: func(coll.Case, int, int) float64 { n++; return 2 }})
		if r.Status != k.want || n != k.n {
			t.Errorf("%d of 2 s within %s: %s after %d operations, wanted %s after %d", k.iterations, k.limit, r.Status,
				n,
				k.want, k.n)
		}
		if r.Status == result.Skipped &&
			(r.Cause.Fact != (notice.TakesTooLong{Operations: 100, Takes: 200, Left: 60}) ||
				r.Time != nil || r.Check.Result != "none") {
			t.Errorf("%+v, %+v, %+v", r.Cause.Fact, r.Time, r.Check)
		}
	}
}

// Where an operation takes long, one of them warms as well as five.
func TestWarmupTime(t *testing.T) {
	for limit, want := range map[time.Duration]int{0: 1 + 5 + 3, time.Second: 1 + 1 + 3, time.Hour: 1 + 5 + 3} {
		n := 0
		o := options
		o.Iterations, o.Warmup, o.WarmupTime = 3, 5, limit
		mustMeasure(t, 1, sized(allReduce, 1, 4096), o,
			benchtest.Script{Time: func(coll.Case, int, int) float64 { n++; return 2 }})
		if n != want {
			t.Errorf("a limit of %s: %d operations in all, wanted %d", limit, n, want)
		}
	}
}

func TestPrepareOutcomes(t *testing.T) {
	for name, k := range map[string]struct {
		err    error
		status result.Status
		cause  notice.Fact
	}{
		"unsupported": {
			&bench.UnsupportedError{Cause: notice.NotSupported{Library: "NCCL", What: "int3"}}, result.Unsupported,
			notice.LibraryLacks{Problem: "NCCL has no int3"},
		},
		"memory": {
			&bench.MemoryError{Needed: 12345, Err: errors.New("all gone")}, result.OOM,
			notice.RankFailed{Rank: 2, Host: "node00", Problem: "cannot allocate 12345 bytes for buffers: all gone"},
		},
		"failed": {errors.New("odd"), result.Failed, notice.RankFailed{Rank: 2, Host: "node00", Problem: "odd"}},
	} {
		r := mustMeasure(t, 3, sized(allReduce, 3, 4096), options,
			benchtest.Script{Refuse: func(_ coll.Case, rank int) error {
				if rank == 2 {
					return k.err
				}
				return nil
			}})
		if r.Status != k.status || r.Time != nil {
			t.Errorf("%s: status %s, time %v", name, r.Status, r.Time)
		}
		if r.Cause.Fact != k.cause {
			t.Errorf("%s: %+v, want %+v", name, r.Cause.Fact, k.cause)
		}
		if name == "memory" && r.Needed != 12345 {
			t.Errorf("needed %d", r.Needed)
		}
	}
}

// What rank 0 lacks itself stays a fact; of another rank it has the text.
func TestUnsupportedHere(t *testing.T) {
	lacks := notice.NotSupported{Library: "NCCL", What: "int3"}
	r := mustMeasure(t, 2, sized(allReduce, 2, 4096), options, benchtest.Script{Refuse: func(coll.Case, int) error {
		return &bench.UnsupportedError{Cause: lacks}
	}})
	if r.Status != result.Unsupported || r.Cause.Fact != lacks {
		t.Errorf("%s: %+v", r.Status, r.Cause.Fact)
	}
}

func TestTooSmallIsSkipped(t *testing.T) {
	c := allReduce
	c.Collective, c.Op = coll.AllGather, 0
	r := mustMeasure(t, 4, sized(c, 4, 8), options, benchtest.Script{})
	if r.Status != result.Skipped || r.Cause.Fact != (notice.TooSmall{Ranks: 4}) {
		t.Errorf("%s: %+v", r.Status, r.Cause.Fact)
	}
}

func TestFailingOperationIsFatal(t *testing.T) {
	boom := errors.New("boom")
	_, errs := measure(2, sized(allReduce, 2, 4096), options,
		benchtest.Script{Fail: func(coll.Case, int) error { return boom }})
	for r, err := range errs {
		var fatal *bench.Fatal
		if !errors.As(err, &fatal) || !errors.Is(err, boom) || fatal.Phase != "check" {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// An operation that fails on one rank and leaves all alive costs its point, and the backend is made ready for the next.
func TestLostPoint(t *testing.T) {
	for _, k := range []struct {
		worst  result.Status
		status result.Status
		cause  notice.Fact
	}{
		{result.Failed, result.Failed, notice.RankFailed{Rank: 1, Host: "node00", Problem: "boom"}},
		{result.OOM, result.OOM, notice.RankFailed{Rank: 1, Host: "node00", Problem: "boom"}},
		{result.Unsupported, result.Unsupported, notice.LibraryLacks{Problem: "boom"}},
	} {
		recovered := 0
		var mu sync.Mutex
		script := benchtest.Script{
			Fail: func(_ coll.Case, rank int) error {
				if rank == 1 {
					return &bench.OperationError{Status: k.worst, Err: errors.New("boom")}
				}
				return &bench.OperationError{Err: errors.New("told to leave off")}
			},
			Recover: func(int) error { mu.Lock(); defer mu.Unlock(); recovered++; return nil },
		}
		r := mustMeasure(t, 2, sized(allReduce, 2, 4096), options, script)
		if r.Status != k.status || r.Cause.Fact != k.cause || r.Time != nil || r.Check.Result != "none" ||
			recovered != 2 {
			t.Errorf("%s: %s %q, time %v, check %q, %d ranks recovered", k.worst, r.Status, r.Reason, r.Time,
				r.Check.Result,
				recovered)
		}
	}
	_, errs := measure(2, sized(allReduce, 2, 4096), options, benchtest.Script{
		Fail: func(coll.Case, int) error {
			return &bench.OperationError{Status: result.Failed, Err: errors.New("boom")}
		},
		Recover: func(int) error { return errors.New("no way back") },
	})
	for _, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "no way back") || !strings.Contains(err.Error(), "boom") {
			t.Errorf("a recovery that fails: %v", err)
		}
	}
}

func TestBudgetEndsNoisyCases(t *testing.T) {
	o := options
	o.Budget = time.Second
	noise := uint64(1)
	r := mustMeasure(t, 1, sized(allReduce, 1, 4096), o, benchtest.Script{Time: func(coll.Case, int, int) float64 {
		noise = noise*6364136223846793005 + 1442695040888963407
		return 1e-3 * (1 + float64(noise>>33)/float64(1<<31))
	}})
	if r.Time.Stop != "budget" && r.Time.Stop != "precision" {
		t.Errorf("stop %q", r.Time.Stop)
	}
	if r.Time.Elapsed > 1.5 {
		t.Errorf("measured for %g s with a budget of 1 s", r.Time.Elapsed)
	}
}

func TestWarnings(t *testing.T) {
	c := sized(allReduce, 2, 8)
	c.Mode = coll.Latency
	o := options
	o.Iterations = 50
	r := mustMeasure(t, 2, c, o, benchtest.Script{Time: func(coll.Case, int, int) float64 { return 200e-9 }})
	if w, warned := warning[notice.TimerCost](r); !warned || w.Reading != 25e-9 ||
		math.Abs(float64(w.Share)-0.125) > 0.01 {
		t.Errorf("a clock that takes an eighth of the interval: %v", r.Warnings)
	}
	r = mustMeasure(t, 2, c, o, benchtest.Script{Time: func(coll.Case, int, int) float64 { return 1e-3 }})
	if len(r.Warnings) != 0 {
		t.Errorf("warnings without a reason: %q", r.Warnings)
	}
}

func TestShorten(t *testing.T) {
	n := 1000
	r := &result.Ranks{Median: make([]float64, n), Late: make([]float64, n)}
	hosts := make([]string, n)
	for i := range n {
		r.Median[i], hosts[i] = float64((i*37)%n), "h"
	}
	all := bench.Shorten(r, bench.World{Hosts: hosts})
	median, late := all.Median, all.Late
	if len(median) != n || len(late) != n || r.Median != nil || len(r.Worst) != 8 || len(r.Spread) != 5 {
		t.Fatalf("%d %d %v", len(median), len(late), r)
	}
	if r.Worst[0].S != 999 || r.Worst[7].S != 992 || median[r.Worst[0].Rank] != 999 {
		t.Errorf("worst: %+v", r.Worst)
	}
	if r.Spread[0] != 0 || r.Spread[4] != 999 || math.Abs(r.Spread[2]-500) > 1 {
		t.Errorf("spread: %v", r.Spread)
	}
	if all := bench.Shorten(&result.Ranks{Median: make([]float64, 64)}, bench.World{}); all.Median != nil {
		t.Error("64 ranks stand in the record itself")
	}
}

// Times by the device's clock are of the rank where they are longest, and too short ones are said to be.
func TestEvents(t *testing.T) {
	script := benchtest.Script{Device: func(rank, i int) float64 { return 1e-6 * float64(1+rank+i%2) }}
	for _, mode := range []coll.Mode{coll.Latency, coll.Throughput} {
		c := sized(allReduce, 4, 4096)
		c.Mode = mode
		o := options
		o.Clock.EventStep = 0.1e-6
		r := mustMeasure(t, 4, c, o, script)
		if r.Time.Event == nil {
			t.Fatalf("%s: no times of the device", mode)
		}
		near(t, "device", r.Time.Event.Seconds, 4.5e-6, 0.12)
		if e := r.Time.Event; e.Min > e.Seconds || e.Max < e.Seconds || e.Hi < e.Lo || e.Hi == 0 {
			t.Errorf("%s: %+v", mode, e)
		}
		if _, warned := warning[notice.EventResolution](r); warned {
			t.Errorf("%s: %v", mode, r.Warnings)
		}
		o.Clock.EventStep = 60e-6
		r = mustMeasure(t, 4, c, o, script)
		if w, warned := warning[notice.EventResolution](r); !warned || w.Step != 60e-6 {
			t.Errorf("%s: a coarse clock: %v", mode, r.Warnings)
		}
	}
	if r := mustMeasure(t, 2, sized(allReduce, 2, 4096), options, benchtest.Script{}); r.Time.Event != nil {
		t.Errorf("times of no device: %+v", r.Time.Event)
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

// A rank of a world that is a part of another one is known by its number there.
func TestNamesOfRanks(t *testing.T) {
	r := &result.Ranks{Median: make([]float64, 65), Late: make([]float64, 65)}
	w := bench.World{Size: 65, Names: make([]int, 65)}
	for i := range w.Names {
		w.Names[i] = 100 + i
	}
	r.Median[3] = 1
	bench.Shorten(r, w)
	if r.Worst[0].Rank != 103 || w.Name(0) != 100 || (bench.World{}).Name(7) != 7 {
		t.Errorf("the slowest is rank %d, wanted 103", r.Worst[0].Rank)
	}
}
