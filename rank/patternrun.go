package main

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall"
	"time"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/hang"
	"busbar/rank/machine"
	"busbar/rank/pace"
	"busbar/rank/screen"
)

// patternRun is --pattern being measured. All ranks go through the same rounds and cases; in each round a rank is in one
// group or rests.
type patternRun struct {
	*subworld // of the whole launch
	of        *nodePattern
	libraries []backend.Library
	cases     []patternCase
	commands  int // that rank 0 has given

	// Rank 0 only.
	books []*book // by library
	clear bool    // the header of the files is written
}

// patternCase is one point, which every group measures.
type patternCase struct {
	library int
	coll.Case
}

// book is the results file of one library, with what it and those that it continues hold.
type book struct {
	*session
	times     map[result.PointKey]result.Time // of what is ok
	throttled []result.Throttled
}

// measurePattern measures the plan in groups of nodes, round by round, and what stands out again alone. It returns the exit
// code of the run, which is known on rank 0.
func (j *job) measurePattern(ctx context.Context, p *plan) (int, error) {
	tally := &tally{start: j.start}
	libraries, err := j.fitting(p, j.size, tally)
	if err != nil || len(libraries) == 0 {
		return tally.code(), err
	}
	w := j.newSubworld(p, j.world, firstRanks(j.size))
	w.tally = tally
	if err := w.prepareClock(); err != nil {
		return 0, err
	}
	r := &patternRun{subworld: w, of: p.pattern, libraries: libraries}
	for _, l := range libraries {
		s := &session{subworld: w, lib: l}
		if s.cases, err = p.sweep.Plan(r.of.size(), backend.Places(l.Name())); err != nil {
			return 0, err
		}
		w.sessions = append(w.sessions, s)
		r.books = append(r.books, &book{session: s})
	}
	for _, t := range takeTurns(w.sessions) {
		for i, s := range w.sessions {
			if t.session == s {
				r.cases = append(r.cases, patternCase{i, s.cases[t.i]})
			}
		}
	}
	return r.measure(ctx)
}

// measure goes through all rounds, then through the groups that are measured alone, and through the rounds that those ask for once more.
func (r *patternRun) measure(ctx context.Context) (int, error) {
	if r.j.rank == 0 {
		r.look()
	}
	over := false
	for i, groups := range r.of.rounds {
		var err error
		if over, err = r.round(ctx, i+1, groups); err != nil || over {
			return r.end(over, err)
		}
	}
	again := []func() ([]numberedRound, error){r.suspects, r.repeats}
	for _, find := range again {
		rounds, err := share(r.j, find)
		if err != nil {
			return 0, err
		}
		for _, n := range rounds {
			if over, err = r.round(ctx, n.Number, n.Groups); err != nil || over {
				return r.end(over, err)
			}
		}
	}
	return r.end(over, nil)
}

// end closes the files and says what was found.
func (r *patternRun) end(over bool, err error) (int, error) {
	if err != nil || r.j.rank != 0 {
		return 0, err
	}
	if !r.clear { // nothing was left to measure
		if err := r.openFiles(); err != nil {
			return 0, err
		}
	}
	if r.tally.over = over; over {
		r.j.ledger.Finish(result.Interrupted, notice.RunSignalled{Signal: signalNames[syscall.SIGUSR1]}, r.tally.code(), "")
		return r.tally.code(), nil
	}
	for _, b := range r.books {
		if err := r.j.ledger.Close(b.sheet, r.tally.code()); err != nil {
			return 0, err
		}
		r.j.screen.Verdict(r.nameOf(b), b.run.Rehearse, r.verdicts(b), r.of.hosts)
	}
	return r.tally.code(), nil
}

// nameOf is a library's name where there are several.
func (r *patternRun) nameOf(b *book) string {
	if len(r.books) < 2 {
		return ""
	}
	return b.lib.Name()
}

// key is the point of a case in a group.
func (r *patternRun) key(c patternCase, g *result.Group) result.PointKey {
	k := result.Point(r.libraries[c.library].Name(), c.Case, 0)
	k.Group = g.String()
	return k
}

// look finds what the run continues. Rank 0 only.
func (r *patternRun) look() {
	for _, b := range r.books {
		b.head()
		b.times = map[result.PointKey]result.Time{}
		if r.p.past != nil {
			b.times = r.p.past.Groups(b.run.Resumes)
		}
	}
}

// missing are the groups of a round that have no figure of a case yet.
func (r *patternRun) missing(c patternCase, round int, groups pattern.Round) (left []*result.Group) {
	for _, nodes := range groups {
		if g := r.of.group(round, nodes); !r.books[c.library].done[r.key(c, g)] {
			left = append(left, g)
		}
	}
	return left
}

