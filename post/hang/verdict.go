// Package hang finds out which rank hung a job, and why, from what it leaves: dumps of the Flight Recorder, lines of
// logs, NCCL's RAS, stacks. It returns a verdict with its evidence, and what contradicts it.
package hang

import (
	"cmp"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/hangs"
	"busbar/internal/units"
	"busbar/post/hang/evidence"
	"busbar/post/hang/stack"
	"busbar/post/hang/watchdog"
	"busbar/post/nccllog"
)

// How sure a verdict is.
const (
	certain = hangs.Certain
	likely  = hangs.Likely
	unclear = hangs.Unclear
)

// Verdict is the cause in the form of the JSON.
type Verdict struct {
	Code       string           `json:"code"`
	Ranks      []int            `json:"ranks"`
	Group      string           `json:"group"`
	Collective string           `json:"collective"`
	Sequence   int64            `json:"sequence"`
	Confidence hangs.Confidence `json:"confidence"`
}

// Evidence is what was read of one job.
type Evidence struct {
	Dumps  []*evidence.Dump // one for each rank
	Logs   []*watchdog.Log
	Stacks []stack.Process
	NCCL   *nccllog.Log // nil: nothing of NCCL
	Own    []Own        // results of busbar's own runs
	Folder string       // of all files, with its separator
}

// Finding is the verdict with all that belongs to it.
type Finding struct {
	Verdict        Verdict
	Cause          notice.Fact
	Evidence       []notice.Notice
	Contradictions []notice.Notice
	Stacks         []RankStack // of the ranks of the verdict
	Folder         string      // of all files, with its separator
	Calls          []Column    // the last collectives of the group, oldest first
}

// RankStack is where a rank was, or from where it called.
type RankStack struct {
	Rank   int
	Source string // file
	Calls  bool   // the stack is that of its last collective, not of the time of the dump
	Frames []evidence.Frame
}

// job is what is known of a job, and what is found.
type job struct {
	Evidence
	lines
	root  *candidate // that the others are consequences of; nil for none
	found Finding
}

// analysis is the rules that find a verdict.
type analysis struct {
	job
	consequences []*candidate
	independent  []*candidate
	cycle        bool
	dead         []*watchdog.Event
}

// Analyze finds the cause.
func Analyze(of Evidence) *Finding {
	a := &analysis{job: job{Evidence: of, lines: lines{logs: of.Logs}}}
	a.groups = a.attach(groupsOf(of.Dumps))
	var all []*candidate
	for _, g := range a.groups {
		if c := g.judge(); c != nil {
			all = append(all, c)
		}
		all = append(all, g.judgeP2P()...)
	}
	a.root, a.consequences, a.independent, a.cycle = choose(all)
	a.dead = a.deaths()
	a.decide()
	a.addOthers()
	a.found.Calls, a.found.Folder = a.columns(), of.Folder
	a.found.Verdict.Ranks = append([]int{}, a.found.Verdict.Ranks...)
	slices.Sort(a.found.Verdict.Ranks)
	return &a.found
}

// decide tries the causes, the most specific first.
func (a *analysis) decide() {
	nccl := library{&a.job}
	switch c := a.root; {
	case a.cycle && len(a.independent) > 0:
		a.deadlock()
	case c != nil && (c.kind == otherCollective || c.kind == otherSize || c.kind == otherTimeouts):
		a.mismatch(c)
	case len(a.dead) > 0:
		a.died()
	case c != nil && c.kind == rankMissing:
		a.missing(c)
	case a.barrierMissed(), a.sizeRefused(), a.diedSilently(), nccl.lost(true):
	case c != nil && c.kind == allEntered && c.group.members != nil:
		a.allEntered(c)
	case nccl.lost(false), nccl.behind(), nccl.fromCalls(), nccl.fromOwn():
	case a.clean():
	default:
		a.insufficient(c)
	}
}

// set keeps the verdict and its fact.
func (a *job) set(fact notice.Fact, ranks []int, call hangs.Call, sure hangs.Confidence) {
	a.found.Cause = fact
	a.found.Verdict = Verdict{hangs.VerdictCode(fact), ranks, call.Group, call.Operation, int64(call.Sequence), sure}
}

