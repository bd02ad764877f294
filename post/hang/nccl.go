package hang

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/hangs"
	"busbar/internal/notice/nccllogs"
	"busbar/internal/units"
	"busbar/post/nccllog"
)

// Own is how one of busbar's own runs ended: with notice.RunHung or notice.RankGone.
type Own struct {
	File  string
	Cause notice.Fact
}

// library is what NCCL, or busbar itself, reports of a job.
type library struct{ *job }

// fromOwn is the verdict of a run's own diagnosis.
func (a library) fromOwn() bool {
	if len(a.Own) == 0 {
		return false
	}
	own := a.Own[len(a.Own)-1]
	defer a.note(notice.Location{File: own.File}, own.Cause)
	if gone, is := own.Cause.(notice.RankGone); is {
		a.ownDied(hangs.Ranks{gone.Rank}, gone.Host, gone.During.Case)
		return true
	}
	hung, _ := own.Cause.(notice.RunHung)
	var ranks, dead hangs.Ranks
	var call hangs.Call
	hosts := map[int]string{}
	for _, r := range hung.Ranks {
		ranks, hosts[r.Rank] = append(ranks, r.Rank), r.Host
		call.Operation = cmp.Or(call.Operation, r.Case)
		if r.Standing == notice.StandingGone {
			dead = append(dead, r.Rank)
		}
	}
	host := func(of hangs.Ranks) string {
		if len(of) == 1 {
			return hosts[of[0]]
		}
		return ""
	}
	switch {
	case len(dead) > 0:
		a.ownDied(dead, host(dead), call.Operation)
	case len(ranks) > 0:
		a.setMissing(hangs.RankMissing{Ranks: ranks, Host: host(ranks), Call: call, Confidence: certain})
	default:
		a.set(hangs.AllWaiting{Call: call, Confidence: likely}, nil, call, likely)
	}
	return true
}

func (a library) ownDied(ranks hangs.Ranks, host, operation string) {
	call := hangs.Call{Operation: operation}
	a.set(hangs.RankDied{Ranks: ranks, Host: host, How: hangs.Silent, Call: &call, Confidence: certain}, ranks,
		call, certain)
}

// rasComm is a communicator in an answer of RAS.
type rasComm struct {
	*nccllog.RASComm
	answer int
	world  *nccllog.RASComm // the communicator of all GPUs in this answer; nil for none
	dead   bool             // RAS considers lost ranks dead, and not only slow to answer
	at     notice.Location
}

// comms are the communicators of all answers of RAS.
func (a library) comms() (all []rasComm) {
	if a.NCCL == nil {
		return nil
	}
	for i := range a.NCCL.RAS {
		answer := &a.NCCL.RAS[i]
		var world *nccllog.RASComm
		for c := range units.Each(answer.Comms) {
			if world == nil && c.ID != "" && c.Ranks >= max(answer.GPUs, 1) {
				world = c
			}
		}
		for c := range units.Each(answer.Comms) {
			dead := slices.ContainsFunc(c.States, func(s nccllogs.RankState) bool { return s.State == "DEAD" }) ||
				slices.ContainsFunc(answer.Problems, func(p string) bool { return strings.HasPrefix(p, "DEAD") })
			all = append(all, rasComm{c, i, world, dead, notice.Location{File: a.NCCL.Files[answer.File].Path}})
		}
	}
	return all
}

// global are the global ranks of ranks of the communicator: those of the same GPUs in the communicator of the whole
// job. None are returned if one is unknown.
func (c rasComm) global(ranks []int) (all hangs.Ranks) {
	if c.world == nil {
		return nil
	}
	if c.Ranks == c.world.Ranks {
		return hangs.Ranks(ranks)
	}
	of := map[string]int{}
	for rank, gpu := range c.world.GPUs {
		of[gpu] = rank
	}
	for _, rank := range ranks {
		global, known := of[c.GPUs[rank]]
		if !known || c.GPUs[rank] == "" {
			return nil
		}
		all = append(all, global)
	}
	return unique(all)
}

