package notice

// Notices on the report itself, and on timelines in its first lines.

// LeftOut is what of a report has no room, as a code.
type LeftOut string

// What a report limits.
const (
	LeftFindings LeftOut = "findings"
	LeftRows     LeftOut = "timeline-rows"
	LeftBoxes    LeftOut = "timeline-calls"
)

func (l LeftOut) String() string { return TextOf(l) }

// ReportLeftOut reports what a report has no room for, and by which rule it chose.
type ReportLeftOut struct {
	Shown int     `json:"shown"`
	Of    int     `json:"of"`
	What  LeftOut `json:"what"`
}

// MoreStepRuns reports runs of training steps that have no headlines.
type MoreStepRuns struct {
	Runs int `json:"runs"`
}

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
