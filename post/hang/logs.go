package hang

import (
	"cmp"
	"slices"

	"busbar/internal/notice/hangs"
	"busbar/internal/units"
	"busbar/post/hang/watchdog"
)

// lines are what the logs of all ranks report, by kind.
type lines struct {
	logs       []*watchdog.Log
	groups     []*group
	failedRank map[int]bool // ranks that printed that their communication failed
}

// of returns the events of some kinds.
func (l *lines) of(kinds ...watchdog.Kind) (all []*watchdog.Event) {
	for _, log := range l.logs {
		for e := range units.Each(log.Events) {
			if slices.Contains(kinds, e.Kind) {
				all = append(all, e)
			}
		}
	}
	return all
}

// failures are the kinds of lines that a rank prints when its communication failed.
var failures = []watchdog.Kind{
	watchdog.Timeout, watchdog.Transfer, watchdog.Closed, watchdog.WrongSize, watchdog.Aftermath,
}

// attach adds to the groups what the watchdog of each rank printed.
func (l *lines) attach(groups []*group) []*group {
	l.groups = groups
	p2p := l.p2p()
	for _, e := range l.of(watchdog.Timeout, watchdog.Status) {
		if e.Rank < 0 || p2p[work{e.Rank, e.Seq}] {
			continue
		}
		t := l.group(e).track(e.Rank)
		if e.Kind == watchdog.Timeout {
			if t.timeout == nil && e.Seq >= 0 {
				t.timeout = e
			}
			continue
		}
		t.enqueued, t.printed = max(t.enqueued, e.Enqueued), max(t.printed, e.Enqueued)
		if e.Completed >= 0 && (t.completed < 0 || e.Completed < t.completed) {
			t.completed = e.Completed
		}
	}
	l.failedRank = map[int]bool{}
	for _, e := range l.of(failures...) {
		l.failedRank[e.Rank] = true
	}
	for _, g := range l.groups {
		for rank, t := range g.tracks {
			t.failed = l.failedRank[rank]
		}
	}
	return l.groups
}

// work is a numbered operation of a rank.
type work struct {
	rank int
	seq  int64
}

// p2p are the point-to-point operations that watchdogs gave up on: their numbers differ between ranks.
func (l *lines) p2p() map[work]bool {
	all := map[work]bool{}
	for _, e := range l.of(watchdog.Timeout) {
		if e.Op == "SEND" || e.Op == "RECV" || e.Op == "COALESCED" {
			all[work{e.Rank, e.Seq}] = true
		}
	}
	return all
}

// group finds the group of a line of the watchdog: by its name, by its description if one group of the rank has it, or
// by what the rank waits in.
func (l *lines) group(e *watchdog.Event) *group {
	of := units.Where(l.groups, func(g *group) bool { return g.members == nil || slices.Contains(g.members, e.Rank) })
	match := func(fits func(*group) bool) (only *group) {
		if i := slices.IndexFunc(of, fits); i >= 0 && !slices.ContainsFunc(of[i+1:], fits) {
			return of[i]
		}
		return nil
	}
	var found *group
	switch {
	case e.Desc == "" && e.GUID == "":
		if found = match(func(g *group) bool { return g.waitsIn(e) }); found == nil {
			found = match(func(*group) bool { return true })
		}
	case e.GUID != "":
		found = match(func(g *group) bool { return g.name == e.GUID })
	}
	if found == nil && e.Desc != "" {
		found = match(func(g *group) bool { return g.desc == e.Desc && (g.members != nil || e.GUID == "") })
	}
	if found != nil {
		return found
	}
	name, numbered := cmp.Or(e.GUID, e.Desc), false
	if name == "" {
		name, numbered = e.GroupID, true
	}
	if found = match(func(g *group) bool { return g.members == nil && g.name == name }); found != nil {
		return found
	}
	g := &group{name: name, desc: e.Desc, numbered: numbered, tracks: map[int]*track{}}
	l.groups = append(l.groups, g)
	return g
}

// waitsIn reports whether a rank waits in the collective that its watchdog gave up on.
func (g *group) waitsIn(e *watchdog.Event) bool {
	t := g.tracks[e.Rank]
	if t == nil || e.Kind != watchdog.Timeout {
		return false
	}
	s := t.at(e.Seq)
	return s != nil && t.progress(s) != Done
}

// deaths are the processes that ended by themselves: after a timeout or a lost connection of its own, an end of a rank
// follows from that. A rank that wrote a dump was alive then, and what killed it came later.
func (a *job) deaths() (all []*watchdog.Event) {
	tasks := a.tasksAreRanks()
	for _, e := range a.of(watchdog.Death) {
		if e.Rank < 0 || e.Host != "" && !tasks || slices.Contains(ranksOf(all), e.Rank) {
			continue
		}
		if a.dump(e.Rank) != nil && e.Reason != watchdog.ByException ||
			e.Reason == watchdog.ByException && a.waits(e.Rank) || a.failedBefore(e) {
			continue
		}
		all = append(all, e)
	}
	units.SortBy(all, func(e *watchdog.Event) int { return e.Rank })
	return all
}

// tasksAreRanks reports whether the number of a task of Slurm is a rank: the tasks that ended are the ranks that lack
// evidence. If torchrun starts the ranks, a task is a node.
func (a *job) tasksAreRanks() bool {
	ended := a.tasks(watchdog.Death)
	if exits := a.tasks(watchdog.Exit); len(ended) == 0 && len(exits) > 0 { // others follow the first
		first := exits[0]
		ended = slices.DeleteFunc(exits, func(e *watchdog.Event) bool {
			return e.File != first.File || e.Line != first.Line
		})
	}
	return len(ended) > 0 && slices.Equal(ranksOf(ended), a.lacking())
}

// tasks are the events of a kind that Slurm reports of tasks.
func (a *job) tasks(kind watchdog.Kind) []*watchdog.Event {
	return slices.DeleteFunc(a.of(kind), func(e *watchdog.Event) bool { return e.Host == "" })
}

// lacking are the ranks that left no dump or that did not enter the root; without dumps, those with a log and no
// failure in it.
func (a *job) lacking() (all hangs.Ranks) {
	world := worldOf(a.Dumps)
	for _, rank := range world {
		if a.dump(rank) == nil || a.root != nil && slices.Contains(a.root.culprits, rank) {
			all = append(all, rank)
		}
	}
	for _, log := range a.lines.logs {
		if world == nil && log.Rank >= 0 && !a.failedRank[log.Rank] {
			all = append(all, log.Rank)
		}
	}
	return unique(all)
}

// waits reports whether a rank waits in the root, or its watchdog gave up.
func (a *job) waits(rank int) bool {
	return a.root != nil && (slices.Contains(a.root.waiting, rank) || slices.Contains(a.root.ended, rank)) ||
		slices.ContainsFunc(a.of(watchdog.Timeout, watchdog.Transfer), func(e *watchdog.Event) bool {
			return e.Rank == rank
		})
}

func (l *lines) failedBefore(end *watchdog.Event) bool {
	return slices.ContainsFunc(l.of(failures...), func(e *watchdog.Event) bool {
		return e.Rank == end.Rank && (e.File != end.File || e.Line < end.Line)
	})
}
