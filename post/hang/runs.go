package hang

import (
	"cmp"
	"math"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/hangs"
	"busbar/internal/units"
	"busbar/post/hang/evidence"
)

// oneRun returns one dump for each rank, all of one run: the newest. The notices are on the dumps that are not used.
func oneRun(dumps []*evidence.Dump) (kept []*evidence.Dump, notes []notice.Notice) {
	var ranked []*evidence.Dump
	for _, d := range dumps {
		if d.Rank < 0 {
			notes = append(notes, notice.InFile(d.File, 0, hangs.DumpWithoutRank{}))
			continue
		}
		ranked = append(ranked, d)
	}
	units.SortBy(ranked, func(d *evidence.Dump) int { return d.Rank })
	if same := sideBySide(ranked); len(same) > 0 {
		return nil, append(notes, same...)
	}
	newest, twice := newestOfRanks(ranked)
	if len(newest) == 0 {
		return nil, notes
	}
	begin := lastRunBegins(newest)
	if len(twice) > 0 {
		begin = firstOf(twice)
	}
	world := worldOf(newest)
	byRank := map[int]*evidence.Dump{}
	for _, d := range newest {
		if d.Last() > 0 && d.Last() < begin || !sameWorld(d, world) {
			notes = append(notes, notice.InFile(d.File, 0, hangs.DumpOfOtherRun{}))
			continue
		}
		kept = append(kept, d)
		byRank[d.Rank] = d
	}
	for _, d := range ranked {
		if slices.Contains(newest, d) {
			continue
		}
		switch best := byRank[d.Rank]; {
		case best == nil, !sameProcess(best, d) && d.Last() < begin:
			notes = append(notes, notice.InFile(d.File, 0, hangs.DumpOfOtherRun{}))
		case !sameProcess(best, d):
			notes = append(notes, notice.InFile(d.File, 0, hangs.DumpsOfRank{Rank: d.Rank, Kept: best.File}))
		}
	}
	return kept, notes
}

// sideBySide returns notices on dumps of processes that ran at the same time under one number: then the numbers are no
// global ranks.
func sideBySide(ranked []*evidence.Dump) (notes []notice.Notice) {
	var before *evidence.Dump // of the same rank, the one that ends last
	for _, d := range ranked {
		if before == nil || before.Rank != d.Rank {
			before = d
			continue
		}
		if !sameProcess(before, d) && before.First() < d.Last() && d.First() < before.Last() {
			notes = append(notes, notice.InFile(d.File, 0, hangs.RankTwice{Rank: d.Rank, Other: before.File}))
		}
		if d.Last() > before.Last() {
			before = d
		}
	}
	return notes
}

// newestOfRanks chooses one dump of each rank; twice are those of ranks that several processes wrote dumps of.
func newestOfRanks(ranked []*evidence.Dump) (newest, twice []*evidence.Dump) {
	for _, of := range units.GroupBy(ranked, func(d *evidence.Dump) int { return d.Rank }) {
		best, other := of[0], false
		for _, d := range of[1:] {
			if sameProcess(best, d) {
				best = ofOneProcess(best, d)
				continue
			}
			other = true
			if d.Last() > best.Last() {
				best = d
			}
		}
		newest = append(newest, best)
		if other {
			twice = append(twice, best)
		}
	}
	return newest, twice
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
	first := waits(a) - waits(b)
	if a.Events || b.Events { // the newest shows what completed
		first = -first
	}
	if order := cmp.Or(cmp.Compare(last(a), last(b)), first); order < 0 || order == 0 && a.JSON && !b.JSON {
		return b
	}
	return a
}

// gap is how long nothing was called between two runs whose dumps are in one folder, in ns. Clocks of hosts may differ
// by less.
const gap = int64(600e9)

// lastRunBegins is when the newest run began: after a gap in which no dump has an entry.
func lastRunBegins(dumps []*evidence.Dump) int64 {
	byFirst := slices.Clone(dumps)
	units.SortBy(byFirst, (*evidence.Dump).First)
	begin, end := int64(math.MinInt64), int64(0)
	for _, d := range byFirst {
		if d.First() == 0 {
			continue
		}
		if end > 0 && d.First()-end > gap {
			begin = d.First()
		}
		end = max(end, d.Last())
	}
	return begin
}

// firstOf is when the first of the dumps began.
func firstOf(dumps []*evidence.Dump) int64 {
	first := int64(math.MaxInt64)
	for _, d := range dumps {
		if d.First() > 0 {
			first = min(first, d.First())
		}
	}
	if first == math.MaxInt64 {
		return math.MinInt64
	}
	return first
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
		v := units.Entry(&all, func(v votes) bool { return slices.Equal(v.members, members) }, votes{members: members})
		v.n++
		v.last = max(v.last, d.Last())
	}
	slices.SortStableFunc(all, func(a, b votes) int { return cmp.Or(cmp.Compare(b.last, a.last), b.n-a.n) })
	if len(all) == 0 {
		return nil
	}
	return all[0].members
}

func defaultMembers(d *evidence.Dump) []int {
	for g := range units.Each(d.Groups) {
		if g.Desc == defaultGroup {
			return g.Members
		}
	}
	return nil
}

func sameWorld(d *evidence.Dump, world []int) bool {
	own := defaultMembers(d)
	return own == nil || world == nil || slices.Equal(own, world)
}
