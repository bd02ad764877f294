package hang

import (
	"cmp"
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
	if gone, is := own.Cause.(notice.RankGone); is {
		a.ownDied(hangs.Ranks{gone.Rank}, gone.Host, gone.During.Case)
		return true
	}
	hung, _ := own.Cause.(notice.RunHung)
	var ranks, dead hangs.Ranks
	operation := ""
	for _, r := range hung.Ranks {
		ranks = append(ranks, r.Rank)
		operation = cmp.Or(operation, r.Case)
		if r.Standing == notice.StandingGone {
			dead = append(dead, r.Rank)
		}
	}
	v := Verdict{Ranks: ranks, Collective: operation, Confidence: hangs.Certain}
	call := hangs.Call{Operation: operation}
	switch {
	case len(dead) > 0:
		a.ownDied(dead, hung.Ranks[0].Host, operation)
	case len(ranks) > 0:
		a.set(hangs.RankMissing{Ranks: ranks, Host: hung.Ranks[0].Host, Call: call, Confidence: v.Confidence}, v)
	default:
		v.Confidence = hangs.Likely
		a.set(hangs.AllWaiting{Call: call, Confidence: v.Confidence}, v)
	}
	return true
}

func (a library) ownDied(ranks hangs.Ranks, host, operation string) {
	a.set(hangs.RankDied{
		Ranks: ranks, Host: host, How: hangs.Silent, Call: &hangs.Call{Operation: operation}, Confidence: hangs.Certain,
	}, Verdict{Ranks: ranks, Collective: operation, Confidence: hangs.Certain})
}

// fromRAS is the verdict of NCCL's RAS: ranks that it cannot reach if only is hangs.Unreachable, else also ranks that
// launched fewer calls.
func (a library) fromRAS(only hangs.Death) bool {
	if a.NCCL == nil {
		return false
	}
	for i := range a.NCCL.RAS {
		for j := range a.NCCL.RAS[i].Comms {
			c := &a.NCCL.RAS[i].Comms[j]
			if lost := lostRanks(c); len(lost) > 0 && (dead(&a.NCCL.RAS[i], c) || only == "") {
				sure := hangs.Likely
				if !dead(&a.NCCL.RAS[i], c) { // it may only be slow to answer
					sure = hangs.Unclear
				}
				a.setDied(lost, hangs.Unreachable, sure)
				a.note(a.rasPlace(i), hangs.RASLost{Communicator: c.ID, Ranks: lost})
				a.peers()
				return true
			}
		}
	}
	if only != "" {
		return false
	}
	for i := len(a.NCCL.RAS) - 1; i >= 0; i-- {
		for j := range a.NCCL.RAS[i].Comms {
			if a.behindInRAS(i, &a.NCCL.RAS[i].Comms[j]) {
				return true
			}
		}
	}
	return false
}

func (a library) rasPlace(i int) notice.Location {
	return notice.Location{File: a.NCCL.Files[a.NCCL.RAS[i].File].Path}
}

