package session

import (
	"cmp"
	"slices"
	"time"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/rank/hang"
	"busbar/rank/launch"
	"busbar/rank/machine"
)

// division is a world that is divided into groups, and this rank's group, which is a world of its own.
type division struct {
	*worldRun
	of     coll.Division
	number int         // of the group, from 1
	firsts launch.Comm // of the first ranks of all groups; nil on other ranks
}

// divide divides the world, unless it is divided in this way. Every rank is in one group. Collective over the world.
func divide(w *worldRun, of coll.Division) error {
	if w.division != nil && w.division.of == of {
		return nil
	}
	if err := w.division.close(); err != nil {
		return err
	}
	own := w.world.Rank
	g, number, err := split(w, of)
	if err != nil {
		return err
	}
	d := &division{of: of, number: number}
	first := -1
	if g.world.Rank == 0 {
		first = 0
	}
	if d.firsts, err = w.world.Group.Split(first, own); err != nil {
		return err
	}
	g.world.Area, g.memory.hostShares = w.world.Area, w.memory.hostShares
	d.worldRun, w.division = g, d
	if err := g.prepare(); err != nil {
		return err
	}
	if g.world.Rank == 0 {
		g.counters = machine.OpenCounters("/")
	}
	for _, s := range w.sessions {
		in := &session{worldRun: g, lib: s.lib}
		for _, c := range s.cases {
			if c.Groups.Division == of && c.Groups.Number == d.number {
				in.cases = append(in.cases, c)
			}
		}
		g.sessions = append(g.sessions, in)
		if err := in.open(); err != nil {
			return err
		}
	}
	return nil
}

// split makes a world of this rank's group, and its number, with nothing open. Collective.
func split(w *worldRun, of coll.Division) (g *worldRun, number int, err error) {
	w.run.Watch.Phase("split the world into groups", 0)
	number = of.Of(w.world.Rank, w.world.Size)
	comm, err := w.world.Group.Split(number, w.world.Rank)
	if err != nil {
		return nil, 0, err
	}
	members := make([][]int, of.N()) // by group
	for i, rank := range w.world.Names {
		g := of.Of(i, w.world.Size) - 1
		members[g] = append(members[g], rank)
	}
	g = w.run.newWorld(comm, members[number-1])
	g.memory.neighbours = w.run.neighbours(members)
	return g, number, nil
}

// place sets the nodes of a record of a group, measured or not.
func (w *worldRun) place(r *result.Record) *result.Record {
	var machines []string
	for i, m := range w.machines {
		g := r.Groups
		if g.Divided() && (g.Division.IsDimension() || g.Division.Of(i, w.world.Size) == g.Number) {
			machines = append(machines, m)
		}
	}
	r.Nodes, r.RanksPerNode = machine.CountNodes(machines)
	return r
}

// close closes the groups; of a nil division it does nothing. Collective over the world.
func (d *division) close() error {
	if d == nil {
		return nil
	}
	if err := closeLibraries(d.worldRun); err != nil {
		return err
	}
	if d.firsts != nil {
		if err := d.firsts.Free(); err != nil {
			return err
		}
	}
	return d.world.Group.Free()
}

// measureInGroups measures the case of the current order in one group, or in all groups at once. Rank 0 returns the
// results. Collective over the world.
func (s *session) measureInGroups(o order) ([]*groupResult, error) {
	c := s.cases[o.Case]
	if err := divide(s.worldRun, c.Groups.Division); err != nil {
		return nil, err
	}
	var mine *groupResult
	waits := hang.WaitOutside
	if d := s.division; !c.Groups.Alone || c.Groups.Number == d.number {
		c.Groups.Number = d.number
		var err error
		if mine, err = d.measureCase(c, o, s.world.Group); err != nil {
			return nil, err
		}
		waits = hang.WaitForGroups
	}
	s.run.Watch.Rest(waits)
	if err := s.world.Group.BarrierSleeping(sleepPause); err != nil {
		return nil, err
	}
	all, err := launch.GatherJSON(s.world.Group, mine)
	return atOnce(slices.DeleteFunc(all, func(g *groupResult) bool { return g == nil })), err
}

// atOnce discards the values of groups beside one that failed: it was idle. They have its reason.
func atOnce(all []*groupResult) []*groupResult {
	failed := slices.IndexFunc(all, func(g *groupResult) bool { return g.Record.Status != result.OK })
	for _, g := range all {
		if r := g.Record; failed >= 0 && r.Status == result.OK {
			r.Abort(result.Skipped, all[failed].Record.Why)
			r.Time, r.Ranks, g.AllRanks = nil, nil, result.AllRanks{}
		}
	}
	return all
}

// measureCase measures a case in this group; whole is the divided world. The group's first rank returns the result.
func (d *division) measureCase(c coll.Case, o order, whole launch.Comm) (mine *groupResult, err error) {
	s := d.sessions[o.Session]
	o.Case = int32(slices.Index(s.cases, c))
	var t *together
	if !c.Groups.Alone {
		t = &together{division: d, whole: whole}
	}
	record := s.leftOutByMemory(int(o.Case))
	if record == nil {
		if record, err = s.observed(o, t); err != nil {
			return nil, err
		}
	}
	if t != nil {
		if err := t.end(); err != nil {
			return nil, err
		}
	}
	if d.world.Rank != 0 {
		return nil, nil
	}
	return newResult(d.worldRun, record), nil
}

// together lets all groups measure a case at the same time. It implements bench.Together.
type together struct {
	*division
	whole             launch.Comm // of all groups
	started, finished bool
}

// Start implements bench.Together.
func (t *together) Start() error {
	t.started = true
	t.run.Watch.Rest(hang.WaitForGroups)
	if err := t.whole.BarrierSleeping(sleepPause); err != nil {
		return err
	}
	return t.whole.Barrier() // all ranks leave it at about the same time
}

// Finish implements bench.Together. The first rank of the group decides for the others: if each looked by itself, they
// would run different numbers of batches.
func (t *together) Finish(batch func() error) error {
	t.finished = true
	var failed error
	next := func(more float64) (bool, error) {
		order := []float64{more}
		if err := t.world.Bcast(order); err != nil || order[0] == 0 {
			return false, err
		}
		failed = batch()
		return true, nil
	}
	if t.firsts == nil {
		for {
			if more, err := next(0); !more {
				return cmp.Or(err, failed)
			}
		}
	}
	err := launch.BarrierWhile(t.firsts, func() error {
		if batch == nil || failed != nil {
			time.Sleep(sleepPause)
			return nil
		}
		_, err := next(1)
		return err
	})
	if err == nil {
		_, err = next(0)
	}
	return cmp.Or(err, failed)
}

// end waits for the other groups if this one did not measure the case to its end.
func (t *together) end() error {
	if !t.started {
		if err := t.Start(); err != nil {
			return err
		}
	}
	if t.finished {
		return nil
	}
	t.run.Watch.Rest(hang.WaitForGroups)
	return t.Finish(nil)
}
