package main

import (
	"cmp"
	"context"
	"fmt"
	"syscall"

	"busbar/internal/bench"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/launch"
	"busbar/rank/machine"
	"busbar/rank/screen"
)

// stepSession is training steps measured with one library in one world on this rank.
type stepSession struct {
	*session
	trainer   backend.Trainer
	computing backend.Computing
	points    []*stepPoint
	same      []string // of caps that give the same buckets as others

	rounds [][]step.Round // of each point; rank 0 only
}

// stepPoint is one point of a world, as its number in the file's list says from 1 on.
type stepPoint struct {
	n int
	step.Point
	plan    *step.Plan    // nil where the point is impossible
	verdict bench.Verdict // why it is not measured; the zero value where it is
	done    bool          // an earlier run has it
}

// measureSteps measures training steps in one (sub-)world, one library after another. Collective over comm.
func (j *job) measureSteps(ctx context.Context, p *plan, libraries []backend.Library, comm launch.Comm, tally *tally) error {
	w := j.newSubworld(p, comm, firstRanks(comm.Size()))
	w.tally, w.hostShares = tally, 1
	j.watch.Phase(fmt.Sprintf("prepare a world of %d", comm.Size()), 0)
	if err := w.prepareClock(); err != nil {
		return err
	}
	over := false
	for _, lib := range libraries {
		s, err := w.openSteps(lib)
		if err != nil {
			return err
		}
		if over, err = s.measure(ctx); err != nil {
			return err
		}
		if err := s.close(over); err != nil {
			return err
		}
		if over {
			break
		}
	}
	return w.area.Free()
}

// openSteps makes a library, what computes and the memory ready.
func (w *subworld) openSteps(lib backend.Library) (*stepSession, error) {
	s := &stepSession{session: &session{subworld: w, lib: lib}}
	w.sessions = []*session{s.session}
	var err error
	if s.backend, err = lib.Open(w.forLibraries(), s.method()); err != nil {
		return nil, err
	}
	s.trainer = s.backend.(backend.Trainer) // as all backends are
	w.j.watch.Phase("calibrate computing", 0)
	if s.computing, err = s.trainer.Computing(); err != nil {
		return nil, err
	}
	w.j.watch.Phase(fmt.Sprintf("prepare a world of %d", w.world.Size), 0)
	if err := s.planPoints(); err != nil {
		return nil, err
	}
	return s, s.backend.Ready()
}

// planPoints makes the plans of all points, and memory for those that fit.
func (s *stepSession) planPoints() error {
	rate := []float64{-s.computing.CopyRate()}
	if err := s.world.Max(rate); err != nil { // the slowest rank's, so that plans are equal
		return err
	}
	points, plans, same, err := s.p.step.plans(s.j.cfg, s.lib.Name(), s.world.Size, -rate[0])
	if err != nil {
		return err
	}
	s.same = same
	own := make([]float64, len(points))
	for i, plan := range plans {
		p := &stepPoint{n: i + 1, Point: points[i], plan: plan}
		if plan == nil {
			p.verdict = bench.Verdict{Status: result.Unsupported, Cause: notice.LibraryLacks{Problem: p.Impossible().Error()}}
		} else {
			own[i] = float64(plan.Bytes)
		}
		s.points = append(s.points, p)
	}
	rooms, err := s.makeRoom(own)
	if err != nil {
		return err
	}
	for i, p := range s.points {
		if !p.verdict.Over() {
			p.verdict = rooms[i].verdict()
		}
	}
	s.rounds = make([][]step.Round, len(points))
	return nil
}

// measure measures all points, group by group; over says that the run is to end. Collective.
func (s *stepSession) measure(ctx context.Context) (over bool, err error) {
	if s.world.Rank == 0 {
		if err := s.openFile(); err != nil {
			return false, err
		}
	}
	if err := s.agreeOnDone(); err != nil {
		return false, err
	}
	for _, group := range s.groups() {
		g := &stepGroup{s: s, points: group, bound: map[*stepPoint]*stepRun{}}
		if over, err = g.measure(ctx); err != nil || over {
			return over, err
		}
	}
	return false, nil
}

