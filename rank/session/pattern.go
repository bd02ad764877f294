package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"busbar/internal/coll"
	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/launch"
	"busbar/rank/machine"
	"busbar/rank/pace"
	"busbar/rank/plan"
	"busbar/rank/screen"
)

// patternRun measures a pattern. All ranks go through the same rounds and cases; in each round a rank is in one group
// or idle.
type patternRun struct {
	*worldRun // of the whole launch; its sessions have the files, by library
	of        *plan.Pattern
	libraries []backend.Library
	cases     []patternCase
	orders    uint64 // of rank 0
}

// patternCase is one point, which every group measures.
type patternCase struct {
	library int
	i       int // index in the library's cases
	coll.Case
}

// measurePattern measures the plan in groups of nodes, round by round, then outliers alone.
func (r *Run) measurePattern(ctx context.Context) error {
	libraries := r.fitting(r.Comm.Size())
	if len(libraries) == 0 {
		return r.unfit("--pattern has no backend that fits this world")
	}
	w := r.newWorld(r.Comm, firstRanks(r.Comm.Size()))
	if err := w.prepare(); err != nil {
		return err
	}
	p := &patternRun{worldRun: w, of: r.Plan.Pattern, libraries: libraries}
	for _, l := range libraries {
		s := &session{worldRun: w, lib: l}
		var err error
		if s.cases, err = r.Plan.Cases(l.Name(), p.of.Size()); err != nil {
			return err
		}
		w.sessions = append(w.sessions, s)
	}
	for _, t := range takeTurns(w.sessions) {
		library := slices.Index(w.sessions, t.session)
		p.cases = append(p.cases, patternCase{library, t.i, t.session.cases[t.i]})
	}
	return p.measure(ctx)
}

// measure goes through all rounds, then measures suspect groups alone, then repeats the rounds that these results
// require.
func (p *patternRun) measure(ctx context.Context) error {
	if p.world.Rank == 0 {
		p.resumeFiles()
	}
	for i, groups := range p.of.Rounds {
		if over, err := p.round(ctx, numberedRound{i + 1, groups}); err != nil || over {
			return p.end(over, err)
		}
	}
	for _, find := range []func() ([]numberedRound, error){p.suspects, p.repeats} {
		rounds, err := launch.Share(p.run.Comm, find)
		if err != nil {
			return err
		}
		for _, n := range rounds {
			if over, err := p.round(ctx, n); err != nil || over {
				return p.end(over, err)
			}
		}
	}
	return p.end(false, nil)
}

// end closes the files and prints the verdict, unless an error occurred.
func (p *patternRun) end(over bool, err error) error {
	if err != nil || p.world.Rank != 0 {
		return err
	}
	if err := p.openFiles(); err != nil { // if an earlier run has measured everything
		return err
	}
	p.run.tally.over = over
	if err := p.endFiles(); err != nil || over {
		return err
	}
	for _, s := range p.sessions {
		p.run.Screen.Verdict(s.lib.Name(), p.verdicts(s), p.of.Hosts)
	}
	return nil
}

// key returns the point of a case in a group.
func (p *patternRun) key(c patternCase, g *result.Group) result.PointKey {
	k := result.Point(p.sessions[c.library].lib.Name(), c.Case, 0)
	k.Group = g.String()
	return k
}

// resumeFiles finds the runs that this run continues. Rank 0 only.
func (p *patternRun) resumeFiles() {
	for _, s := range p.sessions {
		s.header = s.runHeader()
		s.resume()
	}
}

// missing returns the groups of a round without a value of a case.
func (p *patternRun) missing(c patternCase, n numberedRound) (groups []*result.Group) {
	for _, nodes := range n.Groups {
		if g := p.of.Group(n.Number, nodes); !p.sessions[c.library].done.Has(p.key(c, g)) {
			groups = append(groups, g)
		}
	}
	return groups
}

// openFiles creates the files, unless they exist, after the first world was created: only then libraries report all
// facts. Rank 0 only.
func (p *patternRun) openFiles() error {
	if p.sessions[0].sheet != nil {
		return nil
	}
	var files []screen.File
	for i, s := range p.sessions {
		resumes := s.header.Resumes
		s.header = s.runHeader()
		s.header.Resumes = resumes
		for n, groups := range p.of.Rounds {
			for _, c := range p.cases {
				if c.library == i {
					s.header.Sweep.Points += len(p.missing(c, numberedRound{n + 1, groups}))
				}
			}
		}
		if err := s.openFile(); err != nil {
			return err
		}
		files = append(files, s.file())
	}
	p.run.Screen.Pattern(files, fmt.Sprintf("%s x %d", p.of, len(p.of.Ranks[0])), len(p.of.Rounds),
		p.run.Plan.Sweep.Options)
	return nil
}

// verdicts returns the verdict so far on each case of a library. Rank 0 only.
func (p *patternRun) verdicts(s *session) map[coll.Case]pattern.Verdict {
	times := map[result.PointKey]result.Time{}
	for point, t := range s.done {
		if t != nil {
			times[point] = *t
		}
	}
	return pattern.Verdicts(p.of.Facts(), s.lib.Name(), s.cases, times)
}

// neighbours returns the maximum number of these groups with ranks on one machine.
func (r *Run) neighbours(groups [][]int) (most int) {
	on := map[string]int{}
	for _, ranks := range groups {
		seen := map[string]bool{}
		for _, rank := range ranks {
			if m := r.Ranks[rank].Machine; !seen[m] {
				seen[m] = true
				on[m]++
				most = max(most, on[m])
			}
		}
	}
	return most
}

// group returns the world of this rank's group in a round; nil on idle ranks. Collective over the launch.
func (p *patternRun) group(groups pattern.Round) (*worldRun, error) {
	p.run.Watch.Case(p.run.number, "") // starts a new count of steps
	p.run.Watch.Phase("split the launch into groups", 0)
	mine := slices.IndexFunc(
		groups,
		func(nodes []int) bool { return slices.Contains(p.of.Members(nodes), p.world.Rank) },
	)
	comm, err := p.run.Comm.Split(mine, p.world.Rank)
	if err != nil || comm == nil {
		return nil, err
	}
	var ranks [][]int
	for _, nodes := range groups {
		ranks = append(ranks, p.of.Members(nodes))
	}
	w := p.run.newWorld(comm, ranks[mine])
	w.label, w.memory.neighbours, w.pace = p.of.Label(groups[mine]), p.run.neighbours(ranks), &pace.Pace{}
	if err := w.prepare(); err != nil {
		return nil, err
	}
	if err := w.open(p.libraries); err != nil {
		return nil, err
	}
	if comm.Rank() == 0 {
		w.counters = machine.OpenCounters("/")
	}
	return w, nil
}

// measureInGroup measures a case in this group. Its first rank returns the record, the others nil. Collective over the
// group.
func (w *worldRun) measureInGroup(c patternCase, budget time.Duration) (*groupResult, error) {
	s := w.sessions[c.library]
	record := s.leftOutByMemory(c.i)
	if w.world.Rank != 0 {
		if record != nil {
			return nil, nil
		}
		return nil, w.follow()
	}
	if record != nil {
		return newResult(w, record), nil
	}
	results, err := turn{s, c.i}.order(budget)
	if err != nil {
		return nil, err
	}
	return results[0], w.give(&stop)
}
