package timeline

import (
	"fmt"

	"busbar/post/trace"
)

// mostEarly is how many percent of activities may have run before they were launched until clocks are said to disagree: single ones do by the
// granularity of two clocks.
const mostEarly = 1

// notes are what the figures of a device are to be read with.
func (s *study) notes(file int) []Note {
	var launched, early int
	var graphs, peers int64
	for i := range s.Activities {
		a := &s.Activities[i]
		if a.Launch != trace.NoTime {
			launched++
			if a.Launch > a.Start {
				early++
			}
		}
		switch {
		case a.Kind == trace.GraphTrace:
			graphs += a.End - a.Start
		case a.Kind == trace.MemcpyPeer && s.classes[i] == copying:
			peers += a.End - a.Start
		}
	}
	notes := []Note{}
	if graphs > 0 {
		notes = append(notes, Note{
			Says: fmt.Sprintf("%s ran in CUDA graphs of which the file has no kernels: all of it counts as computing, and communication in it is not seen", duration(milliseconds(graphs))),
			Do:   "record with nsys profile --cuda-graph-trace=node", File: file,
		})
	}
	if peers > 0 {
		notes = append(notes, Note{Says: fmt.Sprintf("%s of copies between GPUs belong to no collective and count as copies", duration(milliseconds(peers))), File: file})
	}
	if early*100 > launched*mostEarly {
		notes = append(notes, Note{
			Says: fmt.Sprintf("%d of %d activities ran before the host launched them: the clocks of host and device disagree, so take what is idle by whom, and what belongs to which step, with care", early, launched),
			File: file,
		})
	}
	if s.options.StepPattern != nil && len(s.host) == 0 {
		notes = append(notes, Note{Says: fmt.Sprintf("no range of the host matches the pattern of steps %q", s.options.StepPattern), File: file})
	}
	return notes
}
