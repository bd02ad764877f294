package hang

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/hangs"
	"busbar/internal/notice/nccllogs"
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
	var ranks, dead hangs.Ranks
	var call hangs.Call
	host := ""
	switch cause := own.Cause.(type) {
	case notice.RankGone:
		dead, host, call.Operation = hangs.Ranks{cause.Rank}, cause.Host, cause.During.Case
	case notice.RunHung:
		for _, r := range cause.Ranks {
			ranks = append(ranks, r.Rank)
			host, call.Operation = cmp.Or(host, r.Host), cmp.Or(call.Operation, r.Case)
			if r.Standing == notice.StandingGone {
				dead = append(dead, r.Rank)
			}
		}
	}
	switch {
	case len(dead) > 0:
		a.set(hangs.RankDied{Ranks: dead, Host: host, How: hangs.Silent, Call: &call, Confidence: hangs.Certain}, dead,
			call, hangs.Certain)
	case len(ranks) > 0:
		a.setMissing(hangs.RankMissing{Ranks: ranks, Host: host, Call: call, Confidence: hangs.Certain})
	default:
		a.set(hangs.AllWaiting{Call: call, Confidence: hangs.Likely}, nil, call, hangs.Likely)
	}
	return true
}

// rasComm is a communicator in an answer of RAS.
type rasComm struct {
	*nccllog.RASComm
	answer int
	dead   bool // RAS considers lost ranks dead, and not only slow to answer
	at     notice.Location
}

// comms are the communicators of all answers of RAS.
func (a library) comms() (all []rasComm) {
	if a.NCCL == nil {
		return nil
	}
	for i := range a.NCCL.RAS {
		answer := &a.NCCL.RAS[i]
		for j := range answer.Comms {
			c := &answer.Comms[j]
			dead := slices.ContainsFunc(c.States, func(s nccllogs.RankState) bool { return s.State == "DEAD" }) ||
				slices.ContainsFunc(answer.Problems, func(p string) bool { return strings.HasPrefix(p, "DEAD") })
			all = append(all, rasComm{c, i, dead, notice.Location{File: a.NCCL.Files[answer.File].Path}})
		}
	}
	return all
}

// lost is the verdict that RAS cannot reach ranks; with dead, only of ranks that it considers dead.
func (a library) lost(dead bool) bool {
	for _, c := range a.comms() {
		var ranks hangs.Ranks
		for _, s := range c.States {
			if s.State == "DEAD" || s.State == "UNRESPONSIVE" || strings.Contains(s.State, "missing") {
				ranks = append(ranks, s.Ranks...)
			}
		}
		if ranks = unique(ranks); len(ranks) == 0 || dead && !c.dead {
			continue
		}
		sure := hangs.Unclear // it may only be slow to answer
		if c.dead {
			sure = hangs.Likely
		}
		a.setDied(ranks, hangs.Unreachable, sure)
		a.note(c.at, hangs.RASLost{Communicator: c.ID, Ranks: ranks})
		a.noteLines(nil)
		return true
	}
	return false
}

// countsOf are the counts of one collective, the fewest calls first.
func (c rasComm) countsOf(name string) []nccllogs.CallCount {
	all := slices.DeleteFunc(slices.Clone(c.Counts), func(n nccllogs.CallCount) bool { return n.Name != name })
	slices.SortStableFunc(all, func(x, y nccllogs.CallCount) int { return cmp.Compare(x.Calls, y.Calls) })
	return all
}

// behind is the verdict that some ranks launched fewer calls of a collective, by the newest answer of RAS.
func (a library) behind() bool {
	all := a.comms()
	slices.SortStableFunc(all, func(x, y rasComm) int { return y.answer - x.answer })
	for _, c := range all {
		var behind, ahead []int
		var differ []string
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
		}
		if len(differ) > 0 {
			a.setBehind(c, differ[0], unique(behind), unique(ahead), a.unchanged(c))
			return true
		}
	}
	return false
}

func (a library) setBehind(c rasComm, operation string, behind, ahead []int, twice bool) {
	sure := hangs.Likely
	if !twice {
		sure = hangs.Unclear
		a.doubt(hangs.OneSnapshot{})
	}
	if len(behind) == 0 {
		sure = hangs.Unclear
		a.doubt(hangs.CountsUnlisted{Communicator: c.ID})
	}
	call := hangs.Call{Operation: operation, Group: c.ID}
	if slices.ContainsFunc(behind, func(rank int) bool { return slices.Contains(ahead, rank) }) { // by collective
		a.set(hangs.CollectiveMismatch{Group: c.ID, Sides: hangs.Sides{
			{Ranks: behind, Call: hangs.Call{Operation: "fewer " + operation}},
		}, Confidence: hangs.Unclear}, behind, call, hangs.Unclear)
		return
	}
	if len(behind) > len(ahead) && len(ahead) > 0 {
		a.doubt(hangs.MostMissing{Entered: ahead})
	}
	a.setMissing(hangs.RankMissing{Ranks: behind, Call: call, Waiting: ahead, Confidence: sure})
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
		sure := hangs.Likely
		if s.Doubt != nil {
			sure = hangs.Unclear
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
		sure = hangs.Unclear
		a.doubt(hangs.EvenSplit{})
	}
	a.set(hangs.CollectiveMismatch{Sides: sides, Sequence: call.Sequence, Group: call.Group, Confidence: sure}, ranks,
		call, sure)
	a.ncclFindings(func(n notice.Notice) bool { return n.Code() == "ranks-disagree" })
}

// ncclFindings adds what NCCL's log has.
func (a *job) ncclFindings(add func(notice.Notice) bool) {
	if a.NCCL == nil {
		return
	}
	for _, n := range a.NCCL.Findings() {
		if add(n) {
			a.found.Evidence = append(a.found.Evidence, n)
		}
	}
}

// isError reports whether a notice may be the cause where all ranks wait.
func isError(n notice.Notice) bool { return n.Severity == notice.Error }
