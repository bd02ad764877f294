package hang

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/hangs"
	"busbar/post/hang/evidence"
)

// oneRun returns one dump for each rank, all of one run: the newest. The notices are on the dumps that are not used.
func oneRun(dumps []*evidence.Dump) (kept []*evidence.Dump, notes []notice.Notice) {
	note := func(d *evidence.Dump, fact notice.Fact) { notes = append(notes, notice.InFile(d.File, 0, fact)) }
	byRank := map[int][]*evidence.Dump{}
	for _, d := range dumps {
		if byRank[d.Rank] = append(byRank[d.Rank], d); d.Rank < 0 {
			note(d, hangs.DumpWithoutRank{})
		}
	}
	delete(byRank, -1)
	var newest, twice []*evidence.Dump // twice: of ranks that several processes wrote dumps of
	for _, rank := range slices.Sorted(maps.Keys(byRank)) {
		best, several := byRank[rank][0], false
		for _, d := range byRank[rank][1:] {
			if sameProcess(best, d) {
				best = ofOneProcess(best, d)
				continue
			}
			several = true
			if d.Last() > best.Last() {
				best = d
			}
		}
		newest = append(newest, best)
		if several {
			twice = append(twice, best)
		}
	}
	begin, world := lastRunBegins(newest, twice), worldOf(newest)
	for _, best := range newest {
		own := defaultMembers(best)
		other := best.Last() > 0 && best.Last() < begin || own != nil && world != nil && !slices.Equal(own, world)
		if !other {
			kept = append(kept, best)
		}
		for _, d := range byRank[best.Rank] {
			switch same := sameProcess(best, d); {
			case other, !same && d.Last() < begin:
				note(d, hangs.DumpOfOtherRun{})
			case !same:
				note(d, hangs.DumpsOfRank{Rank: d.Rank, Kept: best.File})
			}
		}
	}
	return kept, notes
}

// sameProcess reports whether two dumps are of one process: they share an entry, or one has none.
func sameProcess(a, b *evidence.Dump) bool {
	if len(a.Entries) == 0 || len(b.Entries) == 0 {
		return true
	}
	first, second := a.Entries, b.Entries
	if first[0].Record > second[0].Record {
		first, second = second, first
	}
	i, found := slices.BinarySearchFunc(first, second[0].Record, func(e evidence.Entry, record int32) int {
		return cmp.Compare(e.Record, record)
	})
	return found && first[i].Created == second[0].Created
}

// ofOneProcess chooses between dumps of one process: the one with more entries, then the one that was taken first,
// before Gloo retired what failed, then the one with stacks.
func ofOneProcess(a, b *evidence.Dump) *evidence.Dump {
	waits := func(d *evidence.Dump) (n int) {
		for i := range d.Entries {
			if !d.Ended(&d.Entries[i]) {
				n++
			}
		}
		return n
	}
	last := func(d *evidence.Dump) int32 {
		if len(d.Entries) == 0 {
			return -1
		}
		return d.Entries[len(d.Entries)-1].Record
	}
	waiting := waits(a) - waits(b)
	if a.Events || b.Events { // the newest shows what completed
		waiting = -waiting
	}
	if order := cmp.Or(cmp.Compare(last(a), last(b)), waiting); order < 0 || order == 0 && a.JSON && !b.JSON {
		return b
	}
	return a
}

// gap is how long nothing was called between two runs whose dumps are in one folder, in ns. Clocks of hosts may differ
// by less.
const gap = int64(600e9)

// lastRunBegins is when the newest run began: with the first of the dumps of ranks that have several, else after a gap
// in which no dump has an entry.
func lastRunBegins(newest, twice []*evidence.Dump) int64 {
	begin, end := int64(math.MinInt64), int64(0)
	of := newest
	if len(twice) > 0 {
		of = twice
	}
	byFirst := slices.SortedFunc(slices.Values(of), func(a, b *evidence.Dump) int {
		return cmp.Compare(a.First(), b.First())
	})
	for _, d := range byFirst {
		if d.First() == 0 {
			continue
		}
		if end == 0 && len(twice) > 0 {
			return d.First()
		}
		if end > 0 && d.First()-end > gap {
			begin = d.First()
		}
		end = max(end, d.Last())
	}
	return begin
}

// worldOf is the ranks of the default group that most dumps agree on; nil if none has it.
func worldOf(dumps []*evidence.Dump) (world []int) {
	type votes struct {
		members []int
		n       int
		last    int64
	}
	var all []votes
	for _, d := range dumps {
		members := defaultMembers(d)
		if members == nil {
			continue
		}
		i := slices.IndexFunc(all, func(v votes) bool { return slices.Equal(v.members, members) })
		if i < 0 {
			i, all = len(all), append(all, votes{members: members})
		}
		all[i].n++
		all[i].last = max(all[i].last, d.Last())
	}
	slices.SortStableFunc(all, func(a, b votes) int { return cmp.Or(cmp.Compare(b.last, a.last), b.n-a.n) })
	if len(all) == 0 {
		return nil
	}
	return all[0].members
}

func defaultMembers(d *evidence.Dump) []int {
	for _, g := range d.Groups {
		if g.Desc == defaultGroup {
			return g.Members
		}
	}
	return nil
}
