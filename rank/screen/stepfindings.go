package screen

import (
	"busbar/internal/notice"
	"busbar/internal/step"
)

// ReportGroup prints the best bucket size of a group of points, and its exposed communication.
func (s *Screen) ReportGroup(points []step.Point, rounds [][]step.Round) {
	if !s.on {
		return
	}
	best := step.LeastMedian(rounds)
	if best < 0 {
		return
	}
	figures := step.FiguresOf(rounds[best])
	if len(points) > 1 {
		s.report(step.FindBucket(points, step.Standings(points, rounds), best, &figures))
	}
	s.report(step.FindPoint(points[best], &figures)...)
}

// report prints notices with details.
func (s *Screen) report(all ...notice.Notice) {
	for _, n := range all {
		s.Wrapped("# ", notice.Paragraph(n.Fact))
	}
}
