package hang

import (
	"maps"
	"slices"
	"time"

	"busbar/rank/launch"
	"busbar/rank/timeout"
)

// survey returns what is known of all other ranks: what ranks report when asked (nil: none was), of
// themselves and of silent ranks of their hosts, else what the memory of this host shows. It takes up to timeout.Ask.
func (l *Peers) survey(asked []launch.Report) []launch.Report {
	if l == nil {
		return asked
	}
	known := map[int]launch.Report{}
	for rank, f := range l.ranks {
		known[rank] = launch.Report{Rank: rank, Host: f.Host, PID: f.PID, Standing: launch.Unreachable}
	}
	for _, r := range asked {
		r.Host = l.ranks[r.Rank].Host // the server knows no host of a rank that never connected
		known[r.Rank] = r
	}
	for _, r := range asked { // after all: what a rank reports of itself counts first
		merge(known, r.State.Silent)
	}
	delete(known, l.rank)
	if l.board != nil && slices.ContainsFunc(slices.Collect(maps.Values(known)), unclear) {
		time.Sleep(timeout.Ask) // a rank that is silent has been so for at least that long
		merge(known, l.neighbours())
	}
	return slices.SortedFunc(maps.Values(known), compareRank)
}

// unclear is true of a rank of which it is not known what it does, or did last.
func unclear(r launch.Report) bool {
	return r.Standing == launch.Unreachable || r.Standing == launch.Silent && r.State.Phase == ""
}

// merge takes in what is seen of ranks that are not clear.
func merge(known map[int]launch.Report, seen []launch.Report) {
	for _, r := range seen {
		if before, ok := known[r.Rank]; ok && unclear(before) {
			known[r.Rank] = r
		}
	}
}

// allWait reports whether every rank of which something is known waits for rank 0, or rests until others are done.
func allWait(all []launch.Report) bool {
	return !slices.ContainsFunc(all, func(r launch.Report) bool {
		return r.Standing != launch.Unreachable && (r.Standing != launch.Answered ||
			r.State.Phase != WaitForRank0 && r.State.Phase != WaitOutside && r.State.Phase != WaitForGroups)
	})
}
