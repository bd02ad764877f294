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

// stepSession measures training steps with one library in one world, on this rank.
type stepSession struct {
	*session
	trainer   backend.Trainer
	computing backend.Computing
	points    []*stepPoint
	same      []string // notes on bucket sizes that give the same buckets as others
}

// stepPoint is one point of a world, numbered from 1 as in the file.
type stepPoint struct {
	n int
	step.Point
	plan    *step.Plan
	verdict bench.Verdict // why it is not measured; zero if it is
	done    bool          // an earlier run has its record

	// Set when the point is bound to the library.
	train    backend.Training
	check    result.Check
	expected [4]float64 // last time of each mode, in seconds
	rounds   []step.Round
	traced   []step.TracedStep // the last overlapped steps
	began    []time.Time       // start of each of them
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

// openSteps prepares a library, its compute kernel and the memory.
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

// planPoints plans all points, and allocates memory for those that fit.
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

// measure measures all points, group by group. over reports that the run ends. Collective.
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

// groups returns the points without a record of an earlier run, by group.
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

// openFile creates the results file and names the runs that it continues. Rank 0 only.
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

// stepStart is the message of rank 0 to all ranks before the first step of a world.
type stepStart struct {
	Run  string // ID of the run, for the traces
	Done []bool // by point: an earlier run has its record
}

// agreeOnDone distributes which points an earlier run has measured.
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

// close releases the world for this library, and closes its file. Collective.
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

// bare returns the points without their measurements.
func (s *stepSession) bare() (points []step.Point) {
	for _, p := range s.points {
		points = append(points, p.Point)
	}
	return points
}
