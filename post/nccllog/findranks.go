package nccllog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"
	"busbar/internal/units"
)

// findDisagreement finds calls that ranks of one communicator made differently.
func findDisagreement(l *findings) {
	for _, s := range l.Sequences {
		m := s.Mismatch
		if m == nil {
			continue
		}
		fact := nccllogs.RanksDisagree{
			Communicator: l.communicator(s.Comm), Call: m.Number, Sides: m.Sides, Doubt: s.Doubt}
		if m.Op >= 0 {
			fact.OpCount = new(nccllogs.OpCount(m.Op))
		}
		who := ""
		if n := len(m.Sides); n > 1 {
			who = m.Sides[n-1].Ranks.String()
		}
		l.about(who, fact).unless(s.Doubt)
	}
}

// unless lowers a finding that the log may only seem to show.
func (f *found) unless(d *nccllogs.Doubt) {
	if d != nil {
		f.Severity = notice.Warning
	}
}

// findStopped finds ranks that made fewer calls than others.
func findStopped(l *findings) {
	for _, s := range l.Sequences {
		if len(s.Behind) == 0 || s.Mismatch != nil {
			continue
		}
		fact := nccllogs.RanksStopped{Communicator: l.communicator(s.Comm), By: int(s.Behind[0].By), Each: s.behind(),
			Doubt: s.Doubt}
		for _, b := range s.Behind {
			fact.Ranks = append(fact.Ranks, b.Rank)
		}
		l.add(fact).unless(s.Doubt)
	}
}

// behind are how far ranks are behind and what they did last, those together that did the same.
func (s Sequence) behind() (all []nccllogs.RanksBehind) {
	for _, b := range s.Behind {
		last := ""
		if i := slices.IndexFunc(s.Ranks, func(r Reached) bool { return r.Rank == b.Rank }); i >= 0 {
			last = s.Ranks[i].Last
		}
		of := units.Entry(&all, func(r nccllogs.RanksBehind) bool { return r.By == b.By && r.Last == last },
			nccllogs.RanksBehind{Calls: b.Calls, By: b.By, Last: last})
		of.Ranks = append(of.Ranks, b.Rank)
	}
	return all
}

// findUnfinished finds communicators that some ranks began to create, and did not finish.
func findUnfinished(l *findings) {
	for i, c := range l.Communicators {
		fact := nccllogs.InitUnfinished{Communicator: l.communicator(i), Warned: len(l.Messages) > 0}
		for _, m := range c.Members {
			switch {
			case m.Completed:
				fact.Completed++
			case m.Started:
				fact.Ranks = append(fact.Ranks, m.Rank)
			}
		}
		if len(fact.Ranks) == 0 {
			continue
		}
		fact.Started = len(fact.Ranks) + int(fact.Completed)
		if fact.Completed == 0 {
			fact.Silent = max(0, c.Ranks-len(c.Members))
		}
		if f := l.add(fact); fact.Silent > 0 {
			f.Severity = notice.Warning
		}
	}
}

// peersAlone is how many pairs of ranks access each other's GPU directly, in a log of one host without NVLink all of
// whose ranks are set up; 0 in others.
func (l *Log) peersAlone() int {
	c := l.largest()
	if c == nil || !l.oneHost() || l.nvlinks() || len(c.Members) < c.Ranks ||
		slices.ContainsFunc(c.Members, func(m Member) bool { return !m.Completed }) {
		return 0
	}
	return len(l.pairs()["p2p"])
}

// firstCall is how PyTorch names the operation and its number when it gives up.
var firstCall = regexp.MustCompile(`SeqNum=1, OpType=(\w+)`)

// findFirstHung finds a first collective that did not finish although all ranks of one host were set up, where GPUs
// access each other over PCIe.
func findFirstHung(l *findings) {
	pairs := l.peersAlone()
	for _, m := range l.Messages {
		if of := firstCall.FindStringSubmatch(m.Text); of != nil && pairs > 0 {
			l.add(nccllogs.FirstCollectiveHung{Operation: of[1], Pairs: pairs})
			return
		}
	}
}

// findEndAfterInit finds a log of one host that ends when all ranks are set up, as where peer access without NVLink
// hangs.
func findEndAfterInit(l *findings) {
	pairs := l.peersAlone()
	if pairs > 0 && len(l.Calls)+len(l.Choices)+len(l.Rows)+len(l.RAS) == 0 &&
		!slices.ContainsFunc(l.Messages, func(m Message) bool {
			e := explain(m)
			return e == nil || e.follows || e.severe()
		}) &&
		!slices.ContainsFunc(l.largest().Members, func(m Member) bool { return m.Destroyed || m.Aborted }) {
		l.add(nccllogs.EndAfterInit{Pairs: pairs})
	}
}

// findTimedOut finds ranks that waited for different collectives when PyTorch gave up.
func findTimedOut(l *findings) {
	groups := units.GroupBy(l.TimedOut, func(t TimedOut) string { return t.Group })
	units.SortBy(groups, func(of []TimedOut) string { return of[0].Group })
	for _, of := range groups {
		fact := nccllogs.RanksTimedOutApart{Group: of[0].Group}
		for _, same := range units.GroupBy(of, func(t TimedOut) TimedOut {
			t.Rank = 0
			return t
		}) {
			w := nccllogs.WaitedFor{Call: same[0].Call, Operation: same[0].Operation, Elements: same[0].Elements}
			for _, t := range same {
				w.Ranks = append(w.Ranks, t.Rank)
			}
			fact.Waited = append(fact.Waited, w)
		}
		if units.SortBy(fact.Waited, func(w nccllogs.WaitedFor) int64 { return w.Call }); len(fact.Waited) > 1 {
			l.add(fact)
		}
	}
}

