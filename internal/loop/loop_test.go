package loop_test

import (
	"errors"
	"testing"

	"busbar/internal/loop"
	"busbar/internal/loop/looptest"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// pause is the minimum time of each recorded step, in nanoseconds.
const pause = 100_000

func newLoop(t *testing.T, wait, sync bool, samples int) (*loop.Loop, *looptest.Log) {
	t.Helper()
	log := looptest.New(100)
	l, err := loop.New(log.Steps(wait, sync), samples)
	must.NoError(t, err)
	t.Cleanup(func() { l.Close(); l.Close(); log.Close() })
	return l, log
}

func TestOrder(t *testing.T) {
	for _, k := range []struct {
		wait, sync bool
		want       string
	}{
		{false, false, "i0 i1 i2 i3 i4 i5 i6"},
		{false, true, "s0 i0 i1 i2 s3 i3 i4 s5 i5 i6"},
		{true, true, "s0 i0 i1 i2 w3 s3 i3 i4 w5 s5 i5 i6 w7"},
	} {
		l, log := newLoop(t, k.wait, k.sync, 2)
		for _, run := range []struct{ batches, n int }{{1, 3}, {2, 2}} { // operations are counted through calls
			s, err := l.Run(run.batches, run.n)
			must.NoError(t, err)
			steps := int64(run.n)
			if k.wait {
				steps++
			}
			for b := range run.batches {
				if took := s.End[b] - s.Start[b]; took < steps*pause {
					t.Errorf("wait %v: a batch of %d took %d ns, its steps take %d", k.wait, run.n, took, steps*pause)
				}
				if issued := s.Issued[b] - s.Start[b]; k.wait != (issued >= pause) {
					t.Errorf("wait %v: the first operation was issued after %d ns", k.wait, issued)
				}
				if b > 0 && k.sync && s.Start[b]-s.End[b-1] < pause {
					t.Errorf("the sync between batches is timed: %d ns lie between them", s.Start[b]-s.End[b-1])
				}
			}
		}
		test.EqOp(t, k.want, log.Calls(), test.Sprint(k.wait, k.sync))
	}
}

func TestOperationsTimedAlone(t *testing.T) {
	l, log := newLoop(t, true, true, 4)
	s, err := l.Run(2, 1)
	must.NoError(t, err)
	test.EqOp(t, "s0 i0 w1 s1 i1 w2", log.Calls())
	for i := range 2 {
		if s.Issued[i]-s.Start[i] < pause || s.End[i]-s.Issued[i] < pause {
			t.Errorf("operation %d: %d, %d, %d", i, s.Start[i], s.Issued[i], s.End[i])
		}
	}
	l, _ = newLoop(t, false, true, 4)
	if s, err = l.Run(1, 1); err != nil || s.Issued[0] != s.Start[0] {
		t.Errorf("a blocking operation is issued when it is entered: %v, %v", s, err)
	}
}

func TestErrorPosition(t *testing.T) {
	for _, k := range []struct {
		at    int
		stage loop.Stage
		op    uint64
	}{{1, loop.Sync, 0}, {2, loop.Issue, 0}, {3, loop.Wait, 0}, {5, loop.Issue, 1}} {
		l, log := newLoop(t, true, true, 4)
		log.FailAt(k.at, 77)
		_, err := l.Run(3, 1)
		var e *loop.StepError
		if !errors.As(err, &e) || e.Code != 77 || e.Stage != k.stage || e.At != k.op {
			t.Errorf("call %d: %v", k.at, err)
		}
		if _, stage := l.Position(); stage != loop.Idle {
			t.Errorf("after an error the loop is %v", stage)
		}
	}
	l, log := newLoop(t, true, true, 1)
	log.FailAt(5, 9) // s0 i0 i1 i2 w3
	_, err := l.Run(1, 3)
	test.Error(t, err)
}

func TestSyncAfterError(t *testing.T) {
	for _, k := range []struct {
		failAt int
		want   string
	}{
		{5, "s0 i0 w1 s1 i1 s2 s2"}, // the second issue: two batches are left
		{4, "s0 i0 w1 s1"},          // a sync that fails is not tried again
	} {
		l, log := newLoop(t, true, true, 4)
		l.KeepInStep()
		log.FailAt(k.failAt, 7)
		if l.Broken() {
			t.Error("broken before it ran")
		}
		_, err := l.Run(4, 1)
		var e *loop.StepError
		if !errors.As(err, &e) || e.Code != 7 || !l.Broken() {
			t.Errorf("%v, broken %v", err, l.Broken())
		}
		test.EqOp(t, k.want, log.Calls())
	}
}

func TestBadInput(t *testing.T) {
	_, err := loop.New(loop.Steps{}, 1)
	test.Error(t, err)
	l, _ := newLoop(t, false, false, 4)
	for _, batches := range []int{0, -1, 5} {
		if _, err := l.Run(batches, 1); err == nil {
			t.Errorf("%d batches in room for 4", batches)
		}
	}
	_, err = l.Run(1, 0)
	test.Error(t, err)
	l.Close()
	if at, stage := l.Position(); at != 0 || stage != loop.Idle {
		t.Error("a closed loop has a position")
	}
}

func TestClockAdvances(t *testing.T) {
	if a, b := loop.Now(), loop.Now(); b < a {
		t.Errorf("%d after %d", b, a)
	}
	l, err := loop.New(loop.Steps{Issue: loop.Nothing()}, 1000)
	must.NoError(t, err)
	defer l.Close()
	s, err := l.Run(1000, 1)
	must.NoError(t, err)
	for i := 1; i < 1000; i++ {
		if s.End[i] < s.Start[i] || s.Start[i] < s.End[i-1] {
			t.Fatalf("stamps %d do not follow each other", i)
		}
	}
}
