package pace

import (
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/sweeps"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// With a time limit every case has a fair share; cases that do not fit are skipped with a reason.
func TestPace(t *testing.T) {
	sweep := sweeps.Default()
	cases, err := sweep.Plan(2, backend.MPIPlaces)
	must.NoError(t, err)
	pace := func(limit time.Duration, cycles int) *Pace {
		o := sweep.Options
		o.TimeLimit = limit
		p := &Pace{Cases: cases, Options: o, PerNode: 2, Cycles: cycles}
		if limit > 0 {
			p.Until = time.Now().Add(limit)
		}
		p.Begin(func(int) bool { return true })
		return p
	}
	for cycles, most := range map[int]time.Duration{1: 10 * time.Second / 22, 5: 2 * time.Second / 22} {
		if b, why := pace(10*time.Second, cycles).Next(0); why != nil || b <= 0 || b > most {
			t.Errorf("a budget of %s for one of %d cases in 10 s, %d cycles: %s", b, len(cases), cycles, why)
		}
	}
	p := pace(100*time.Millisecond, 1)
	left := 0
	for i := range cases {
		if _, reason := p.Next(i); reason != nil {
			left++
			test.EqOp(t, notice.Fact(notice.TimeOver{Limit: 0.1}), reason)
		}
	}
	if left == 0 || left == len(cases) {
		t.Errorf("%d of %d cases are left out", left, len(cases))
	}
	if b, why := pace(0, 1).Next(0); b != sweep.Budget || why != nil {
		t.Errorf("shortened without a limit: %s, %s", b, why)
	}
	p = pace(time.Nanosecond, 1)
	if _, why := p.Next(0); !p.Over() || why == nil {
		t.Error("the time is used up")
	}
}

// Faster ranks bring skipped cases back, slower ranks skip more.
func TestPaceLearns(t *testing.T) {
	o := sweeps.Default().Options
	o.TimeLimit = 2 * time.Second
	c := recordOf(64<<20, 1).Case
	minimum := Estimate(c, o, 8, 1)
	p := &Pace{Cases: []coll.Case{c}, Options: o, PerNode: 8, Cycles: 1, Until: time.Now().Add(minimum / 2)}
	p.Begin(func(int) bool { return true })
	if p.thin(); !p.left[0] {
		t.Fatalf("a case of %s fits half of that", minimum)
	}
	fast := recordOf(64<<20, guessOperation(c, 8)/10)
	p.Kept(fast)
	if p.thin(); p.left[0] {
		t.Error("ranks ten times as fast do not bring the case back")
	}
}

func recordOf(bytes int64, seconds float64) *result.Record {
	c := coll.Case{Collective: coll.AllReduce, Type: coll.BFloat16, Op: coll.Prod, Root: -1, Placement: coll.OutOfPlace,
		Mode: coll.Throughput, World: 8}.WithSize(bytes)
	return &result.Record{Kind: result.KindCase, Case: c, Status: result.OK, Check: result.Check{Result: "ok"},
		Time: &result.Time{Seconds: seconds, Lo: seconds * 0.99, Hi: seconds * 1.01}}
}