// findAborted finds communicators that were given up. PyTorch ends those of a run that went well in the same way, so
// that by itself it is no fault where all ranks did it.
func findAborted(l *findings) {
	wrong := slices.ContainsFunc(l.Messages, func(m Message) bool { return m.Level != programLevel }) ||
		slices.ContainsFunc(l.Sequences, func(s Sequence) bool { return s.Mismatch != nil || len(s.Behind) > 0 })
	for i, c := range l.Communicators {
		fact := nccllogs.CommunicatorAborted{Communicator: l.communicator(i)}
		for _, m := range c.Members {
			if m.Aborted {
				fact.Ranks = append(fact.Ranks, m.Rank)
			}
		}
		if fact.N = len(fact.Ranks); fact.N == 0 {
			continue
		}
		fact.Clean = !wrong && fact.N == c.Ranks
		if f := l.add(fact); fact.Clean {
			f.Severity = notice.Info
		}
	}
}

// findRAS passes on what NCCL's own watch over processes found.
func findRAS(l *findings) {
	for _, r := range l.RAS {
		before := len(l.all)
		if len(r.Missing) > 0 {
			l.add(nccllogs.RASMissing{Processes: len(r.Missing), Which: units.Map(r.Missing, brief)})
		}
		for _, c := range r.Comms {
			if c.Missing <= 0 && (c.Errors == "" || c.Errors == "OK") && !strings.Contains(c.Status, "MISMATCH") &&
				!strings.Contains(c.Status, "ABORT") || r.named(c) {
				continue
			}
			fact := nccllogs.RASCommunicator{
				Communicator: nccllogs.Communicator{Name: rasName(c.ID), Ranks: max(0, c.Ranks)},
				Status:       strings.ToLower(strings.Join(nonEmpty(c.Status, c.Errors), ", ")),
				Missing:      max(0, c.Missing), Counts: c.Counts}
			for _, s := range c.States {
				fact.States = append(fact.States, nccllogs.RankState{Ranks: s.Ranks, State: brief(s.State)})
			}
			l.add(fact)
		}
		if len(r.Problems) > 0 && len(l.all) == before {
			l.add(nccllogs.RASErrors{Errors: units.Map(r.Problems, brief)})
		}
	}
}

// named reports whether a row of the summary, which names no communicator, belongs to one that is reported by name.
func (a *RAS) named(row RASComm) bool {
	return row.ID == "" && slices.ContainsFunc(a.Comms, func(c RASComm) bool {
		return c.ID != "" && c.Ranks == row.Ranks && strings.Contains(c.Errors, row.Errors)
	})
}

// rasName is a communicator that RAS may not name.
func rasName(id string) string {
	if id == "" {
		return "a communicator"
	}
	return "communicator " + id
}

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" || w == "OK" })
}

// findVersions finds ranks with different libraries.
func findVersions(l *findings) {
	if len(l.Versions) < 2 {
		return
	}
	var libraries []string
	var builds []nccllogs.Build
	for _, v := range l.Versions {
		text := fmt.Sprint(v.Library, " ", v.Text)
		libraries = units.AddOnce(libraries, text)
		build := nccllogs.Build{Library: text, CUDA: v.CUDA, Git: v.Git}
		if len(v.Processes) > 0 {
			build.Who = l.name(v.Processes)
		}
		builds = append(builds, build)
	}
	if len(libraries) == 1 {
		l.add(nccllogs.MixedLibraryBuilds{Library: libraries[0], Builds: builds})
	} else {
		l.add(nccllogs.MixedLibraryVersions{Libraries: libraries, Builds: builds})
	}
}

// initLong is from when on creating a communicator is reported, in seconds; and from when on it is a warning.
const (
	initLong     = 10
	initVeryLong = 60
)

// findInit finds what creating a communicator spent its time on.
func findInit(l *findings) {
	for i, c := range l.Communicators {
		slowest, parts := c.slowestInit()
		if slowest == nil || slowest.Init.Total < initLong {
			continue
		}
		f := l.add(nccllogs.SlowInit{Communicator: l.communicator(i), Rank: slowest.Rank,
			Took: nccllogs.TenthSeconds(slowest.Init.Total), Parts: parts[:min(3, len(parts))]})
		if slowest.Init.Total >= initVeryLong {
			f.Severity = notice.Warning
		}
	}
}

// slowestInit is the rank whose init took longest, with its parts, the longest first; nil where none is known.
func (c *Communicator) slowestInit() (slowest *Member, parts []nccllogs.InitPart) {
	for m := range units.Each(c.Members) {
		if m.Init != nil && (slowest == nil || m.Init.Total > slowest.Init.Total) {
			slowest = m
		}
	}
	if slowest != nil {
		parts = slices.Clone(slowest.Init.Parts)
		units.SortBy(parts, func(p nccllogs.InitPart) float64 { return -p.Seconds })
	}
	return slowest, parts
}