// setMissing keeps the verdict that ranks are missing, and adds where they were.
func (a *job) setMissing(fact hangs.RankMissing) {
	fact.Host = cmp.Or(fact.Host, a.host(fact.Ranks))
	a.set(fact, fact.Ranks, fact.Call, fact.Confidence)
	a.stacks(fact.Ranks)
}

// call is what most ranks called; an empty call without a candidate.
func (c *candidate) call() hangs.Call {
	if c == nil {
		return hangs.Call{}
	}
	out := c.entering()
	if c.p2p && c.kind == rankMissing { // what the peer did not call
		out.Operation = map[string]string{"send": "recv", "recv": "send"}[out.Operation]
	}
	return out
}

// entering is what most ranks wait in.
func (c *candidate) entering() hangs.Call {
	if len(c.sides) == 0 {
		return c.named(nil)
	}
	return c.named(c.sides[0].call)
}

// named is a call of the candidate's group with its number.
func (c *candidate) named(call *evidence.Call) hangs.Call {
	out := callOf(call, c.seq)
	out.Group = c.group.title()
	return out
}

func callOf(call *evidence.Call, seq int64) hangs.Call {
	out := hangs.Call{Sequence: hangs.Number(seq)}
	if call == nil {
		return out
	}
	out.Operation, out.Type = call.Op, call.Type()
	if call.In != nil || call.Out != nil {
		out.Elements = new(call.Elements())
	}
	return out
}

// complete reports whether all members of the candidate's group are known and have evidence.
func (c *candidate) complete() bool {
	return c.group.members != nil && len(c.absent) == 0 && len(c.stale) == 0
}

// missing is the verdict that ranks never entered.
func (a *analysis) missing(c *candidate) {
	sure, waiting := likely, c.entered()
	a.observe(c)
	counted := library{&a.job}.noteMissing(c)
	switch {
	case len(c.waiting) == 0 && c.late == 0, len(c.culprits) > len(waiting), !named(c):
		sure = unclear
	case c.late == 0 && c.complete() && !c.p2p && len(a.independent) == 0 && (counted || a.corroborated(c)):
		sure = certain
	}
	if c.late > 0 {
		waiting = slices.DeleteFunc(waiting, func(rank int) bool { return rank == c.culprits[0] })
	}
	a.setMissing(hangs.RankMissing{
		Ranks: c.culprits, Call: c.call(), Waiting: waiting, Last: lastCommon(c),
		NotNetwork: sure == certain, Confidence: sure,
	})
}

// named reports whether the group of a candidate is known: lines of watchdogs may name none, or a number of their own.
func named(c *candidate) bool {
	return c.group.members != nil || !c.group.numbered && c.group.title() != ""
}

func lastCommon(c *candidate) hangs.Number {
	if c == nil || c.p2p || len(c.absent) > 0 {
		return 0
	}
	return hangs.Number(c.last)
}

// mismatch is the verdict that calls differ.
func (a *analysis) mismatch(c *candidate) {
	sure := certain
	switch {
	case c.tie:
		sure = unclear
		a.doubt(hangs.EvenSplit{})
	case !named(c), c.kind == otherTimeouts:
		sure = unclear
	case !c.complete(), c.shift != nil, len(a.independent) > 0, len(c.finished) > 0, c.apart():
		sure = likely
	case c.kind == otherSize && len(a.of(watchdog.WrongSize)) == 0:
		sure = likely
		a.doubt(hangs.MinorityOnly{})
	}
	fact := hangs.CollectiveMismatch{
		Sequence: hangs.Number(c.seq), Group: c.group.title(), Last: lastCommon(c),
		NotNetwork: sure == certain, Confidence: sure,
	}
	for _, s := range c.sides {
		fact.Sides = append(fact.Sides, hangs.Side{Ranks: s.ranks, Call: callOf(s.call, s.seq)})
	}
	if c.kind == otherSize {
		a.set(hangs.SizeMismatch(fact), c.culprits, c.call(), sure)
	} else {
		a.set(fact, c.culprits, c.call(), sure)
	}
	a.observe(c)
	if c.shift != nil {
		a.note(a.at(c.culprits[0], c.seq), hangs.Skipped{
			Ranks: c.culprits, Call: callOf(c.shift.call, c.seq), Calls: c.shift.calls,
			Extra: c.shift.extra,
		})
	}
	a.stacks(c.culprits)
}

