// Package profiles has the notices on profiler traces and the timelines that are read from them, with advice on a
// training job.
package profiles

import "busbar/internal/notice"

func init() {
	notice.Register(changes, replays, timelineNotes, timelineParts, timelines, traceNotes, training)
}

// Code identifies a notice.
type Code = notice.Code
