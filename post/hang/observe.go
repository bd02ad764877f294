package hang

import (
	"fmt"
	"path/filepath"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/hangs"
	"busbar/internal/units"
	"busbar/post/hang/evidence"
	"busbar/post/hang/watchdog"
)

// note adds evidence with its place.
func (a *job) note(at notice.Location, fact notice.Fact) {
	n := notice.New(fact)
	n.At = at
	a.found.Evidence = append(a.found.Evidence, n)
}

// doubt adds what contradicts the verdict, or limits it.
func (a *job) doubt(fact notice.Fact) {
	a.found.Contradictions = append(a.found.Contradictions, notice.New(fact))
}

// at is the place of a rank's collective: the entry of its dump.
func (a *job) at(rank int, seq int64) notice.Location {
	for _, g := range a.groups {
		t := g.tracks[rank]
		if t == nil || t.dump == nil || a.root == nil || g != a.root.group {
			continue
		}
		at := notice.Location{File: t.dump.File}
		if e := a.root.entry(rank); e != nil && seq == a.root.seq {
			at.Subject = entryName(e)
		} else if s := t.at(seq); s != nil {
			at.Subject = entryName(&t.dump.Entries[s.first])
		}
		return at
	}
	return notice.Location{}
}

func entryName(e *evidence.Entry) string { return fmt.Sprintf("record %d", e.Record) }

func placeOf(e *watchdog.Event) notice.Location { return notice.Location{File: e.File, Line: e.Line} }

// observe adds what the dumps and logs show of a candidate; only what the logs show if it is nil.
func (a *job) observe(c *candidate) {
	if c == nil {
		a.noteLines(nil)
		return
	}
	if len(c.sides) > 1 && c.kind != undecided {
		for _, s := range c.sides {
			a.note(a.at(s.ranks[0], c.seq), hangs.Called{
				Ranks: s.ranks, Call: callOf(s.call, max(s.seq, c.seq)), From: calledFrom(a, c, s.ranks[0]),
			})
		}
	} else if entered := unique(slices.Concat(c.waiting, c.ended)); len(entered) > 0 {
		call := c.call()
		if len(c.sides) > 0 {
			call = callOf(c.sides[0].call, c.seq)
		}
		a.note(a.at(entered[0], c.seq), hangs.Entered{Ranks: entered, Call: call})
	}
	if c.kind == rankMissing && !c.p2p {
		a.lastCalls(c)
	}
	a.linesOf(c)
	if len(c.absent) > 0 {
		a.doubt(hangs.NoDump{Ranks: c.absent})
	}
	if len(c.stale) > 0 {
		a.doubt(hangs.StaleDump{Ranks: c.stale})
	}
	if entered := c.entered(); c.kind == rankMissing && len(c.culprits) > len(entered) {
		a.doubt(hangs.MostMissing{Entered: entered})
	}
	if c.late > 0 {
		a.note(a.at(c.culprits[0], c.seq), hangs.EnteredLate{Rank: c.culprits[0], By: units.Seconds(c.late)})
	}
	if len(c.finished) > 0 && c.kind == allEntered {
		a.doubt(hangs.CompletedBy{Ranks: c.finished})
	}
	if len(c.ended) > 0 && c.kind != otherCollective && c.kind != otherSize {
		a.doubt(hangs.RetiredUnknown{Ranks: c.ended})
	}
	if c.group.members == nil {
		a.doubt(hangs.MembersUnknown{})
	}
}

// lastCalls adds how far the missing ranks got.
func (a *job) lastCalls(c *candidate) {
	for _, rank := range c.culprits {
		t := c.group.tracks[rank]
		if t == nil || c.late > 0 {
			continue
		}
		if len(t.slots) == 0 {
			if t.dump != nil {
				a.note(notice.Location{File: t.dump.File}, hangs.NoCall{Ranks: hangs.Ranks{rank}})
			}
			continue
		}
		s := t.slots[len(t.slots)-1]
		a.noteLast(hangs.LastCall{
			Ranks: hangs.Ranks{rank}, Call: callOf(t.dump.Entries[s.last].Call, s.seq),
		}, notice.Location{File: t.dump.File, Subject: entryName(&t.dump.Entries[s.last])})
	}
}