// lost is the verdict that RAS cannot reach ranks; with dead, only of ranks that it considers dead and whose global
// number is known.
func (a library) lost(dead bool) bool {
	var unnamed *rasComm
	for _, c := range a.comms() {
		ranks := c.lostRanks()
		if len(ranks) == 0 || dead && !c.dead {
			continue
		}
		named := c.global(ranks)
		if len(named) == 0 {
			unnamed = cmp.Or(unnamed, &c)
			continue
		}
		sure := unclear // it may only be slow to answer
		if c.dead {
			sure = likely
		}
		a.setDied(named, hangs.Unreachable, sure)
		a.noteLost(c)
		return true
	}
	if unnamed == nil || dead {
		return false
	}
	a.unnamed(hangs.Call{Group: unnamed.ID})
	a.noteLost(*unnamed)
	return true
}

func (c rasComm) lostRanks() (ranks hangs.Ranks) {
	for _, s := range c.States {
		if s.State == "DEAD" || s.State == "UNRESPONSIVE" || strings.Contains(s.State, "missing") {
			ranks = append(ranks, s.Ranks...)
		}
	}
	return unique(ranks)
}

func (a library) noteLost(c rasComm) {
	a.note(c.at, hangs.RASLost{Communicator: c.ID, Ranks: c.lostRanks()})
	a.noteLines(nil)
}

// countsOf are the counts of one collective, the fewest calls first.
func (c rasComm) countsOf(name string) []nccllogs.CallCount {
	all := units.Where(c.Counts, func(n nccllogs.CallCount) bool { return n.Name == name })
	units.SortBy(all, func(n nccllogs.CallCount) int64 { return n.Calls })
	return all
}

// behind is the verdict that some ranks launched fewer calls of a collective, by the newest answer of RAS.
func (a library) behind() bool {
	all := a.comms()
	units.SortBy(all, func(c rasComm) int { return -c.answer })
	for _, c := range all {
		var behind, ahead []int
		var differ []string
		var sides hangs.Sides
		for _, n := range c.Counts {
			counts := c.countsOf(n.Name)
			least, most := counts[0], counts[len(counts)-1]
			if least.Calls == most.Calls || slices.Contains(differ, n.Name) {
				continue
			}
			differ = append(differ, n.Name)
			for _, n := range counts {
				a.noteCount(c, n)
			}
			behind, ahead = append(behind, least.Ranks...), append(ahead, most.Ranks...)
			sides = append(sides, hangs.Side{
				Ranks: c.global(least.Ranks), Call: hangs.Call{Operation: "fewer " + n.Name},
			})
		}
		if len(differ) > 0 {
			a.setBehind(c, differ[0], sides, unique(behind), unique(ahead))
			return true
		}
	}
	return false
}

// unnamed is the verdict that RAS shows which communicator hangs, and not which global ranks.
func (a library) unnamed(call hangs.Call) {
	a.set(hangs.InsufficientEvidence{Confidence: unclear}, nil, call, unclear)
}

func (a library) setBehind(c rasComm, operation string, sides hangs.Sides, local, aheadLocal []int) {
	sure := likely
	if !a.unchanged(c) {
		sure = unclear
		a.doubt(hangs.OneSnapshot{})
	}
	call := hangs.Call{Operation: operation, Group: c.ID}
	behind, ahead := c.global(local), c.global(aheadLocal)
	if len(behind) == 0 {
		if len(local) == 0 {
			a.doubt(hangs.CountsUnlisted{Communicator: c.ID})
		}
		a.unnamed(call)
		return
	}
	if slices.ContainsFunc(behind, func(rank int) bool { return slices.Contains(ahead, rank) }) { // by collective
		a.set(hangs.CollectiveMismatch{Group: c.ID, Sides: sides, Confidence: unclear}, behind, call,
			unclear)
		return
	}
	if len(behind) > len(ahead) && len(ahead) > 0 {
		a.doubt(hangs.MostMissing{Entered: ahead})
	}
	a.setMissing(hangs.RankMissing{Ranks: behind, Call: call, Waiting: hangs.Waiting(ahead), Confidence: sure})
}

