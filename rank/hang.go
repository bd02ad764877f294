package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/hang"
	"busbar/rank/launch"
	"busbar/rank/timeout"
)

// onHang is called by the watchdog when a phase outlasts its limit. It returns only where this rank waits for a rank 0
// that is still within its own limit (it may write thousands of records of points that are skipped), and on rank 0 where
// that finds out already who hangs: every rank may tell it of the same hang.
func (j *job) onHang(mine launch.State) {
	mine.Rank, mine.Host = j.rank, hostName()
	l := j.look.Load()
	l.Hurry()
	time.AfterFunc(timeout.Ask+hang.Tick/5, l.Hurry) // by then a silence shows
	if j.rank == 0 {
		if j.naming.CompareAndSwap(false, true) {
			j.nameAndStop(mine)
		}
		return
	}
	zero, err := j.askRank0(mine)
	switch {
	case err == nil && mine.Phase == hang.WaitForRank0 && zero.Since < j.cfg.deadline:
		j.watch.Again()
		return
	case err == nil:
		_ = j.spoke.Send(launch.Event{Kind: "hang"})
		time.Sleep(timeout.Ask + l.SurveyTime() + 2*timeout.RAS + timeout.CloseFiles + timeout.Abort + time.Duration(j.size/100)*time.Second)
		j.speak(mine, false, fmt.Sprintf("; rank 0 (phase %s) did not end the run", zero.Phase))
	default:
		j.speak(mine, !errors.Is(err, launch.ErrNoControlChannel), "")
	}
}

// nameAndStop ends a run that hangs, on rank 0. It does not return.
func (j *job) nameAndStop(mine launch.State) {
	var asked []launch.Report
	if j.hub != nil {
		asked = j.hub.Ask(timeout.Ask)
	}
	cause := hang.Diagnose(j.look.Load().Survey(asked, mine.Since), mine)
	if slices.ContainsFunc(j.libraries, func(l library) bool { n, ok := l.(*ncclLibrary); return ok && !n.rehearsed() }) {
		if ras := askRAS(); ras != "" {
			cause.Problem += "\nNCCL's RAS says:\n" + ras
		}
	}
	j.stopAll(exit.Hang, result.Timeout, cause)
}

// speak ends a run that hangs where rank 0 does not; mute says that it was asked on the side channel in vain. Of all
// ranks that live the lowest one speaks. It does not return.
func (j *job) speak(mine launch.State, mute bool, more string) {
	l := j.look.Load()
	others := l.Survey(nil, mine.Since)
	if mute {
		others = hang.WithSilent(others, launch.Report{Rank: 0, Host: j.ranks[0].Host, PID: j.ranks[0].PID, Standing: launch.Silent})
	}
	if slices.ContainsFunc(others, func(r launch.Report) bool { return r.Rank > 0 && r.Rank < j.rank && r.Standing == launch.Answered }) {
		time.Sleep(timeout.Ask + timeout.Abort + time.Duration(j.rank)*hang.Tick/100)
	}
	cause := hang.Diagnose(others, mine)
	cause.Problem += more
	l.Freeze(cause)
	// Should rank 0 wake up, its files say so.
	_ = j.spoke.Send(launch.Event{Kind: "failed", Cause: notice.Kept{Fact: cause}, Code: exit.Hang})
	fmt.Fprintf(j.stderr, "rank: %s\n%s", told(cause), l.WhereToLook())
	j.die(exit.Hang)
}

// askRank0 is what rank 0 is doing: by its own word, or by what others see of it where it has no way to say so.
func (j *job) askRank0(mine launch.State) (launch.State, error) {
	s, err := j.spoke.Ask(timeout.Ask)
	if err == nil {
		return s, nil
	}
	for _, r := range j.look.Load().Survey(nil, mine.Since) {
		if r.Rank == 0 && r.Standing == launch.Answered {
			return r.State, nil
		}
	}
	return s, err
}

// openBoard connects the ranks of each host by a board in shared memory. Collective.
func (j *job) openBoard() error {
	j.watch.Phase("open the shared memory", 0)
	number, err := share(j, hang.NewJobNumber)
	if err != nil {
		return err
	}
	defer j.nameless()
	l, err := hang.OpenPeers(j.world, j.ranks, number, j.watch, func(path string) { j.shared.Store(&path) })
	if err != nil {
		return err
	}
	j.look.Store(l)
	return nil
}

// nameless takes its name from the shared memory that this rank made.
func (j *job) nameless() {
	if path := j.shared.Swap(nil); path != nil {
		_ = os.Remove(*path) // whoever may have removed it before
	}
}

// keepFiles begins with the hosts' files in a folder of their own. Collective.
func (j *job) keepFiles() error {
	j.watch.Phase("open the hosts' files", 0)
	l := j.look.Load()
	folder, err := share(j, func() (string, error) { return l.MakeFolder(j.cfg.out), nil })
	if err == nil && folder != "" {
		l.StartFiles(folder)
	}
	return err
}
