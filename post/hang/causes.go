package hang

import (
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/hangs"
	"busbar/internal/units"
	"busbar/post/hang/stack"
	"busbar/post/hang/watchdog"
)

func secondsOf(s float64) units.Seconds { return units.Seconds(s) }

// isLibrary reports whether a file is of Python or an installed package.
func isLibrary(file string) bool {
	return strings.Contains(file, "site-packages/") || strings.Contains(file, "dist-packages/") ||
		strings.Contains(file, "/lib/python") || strings.HasPrefix(file, "<frozen ") || !strings.HasPrefix(file, "/") &&
		(strings.HasPrefix(file, "torch/") || filepath.Base(file) == "threading.py")
}

// rankOfProcess is the rank of a process: of the file's name, or of NCCL's log by the PID; -1 if unknown.
func (a *job) rankOfProcess(p *stack.Process) int {
	if a.NCCL != nil && p.PID > 0 {
		found := -1
		for _, known := range a.NCCL.Processes {
			if known.PID == p.PID && len(known.Ranks) == 1 {
				if found >= 0 { // of two hosts
					return p.Rank
				}
				found = known.Ranks[0]
			}
		}
		if found >= 0 {
			return found
		}
	}
	return p.Rank
}

// corroborated reports whether something beside the dumps shows that ranks are missing, because a dump may have been
// taken before they entered: their own watchdog, or a log without an error where all others failed.
func (a *analysis) corroborated(c *candidate) bool {
	confirmed := map[int]bool{}
	for _, e := range a.of(watchdog.Status) {
		confirmed[e.Rank] = confirmed[e.Rank] || e.Enqueued < c.seq
	}
	allFailed := !slices.ContainsFunc(c.entered(), func(rank int) bool { return !a.failed(rank) })
	for _, log := range a.lines.logs {
		if log.Rank >= 0 && allFailed && !a.failed(log.Rank) {
			confirmed[log.Rank] = true
		}
	}
	return !slices.ContainsFunc(c.culprits, func(rank int) bool { return !confirmed[rank] })
}

// deathOf maps the reasons of log lines.
var deathOf = map[watchdog.Reason]hangs.Death{
	watchdog.ByException: hangs.Exception, watchdog.BySignal: hangs.Signal, watchdog.ByMemory: hangs.OutOfMemory,
	"": hangs.Silent,
}

// died is the verdict that processes ended by themselves.
func (a *analysis) died() {
	var ranks hangs.Ranks
	for _, d := range a.dead {
		ranks = append(ranks, d.rank)
	}
	sure := hangs.Certain
	if len(ranks) > 1 || !a.final(a.dead[0]) || a.noConsequence(ranks) ||
		a.root != nil && a.root.kind == rankMissing && !subset(a.root.culprits, ranks) {
		sure = hangs.Likely
	}
	a.setDied(ranks, deathOf[a.dead[0].how], sure)
	for _, d := range a.dead {
		a.note(placeOf(d.at), hangs.ProcessEnded{Rank: d.rank, How: deathOf[d.how], Text: d.at.Text})
	}
	if a.root != nil {
		a.observe(a.root)
	} else {
		a.peers()
	}
	a.stacks(ranks)
}

// final reports whether a rank did nothing after its end: programs may catch exceptions and go on.
func (a *analysis) final(d death) bool {
	const lines = 8 // that Python and launchers print behind an exception
	for _, log := range a.lines.logs {
		if log.File == d.at.file && d.how == watchdog.ByException && d.at.Line+lines < log.LastLine {
			return false
		}
	}
	return !a.hasDump(d.rank)
}

// noConsequence reports whether nothing shows that other ranks waited for ranks.
func (a *analysis) noConsequence(ranks []int) bool {
	return a.root == nil && !slices.ContainsFunc(a.of(failures...), func(e event) bool {
		return !slices.Contains(ranks, e.Rank)
	})
}

func subset(part, of []int) bool {
	return !slices.ContainsFunc(part, func(rank int) bool { return !slices.Contains(of, rank) })
}

func (a *job) setDied(ranks hangs.Ranks, how hangs.Death, sure hangs.Confidence) {
	c := a.root
	fact := hangs.RankDied{Ranks: ranks, Host: a.host(ranks), How: how, Confidence: sure}
	if c != nil {
		call := c.call()
		fact.Call = &call
		if len(c.culprits) == 0 || subset(c.culprits, ranks) {
			fact.Last = hangs.Number(c.last)
		}
	}
	a.set(fact, verdictOf(c, ranks, sure))
}

