package timeline

import "busbar/internal/stats"

// overlaps sets both figures of overlap from the times.
func (p *Parts) overlaps() {
	p.Efficiency, p.WallClock = nil, nil
	if p.Comm > 0 {
		interval := 100 * p.Overlap / p.Comm
		wall := 100 * stats.WallClockOverlap(p.Compute, p.Comm, p.Span)
		p.Efficiency, p.WallClock = &interval, &wall
	}
}