// groups are the points of which no earlier run has a figure, by what they share.
func (s *stepSession) groups() (groups [][]*stepPoint) {
	var points []step.Point
	for _, p := range s.points {
		points = append(points, p.Point)
	}
	for _, indices := range step.Groups(points) {
		var group []*stepPoint
		for _, i := range indices {
			if !s.points[i].done {
				group = append(group, s.points[i])
			}
		}
		if len(group) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

// openFile makes the results file, with what it continues. Rank 0 only.
func (s *stepSession) openFile() error {
	var points []step.Point
	for _, p := range s.points {
		points = append(points, p.Point)
	}
	s.run = s.j.header(s.p, s.lib, s.session)
	s.run.Setup = backend.SetupOf(s.backend)
	s.p.step.header(&s.run, s.j.cfg, points, s.computing.String())
	if c, ok := s.computing.(backend.Calibrated); ok {
		s.run.Step.Unit, s.run.Step.Start = c.Calibration()
	}
	s.run.Warnings.Add(s.stepCrowded()...)
	s.continuePast()
	for _, p := range s.points {
		if !p.done {
			s.run.Sweep.Points++
		}
	}
	if err := s.session.openFile(); err != nil {
		return err
	}
	s.j.screen.Steps(screen.File{Run: &s.run, Path: s.sheet.Path()}, s.p.step.model, s.bare(), s.p.sweep.Options, s.same)
	return nil
}

// continuePast finds what earlier runs have measured. Rank 0 only.
func (s *stepSession) continuePast() {
	if s.p.past == nil {
		return
	}
	done, resumes := s.p.past.StepsDone(s.run.Key())
	for _, p := range s.points {
		p.done = done[p.Point]
	}
	s.run.Resumes = append(s.p.past.Unfit(s.lib.Name(), s.world.Size), resumes...)
	if s.p.campaign == s.p.launch && len(s.run.Resumes) > 0 {
		s.p.campaign = cmp.Or(s.p.past.Campaign(s.run.Resumes), s.p.launch)
	}
}

// stepStart is rank 0's word to all ranks before a world's first step.
type stepStart struct {
	Run  string // its name, which traces have
	Done []bool // by point: an earlier run has it
}

// agreeOnDone brings rank 0's word on what is measured to all.
func (s *stepSession) agreeOnDone() error {
	start := stepStart{Run: s.run.ID}
	for _, p := range s.points {
		start.Done = append(start.Done, p.done)
	}
	if err := launch.BroadcastJSON(s.comm, &start); err != nil {
		return err
	}
	s.run.ID = start.Run
	for i, p := range s.points {
		p.done = start.Done[i]
	}
	return nil
}

// close ends the world for this library, and its file. Collective.
func (s *stepSession) close(over bool) error {
	s.j.watch.Phase(fmt.Sprintf("close a world of %d", s.world.Size), 0)
	if err := s.computing.Close(); err != nil {
		return err
	}
	if err := s.backend.Close(); err != nil || s.world.Rank != 0 {
		return err
	}
	s.j.screen.ReportProgress(s.bare(), s.rounds)
	s.j.ledger.Throttled(s.sheet, backend.ThrottledOf(s.backend))
	if over {
		s.tally.over = true
		s.j.ledger.Finish(result.Interrupted, notice.RunSignalled{Signal: signalNames[syscall.SIGUSR1]}, s.tally.code(), "")
		return nil
	}
	return s.j.ledger.Close(s.sheet, s.tally.code())
}

// bare are the points without what is known of their measurement.
func (s *stepSession) bare() (points []step.Point) {
	for _, p := range s.points {
		points = append(points, p.Point)
	}
	return points
}

// stepCrowded warns where threads that compute and threads that communicate must share cores.
func (s *stepSession) stepCrowded() []notice.Fact {
	if !backend.OnHosts(s.lib.Name()) || s.run.Crowded() != nil { // another warning leaves this one to say
		return nil
	}
	threads := s.j.cfg.step.Threads
	for _, p := range s.points {
		if p.Progress == step.Thread {
			threads = s.j.cfg.step.Threads + 1
		}
	}
	if threads == 1 {
		return nil
	}
	var places []machine.Place
	for i, f := range s.facts() {
		for range threads {
			places = append(places, machine.Place{Rank: s.members[i], Host: f.Host, CPUs: f.CPUs, Quota: f.Quota})
		}
	}
	hosts := map[string][]machine.Place{}
	for _, p := range places {
		hosts[p.Host] = append(hosts[p.Host], p)
	}
	for _, f := range s.facts() {
		if n, cores, limit := machine.Crowd(hosts[f.Host]); n > 0 {
			return []notice.Fact{notice.SharedStepThreads{Threads: n, Cores: cores, Host: f.Host, Limit: limit}}
		}
	}
	return nil
}
