package hang

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/hangs"
	"busbar/post/hang/evidence"
	"busbar/post/hang/stack"
	"busbar/post/hang/watchdog"
)

// isLibrary reports whether a file is of Python or an installed package.
func isLibrary(file string) bool {
	return strings.Contains(file, "site-packages/") || strings.Contains(file, "dist-packages/") ||
		strings.Contains(file, "/lib/python") || strings.HasPrefix(file, "<frozen ") || !strings.HasPrefix(file, "/") &&
		(strings.HasPrefix(file, "torch/") || filepath.Base(file) == "threading.py")
}

// rankOfProcess is the rank of a process: of the file's name, or of NCCL's log by the PID; -1 if unknown.
func rankOfProcess(a *job, p *stack.Process) int {
	var found []int
	if a.NCCL != nil && p.PID > 0 {
		for _, known := range a.NCCL.Processes {
			if known.PID == p.PID && len(known.Ranks) == 1 {
				found = append(found, known.Ranks[0])
			}
		}
	}
	if len(found) == 1 { // else of several hosts
		return found[0]
	}
	return p.Rank
}

// corroborated reports whether something beside the dumps shows that ranks are missing, because a dump may have been
// taken before they entered: the lines of their own watchdog on the group.
func (a *analysis) corroborated(c *candidate) bool {
	return !slices.ContainsFunc(c.culprits, func(rank int) bool {
		t := c.group.tracks[rank]
		return t == nil || t.printed < 0 || t.printed >= c.seq
	})
}

// died is the verdict that processes ended by themselves.
func (a *analysis) died() {
	ranks := ranksOf(a.dead)
	sure := certain
	if len(ranks) > 1 || !a.launched(a.dead[0]) || a.noConsequence(ranks) ||
		a.root != nil && a.root.kind == rankMissing && !subset(a.root.culprits, ranks) {
		sure = likely
	}
	a.setDied(ranks, hangs.Death(a.dead[0].Reason), sure)
	for _, d := range a.dead {
		a.note(placeOf(d), hangs.ProcessEnded{Rank: d.Rank, How: hangs.Death(d.Reason), Text: d.Text})
	}
	a.observe(a.root)
	a.stacks(ranks)
}

// launched reports whether a launcher reports the end of a rank: a program may have caught an exception, and a log may
// end for another reason.
func (a *analysis) launched(d *watchdog.Event) bool {
	tasks := a.tasksAreRanks()
	return a.dump(d.Rank) == nil && slices.ContainsFunc(a.of(watchdog.Death, watchdog.Exit),
		func(e *watchdog.Event) bool { return e.Launcher && e.Rank == d.Rank && (e.Host == "" || tasks) })
}

// noConsequence reports whether nothing shows that other ranks waited for ranks.
func (a *analysis) noConsequence(ranks []int) bool {
	return a.root == nil && !slices.ContainsFunc(a.of(failures...), func(e *watchdog.Event) bool {
		return !slices.Contains(ranks, e.Rank)
	})
}

func subset(part, of []int) bool {
	return !slices.ContainsFunc(part, func(rank int) bool { return !slices.Contains(of, rank) })
}

func (a *job) setDied(ranks hangs.Ranks, how hangs.Death, sure hangs.Confidence) {
	fact := hangs.RankDied{Ranks: ranks, Host: a.host(ranks), How: how, Confidence: sure}
	call := a.root.call()
	if c := a.root; c != nil {
		fact.Call = &call
		if subset(c.culprits, ranks) {
			fact.Last = hangs.Number(c.last)
		}
	}
	a.set(fact, ranks, call, sure)
}

// barrierMissed is the verdict of monitored_barrier: rank 0's list counts.
func (a *analysis) barrierMissed() bool {
	all := a.of(watchdog.Barrier)
	if len(all) == 0 {
		return false
	}
	e := all[max(0, slices.IndexFunc(all, func(e *watchdog.Event) bool { return e.Rank == 0 }))]
	ranks := unique(e.Ranks)
	a.note(placeOf(e), hangs.BarrierMissed{Ranks: ranks, Text: e.Text})
	a.setMissing(hangs.RankMissing{
		Ranks: ranks, Call: hangs.Call{Operation: "monitored_barrier"}, Confidence: likely,
	})
	return true
}

