package screen

import (
	"slices"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
)

// ReportGroup prints which bucket of a group of points is the best, and how much of its communication is exposed. Rank
// 0 only.
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

// report prints notices with their details.
func (s *Screen) report(all ...notice.Notice) {
	for _, n := range all {
		s.Wrapped("# ", notice.Paragraph(n.Fact))
	}
}

// stepFarewell says what the figures are not, and what to do next.
func (s *Screen) stepFarewell() {
	for _, mark := range s.marks {
		s.Wrapped("# ", mark)
	}
	s.Note("next: post report")
}

// markSteps keeps what has to be said of all figures of a file.
func (s *Screen) markSteps(r *result.Run, points []step.Point) {
	mark := func(text string) {
		if !slices.Contains(s.marks, text) {
			s.marks = append(s.marks, text)
		}
	}
	if r.Rehearse {
		mark("SIMULATED: no device was measured, and these values are not about hardware")
	}
}