// noteLast adds the last call of a rank, or adds the rank to those that ended at the same one.
func (a *job) noteLast(last hangs.LastCall, at notice.Location) {
	for i, n := range a.found.Evidence {
		same, is := n.Fact.(hangs.LastCall)
		if is && same.Call.Sequence == last.Call.Sequence && same.Call.Operation == last.Call.Operation {
			same.Ranks = append(same.Ranks, last.Ranks...)
			a.found.Evidence[i].Fact = same
			return
		}
	}
	a.note(at, last)
}

// linesOf adds the lines of logs that belong to a candidate.
func (a *job) linesOf(c *candidate) {
	everyone := c.group.everyone()
	for _, e := range a.of(watchdog.Status, watchdog.WrongSize) {
		switch {
		case e.Kind == watchdog.Status && slices.Contains(c.culprits, e.Rank) && c.kind == rankMissing:
			a.note(placeOf(e), hangs.Progress{
				Rank: e.Rank, Group: a.group(e).title(), Enqueued: hangs.Number(e.Enqueued),
				Finished: hangs.Number(e.Completed),
			})
		case e.Kind == watchdog.WrongSize && (e.Rank < 0 || slices.Contains(everyone, e.Rank)):
			a.note(placeOf(e), hangs.SizeRefused{Rank: e.Rank, Received: e.In, Expected: e.Out})
		}
	}
	a.noteLines(everyone)
}

// noteLines adds the lines of ranks that timed out or lost a connection, those of one kind together; of all ranks if
// none are named.
func (a *job) noteLines(named []int) {
	for _, kind := range []watchdog.Kind{watchdog.Timeout, watchdog.Transfer, watchdog.Closed} {
		events := slices.DeleteFunc(a.of(kind), func(e *watchdog.Event) bool {
			return named != nil && e.Rank >= 0 && !slices.Contains(named, e.Rank)
		})
		ranks := ranksOf(events)
		if len(ranks) == 0 {
			continue
		}
		fact := hangs.TimedOut{Ranks: ranks, Text: events[0].Text}
		if kind == watchdog.Closed {
			a.note(placeOf(events[0]), hangs.PeerClosed(fact))
		} else {
			a.note(placeOf(events[0]), fact)
		}
	}
}

// ranksOf are the ranks of events, where they are known.
func ranksOf(events []*watchdog.Event) (all hangs.Ranks) {
	for _, e := range events {
		if e.Rank >= 0 {
			all = append(all, e.Rank)
		}
	}
	return unique(all)
}

// calledFrom is the innermost function of the program that made a call: not of PyTorch.
func calledFrom(a *job, c *candidate, rank int) string {
	e := c.entry(rank)
	if e == nil || e.Stack == nil {
		return ""
	}
	f := ownFrame(e.Stack.Frames)
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%s (%s)", f.Function, place(*f))
}

// place is a frame's file without its folder, and its line.
func place(f evidence.Frame) string { return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line) }

// ownFrame is the innermost frame that is not of a library; nil if there is none.
func ownFrame(frames []evidence.Frame) *evidence.Frame {
	for f := range units.Each(frames) {
		if !isLibrary(f.File) {
			return f
		}
	}
	return nil
}

// stacks adds where ranks were, by py-spy or faulthandler, or from where they called last, by their dumps.
func (a *job) stacks(ranks []int) {
	const most = 8 // ranks whose stacks are shown
	for _, rank := range ranks[:min(most, len(ranks))] {
		spied := false
		for p := range units.Each(a.Stacks) {
			t := p.Main()
			if rankOfProcess(a, p) != rank || t == nil || len(t.Frames) == 0 {
				continue
			}
			spied = true
			f := t.Frames[0]
			if own := ownFrame(t.Frames); own != nil {
				f = *own
			}
			a.note(notice.Location{File: p.File, Line: t.Line}, hangs.StackAt{
				Rank: rank, Function: f.Function, Place: place(f),
			})
			a.found.Stacks = append(a.found.Stacks, RankStack{rank, p.File, false, t.Frames})
		}
		if !spied {
			lastStack(a, rank)
		}
	}
}

// lastStack adds the stack of the last call of a rank.
func lastStack(a *job, rank int) {
	d := a.dump(rank)
	if d == nil {
		return
	}
	for _, e := range slices.Backward(d.Entries) {
		if e.Stack != nil {
			a.found.Stacks = append(a.found.Stacks, RankStack{rank, d.File, true, e.Stack.Frames})
			return
		}
	}
}