// lostRanks are the ranks of a communicator that did not answer.
func lostRanks(c *nccllog.RASComm) (all hangs.Ranks) {
	for _, s := range c.States {
		if s.State == "DEAD" || s.State == "UNRESPONSIVE" || strings.Contains(s.State, "missing") {
			all = append(all, s.Ranks...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// dead reports whether RAS considers lost ranks dead, and not only slow to answer.
func dead(answer *nccllog.RAS, c *nccllog.RASComm) bool {
	return slices.ContainsFunc(c.States, func(s nccllogs.RankState) bool { return s.State == "DEAD" }) ||
		slices.ContainsFunc(answer.Problems, func(p string) bool { return strings.HasPrefix(p, "DEAD") })
}

// behindInRAS is the verdict that some ranks launched fewer calls of a collective.
func (a library) behindInRAS(i int, c *nccllog.RASComm) bool {
	byName := map[string][]nccllogs.CallCount{}
	var names []string
	for _, n := range c.Counts {
		if byName[n.Name] == nil {
			names = append(names, n.Name)
		}
		byName[n.Name] = append(byName[n.Name], n)
	}
	var behind, ahead map[int]bool
	verdict := ""
	for _, name := range names {
		counts := byName[name]
		slices.SortFunc(counts, func(x, y nccllogs.CallCount) int { return cmp.Compare(x.Calls, y.Calls) })
		if len(counts) < 2 || counts[0].Calls == counts[len(counts)-1].Calls {
			continue
		}
		for _, n := range counts {
			a.found.Evidence = append(a.found.Evidence, a.rasCount(i, c, n))
		}
		if behind == nil {
			behind, ahead, verdict = map[int]bool{}, map[int]bool{}, name
		}
		for _, rank := range counts[0].Ranks {
			behind[rank] = true
		}
		for _, rank := range counts[len(counts)-1].Ranks {
			ahead[rank] = true
		}
	}
	if behind == nil {
		return false
	}
	a.setBehind(c, verdict, keys(behind), keys(ahead), a.unchanged(i, c))
	return true
}

func (a library) setBehind(c *nccllog.RASComm, operation string, behind, ahead []int, twice bool) {
	sure := hangs.Unclear
	if twice {
		sure = hangs.Likely
	} else {
		a.doubt(hangs.OneSnapshot{})
	}
	if len(behind) == 0 {
		sure = hangs.Unclear
		a.doubt(hangs.CountsUnlisted{Communicator: c.ID})
	}
	both := slices.ContainsFunc(behind, func(rank int) bool { return slices.Contains(ahead, rank) })
	v := Verdict{Ranks: behind, Group: c.ID, Collective: operation, Confidence: sure}
	if both { // behind in one collective, ahead in another
		v.Confidence = hangs.Unclear
		a.set(hangs.CollectiveMismatch{Group: c.ID, Sides: hangs.Sides{
			{Ranks: behind, Call: hangs.Call{Operation: "fewer " + operation}},
		}, Confidence: v.Confidence}, v)
		return
	}
	if len(behind) > len(ahead) && len(ahead) > 0 {
		a.doubt(hangs.MostMissing{Entered: ahead})
	}
	a.set(hangs.RankMissing{Ranks: behind, Host: a.host(behind), Call: hangs.Call{Operation: operation, Group: c.ID},
		Waiting: ahead, Confidence: sure}, v)
	a.stacks(behind)
}

// inRAS returns the counts of RAS that show missing ranks behind: those of a communicator as large as the job.
func (a library) inRAS(c *candidate) (all []notice.Notice) {
	if n := len(c.group.members); a.NCCL == nil || n == 0 || c.group.members[n-1] != n-1 {
		return nil
	}
	for i := range a.NCCL.RAS {
		for j := range a.NCCL.RAS[i].Comms {
			comm := &a.NCCL.RAS[i].Comms[j]
			if comm.Ranks != len(c.group.members) {
				continue
			}
			for _, n := range comm.Counts {
				most := slices.MaxFunc(comm.Counts, func(x, y nccllogs.CallCount) int {
					return cmp.Or(cmp.Compare(sameName(x, n), sameName(y, n)), cmp.Compare(x.Calls, y.Calls))
				})
				if n.Calls < most.Calls && subset(c.culprits, n.Ranks) {
					all = append(all, a.rasCount(i, comm, n), a.rasCount(i, comm, most))
				}
			}
		}
	}
	return all
}

func sameName(a, b nccllogs.CallCount) int {
	if a.Name == b.Name {
		return 1
	}
	return 0
}

func (a library) rasCount(i int, c *nccllog.RASComm, n nccllogs.CallCount) notice.Notice {
	counts := notice.New(hangs.RASCounts{
		Communicator: c.ID, Operation: n.Name, Calls: n.Calls, Ranks: hangs.Ranks(n.Ranks),
	})
	counts.At = a.rasPlace(i)
	return counts
}

// unchanged reports whether an earlier answer of RAS has the same counts.
func (a library) unchanged(i int, c *nccllog.RASComm) bool {
	for j := range i {
		for k := range a.NCCL.RAS[j].Comms {
			before := &a.NCCL.RAS[j].Comms[k]
			if before.ID == c.ID && slices.EqualFunc(before.Counts, c.Counts, func(x, y nccllogs.CallCount) bool {
				return x.Name == y.Name && x.Calls == y.Calls && slices.Equal(x.Ranks, y.Ranks)
			}) {
				return true
			}
		}
	}
	return false
}

func keys(set map[int]bool) (all []int) {
	for n := range set {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// fromCalls is the verdict of NCCL's own log, if it has the calls of ranks (NCCL_DEBUG_SUBSYS=COLL).
func (a library) fromCalls() bool {
	if a.NCCL == nil {
		return false
	}
	for _, s := range a.NCCL.Sequences {
		c := &a.NCCL.Communicators[s.Comm]
		sure := hangs.Likely
		if s.Doubt != nil {
			sure = hangs.Unclear
		}
		if m := s.Mismatch; m != nil && len(m.Sides) > 0 {
			a.mismatchInCalls(c, m, sure)
			return true
		}
		if len(s.Behind) > 0 {
			var ranks hangs.Ranks
			for _, b := range s.Behind {
				ranks = append(ranks, b.Rank)
			}
			slices.Sort(ranks)
			call := hangs.Call{Group: c.Name}
			a.set(hangs.RankMissing{Ranks: ranks, Host: a.host(ranks), Call: call, Confidence: sure},
				Verdict{Ranks: ranks, Group: c.Name, Confidence: sure})
			a.ncclFindings("ranks-stopped")
			a.stacks(ranks)
			return true
		}
	}
	return false
}

func (a library) mismatchInCalls(c *nccllog.Communicator, m *nccllog.Mismatch, sure hangs.Confidence) {
	var sides hangs.Sides
	var ranks []int
	tie := len(m.Sides) > 1 && len(m.Sides[0].Ranks) == len(m.Sides[1].Ranks)
	for i, s := range m.Sides {
		sides = append(sides, hangs.Side{Ranks: hangs.Ranks(s.Ranks), Call: hangs.Call{Operation: s.Call}})
		if i > 0 || tie {
			ranks = append(ranks, s.Ranks...)
		}
	}
	if tie {
		sure = hangs.Unclear
		a.doubt(hangs.EvenSplit{})
	}
	a.set(hangs.CollectiveMismatch{Sides: sides, Sequence: hangs.Number(m.Number), Group: c.Name, Confidence: sure},
		Verdict{Ranks: ranks, Group: c.Name, Sequence: m.Number, Confidence: sure})
	a.ncclFindings("ranks-disagree")
}

// ncclMessages adds what NCCL's log has of errors and warnings: the cause where all ranks wait.
func (a *job) ncclMessages() {
	if a.NCCL == nil {
		return
	}
	for _, n := range a.NCCL.Findings() {
		if n.Severity == notice.Error {
			a.found.Evidence = append(a.found.Evidence, n)
		}
	}
}

func (a library) ncclFindings(code notice.Code) {
	for _, n := range a.NCCL.Findings() {
		if n.Code() == code {
			a.found.Evidence = append(a.found.Evidence, n)
		}
	}
}