// openFiles writes the headers, with all that the libraries have to say once a world was made.
func (r *patternRun) openFiles() error {
	r.clear = true
	planned := 0
	for i, b := range r.books {
		done, resumes, campaign, interleaved := b.done, b.run.Resumes, r.p.campaign, b.run.Interleaved
		b.run = r.j.header(r.p, b.lib, b.session)
		b.done, b.run.Resumes, r.p.campaign, b.run.Interleaved = done, resumes, campaign, interleaved
		for n, groups := range r.of.rounds {
			for _, c := range r.cases {
				if c.library == i {
					b.run.Sweep.Points += len(r.missing(c, n+1, groups))
				}
			}
		}
		planned += b.run.Sweep.Points
		if err := b.openFile(); err != nil {
			return err
		}
	}
	var cases []coll.Case
	for _, c := range r.cases {
		cases = append(cases, c.Case)
	}
	_, perNode := shape(r.machines)
	r.pace = &pace.Pace{Cases: cases, Options: r.p.sweep.Options, PerNode: perNode, Planned: planned}
	var files []screen.File
	for _, b := range r.books {
		files = append(files, screen.File{Run: &b.run, Path: b.sheet.Path()})
	}
	r.j.screen.Pattern(files, r.pace, fmt.Sprintf("%s x %d", r.of, len(r.of.ranks[0])), len(r.of.rounds))
	return nil
}

// patternOrder is rank 0's word to all ranks of the launch: measure a case, or leave the round.
type patternOrder struct {
	Case   int // -1: leave
	Over   bool
	Number uint64 // of the case, before it
}