// noteMissing adds the counts of RAS that show missing ranks behind, of a communicator as large as the job, and reports
// whether it has some.
func (a library) noteMissing(c *candidate) (found bool) {
	n := len(c.group.members)
	if n == 0 || c.group.members[n-1] != n-1 {
		return false
	}
	for _, comm := range a.comms() {
		for _, fewer := range comm.Counts {
			counts := comm.countsOf(fewer.Name)
			most := counts[len(counts)-1]
			if comm.Ranks == n && fewer.Calls < most.Calls && subset(c.culprits, fewer.Ranks) {
				a.noteCount(comm, fewer)
				a.noteCount(comm, most)
				found = true
			}
		}
	}
	return found
}

func (a library) noteCount(c rasComm, n nccllogs.CallCount) {
	if len(n.Ranks) == 0 {
		a.note(c.at, hangs.RASUnlisted{Communicator: c.ID, Operation: n.Name, Calls: n.Calls, Ranks: n.Many})
		return
	}
	a.note(c.at, hangs.RASCounts{Communicator: c.ID, Operation: n.Name, Calls: n.Calls, Ranks: hangs.Ranks(n.Ranks)})
}

// unchanged reports whether an earlier answer of RAS has the same counts.
func (a library) unchanged(c rasComm) bool {
	return slices.ContainsFunc(a.comms(), func(before rasComm) bool {
		return before.answer < c.answer && before.ID == c.ID && reflect.DeepEqual(before.Counts, c.Counts)
	})
}

// fromCalls is the verdict of NCCL's own log, if it has the calls of ranks (NCCL_DEBUG_SUBSYS=COLL).
func (a library) fromCalls() bool {
	if a.NCCL == nil {
		return false
	}
	for _, s := range a.NCCL.Sequences {
		call := hangs.Call{Group: a.NCCL.Communicators[s.Comm].Name}
		sure := likely
		if s.Doubt != nil {
			sure = unclear
		}
		if m := s.Mismatch; m != nil && len(m.Sides) > 0 {
			call.Sequence = hangs.Number(m.Number)
			a.mismatchInCalls(call, m, sure)
			return true
		}
		if len(s.Behind) > 0 {
			var ranks hangs.Ranks
			for _, b := range s.Behind {
				ranks = append(ranks, b.Rank)
			}
			a.ncclFindings(func(n notice.Notice) bool { return n.Code() == "ranks-stopped" })
			a.setMissing(hangs.RankMissing{Ranks: unique(ranks), Call: call, Confidence: sure})
			return true
		}
	}
	return false
}

func (a library) mismatchInCalls(call hangs.Call, m *nccllog.Mismatch, sure hangs.Confidence) {
	var sides hangs.Sides
	var of []side
	for _, s := range m.Sides {
		sides = append(sides, hangs.Side{Ranks: hangs.Ranks(s.Ranks), Call: hangs.Call{Operation: s.Call}})
		of = append(of, side{ranks: s.Ranks})
	}
	ranks, tie := minority(of)
	if tie {
		sure = unclear
		a.doubt(hangs.EvenSplit{})
	}
	a.set(hangs.CollectiveMismatch{Sides: sides, Sequence: call.Sequence, Group: call.Group, Confidence: sure}, ranks,
		call, sure)
	a.ncclFindings(func(n notice.Notice) bool { return n.Code() == "ranks-disagree" })
}

// ncclFindings adds what NCCL's log has, and reports whether it has any.
func (a *job) ncclFindings(add func(notice.Notice) bool) (found bool) {
	if a.NCCL == nil {
		return false
	}
	for _, n := range a.NCCL.Findings() {
		if add(n) {
			a.found.Evidence = append(a.found.Evidence, n)
			found = true
		}
	}
	return found
}

// isError reports whether a notice may be the cause where all ranks wait.
func isError(n notice.Notice) bool { return n.Severity == notice.Error }
