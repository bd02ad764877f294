package hang

import (
	"slices"
	"time"

	"busbar/rank/launch"
	"busbar/rank/timeout"
)

// survey is what is known of all other ranks: what those said who were asked (nil: nobody was), else what the memory
// of this host and the files of others show. hung is how long this rank has been waiting. It takes up to timeout.Ask and
// timeout.OtherFile, and longer, up to surveyTime, only for files that are older than that.
func (l *Peers) survey(asked []launch.Report, hung time.Duration) []launch.Report {
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
		l.settle(timeout.Ask)
		merge(known, l.neighbours())
	}
	if anyUnclear(known) && l.folder.Load() != nil && len(l.mates) < len(l.ranks) {
		time.Sleep(timeout.Ask + timeout.OtherFile - time.Since(start))
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
func (l *Peers) surveyTime() time.Duration {
	if l == nil {
		return 0
	}
	return timeout.Ask + timeout.OtherFile + l.readTime()
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
