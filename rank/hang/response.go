package hang

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"busbar/internal/notice"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/timeout"
)

// Run is what a rank needs of its run when a phase outlasts its limit.
type Run struct {
	Rank   int
	Host   string             // of this rank
	Ranks  []launch.RankFacts // empty until the ranks know each other
	Watch  *Watchdog
	Peers  *Peers                // nil until the ranks know each other
	Server *launch.ControlServer // on rank 0; nil: there is no control channel
	Client *launch.Connection    // on other ranks
	Naming *atomic.Bool          // set while rank 0 finds out which ranks hang

	// Libraries returns what the libraries report of a hang, as what follows the diagnosis; it may be empty.
	Libraries func() string
	// Stop ends the run on rank 0. It does not return.
	Stop func(notice.Fact)
	// GiveUp ends the run where rank 0 does not. It does not return.
	GiveUp func(notice.Fact)
}

// Respond diagnoses a hang and ends the run. It returns in three cases only:
//   - rank 0 is still within its own limit (it may write thousands of records of skipped points);
//   - rank 0 is unknown and all ranks of this host wait for it, for less than ten deadlines;
//   - rank 0 already diagnoses a hang: every rank may report the same one.
func (r *Run) Respond(mine launch.State) {
	mine.Rank, mine.Host = r.Rank, r.Host
	if r.Rank == 0 {
		if r.Naming.CompareAndSwap(false, true) {
			r.nameAndStop(mine)
		}
		return
	}
	zero, others := r.lookAround()
	waits := mine.Phase == WaitForRank0
	switch {
	case waits && zero.Standing == launch.Answered && zero.State.Since < r.Watch.deadline,
		waits && zero.Standing == launch.Unreachable && mine.Since < watchTimes*r.Watch.deadline && allWait(others):
		r.Watch.Again(mine)
	case zero.Standing == launch.Answered:
		_ = r.Client.Send(launch.Event{Kind: "hang"})
		time.Sleep(2*timeout.Ask + 2*timeout.RAS + timeout.CloseFiles + timeout.OtherHosts + timeout.Abort +
			time.Duration(len(r.Ranks)/100)*time.Second)
		r.endRun(mine, r.Peers.survey(nil), fmt.Sprintf("; rank 0 (phase %s) did not end the run", zero.State.Phase))
	default:
		r.endRun(mine, others, "")
	}
}

// nameAndStop diagnoses a hang and ends the run, on rank 0. It does not return.
func (r *Run) nameAndStop(mine launch.State) {
	var asked []launch.Report
	if r.Server != nil {
		asked = r.Server.Ask(timeout.Ask)
	}
	others := r.Peers.survey(asked)
	r.leaveTime(others)
	cause := Diagnose(others, mine)
	cause.Problem += r.Libraries()
	r.Stop(cause)
}

// leaveTime has the end of the run wait for the reports of other hosts where nothing else is known of their ranks.
func (r *Run) leaveTime(others []launch.Report) {
	if r.Peers != nil && slices.ContainsFunc(others, func(o launch.Report) bool {
		return o.Standing == launch.Unreachable
	}) {
		r.Peers.apart.Store(true)
	}
}

// endRun ends a run that hangs where rank 0 does not. The lowest live rank does so; without a
// control channel, the lowest of each host. It does not return.
func (r *Run) endRun(mine launch.State, others []launch.Report, more string) {
	lower := func(o launch.Report) bool {
		return o.Rank > 0 && o.Rank < r.Rank &&
			(o.Standing == launch.Answered || o.Standing == launch.Unreachable && r.Client != nil)
	}
	if r.Client == nil {
		r.leaveTime(others)
	}
	if slices.ContainsFunc(others, lower) {
		time.Sleep(timeout.Ask + timeout.OtherHosts + timeout.Abort + time.Duration(r.Rank)*Tick/100)
	}
	cause := Diagnose(others, mine)
	cause.Problem += more
	// Should rank 0 wake up, it reports this cause.
	r.Peers.publish(cause)
	_ = r.Client.Send(launch.Event{Kind: "failed", Cause: notice.Kept{Fact: cause}, Code: exit.Hang})
	r.GiveUp(cause)
}

// lookAround returns what is known of rank 0, by its own report or by shared memory of this host, and of the others
// where rank 0 does not answer on the control channel.
func (r *Run) lookAround() (zero launch.Report, others []launch.Report) {
	zero.Standing = launch.Answered
	var err error
	if zero.State, err = r.Client.Ask(timeout.Ask); err == nil {
		return zero, nil
	}
	zero.Standing = launch.Unreachable
	if !errors.Is(err, launch.ErrNoControlChannel) { // no answer
		zero.Standing, zero.Host, zero.PID = launch.Silent, r.Ranks[0].Host, r.Ranks[0].PID
	}
	others = r.Peers.survey(nil)
	i := slices.IndexFunc(others, func(o launch.Report) bool { return o.Rank == 0 })
	switch {
	case i >= 0 && others[i].Standing != launch.Unreachable:
		return others[i], others
	case zero.Standing == launch.Unreachable:
	case i >= 0:
		others[i] = zero
	default:
		others = append(others, zero)
	}
	return zero, others
}
