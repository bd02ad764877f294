package session

import (
	"context"
	"fmt"
	"time"

	"busbar/internal/bench"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// stepSession is training steps measured with one library in one world on this rank.
type stepSession struct {
	*session
	trainer   backend.Trainer
	computing backend.Computing
	points    []*stepPoint
	same      []string // of caps that give the same buckets as others
}

// stepPoint is one point of a world, numbered in the file's list from 1.
type stepPoint struct {
	n int
	step.Point
	plan    *step.Plan
	verdict bench.Verdict // why it is not measured; the zero value where it is
	done    bool          // an earlier run has it

	// Once it is bound to the library.
	train    backend.Training
	check    result.Check
	expected [4]float64 // s that a mode took the last time
	rounds   []step.Round
	traced   []step.TracedStep // the last overlapped steps
	began    []time.Time       // when each of them began
	notes    []string
}

// measureSteps measures training steps in this world, one library after another. Collective.
func (w *worldRun) measureSteps(ctx context.Context, libraries []backend.Library) error {
	for _, lib := range libraries {
		s, err := w.openSteps(lib)
		if err != nil {
			return err
		}
		over, err := s.measure(ctx)
		if err != nil {
			return err
		}
		if err := s.close(over); err != nil {
			return err
		}
		if over {
			break
		}
	}
	return w.world.Area.Free()
}

// openSteps makes a library, what computes and the memory ready.
func (w *worldRun) openSteps(lib backend.Library) (*stepSession, error) {
	s := &stepSession{session: &session{worldRun: w, lib: lib}}
	w.sessions = []*session{s.session}
	var err error
	if s.backend, err = lib.Open(w.world, s.method()); err != nil {
		return nil, err
	}
	trainer, ok := s.backend.(backend.Trainer)
	if !ok {
		return nil, exit.Usagef("--step is not supported with --backend %s", lib.Name())
	}
	s.trainer = trainer
	w.run.Watch.Phase("calibrate computing", 0)
	if s.computing, err = s.trainer.Computing(); err != nil {
		return nil, err
	}
	w.preparing()
	if err := s.planPoints(); err != nil {
		return nil, err
	}
	return s, s.backend.Ready()
}

// planPoints makes the plans of all points, and memory for those that fit.
func (s *stepSession) planPoints() error {
	planned, err := s.run.Plan.StepWorld(s.lib.Name(), s.world.Size)
	if err != nil {
		return err
	}
	s.same = planned.Same
	own := make([]float64, len(planned.Points))
	for i, plan := range planned.Plans {
		own[i] = float64(plan.Bytes)
		s.points = append(s.points, &stepPoint{n: i + 1, Point: planned.Points[i], plan: plan,
			check: result.Check{Result: "none"}})
	}
	rooms, err := s.makeRoom(own)
	if err != nil {
		return err
	}
	for i, p := range s.points {
		p.verdict = rooms[i]
	}
	return nil
}

// measure measures all points, group by group. over reports that the run is to end. Collective.
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
		g := &stepGroup{s: s, points: group}
		if over, err = g.measure(ctx); err != nil || over {
			return over, err
		}
	}
	return false, nil
}

// groups are the points of which no earlier run has a value, by what they share.
func (s *stepSession) groups() (groups [][]*stepPoint) {
	for _, indices := range step.Groups(s.bare()) {
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
	p := s.run.Plan
	s.header = s.runHeader()
	p.StepHeader(&s.header, s.bare(), s.computing.String())
	if c, ok := s.computing.(backend.Calibrated); ok {
		s.header.Step.Unit, s.header.Step.Start = c.Calibration()
	}
	s.resume()
	for _, point := range s.points {
		if point.done = s.done.Has(result.StepPoint(s.lib.Name(), point.Point)); !point.done {
			s.header.Sweep.Points++
		}
	}
	if err := s.session.openFile(); err != nil {
		return err
	}
	s.run.Screen.Steps(s.file(), p.Step.Model, p.Sweep.Options, s.same)
	return nil
}

// stepStart is what rank 0 sends all ranks before a world's first step.
type stepStart struct {
	Run  string // its name, which traces have
	Done []bool // by point: an earlier run has it
}

// agreeOnDone tells all ranks what is measured.
func (s *stepSession) agreeOnDone() error {
	start := stepStart{Run: s.header.ID}
	for _, p := range s.points {
		start.Done = append(start.Done, p.done)
	}
	if err := launch.BroadcastJSON(s.world.Group, &start); err != nil {
		return err
	}
	s.header.ID = start.Run
	for i, p := range s.points {
		p.done = start.Done[i]
	}
	return nil
}

// close ends the world for this library, and its file. Collective.
func (s *stepSession) close(over bool) error {
	s.run.Watch.Phase(fmt.Sprintf("close a world of %d", s.world.Size), 0)
	if err := s.computing.Close(); err != nil {
		return err
	}
	if err := s.backend.Close(); err != nil || s.world.Rank != 0 {
		return err
	}
	s.run.tally.over = over
	return s.endFiles()
}

// bare are the points without what is known of their measurement.
func (s *stepSession) bare() (points []step.Point) {
	for _, p := range s.points {
		points = append(points, p.Point)
	}
	return points
}