// sizeRefused is the verdict of Gloo's check alone: it shows that sizes differ, and not whose is wrong.
func (a *analysis) sizeRefused() bool {
	all := a.of(watchdog.WrongSize)
	if len(all) == 0 {
		return false
	}
	call := a.root.call()
	a.set(hangs.SizeMismatch{Sequence: call.Sequence, Group: call.Group, Confidence: unclear},
		ranksOf(a.of(failures...)), call, unclear)
	for _, e := range all {
		a.note(placeOf(e), hangs.SizeRefused{Rank: e.Rank, Received: e.In, Expected: e.Out})
	}
	a.doubt(hangs.EvenSplit{})
	return true
}

// taskDied is the verdict that a task of Slurm ended whose ranks are unknown.
func (a *analysis) taskDied() bool {
	ended := a.tasks(watchdog.Death)
	if len(ended) == 0 || worldOf(a.Dumps) != nil && len(a.lacking()) == 0 || a.tasksAreRanks() {
		return false
	}
	name := func(e *watchdog.Event) string { return fmt.Sprintf("task %d on %s", e.Rank, e.Host) }
	e := ended[0]
	call := a.root.call()
	a.set(hangs.RankDied{
		Ranks: hangs.Ranks{}, Task: name(e), How: hangs.Death(e.Reason), Call: &call, Confidence: likely,
	}, nil, call, likely)
	for _, e := range ended {
		a.note(placeOf(e), hangs.TaskEnded{Task: name(e), How: hangs.Death(e.Reason), Text: e.Text})
	}
	a.observe(a.root)
	return true
}

// diedSilently is the verdict that a rank, or ranks of a task, ended without a message: others lost a connection, and
// it alone left neither a dump nor an error.
func (a *analysis) diedSilently() bool {
	if a.taskDied() {
		return true
	}
	if len(ranksOf(a.of(watchdog.Closed))) == 0 || len(a.of(watchdog.Timeout, watchdog.Transfer)) > 0 {
		return false // ranks that time out close connections, too
	}
	var silent hangs.Ranks
	for _, log := range a.lines.logs {
		rank := log.Rank
		if rank < 0 || a.root != nil && !slices.Contains(a.root.absent, rank) {
			continue
		}
		if !a.failedRank[rank] && a.dump(rank) == nil {
			silent = append(silent, rank)
		}
	}
	if silent = unique(silent); len(silent) == 0 {
		return false
	}
	sure := likely
	if len(silent) > 1 {
		sure = unclear
	}
	a.setDied(silent, hangs.Silent, sure)
	for _, rank := range silent {
		for _, log := range a.lines.logs {
			if log.Rank == rank && log.LastLine > 0 {
				a.note(notice.Location{File: log.File, Line: log.LastLine},
					hangs.SilentEnd{Rank: rank, Text: log.LastText})
			}
		}
	}
	a.observe(a.root)
	return true
}

// dump is the dump of a rank; nil if it has none.
func (a *job) dump(rank int) *evidence.Dump {
	i := slices.IndexFunc(a.Dumps, func(d *evidence.Dump) bool { return d.Rank == rank })
	if i < 0 {
		return nil
	}
	return a.Dumps[i]
}

// addOthers adds what else hangs, and lines that the verdict does not explain.
func (a *analysis) addOthers() {
	for _, c := range a.consequences {
		a.note(notice.Location{}, hangs.Consequence(c.waits()))
	}
	for _, c := range a.independent {
		a.doubt(hangs.Independent(c.waits()))
	}
	for _, e := range a.of(watchdog.Stuck) {
		a.note(placeOf(e), hangs.WatchdogStuck{Ranks: ranksOf([]*watchdog.Event{e}), Text: e.Text})
	}
	if a.root != nil {
		a.doubtRings(a.root.absent)
	}
}

// waits is who waits in what.
func (c *candidate) waits() hangs.Entered {
	return hangs.Entered{Ranks: c.entered(), Call: c.entering()}
}

// doubtStates adds where the kernel started on some ranks only.
func (a *analysis) doubtStates(c *candidate) {
	var started, scheduled hangs.Ranks
	for _, rank := range c.waiting {
		switch e := c.entry(rank); {
		case e == nil:
		case e.State > 0:
			started = append(started, rank)
		default:
			scheduled = append(scheduled, rank)
		}
	}
	if len(started) > 0 && len(scheduled) > 0 {
		a.doubt(hangs.QueuedBehind{Started: started, Scheduled: scheduled})
	}
}
