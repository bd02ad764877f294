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
	Rank     int
	Host     string             // of this rank
	Ranks    []launch.RankFacts // empty until the ranks know each other
	Deadline time.Duration
	Watch    *Watchdog
	Peers    *Peers                // nil until the ranks know each other
	Server   *launch.ControlServer // on rank 0; nil: there is no control channel
	Client   *launch.ControlClient // on other ranks
	Naming   *atomic.Bool          // set while rank 0 finds out which ranks hang

	// Libraries returns what the libraries report of a hang, as what follows the diagnosis; it may be empty.
	Libraries func() string
	// Stop ends the run on rank 0. It does not return.
	Stop func(notice.Fact)
	// GiveUp ends the run where rank 0 does not. It does not return.
	GiveUp func(notice.Fact)
}

// Respond finds out which ranks hang and ends the run. It returns only where this rank waits for a rank 0 that is still
// within its own limit (it may write thousands of records of points that are skipped), and on rank 0 where that finds
// out already who hangs: every rank may report the same hang.
func (r *Run) Respond(mine launch.State) {
	mine.Rank, mine.Host = r.Rank, r.Host
	r.Peers.hurry()
	time.AfterFunc(timeout.Ask+Tick/5, r.Peers.hurry) // by then a silence shows
	if r.Rank == 0 {
		if r.Naming.CompareAndSwap(false, true) {
			r.nameAndStop(mine)
		}
		return
	}
	zero, err := r.askRank0(mine)
	switch {
	case err == nil && mine.Phase == WaitForRank0 && zero.Since < r.Deadline:
		r.Watch.Again()
		return
	case err == nil:
		_ = r.Client.Send(launch.Event{Kind: "hang"})
		time.Sleep(timeout.Ask + r.Peers.surveyTime() + 2*timeout.RAS + timeout.CloseFiles + timeout.Abort +
			time.Duration(len(r.Ranks)/100)*time.Second)
		r.speak(mine, false, fmt.Sprintf("; rank 0 (phase %s) did not end the run", zero.Phase))
	default:
		r.speak(mine, !errors.Is(err, launch.ErrNoControlChannel), "")
	}
}

// nameAndStop ends a run that hangs, on rank 0. It does not return.
func (r *Run) nameAndStop(mine launch.State) {
	var asked []launch.Report
	if r.Server != nil {
		asked = r.Server.Ask(timeout.Ask)
	}
	cause := Diagnose(r.Peers.survey(asked, mine.Since), mine)
	cause.Problem += r.Libraries()
	r.Stop(cause)
}

// speak ends a run that hangs where rank 0 does not; mute: rank 0 was asked on the control channel in vain. Of all
// ranks that live the lowest one speaks. It does not return.
func (r *Run) speak(mine launch.State, mute bool, more string) {
	others := r.Peers.survey(nil, mine.Since)
	if mute {
		zero := launch.Report{Rank: 0, Host: r.Ranks[0].Host, PID: r.Ranks[0].PID, Standing: launch.Silent}
		others = withSilent(others, zero)
	}
	lower := func(o launch.Report) bool { return o.Rank > 0 && o.Rank < r.Rank && o.Standing == launch.Answered }
	if slices.ContainsFunc(others, lower) {
		time.Sleep(timeout.Ask + timeout.Abort + time.Duration(r.Rank)*Tick/100)
	}
	cause := Diagnose(others, mine)
	cause.Problem += more
	r.Peers.Freeze(cause)
	// Should rank 0 wake up, its files say so.
	_ = r.Client.Send(launch.Event{Kind: "failed", Cause: notice.Kept{Fact: cause}, Code: exit.Hang})
	r.GiveUp(cause)
}

// askRank0 returns what rank 0 is doing: by its own word, or by what others see of it where it has no way to answer.
func (r *Run) askRank0(mine launch.State) (launch.State, error) {
	s, err := r.Client.Ask(timeout.Ask)
	if err == nil {
		return s, nil
	}
	for _, o := range r.Peers.survey(nil, mine.Since) {
		if o.Rank == 0 && o.Standing == launch.Answered {
			return o.State, nil
		}
	}
	return s, err
}
