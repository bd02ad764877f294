package hang

import (
	"slices"

	"busbar/internal/notice/hangs"
	"busbar/post/hang/watchdog"
)

// lines are what the logs of all ranks report, by kind.
type lines struct {
	logs        []*watchdog.Log
	groups      []*group
	failedRanks hangs.Ranks // that printed that their communication failed
}

// of returns the events of some kinds.
func (l *lines) of(kinds ...watchdog.Kind) (all []*watchdog.Event) {
	for _, log := range l.logs {
		for i := range log.Events {
			if slices.Contains(kinds, log.Events[i].Kind) {
				all = append(all, &log.Events[i])
			}
		}
	}
	return all
}

// failures are the kinds of lines that a rank prints when its communication failed.
var failures = []watchdog.Kind{
	watchdog.Timeout, watchdog.Transfer, watchdog.Closed, watchdog.WrongSize, watchdog.Aftermath,
}

// failed reports whether a rank printed that its communication failed.
func (l *lines) failed(rank int) bool { return slices.Contains(l.failedRanks, rank) }

// attach adds to the groups what the watchdog of each rank printed.
func (l *lines) attach(groups []*group) []*group {
	l.groups = groups
	for _, e := range l.of(watchdog.Timeout, watchdog.Status) {
		if e.Rank < 0 || l.ofP2P(e) {
			continue
		}
		t := l.group(e).track(e.Rank)
		if e.Kind == watchdog.Timeout {
			if t.timeout == nil && e.Seq >= 0 {
				t.timeout = e
			}
			continue
		}
		t.enqueued = max(t.enqueued, e.Enqueued)
		if e.Completed >= 0 && (t.completed < 0 || e.Completed < t.completed) {
			t.completed = e.Completed
		}
	}
	l.failedRanks = ranksOf(l.of(failures...))
	for _, g := range l.groups {
		for rank, t := range g.tracks {
			t.failed = l.failed(rank)
		}
	}
	return l.groups
}

// ofP2P reports whether a line is about point-to-point operations, whose numbers differ between ranks.
func (l *lines) ofP2P(e *watchdog.Event) bool {
	return slices.ContainsFunc(l.of(watchdog.Timeout), func(t *watchdog.Event) bool {
		return t.Rank == e.Rank && t.Seq == e.Seq && (t.Op == "SEND" || t.Op == "RECV" || t.Op == "COALESCED")
	})
}

// group finds the group of a line of the watchdog: by its name or description, or by what the rank waits in.
func (l *lines) group(e *watchdog.Event) *group {
	var possible []*group
	for _, g := range l.groups {
		if !slices.Contains(g.everyone(), e.Rank) && g.members != nil {
			continue
		}
		switch {
		case e.Group != "" && (e.Group == g.desc || e.Group == g.name):
			return g
		case e.Group == "":
			possible = append(possible, g)
		}
	}
	for _, g := range possible {
		if t := g.tracks[e.Rank]; t != nil && e.Kind == watchdog.Timeout {
			if s := t.at(e.Seq); s != nil && t.progress(s) != done {
				return g
			}
		}
	}
	if len(possible) == 1 {
		return possible[0]
	}
	name, numbered := e.Group, false
	if name == "" {
		name, numbered = e.GroupID, true
	}
	for _, g := range l.groups {
		if g.members == nil && g.name == name {
			return g
		}
	}
	g := &group{name: name, numbered: numbered, tracks: map[int]*track{}}
	l.groups = append(l.groups, g)
	return g
}

// deaths are the processes that ended by themselves: after a timeout or a lost connection of its own, an end of a rank
// follows from that. A rank that wrote a dump was alive then, and what killed it came later.
func (a *job) deaths() (all []*watchdog.Event) {
	for _, e := range a.of(watchdog.Death) {
		if e.Rank < 0 || slices.ContainsFunc(all, func(d *watchdog.Event) bool { return d.Rank == e.Rank }) {
			continue
		}
		if e.Reason != watchdog.ByException && a.dump(e.Rank) != nil || a.failedBefore(e) {
			continue
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *watchdog.Event) int { return a.Rank - b.Rank })
	return all
}

func (l *lines) failedBefore(end *watchdog.Event) bool {
	return slices.ContainsFunc(l.of(failures...), func(e *watchdog.Event) bool {
		return e.Rank == end.Rank && (e.File != end.File || e.Line < end.Line)
	})
}
