package hang

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/units"
	"busbar/post/hang/evidence"
	"busbar/post/hang/watchdog"
)

// group is one process group with what its ranks did in it.
type group struct {
	name, desc string
	members    []int // nil if unknown
	numbered   bool  // the name is the number of a process, which another process may give to another group
	tracks     map[int]*track
}

// Title is what the group is called.
func (g *group) title() string {
	if g.desc != "" && g.desc != "undefined" {
		return g.desc
	}
	return g.name
}

// everyone is the members, or the ranks with evidence if they are unknown.
func (g *group) everyone() []int {
	if g.members != nil {
		return g.members
	}
	return g.ranks()
}

func (g *group) ranks() []int { return slices.Sorted(maps.Keys(g.tracks)) }

// track is what one rank did in a group, by its dump, its log or both.
type track struct {
	rank      int
	dump      *evidence.Dump // nil: only lines of logs
	slots     []slot         // collectives by number
	p2p       []int32        // point-to-point entries of the dump
	enqueued  int64          // by the watchdog; -1 if unknown
	completed int64
	printed   int64           // enqueued, by lines of logs alone; -1 if unknown
	timeout   *watchdog.Event // the collective that the watchdog gave up on; nil for none
	failed    bool            // the rank reported a failure: what is retired last did not succeed
}

// slot is one numbered collective: one entry of the dump, or several that were coalesced.
type slot struct {
	seq         int64
	first, last int32 // entries
}

// at returns the slot of a number; nil if there is none.
func (t *track) at(seq int64) *slot {
	i, found := slices.BinarySearchFunc(t.slots, seq, compareSlot)
	if !found {
		return nil
	}
	return &t.slots[i]
}

func compareSlot(s slot, seq int64) int { return cmp.Compare(s.seq, seq) }

// furthest is the number of the last collective that the rank is known to have called; 0 for none.
func (t *track) furthest() int64 {
	n := max(t.enqueued, 0)
	if len(t.slots) > 0 {
		n = max(n, t.slots[len(t.slots)-1].seq)
	}
	if t.timeout != nil {
		n = max(n, t.timeout.Seq)
	}
	return n
}

// presence reports whether the rank called a collective, and how that ended.
func (t *track) presence(seq int64) State {
	if s := t.at(seq); s != nil {
		return t.progress(s)
	}
	switch {
	case t.timeout != nil && t.timeout.Seq == seq:
		return Waiting
	case t.completed >= seq:
		return Done
	case t.enqueued >= seq:
		return Waiting
	case t.dump == nil && t.timeout != nil && seq < t.timeout.Seq: // collectives of a group complete in order
		return Done
	case t.dump == nil && t.enqueued < 0:
		return Silent
	case t.dump != nil && t.dump.Lost && (len(t.slots) == 0 || seq < t.slots[0].seq):
		return Silent
	case seq > t.furthest():
		return Missing
	}
	return Silent
}

// progress is how far a collective of the dump got.
func (t *track) progress(s *slot) State {
	e := &t.dump.Entries[s.last]
	final := s.seq == t.furthest()
	switch {
	case e.State == evidence.Completed:
		return Done
	case t.dump.Events || !e.Retired || t.timeout != nil && t.timeout.Seq == s.seq:
		return Waiting
	case !final:
		return Done
	case t.failed:
		return Waiting
	}
	return Ended
}

// through is the number up to which the rank completed everything.
func (t *track) through() int64 {
	if len(t.slots) == 0 {
		if t.timeout != nil {
			return max(t.completed, t.timeout.Seq-1)
		}
		return max(t.completed, 0)
	}
	for i := range t.slots {
		if t.progress(&t.slots[i]) != Done {
			return t.slots[i].seq - 1
		}
	}
	return t.slots[len(t.slots)-1].seq
}

// call is what the rank called; nil if that is unknown.
func (t *track) call(seq int64) *evidence.Call {
	if s := t.at(seq); s != nil {
		return t.dump.Entries[s.last].Call
	}
	if w := t.timeout; w != nil && w.Seq == seq && w.Op != "" {
		c := &evidence.Call{Op: cmp.Or(flightNames[w.Op], strings.ToLower(w.Op)), From: -1, To: -1}
		if w.In >= 0 {
			c.In, c.Out = []int64{w.In}, []int64{w.Out}
		}
		return c
	}
	return nil
}

// groupsOf sorts what dumps have by process group. Groups with one name and other members are different.
func groupsOf(dumps []*evidence.Dump) (all []*group) {
	var keys units.Numbers[string]
	for _, d := range dumps {
		local := make([]*track, len(d.Groups))
		for i := range d.Groups {
			of := &d.Groups[i]
			name := of.Name
			if of.Desc == defaultGroup || name == "" {
				name = "0" // Gloo's configuration has it without a name
			}
			n, added := keys.Of(fmt.Sprintf("%s %v", name, of.Members))
			if added {
				all = append(all, &group{name: name, desc: of.Desc, members: of.Members, tracks: map[int]*track{}})
			}
			g := all[n]
			g.desc = cmp.Or(g.desc, of.Desc)
			local[i] = g.track(d.Rank)
			local[i].dump = d
			local[i].addStatus(of)
		}
		for i := range d.Entries {
			e := &d.Entries[i]
			local[e.Group].add(e, int32(i))
		}
	}
	for _, g := range all {
		for _, t := range g.tracks {
			slices.SortStableFunc(t.slots, func(a, b slot) int { return compareSlot(a, b.seq) })
		}
	}
	return all
}

// defaultGroup is PyTorch's description of the group of all ranks.
const defaultGroup = "default_pg"

func (g *group) track(rank int) *track {
	t := g.tracks[rank]
	if t == nil {
		t = &track{rank: rank, enqueued: -1, completed: -1, printed: -1}
		g.tracks[rank] = t
	}
	return t
}

// addStatus adds how far the group got by its status, which with Gloo counts failures as completed.
func (t *track) addStatus(g *evidence.Group) {
	if (t.dump.Events || len(t.dump.Entries) == 0) && g.Enqueued >= 0 && !hasP2P(t.dump) {
		t.enqueued, t.completed = g.Enqueued, g.Finished
	}
}

// hasP2P reports whether a dump has point-to-point operations, which the status counts, too.
func hasP2P(d *evidence.Dump) bool {
	return slices.ContainsFunc(d.Entries, func(e evidence.Entry) bool { return e.P2P })
}

func (t *track) add(e *evidence.Entry, at int32) {
	switch n := len(t.slots); {
	case e.P2P:
		t.p2p = append(t.p2p, at)
	case n > 0 && t.slots[n-1].seq == e.Seq:
		t.slots[n-1].last = at
	default:
		t.slots = append(t.slots, slot{e.Seq, at, at})
	}
}

// flightNames are names of collectives that the Flight Recorder spells otherwise.
var flightNames = map[string]string{
	"ALLREDUCE": "all_reduce", "ALLGATHER": "all_gather", "ALLTOALL_BASE": "all_to_all", "ALLTOALL": "all_to_all",
}