// deadlock is the verdict that ranks wait for each other in several groups.
func (a *analysis) deadlock() {
	var sides hangs.Sides
	var ranks []int
	for _, c := range slices.Concat([]*candidate{a.root}, a.independent) {
		sides = append(sides, hangs.Side{Ranks: c.entered(), Call: c.entering()})
		ranks = append(ranks, c.entered()...)
		a.observe(c)
	}
	a.set(hangs.CollectiveMismatch{Sides: sides, Confidence: unclear}, unique(ranks), a.root.entering(),
		unclear)
	a.independent = nil
}

// allEntered is the verdict that nobody is missing.
func (a *analysis) allEntered(c *candidate) {
	sure := likely
	if !c.complete() || len(c.finished) > 0 || len(c.ended) > 0 || c.apart() {
		sure = unclear
	}
	call := c.call()
	a.set(hangs.AllWaiting{Ranks: c.entered(), Call: call, Last: lastCommon(c), Confidence: sure},
		nil, call, sure) // no rank differs from the others
	a.observe(c)
	a.doubtStates(c)
	a.ncclFindings(isError)
}

// insufficient is the verdict that nothing is decided.
func (a *analysis) insufficient(c *candidate) {
	fact := hangs.InsufficientEvidence{Confidence: unclear}
	call := c.call()
	switch {
	case c == nil:
	case c.kind == allEntered:
		fact.Known = &hangs.WaitsIn{Ranks: c.entered(), Call: call}
	default:
		fact.Absent, fact.Call, fact.Last = c.absent, &call, lastCommon(c)
	}
	if c != nil && c.p2p { // a ring may have lost what would show whether sends have their receives
		a.doubtRings(c.entered())
	}
	a.set(fact, nil, call, unclear)
	a.observe(c)
	a.ncclFindings(isError)
}

// doubtRings adds those of the ranks whose rings lost entries.
func (a *analysis) doubtRings(ranks []int) {
	lost := units.Where(ranks, func(rank int) bool {
		d := a.dump(rank)
		return d != nil && d.Lost
	})
	if len(lost) > 0 {
		a.doubt(hangs.RingLost{Ranks: lost})
	}
}

// clean is the verdict that nothing hung: all members have a dump, and nothing failed.
func (a *analysis) clean() bool {
	if a.root != nil || len(a.Dumps) == 0 || len(a.of(append(failures, watchdog.Stuck)...)) > 0 {
		return false
	}
	var ranks, unsure []int
	sure := certain
	for _, d := range a.Dumps {
		ranks = append(ranks, d.Rank)
		if !d.Events {
			sure = likely
		}
	}
	for _, g := range a.groups {
		if g.members == nil || !subset(g.members, ranks) {
			return false
		}
		for _, rank := range g.ranks() {
			t := g.tracks[rank]
			switch {
			case t.blind():
				sure = unclear
			case sure == certain && t.furthest() != g.tracks[g.ranks()[0]].furthest():
				sure = likely // dumps of different times
			}
			if n := len(t.slots); n > 0 && t.progress(&t.slots[n-1]) == Ended && len(a.Logs) == 0 {
				unsure = append(unsure, rank)
			}
		}
	}
	if len(unsure) > 0 {
		sure = unclear
		a.doubt(hangs.RetiredUnknown{Ranks: unique(unsure)})
	}
	if a.ncclFindings(isError) {
		sure = unclear
	}
	a.set(hangs.NoHang{Ranks: unique(ranks), Confidence: sure}, nil, hangs.Call{}, sure)
	return true
}

// unique sorts numbers and drops equal ones.
func unique[S ~[]int](all S) S {
	slices.Sort(all)
	return slices.Compact(all)
}

// host is the host of a single rank, by NCCL's log.
func (a *job) host(ranks []int) string {
	if len(ranks) != 1 || a.NCCL == nil {
		return ""
	}
	for _, p := range a.NCCL.Processes {
		if slices.Contains(p.Ranks, ranks[0]) {
			return p.Host
		}
	}
	return ""
}
