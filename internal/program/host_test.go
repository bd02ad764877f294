//go:build cgo

package program_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"busbar/internal/loop"
	"busbar/internal/program"
	"busbar/internal/program/programtest"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func newCrew(t *testing.T, threads int) *program.Crew {
	t.Helper()
	runtime.LockOSThread() // like the library's caller; separates its calls from those of the second thread
	t.Cleanup(runtime.UnlockOSThread)
	c, err := program.NewCrew(threads)
	must.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// way is how the operations of a test go on.
type way int

const (
	noCalls way = iota
	polls
	blocks
)

var ways = []way{noCalls, polls, blocks}

// running is a program with fakes, in a loop.
type running struct {
	*program.Host
	spec  program.HostSpec
	calls *programtest.Calls
	fakes []*programtest.Fake
	loop  *loop.Loop
}

func start(t *testing.T, c *program.Crew, w way, segments []uint64, links []program.Link, tests int) *running {
	t.Helper()
	r := &running{calls: programtest.NewCalls(10_000), spec: program.HostSpec{Segments: segments}}
	for _, l := range links {
		f := r.calls.New(tests)
		o := program.HostOp{Link: l}
		if w == blocks {
			o.Issue, o.Context = f.Issue()
		} else {
			o.Async = f.Async()
		}
		r.fakes, r.spec.Ops = append(r.fakes, f), append(r.spec.Ops, o)
	}
	if w == polls {
		r.spec.Interval = 1 // ns: at every look at the clock
	}
	t.Cleanup(r.calls.Close)
	r.Host, r.loop = newLoop(t, c, r.spec)
	return r
}

// run is one step; it returns the calls of the library.
func (r *running) run(t *testing.T, m program.Mode) string {
	t.Helper()
	r.calls.Clear()
	r.SetMode(m)
	_, err := r.loop.Run(1, 1)
	must.NoError(t, err)
	return r.calls.String()
}

// Operations start before any wait if possible; the first completes before segment 1, the third before segment 2.
func TestModes(t *testing.T) {
	links := []program.Link{{After: -1, Before: 1}, {After: 0, Before: 3}, {After: 0, Before: 2}, {After: 2, Before: 3}}
	for _, k := range []struct {
		way   way
		calls string // the same in every mode that communicates
	}{{noCalls, "s0 s1 s2 w0 w2 s3 w1 w3"}, {blocks, "(b0) (i0) (b1) (i1) (b2) (i2) (b3) (i3)"}} {
		r := start(t, newCrew(t, 2), k.way, []uint64{8, 8, 8}, links, 1)
		for m, want := range map[program.Mode]string{program.Compute: "", program.Comm: k.calls,
			program.Sequential: k.calls,
			program.Overlapped: k.calls} {
			test.EqOp(t, want, r.run(t, m), test.Sprint(k.way, m))
			r.followsRules(t, m)
		}
	}
}

// followsRules checks the spans of the last step against the mode and the links.
func (r *running) followsRules(t *testing.T, m program.Mode) {
	t.Helper()
	s := r.Spans()
	var seen []program.Span
	zero := program.Span{}
	within := func(what string, i int, x program.Span, is bool) {
		if is != (x != zero) {
			t.Errorf("%s: %s %d: %+v", m, what, i, x)
		}
		if is && (x.Start < s.Step.Start || x.End > s.Step.End || x.End < x.Start) {
			t.Errorf("%s: %s %d %+v is not in the step %+v", m, what, i, x, s.Step)
		}
	}
	for i, x := range s.Segments {
		within("segment", i, x, m.Computes())
		if i > 0 && x.Start < s.Segments[i-1].End {
			t.Errorf("%s: segment %d began before the one in front of it was over", m, i)
		}
		seen = append(seen, x)
	}
	for i, x := range s.Ops {
		within("operation", i, x, m.Communicates())
		if i > 0 && x.Start < s.Ops[i-1].Start {
			t.Errorf("%s: operation %d began before the one in front of it", m, i)
		}
		l := r.spec.Ops[i].Link
		for j, before := range s.Ops[:i] {
			if r.spec.Ops[j].Before <= l.After && x.Start < before.End {
				t.Errorf("%s: operation %d began before operation %d was done, which is to be done before segment %d",
					m, i, j,
					r.spec.Ops[j].Before)
			}
		}
		switch {
		case m == program.Sequential && len(seen) > 0 && x.Start < seen[len(seen)-1].End:
			t.Errorf("operation %d began before computing was over", i)
		case m != program.Overlapped:
		case l.After >= 0 && x.Start < s.Segments[l.After].End:
			t.Errorf("operation %d %+v began before segment %d was over", i, x, l.After)
		case l.Before < len(s.Segments) && x.End > s.Segments[l.Before].Start:
			t.Errorf("segment %d began before operation %d was done", l.Before, i)
		}
	}
}

// For every program: links and modes are obeyed, every operation starts and completes once, and all segments run.
func TestRandomPrograms(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, seed))
	crews := []*program.Crew{newCrew(t, 1), newCrew(t, 2), newCrew(t, 3)}
	for n := range 150 {
		segments := make([]uint64, random.IntN(6))
		var units uint64
		for i := range segments {
			segments[i] = uint64(random.IntN(40))
			units += segments[i]
		}
		var links []program.Link
		for latest := -1; len(segments) > 0 && len(links) < 8 && random.IntN(6) > 0; {
			after := random.IntN(len(segments)+1) - 1
			latest = max(latest, after)
			links = append(links, program.Link{After: after, Before: latest + 1 + random.IntN(len(segments)-latest)})
		}
		c := crews[n%len(crews)]
		for _, w := range ways {
			r := start(t, c, w, segments, links, 1+random.IntN(5))
			for _, i := range random.Perm(len(program.Modes)) {
				m := program.Modes[i]
				before, _ := c.Computed()
				calls := " " + r.run(t, m) + " "
				r.followsRules(t, m)
				if after, _ := c.Computed(); m.Computes() && after-before != units {
					t.Errorf("%s: %d units of %d", m, after-before, units)
				}
				for k := range links {
					begun, done := fmt.Sprintf("s%d ", k), fmt.Sprintf("w%d ", k)
					want := 0
					if m.Communicates() {
						want = 1
					}
					if w == blocks {
						begun, done = fmt.Sprintf("(b%d) ", k), fmt.Sprintf("(i%d) ", k)
					}
					if strings.Count(calls, begun) != want || w != polls && strings.Count(calls, done) != want {
						t.Errorf("%s, way %d: operation %d: calls %s", m, w, k, calls)
					}
				}
				if t.Failed() {
					t.Fatalf("program %d: segments %v, links %v", n, segments, links)
				}
			}
		}
	}
}

