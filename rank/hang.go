package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// onHang is called by the watchdog when a phase outlasts its limit. It returns only where this rank waits for a rank 0
// that is still within its own limit (it may write thousands of records of points that are skipped), and on rank 0 where
// that finds out already who hangs: every rank may tell it of the same hang.
func (j *job) onHang(mine launch.State) {
	mine.Rank, mine.Host = j.rank, hostName()
	l := j.look.Load()
	l.hurry()
	time.AfterFunc(askTime+watchTick/5, l.hurry) // by then a silence shows
	if j.rank == 0 {
		if j.naming.CompareAndSwap(false, true) {
			j.nameAndStop(mine)
		}
		return
	}
	zero, err := j.askRank0(mine)
	switch {
	case err == nil && mine.Phase == waitForRank0 && zero.Since < j.cfg.deadline:
		j.watch.Again()
		return
	case err == nil:
		_ = j.spoke.Send(launch.Event{Kind: "hang"})
		time.Sleep(askTime + l.surveyTime() + 2*rasTime + filesTime + abortGrace + time.Duration(j.size/100)*time.Second)
		j.speak(mine, false, fmt.Sprintf("; rank 0 (phase %s) did not end the run", zero.Phase))
	default:
		j.speak(mine, !errors.Is(err, launch.ErrNoControlChannel), "")
	}
}

// nameAndStop ends a run that hangs, on rank 0. It does not return.
func (j *job) nameAndStop(mine launch.State) {
	var asked []launch.Report
	if j.hub != nil {
		asked = j.hub.Ask(askTime)
	}
	cause := nameHang(j.look.Load().survey(asked, mine.Since), mine)
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
	others := l.survey(nil, mine.Since)
	if mute {
		others = withSilent(others, launch.Report{Rank: 0, Host: j.ranks[0].Host, PID: j.ranks[0].PID, Standing: launch.Silent})
	}
	if slices.ContainsFunc(others, func(r launch.Report) bool { return r.Rank > 0 && r.Rank < j.rank && r.Standing == launch.Answered }) {
		time.Sleep(askTime + abortGrace + time.Duration(j.rank)*watchTick/100)
	}
	cause := nameHang(others, mine)
	cause.Problem += more
	l.freeze(cause)
	// Should rank 0 wake up, its files say so.
	_ = j.spoke.Send(launch.Event{Kind: "failed", Cause: notice.Kept{Fact: cause}, Code: exit.Hang})
	fmt.Fprintf(j.stderr, "rank: %s\n%s", told(cause), l.whereToLook())
	j.die(exit.Hang)
}

// askRank0 is what rank 0 is doing: by its own word, or by what others see of it where it has no way to say so.
func (j *job) askRank0(mine launch.State) (launch.State, error) {
	s, err := j.spoke.Ask(askTime)
	if err == nil {
		return s, nil
	}
	for _, r := range j.look.Load().survey(nil, mine.Since) {
		if r.Rank == 0 && r.Standing == launch.Answered {
			return r.State, nil
		}
	}
	return s, err
}

// survey is what is known of all other ranks: what those said who were asked (nil: nobody was), else what the memory
// of this host and the files of others show. hung is how long this rank has been waiting. It takes up to askTime and
// fileTime, and longer, up to surveyTime, only for files that are older than that.
func (l *lookout) survey(asked []launch.Report, hung time.Duration) []launch.Report {
	if l == nil {
		return asked
	}
	start := time.Now()
	known := map[int]launch.Report{}
	for rank, f := range l.ranks {
		known[rank] = launch.Report{Rank: rank, Host: f.Host, PID: f.PID, Standing: launch.Unreachable}
	}
	for _, r := range asked {
		r.Host = l.ranks[r.Rank].Host // the hub knows no host of a rank that never connected
		known[r.Rank] = r
	}
	delete(known, l.rank)
	if anyUnclear(known) {
		l.settle(askTime)
		merge(known, l.neighbours())
	}
	if anyUnclear(known) && l.folder.Load() != nil && len(l.mates) < len(l.ranks) {
		time.Sleep(askTime + fileTime - time.Since(start))
		for _, seen := range l.readFiles(known, hung) {
			merge(known, seen)
		}
	}
	all := make([]launch.Report, 0, len(known))
	for _, r := range known {
		all = append(all, r)
	}
	slices.SortFunc(all, compareRank)
	return all
}

// surveyTime is how long a survey may take.
func (l *lookout) surveyTime() time.Duration {
	if l == nil {
		return 0
	}
	return askTime + fileTime + l.readTime()
}

// unclear is true of a rank of which it is not known what it does, or did last.
func unclear(r launch.Report) bool {
	return r.Standing == launch.Unreachable || r.Standing == launch.Silent && r.State.Phase == ""
}

func anyUnclear(known map[int]launch.Report) bool {
	for _, r := range known {
		if unclear(r) {
			return true
		}
	}
	return false
}

// merge takes in what is seen of ranks that are not clear.
func merge(known map[int]launch.Report, seen []launch.Report) {
	for _, r := range seen {
		if before, ok := known[r.Rank]; ok && unclear(before) {
			known[r.Rank] = r
		}
	}
}

// withSilent makes a rank of which nothing is known one that does not answer.
func withSilent(all []launch.Report, mute launch.Report) []launch.Report {
	for i := range all {
		if all[i].Rank == mute.Rank {
			if all[i].Standing == launch.Unreachable {
				all[i] = mute
			}
			return all
		}
	}
	return append(all, mute)
}
