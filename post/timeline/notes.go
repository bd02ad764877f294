package timeline

import (
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/post/trace"
)

// mostEarly is the maximum percentage of activities that start before their launch; above it, the clocks disagree.
// Single ones are due to clock granularity.
const mostEarly = 1

// notes returns the limits of a device's values.
func (s *study) notes() (notes []notice.Notice) {
	var launched, early int
	var graphs int64
	for i := range s.Activities {
		a := &s.Activities[i]
		if a.Launch != trace.NoTime {
			launched++
			if a.Launch > a.Start {
				early++
			}
		}
		if a.Kind == trace.GraphTrace {
			graphs += a.End - a.Start
		}
	}
	add := func(f notice.Fact) { notes = append(notes, notice.New(f)) }
	if graphs > 0 {
		add(profiles.CUDAGraphs{Time: seconds(milliseconds(graphs))})
	}
	if early*100 > launched*mostEarly {
		add(profiles.ClocksDisagree{Early: early, Of: launched})
	}
	if s.options.StepPattern != nil && len(s.host) == 0 {
		add(profiles.StepPatternUnmatched{Pattern: s.options.StepPattern.String()})
	}
	return notes
}