// peers adds the lines of ranks that lost a connection or timed out.
func (a *job) peers() {
	if closed := a.of(watchdog.Closed); len(ranksOf(closed)) > 0 {
		a.note(placeOf(closed[0]), hangs.PeerClosed{Ranks: ranksOf(closed), Text: closed[0].Text})
	}
	if late := a.of(watchdog.Timeout, watchdog.Transfer); len(ranksOf(late)) > 0 {
		a.note(placeOf(late[0]), hangs.TimedOut{Ranks: ranksOf(late), Text: late[0].Text})
	}
}

// barrierMissed is the verdict of monitored_barrier: rank 0's list counts.
func (a *analysis) barrierMissed() bool {
	all := a.of(watchdog.Barrier)
	if len(all) == 0 {
		return false
	}
	e := all[0]
	for _, other := range all {
		if other.Rank == 0 {
			e = other
			break
		}
	}
	ranks := slices.Sorted(slices.Values(e.Ranks))
	a.set(hangs.RankMissing{Ranks: ranks, Host: a.host(ranks), Call: hangs.Call{Operation: "monitored_barrier"},
		Confidence: hangs.Likely}, Verdict{Ranks: ranks, Collective: "monitored_barrier", Confidence: hangs.Likely})
	a.note(placeOf(e), hangs.BarrierMissed{Ranks: ranks, Text: e.Text})
	a.stacks(ranks)
	return true
}

// sizeRefused is the verdict of Gloo's check alone: it shows that sizes differ, and not whose is wrong.
func (a *analysis) sizeRefused() bool {
	all := a.of(watchdog.WrongSize)
	if len(all) == 0 {
		return false
	}
	ranks := ranksOf(a.of(failures...))
	v := verdictOf(a.root, ranks, hangs.Unclear)
	fact := hangs.SizeMismatch{Confidence: hangs.Unclear}
	if c := a.root; c != nil {
		fact.Sequence, fact.Group = hangs.Number(c.seq), c.group.title()
	}
	a.set(fact, v)
	for _, e := range all {
		a.note(placeOf(e), hangs.SizeRefused{Rank: e.Rank, Received: e.In, Expected: e.Out})
	}
	a.doubt(hangs.EvenSplit{})
	return true
}

// diedSilently is the verdict that a rank ended without a message: others lost a connection, and it alone left neither
// a dump nor an error.
func (a *analysis) diedSilently() bool {
	lost := ranksOf(a.of(watchdog.Closed))
	if len(lost) == 0 {
		return false
	}
	var candidates []int
	switch c := a.root; {
	case c != nil:
		candidates = c.absent
	default:
		for _, log := range a.lines.logs {
			if log.Rank >= 0 {
				candidates = append(candidates, log.Rank)
			}
		}
	}
	var silent hangs.Ranks
	for _, rank := range candidates {
		if !a.failed(rank) && !a.hasDump(rank) {
			silent = append(silent, rank)
		}
	}
	slices.Sort(silent)
	silent = slices.Compact(silent)
	if len(silent) == 0 {
		return false
	}
	sure := hangs.Likely
	if len(silent) > 1 {
		sure = hangs.Unclear
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
	if a.root != nil {
		a.observe(a.root)
	} else {
		a.peers()
	}
	return true
}

func (a *job) hasDump(rank int) bool {
	for _, d := range a.Dumps {
		if d.Rank == rank {
			return true
		}
	}
	return false
}

// addOthers adds what else hangs, and lines that the verdict does not explain.
func (a *analysis) addOthers() {
	of := func(c *candidate) (hangs.Ranks, hangs.Call) {
		ranks := slices.Sorted(slices.Values(c.entered()))
		if len(c.sides) > 0 {
			return ranks, c.named(c.sides[0].call)
		}
		return ranks, c.call()
	}
	for _, c := range a.consequences {
		ranks, call := of(c)
		a.note(notice.Location{}, hangs.Consequence{Ranks: ranks, Call: call})
	}
	for _, c := range a.independent {
		ranks, call := of(c)
		a.doubt(hangs.Independent{Ranks: ranks, Call: call})
	}
	for _, e := range a.of(watchdog.Stuck) {
		a.note(placeOf(e), hangs.WatchdogStuck{Ranks: ranksOf([]event{e}), Text: e.Text})
	}
	var lost hangs.Ranks
	for _, d := range a.Dumps {
		if c := a.root; c != nil && d.Lost && slices.Contains(c.absent, d.Rank) {
			lost = append(lost, d.Rank)
		}
	}
	if len(lost) > 0 {
		a.doubt(hangs.RingLost{Ranks: lost})
	}
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