// A segment tests the oldest operation in progress, then the next; completed ones are neither tested again nor waited
// for.
func TestPoll(t *testing.T) {
	for _, threads := range []int{1, 2} {
		c := newCrew(t, threads)
		r := start(t, c, polls, []uint64{4, 1000}, []program.Link{{After: 0, Before: 2}, {After: 0, Before: 2}}, 3)
		test.EqOp(t, "s0 s1 t0 t0 t0 t1 t1 t1", r.run(t, program.Overlapped))
		if s := r.Spans(); s.Ops[1].End >= s.Segments[1].End || s.Ops[0].End > s.Ops[1].End {
			t.Errorf("operations were seen to be done at %+v, behind segment %+v", s.Ops, s.Segments[1])
		}
		test.EqOp(t, "s0 s1 w0 w1", r.run(t, program.Sequential))
		r = start(t, c, noCalls, []uint64{4, 1000}, []program.Link{{After: 0, Before: 2}}, 3)
		test.EqOp(t, "s0 w0", r.run(t, program.Overlapped))
	}
}

// A blocking operation does not delay concurrent segments, and is reported meanwhile.
func TestSecondThread(t *testing.T) {
	c := newCrew(t, 2)
	r := start(t, c, blocks, []uint64{10, 10, 10}, []program.Link{{After: -1, Before: 3}, {After: 2, Before: 3}}, 1)
	r.fakes[0].Hold(true)
	named := make(chan program.InHand)
	go func() {
		// the second operation is issued only after the last segment; the first may not have begun by then
		for c.Asked() < 2 || r.InHand().Op < 0 {
			runtime.Gosched()
		}
		at := r.InHand()
		r.fakes[0].Hold(false)
		named <- at
	}()
	test.EqOp(t, "(b0) (i0) (b1) (i1)", r.run(t, program.Overlapped))
	if at := <-named; at.Op != 0 || at.Parts != 4 { // behind three segments
		t.Errorf("%+v is in hand, not operation 0", at)
	}
	r.followsRules(t, program.Overlapped)
	test.EqOp(t, (program.InHand{Parts: 5, Segment: -1, Op: -1}), r.InHand())
	test.EqOp(t, 0, r.fakes[0].OpenSignals()+r.fakes[1].OpenSignals())
}

