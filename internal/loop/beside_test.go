package loop_test

import (
	"errors"
	"testing"

	"busbar/internal/loop"
	"busbar/internal/loop/looptest"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// Operations beside each other start before either is awaited; an error is that of the part whose step failed.
func TestBeside(t *testing.T) {
	for _, k := range []struct {
		async  bool
		failAt int
		want   string
		part   int // -1: none fails
	}{
		{false, 0, "s0 i0 i0 i1 i1 w2 w2", -1},
		{false, 2, "s0 i0", 0},
		{false, 3, "s0 i0 i0", 1},
		{false, 7, "s0 i0 i0 i1 i1 w2 w2", 1},
		{true, 0, "s0 a0 a0 f0 f0 a0 a0 f0 f0", -1},
		{true, 3, "s0 a0 a0", 1},
		{true, 4, "s0 a0 a0 f0", 0},
		{true, 5, "s0 a0 a0 f0 f0", 1},
	} {
		log := looptest.New(100)
		log.FailAt(k.failAt, 7)
		parts := make([]loop.Part, 2)
		want := errors.New("of the part")
		for i := range parts {
			if parts[i].Steps = log.Steps(true, false); k.async {
				parts[i] = loop.Part{Async: log.Async()}
			}
			parts[i].Failed = func(code int) error {
				test.EqOp(t, 7, code)
				test.EqOp(t, k.part, i)
				return want
			}
		}
		synced := log.Steps(false, true)
		b, err := loop.NewBeside(parts, synced.Sync, synced.Context)
		must.NoError(t, err)
		l, err := loop.New(b.Steps(), 1)
		must.NoError(t, err)
		_, err = l.Run(1, 2)
		var step *loop.StepError
		if failed := errors.As(err, &step); failed != (k.part >= 0) || failed && b.Failed(step.Code) != want {
			t.Errorf("%+v: %v", k, err)
		}
		test.EqOp(t, k.want, log.Calls())
		l.Close()
		b.Close()
		b.Close()
		log.Close()
	}
}
