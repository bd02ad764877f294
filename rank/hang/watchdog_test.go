package hang

import (
	"testing"
	"time"

	"busbar/internal/loop"
	"busbar/internal/loop/looptest"
	"busbar/rank/launch"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// A phase's limit is the larger of the timeout and ten times its expected time.
func TestWatchdogLimit(t *testing.T) {
	w := &Watchdog{deadline: 5 * time.Second}
	for expected, want := range map[time.Duration]time.Duration{0: 5 * time.Second,
		100 * time.Millisecond: 5 * time.Second, 2 * time.Second: 20 * time.Second} {
		if w.Phase("measure", expected); w.limit != want {
			t.Errorf("expected %s: limit %s, wanted %s", expected, w.limit, want)
		}
	}
	if w.Rest("wait"); w.limit != 0 {
		t.Error("resting has a limit")
	}
}

func TestWatchdogCallsOnce(t *testing.T) {
	hung := make(chan launch.State, 10)
	w := NewWatchdog(time.Millisecond, func(s launch.State) { hung <- s })
	w.Case(3, "all_reduce")
	w.Phase("measure", 0)
	s := <-hung
	if s.Number != 3 || s.Case != "all_reduce" || s.Phase != "measure" || s.Step != 1 || s.Since <= 0 {
		t.Errorf("%+v", s)
	}
	w.mu.Lock()
	armed := w.limit != 0
	w.mu.Unlock()
	if armed {
		t.Error("the watchdog would call again for the same phase")
	}
}

func TestWatchdogSeesTheLoop(t *testing.T) {
	log := looptest.New(8)
	defer log.Close()
	l, err := loop.New(log.Steps(true, true), 4)
	must.NoError(t, err)
	defer l.Close()
	w := &Watchdog{}
	w.Attach(l, nil)
	_, err = l.Run(3, 1)
	must.NoError(t, err)
	if s := w.State(); s.Iteration != 2 || s.Stage != "" {
		t.Errorf("%+v", s)
	}
	w.Attach(nil, nil)
	test.EqOp(t, 0, w.State().Iteration)
}

// A phase that may last gets another timeout each time, and its age continues.
func TestWatchdogRestart(t *testing.T) {
	w := &Watchdog{deadline: 5 * time.Second, since: time.Now().Add(-time.Minute)}
	w.Again(w.State())
	if age := w.State().Since; age < time.Minute || w.limit-age > w.deadline || w.limit-age < w.deadline-time.Second {
		t.Errorf("after %s the limit is %s", age, w.limit)
	}
	before := w.State()
	w.Rest(WaitOutside)
	if w.Again(before); w.limit != 0 {
		t.Errorf("the next phase got the limit %s", w.limit)
	}
}