func TestErrors(t *testing.T) {
	links := []program.Link{{After: -1, Before: 2}, {After: 0, Before: 2}, {After: 1, Before: 3}}
	for _, k := range []struct {
		way   way
		what  byte
		calls string
	}{
		{noCalls, 's', "s0 s1"},
		{noCalls, 'w', "s0 s1 s2 w0 w1"},
		{polls, 't', "s0 t0 s1 t1"},
		{blocks, 'i', "(b0) (i0) (b1) (i1)"},
	} {
		c := newCrew(t, 2)
		r := start(t, c, k.way, []uint64{20, 20, 20}, links, 1)
		if k.way == noCalls && k.what == 'w' {
			k.calls = "s0 s1 s2 w0 w1"
		}
		r.fakes[1].FailIn(k.what, 77)
		for range 2 { // and it stays so
			_, err := r.loop.Run(1, 1)
			var e *loop.StepError
			if !errors.As(err, &e) || e.Code != 77 || e.Stage != loop.Issue {
				t.Errorf("%c: %v", k.what, err)
			}
			if op, code := r.Failed(); op != 1 || code != 77 {
				t.Errorf("%c: operation %d failed with %d", k.what, op, code)
			}
			test.EqOp(t, k.calls, r.calls.String(), test.Sprint(k.what))
			if at := r.InHand(); at.Segment != -1 || at.Op != -1 {
				t.Errorf("%c: %+v is in hand", k.what, at)
			}
		}
		other := start(t, c, k.way, []uint64{5}, links[:0], 1) // the crew serves on
		other.run(t, program.Overlapped)
	}
}

// The error of an operation wakes a thread that waits for a later one, which never starts.
func TestErrorWakesThreads(t *testing.T) {
	c := newCrew(t, 1)
	r := start(t, c, blocks, []uint64{1}, []program.Link{{After: -1, Before: 1}, {After: -1, Before: 1},
		{After: -1, Before: 1}}, 1)
	r.fakes[0].FailIn('i', 5)
	r.fakes[1].Hold(true) // for ever, if it were begun
	r.fakes[0].Hold(true)
	go func() {
		for c.Asked() < 3 {
			runtime.Gosched()
		}
		r.fakes[0].Hold(false)
	}()
	if _, err := r.loop.Run(1, 1); err == nil || r.calls.String() != "(b0) (i0)" {
		t.Errorf("%v, calls %q", err, r.calls)
	}
}

