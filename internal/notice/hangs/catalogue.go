// Package hangs has the notices on hung and dead jobs: verdicts, their evidence, and what contradicts it.
package hangs

import "busbar/internal/notice"

func init() {
	for i := range verdicts {
		verdicts[i].Source = "PyTorch documentation, Flight Recorder"
	}
	for i := range doubts {
		doubts[i].Severity = notice.Warning
	}
	notice.Register(verdicts, observed, doubts)
}

// Code identifies a notice.
type Code = notice.Code