// round measures all cases in groups that work at the same time, as far as they are missing. Collective over the launch; over
// says that the run is to end.
func (r *patternRun) round(ctx context.Context, number int, groups pattern.Round) (over bool, err error) {
	wanted, err := share(r.j, func() (bool, error) {
		for _, c := range r.cases {
			if len(r.missing(c, number, groups)) > 0 {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil || !wanted {
		return false, err
	}
	mine := -1
	for i, nodes := range groups {
		for _, rank := range r.of.members(nodes) {
			if rank == r.j.rank {
				mine = i
			}
		}
	}
	r.j.watch.Case(r.j.number, "") // which begins a new count of steps
	r.j.watch.Phase("split the launch into groups", 0)
	comm, err := r.j.world.Split(mine, r.j.rank)
	if err != nil {
		return false, err
	}
	var w *subworld
	if comm != nil {
		w = r.j.newSubworld(r.p, comm, r.of.members(groups[mine]))
		w.label = r.of.label(groups[mine])
		w.tally, w.hostShares, w.neighbours = r.tally, hostShares(r.libraries), r.neighbours(groups)
		if err := w.openAll(r.libraries); err != nil {
			return false, err
		}
		w.pace = &pace.Pace{}
		if comm.Rank() == 0 {
			w.counters = machine.OpenCounters("/")
		}
	}
	if err := r.gatherRanks(w != nil); err != nil {
		return false, err
	}
	if over, err = r.measureRound(ctx, number, groups, w); err != nil {
		return over, err
	}
	if w != nil {
		if err := w.closeGroup(); err != nil {
			return false, err
		}
	}
	return over, r.gatherThrottled(w)
}

// closeGroup gives up a group's world.
func (w *subworld) closeGroup() error {
	w.j.watch.Phase("close a group", 0)
	if w.counters != nil {
		w.counters.Close()
	}
	for _, s := range w.sessions {
		if err := s.backend.Close(); err != nil {
			return err
		}
	}
	if err := w.area.Free(); err != nil {
		return err
	}
	return w.comm.Free()
}

// openAll makes the libraries ready in this world.
func (w *subworld) openAll(libraries []backend.Library) error {
	w.j.watch.Phase(fmt.Sprintf("prepare a world of %d", w.world.Size), 0)
	if err := w.prepareClock(); err != nil {
		return err
	}
	for _, lib := range libraries {
		if err := w.open(lib); err != nil {
			return err
		}
	}
	return nil
}

// neighbours is the largest number of these groups that have ranks on one machine.
func (r *patternRun) neighbours(groups pattern.Round) (most int) {
	on := map[string]int{}
	for _, nodes := range groups {
		seen := map[string]bool{}
		for _, rank := range r.of.members(nodes) {
			if m := r.j.ranks[rank].Machine; !seen[m] {
				seen[m] = true
				on[m]++
				most = max(most, on[m])
			}
		}
	}
	return most
}

// gatherRanks brings all ranks together, those that rest and those whose group is done; they sleep and do not spin.
func (r *patternRun) gatherRanks(inGroup bool) error {
	if inGroup {
		r.j.watch.Rest(hang.WaitForGroups)
	} else {
		r.j.watch.Rest(hang.WaitOutside)
	}
	return r.j.world.BarrierSleeping(sleepPause)
}

// groupResult is what a group's first rank tells rank 0.
type groupResult struct {
	Group        int
	Record       *result.Record
	Median, Late []float64 // of all ranks, in a large group
}

// measureRound measures the cases of a round; w is nil on ranks that rest.
func (r *patternRun) measureRound(ctx context.Context, number int, groups pattern.Round, w *subworld) (over bool, err error) {
	if r.j.rank == 0 && !r.clear {
		if err := r.openFiles(); err != nil {
			return false, err
		}
	}
	next := 0
	for {
		r.j.watch.Phase(hang.WaitForRank0, 0)
		o, err := share(r.j, func() (patternOrder, error) { return r.next(ctx, number, groups, &next), nil })
		if err != nil || o.Case < 0 {
			return o.Over, err
		}
		r.j.number = o.Number
		c, started := r.cases[o.Case], time.Now()
		var mine []byte
		if w != nil {
			if mine, err = w.measureInGroup(c, groups, r.p.sweep.Budget); err != nil {
				return false, err
			}
		}
		if err := r.gatherRanks(w != nil); err != nil {
			return false, err
		}
		all, err := r.j.world.Gatherv(mine, 0)
		if err != nil {
			return false, err
		}
		if r.j.rank == 0 {
			if err := r.keepAll(c, number, groups, all, time.Since(started)); err != nil {
				return false, err
			}
		}
	}
}

// next is the case that comes next in a round. Rank 0 only.
func (r *patternRun) next(ctx context.Context, number int, groups pattern.Round, at *int) patternOrder {
	if r.j.askedToStop.Load() || ctx.Err() != nil {
		return patternOrder{Case: -1, Over: true}
	}
	for ; *at < len(r.cases); *at++ {
		c := r.cases[*at]
		left := r.missing(c, number, groups)
		if len(left) == 0 {
			continue
		}
		var inHand []result.Record
		for _, g := range left {
			inHand = append(inHand, result.Record{Kind: result.KindCase, Case: c.Case, Group: g})
		}
		r.j.ledger.Begin(r.books[c.library].sheet, inHand...)
		r.j.screen.Begin(r.libraries[c.library].Name(), c.Case)
		r.commands++
		*at++
		// An attempt takes a number, and ranks that rest take none.
		return patternOrder{Case: *at - 1, Number: uint64(r.commands) * uint64(r.j.cfg.retry+1)}
	}
	return patternOrder{Case: -1}
}

// measureInGroup measures a case in this group; its first rank returns the record for rank 0. Collective over the group.
func (w *subworld) measureInGroup(c patternCase, groups pattern.Round, budget time.Duration) ([]byte, error) {
	s := w.sessions[c.library]
	i := 0
	for s.cases[i] != c.Case {
		i++
	}
	record := s.leftOutByMemory(i)
	if record == nil {
		if w.world.Rank != 0 {
			return nil, w.follow()
		}
		var err error
		if record, err = s.observed(i, budget); err != nil {
			return nil, err
		}
		if err := w.give(&command{What: orderStop}); err != nil {
			return nil, err
		}
	}
	if w.world.Rank != 0 {
		return nil, nil
	}
	g := groupResult{Record: record}
	for i, nodes := range groups {
		if w.members[0] == w.p.pattern.members(nodes)[0] {
			g.Group = i
		}
	}
	g.Median, g.Late = bench.Shorten(record.Ranks, w.world)
	return json.Marshal(g)
}

// keepAll writes the records that the groups have sent, but for those that an earlier run has. Rank 0 only.
func (r *patternRun) keepAll(c patternCase, number int, groups pattern.Round, sent [][]byte, took time.Duration) error {
	r.j.watch.Phase("write the records", 0)
	b := r.books[c.library]
	var got []groupResult
	for _, text := range sent {
		if len(text) == 0 {
			continue
		}
		var g groupResult
		if err := json.Unmarshal(text, &g); err != nil {
			return fmt.Errorf("the record of a group: %w", err)
		}
		g.Record.Group = r.of.group(number, groups[g.Group])
		got = append(got, g)
	}
	for _, g := range got {
		key := r.key(c, g.Record.Group)
		if b.done[key] {
			continue
		}
		if err := r.j.keep(b.sheet, r.tally, g.Record, g.Median, g.Late); err != nil {
			return err
		}
		if g.Record.Status == result.OK {
			b.times[key] = *g.Record.Time
		}
		r.pace.Kept(g.Record, took/time.Duration(len(got)))
		r.j.screen.PatternRow(r.nameOf(b), g.Record)
	}
	r.j.ledger.Begin(b.sheet)
	return nil
}

// verdicts are what is known so far of each case of a library, by case. Rank 0 only.
func (r *patternRun) verdicts(b *book) map[coll.Case]pattern.Verdict {
	return pattern.Verdicts(r.of.facts(), b.lib.Name(), b.cases, b.times)
}