func TestBadPrograms(t *testing.T) {
	calls := programtest.NewCalls(1)
	defer calls.Close()
	c := newCrew(t, 1)
	async := func(after, before int) program.HostOp {
		return program.HostOp{Link: program.Link{After: after, Before: before}, Async: calls.New(1).Async()}
	}
	issue := func(after, before int) program.HostOp {
		o := program.HostOp{Link: program.Link{After: after, Before: before}}
		o.Issue, o.Context = calls.New(1).Issue()
		return o
	}
	half := async(0, 1)
	half.Async.Test = nil
	both := async(0, 1)
	both.Issue = issue(0, 1).Issue
	for what, s := range map[string]program.HostSpec{
		"operation 0 is to be either started":         {Ops: []program.HostOp{half}},
		"operation 0 is to be either started, tested": {Ops: []program.HostOp{both}},
		"operation 0 is to be either":                 {Ops: []program.HostOp{{Link: program.Link{Before: 1}}}},
		"operation 1 goes on in another way":          {Ops: []program.HostOp{async(0, 1), issue(0, 1)}},
		"operation 0 blocks, and cannot be tested every 1s": {Ops: []program.HostOp{issue(0, 1)},
			Interval: time.Second},
		"behind segment 1 and before segment 1": {Ops: []program.HostOp{async(1, 1)}},
		"behind segment -2":                     {Ops: []program.HostOp{async(-2, 1)}},
		"before segment 4 of 3":                 {Ops: []program.HostOp{async(0, 4)}},
		"operation 1 is to be done before segment 1, and operation 0, which " +
			"begins before it, waits for segment 1": {Ops: []program.HostOp{async(1, 2), async(0, 1)}},
	} {
		s.Segments = []uint64{1, 1, 1}
		_, err := program.NewHost(c, s)
		test.ErrorContains(t, err, what)
	}
	_, err := program.NewCrew(0)
	test.Error(t, err)
}

// All threads do the work: each unit sums to about 1.
func TestComputing(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		c := newCrew(t, threads)
		r := start(t, c, noCalls, []uint64{1000, 3, 0, 501}, nil, 1)
		r.run(t, program.Compute)
		if units, sum := c.Computed(); units != 1504 || math.Abs(sum-1504) > 100 {
			t.Errorf("%d threads: %d units came to %g", threads, units, sum)
		}
		if rate := c.Calibrate(time.Millisecond); rate <= 0 || math.IsInf(rate, 0) {
			t.Errorf("%g units in a second", rate)
		}
	}
}

// newLoop is a program with a loop of one step at a time, both closed with the test.
func newLoop(t *testing.T, c *program.Crew, s program.HostSpec) (*program.Host, *loop.Loop) {
	t.Helper()
	h, err := program.NewHost(c, s)
	must.NoError(t, err)
	t.Cleanup(h.Close)
	l, err := loop.New(h.Steps(), 1)
	must.NoError(t, err)
	t.Cleanup(l.Close)
	return h, l
}

// An interval passes between two tests, however long computing takes.
func TestPollInterval(t *testing.T) {
	for _, interval := range []time.Duration{time.Millisecond, time.Hour} {
		calls := programtest.NewCalls(1000)
		t.Cleanup(calls.Close)
		h, l := newLoop(t, newCrew(t, 1), program.HostSpec{Segments: []uint64{6000}, Interval: interval,
			Ops: []program.HostOp{{Link: program.Link{After: -1, Before: 1}, Async: calls.New(1 << 30).Async()}}})
		_, err := l.Run(1, 1)
		must.NoError(t, err)
		took := time.Duration(h.Spans().Step.End - h.Spans().Step.Start)
		if n := strings.Count(calls.String(), "t0"); n > int(took/interval)+1 {
			t.Errorf("%d tests in %s, one every %s", n, took, interval)
		}
	}
}

func TestSync(t *testing.T) {
	calls := programtest.NewCalls(100)
	t.Cleanup(calls.Close)
	f := calls.New(0)
	spec := program.HostSpec{Segments: []uint64{1}}
	spec.Sync, spec.SyncContext = f.Sync()
	h, l := newLoop(t, newCrew(t, 1), spec)
	if _, err := l.Run(1, 1); err != nil || calls.String() != "y0" {
		t.Errorf("%v, calls %q", err, calls)
	}
	f.FailIn('y', 3)
	var e *loop.StepError
	if _, err := l.Run(1, 1); !errors.As(err, &e) || e.Stage != loop.Sync || e.Code != 3 {
		t.Error(err)
	}
	if op, code := h.Failed(); op != -1 || code != 0 {
		t.Errorf("operation %d failed with %d, though it was the barrier", op, code)
	}
}
