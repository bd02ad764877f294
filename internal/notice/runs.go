package notice

// Notices on whole runs. docs/file-format.md has the statuses of points.

// PointsFailed reports points without a valid value.
type PointsFailed struct {
	Points int    `json:"points"`
	Status string `json:"status"` // wrong, failed, timeout or oom
}

// RunUnfinished reports a run that has no end, or one with points of its plan left.
type RunUnfinished struct {
	Outcome string `json:"outcome,omitempty"` // "" where no end is recorded
	Left    int    `json:"points_left,omitempty"`
}

func (PointsFailed) Code() Code  { return "points-failed" }
func (RunUnfinished) Code() Code { return "run-unfinished" }

var runs = []Entry{
	{
		Example:  PointsFailed{3, "wrong"},
		Severity: Error,
		Text:     "{Points point} ended with status {Status}",
		Advice:   "read the reason of each point, remove the cause, and run rank --resume",
		Doc: `The statuses are wrong (the data differs from the correct result), failed (the library or a rank reported
			an error), timeout (a hang) and oom (no memory). Planned skips are not reported.`,
	},
	{
		Example:  RunUnfinished{"interrupted", 12},
		Severity: Warning,
		Text:     "the run is unfinished[ ({Outcome})][, {Left planned point} not measured]",
		Advice:   "continue it with rank --resume, with the same --out",
		Doc: `A run that was interrupted, killed, or is still running has valid results of the points that it ` +
			`reached.`,
	},
}
