package hang

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"busbar/internal/notice"
	"busbar/rank/launch"
	"busbar/rank/timeout"

	"github.com/shoenig/test"
)

// responseOf returns the cause with which a rank without a control channel ends the run; nil if it keeps waiting.
func responseOf(l *Peers, mine launch.State) (cause notice.Fact) {
	ended := make(chan struct{})
	end := func(c notice.Fact) {
		cause = c
		runtime.Goexit()
	}
	r := &Run{Rank: l.rank, Host: l.ranks[l.rank].Host, Ranks: l.ranks, Watch: &Watchdog{deadline: time.Second},
		Peers: l, Naming: new(atomic.Bool), Libraries: func() string { return "" }, Stop: end, GiveUp: end}
	go func() {
		defer close(ended)
		r.Respond(mine)
	}()
	<-ended
	return cause
}

// live has a rank's heartbeat go on until the test ends.
func (l *Peers) live(ctx context.Context) {
	for ctx.Err() == nil {
		l.write(0)
		time.Sleep(Tick / 5)
	}
}

// If TCP is blocked, each host reports its own ranks and gives the other hosts time to do so.
func TestEachHostEndsRunWithoutControlChannel(t *testing.T) {
	t.Parallel()
	all := twoHosts(t)
	for _, rank := range []int{0, 1, 2} {
		go all[rank].live(t.Context())
	}
	all[3].write(time.Minute)
	mine := launch.State{Phase: "measure", Number: 7, Step: 4, Iteration: 17, Case: hungCase, Stage: "issuing"}
	for rank, want := range map[int][]notice.HungRank{
		0: nil, // it cannot see who hangs
		2: {{PlacedRank: notice.PlacedRank{Rank: 3, Host: "far"}, Standing: notice.StandingSilent}},
	} {
		got, is := responseOf(all[rank], mine).(notice.RunHung)
		if !is || len(got.Ranks) != len(want) || len(want) > 0 && got.Ranks[0].PlacedRank != want[0].PlacedRank {
			t.Errorf("rank %d: %+v, want %+v", rank, got, want)
		}
		if !all[rank].apart.Load() {
			t.Errorf("rank %d leaves other hosts no time", rank)
		}
	}
	if _, is := all[3].Reason().(notice.RunHung); !is {
		t.Error("rank 3 is not left the reason")
	}
}

// Ranks that wait for a rank 0 of unknown state give it ten timeouts, as it may write records, unless a rank of their
// host does something else.
func TestRank0OfAnotherHostMayBeBusy(t *testing.T) {
	t.Parallel()
	all := twoHosts(t)
	go all[2].live(t.Context())
	for age, ends := range map[time.Duration]bool{2 * time.Second: false, 11 * time.Second: true} {
		cause := responseOf(all[2], launch.State{Phase: WaitForRank0, Since: age})
		if (cause != nil) != ends {
			t.Errorf("after %s: %+v", age, cause)
		}
	}
	all[3].write(time.Minute)
	if responseOf(all[2], launch.State{Phase: WaitForRank0, Since: 2 * time.Second}) == nil {
		t.Error("a silent rank of this host is not reported")
	}
}

func TestIdleRanksWaitForRank0(t *testing.T) {
	in := func(phase string) launch.Report {
		return launch.Report{Standing: launch.Answered, State: launch.State{Phase: phase}}
	}
	unknown, silent := launch.Report{Standing: launch.Unreachable}, launch.Report{Standing: launch.Silent}
	for _, c := range []struct {
		others []launch.Report
		want   bool
	}{
		{[]launch.Report{in(WaitForRank0), in(WaitOutside), in(WaitForGroups), unknown}, true},
		{[]launch.Report{in(WaitForRank0), in("measure")}, false},
		{[]launch.Report{in(WaitForRank0), silent}, false},
	} {
		test.EqOp(t, c.want, allWait(c.others), test.Sprint(c.others))
	}
}

func TestOtherHostsReportInTime(t *testing.T) {
	if least := 2*timeout.Ask + Tick; timeout.OtherHosts < least {
		t.Errorf("%s, at least %s", timeout.OtherHosts, least)
	}
	start := time.Now()
	var none *Peers
	none.AwaitOtherHosts()
	twoHosts(t)[0].AwaitOtherHosts()
	if waited := time.Since(start); waited > timeout.OtherHosts/2 {
		t.Errorf("waited %s though every host is connected", waited)
	}
}
