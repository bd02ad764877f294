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

var leftOutTexts = map[LeftOut]string{
	LeftFindings: "findings are listed: the most serious ones",
	LeftRows: "timelines are plotted: the straggler, the slowest of the worst steps, then those of the lowest ranks. " +
		"The JSON of post timeline has all",
	LeftBoxes: "calls have a box in the plot: the longest. The coloured lanes have all",
}

func (l LeftOut) String() string { return leftOutTexts[l] }

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

// Code identifies the notice, as all methods below do.
func (ReportLeftOut) Code() Code { return "report-left-out" }
func (MoreStepRuns) Code() Code  { return "more-step-runs" }

var reports = []Entry{
	{
		Example: ReportLeftOut{12, 81, LeftFindings}, Severity: Info,
		Text: "only {Shown} of {Of} {What}",
		Doc:  "A page has limited space. The message has the rule of selection.",
	},
	{
		Example: MoreStepRuns{2}, Severity: Info,
		Text: "{Runs more run} of training steps: see the section on training steps",
		Doc:  "The first lines of a report cover only the first runs of training steps.",
	},
}
