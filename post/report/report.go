// Package report is the model of a report about many runs, and its two forms: a Markdown text, and a page that is one
// file. It decides what stands in a report and how much of it; what is to be found in the figures is the work of
// package analysis. It writes no file by itself.
package report

import (
	"slices"

	"busbar/internal/notice"
)

// Report is what is in a report. The page's script reads a part of it as JSON, whose lists are never null. Texts are
// not markup; what shows one escapes it. It has many fields because each section of the report has its own.
type Report struct {
	Title     string
	Made      string // when, RFC 3339 in UTC
	Tool      string // which post made it
	Totals    Totals
	Banners   []notice.Notice
	Headlines []Headline
	Plan      Plan
	Runs      []Run

	Environment []Fact
	Method      []Fact

	Axes     [][]int64 // sizes in bytes, ascending, each list once; Curve.Axis and Heat.Axis say which
	Families []Family
	Curves   []Curve
	Notes    []string // what points are to be read with, each text once: Mark.Note and Curve.Paths say which
	Bases    []string // the words for what bounds are; Curve.Bases says which
	Findings []Finding
	Models   []Model // of curves that have one
	Ceilings []Ceiling
	Heats    []Heat
	Quality  Quality

	Steps    *Steps     // where training steps were measured
	Timeline *Timelines // where one was read

	Files   []File
	LeftOut []notice.ReportLeftOut
}

// Totals are how many there are of what the report lists, also where it does not list all.
type Totals struct {
	Runs   int
	Curves int
	Points int // of curves
	Rows   int // records of collectives, with a figure or without
	Steps  int // points of training steps with figures
}

// Headline is a notice among those that a report begins with.
type Headline struct {
	notice.Notice
	Finding int // its number, if it is a finding
}

// Notices are those of banners, plan, headlines, findings and timeline; a headline that repeats a finding counts once.
func (r *Report) Notices() []notice.Notice {
	all := slices.Concat(r.Banners, r.Plan.Notices)
	for _, h := range r.Headlines {
		if h.Finding == 0 {
			all = append(all, h.Notice)
		}
	}
	for _, f := range r.Findings {
		all = append(all, f.Notice)
	}
	if r.Timeline != nil {
		all = append(all, r.Timeline.Found.Notices()...)
	}
	return all
}

// Ignore removes the banners and headlines that shows does not show.
func (r *Report) Ignore(shows func(notice.Code) bool) {
	hidden := func(n notice.Notice) bool { return !shows(n.Code()) }
	r.Banners = slices.DeleteFunc(r.Banners, hidden)
	r.Headlines = slices.DeleteFunc(r.Headlines, func(h Headline) bool { return hidden(h.Notice) })
	r.Plan.Notices = slices.DeleteFunc(r.Plan.Notices, hidden)
}

// Plan is what was planned against what was done, over all runs together.
type Plan struct {
	Planned int
	Counts  []Count // by status, ok first
	Left    int     // planned points that no run has a record of
	Notices []notice.Notice
}

// Count is how many there are of something.
type Count struct {
	Text string
	N    int
}

// Run is one run, with its number in this report. It has many fields because it is one row of the list of runs.
type Run struct {
	Number   int // from 1
	ID       string
	Who      string // the contender
	Start    string // RFC 3339 in UTC; "" where it is not known
	World    int    // 0: not known
	Nodes    int
	Hosts    string // "node[1-4]" or a few names
	Sweep    string
	Planned  int
	Counts   []Count
	Left     int
	Outcome  string // complete, interrupted, aborted, cut off, imported
	Reason   string
	Resumes  []int    // numbers of the runs that it continues
	Resume   string   // a command that goes on with it
	Marks    []string // rehearsed, imported, shared cores
	Command  string
	Warnings []string
	Files    []int // indices in Report.Files
}

// Fact is one thing that runs have: what it is, and which runs have which value of it.
type Fact struct {
	Topic  string // facts of one topic stand together
	Name   string
	Values []Value
}

// Value is what some of the runs have of a fact.
type Value struct {
	Text string
	Runs string // "runs 1 to 12 and 15"; "" for all
}

// Family is what the curves of one picture share: everything but the contender, its world, and the size.
type Family struct {
	Title      string `json:"title"`
	Collective string `json:"collective"`
	Type       string `json:"type"` // "": another tool's file does not tell; so with the placement
	Op         string `json:"op"`   // "" where nothing is reduced
	Root       int    `json:"root"` // -1: none
	Placement  string `json:"placement"`
	Mode       string `json:"mode"`
	Way        string `json:"way,omitempty"` // what is unusual in how it was measured
}

// Curve is the times of one contender in one world over sizes. The lists are as long as its axis, or nil where no point
// has such a value. It has many fields because it is one object of the JSON that the page's script reads.
type Curve struct {
	Family   int     `json:"family"` // index in Report.Families
	Who      string  `json:"who"`
	Backend  string  `json:"backend"`
	World    int     `json:"world"`
	Nodes    int     `json:"nodes"`
	PerNode  int     `json:"per_node"`
	Label    string  `json:"label"`  // who and world, in a legend
	Factor   float64 `json:"factor"` // busbw over algbw; algbw is the size over the time
	Axis     int     `json:"axis"`   // index in Report.Axes
	Time     Figures `json:"time_us"`
	Lo       Figures `json:"lo_us,omitempty"` // 0: no bounds there
	Hi       Figures `json:"hi_us,omitempty"`
	Bases    []int   `json:"bases"`           // what the bounds are, as indices of Report.Bases; one number: of all points
	Launches []int   `json:"launches"`        // how many each point has; one number: all of them
	Paths    []int   `json:"paths,omitempty"` // which way the library took: index in Report.Notes, -1 where it does not tell
	Marks    []Mark  `json:"marks,omitempty"`
	Ceiling  int     `json:"ceiling"` // index in Report.Ceilings; -1: none is known
	Unknown  int     `json:"unknown"` // why none is known: index in Report.Notes; -1: no word on it
	Heat     int     `json:"heat"`    // index in Report.Heats; -1: none

	Rehearsed bool   `json:"rehearsed,omitempty"`
	Imported  string `json:"imported,omitempty"` // the tool that measured it
	Crowded   string `json:"crowded,omitempty"`  // why its times say nothing about speed
}

// bases are the words for what bounds are.
var bases = []string{"none", "95 % CI within the launch", "minimum and maximum over launches", "95 % CI over launches"}

// Mark says that a point is to be read with a note.
type Mark struct {
	Point int `json:"p"` // index on the axis
	Note  int `json:"n"` // index in Report.Notes
}

// Finding is one thing found in a curve.
type Finding struct {
	Number int // from 1
	notice.Notice
	Curve    int   // index in Report.Curves; -1: its curve was left out
	From     int64 // bytes, both of measured sizes
	To       int64
	Evidence []string
	Hints    []Hint
	Also     []Place // where else it was found
}

// Place is a range of sizes of one curve.
type Place struct {
	Curve int   // index in Report.Curves
	From  int64 // bytes, both of measured sizes
	To    int64
}

// places are those that stand in the report, its own first.
func (f Finding) places() []Place {
	if f.Curve < 0 {
		return f.Also
	}
	return append([]Place{{f.Curve, f.From, f.To}}, f.Also...)
}

// Hint is what to try.
type Hint struct {
	Says     string
	Source   string
	Variable string
	Value    string
	Sweep    string // lines of a campaign, or a command, ready to be copied
}

// Model is the law that the times of a curve follow over sizes, or several one after the other, in words and as it is drawn.
type Model struct {
	Curve     int // index in Report.Curves
	Latency   string
	Bandwidth string
	Half      string // the size that reaches half of it
	Changes   string // sizes from which on another law holds; "" where there is one law
	Scatter   string // of points around the laws
	Bounds    string // what those of the figures are
	Laws      []Law
}

// Law is what holds at some sizes in a row: the time is Figures[0] and Figures[1] for each byte, in microseconds.
type Law struct {
	From    int64   `json:"from"` // bytes, both of measured sizes
	To      int64   `json:"to"`
	Figures Figures `json:"us"`
}

// Ceiling is what the hardware lets one expect.
type Ceiling struct {
	GBps   float64 `json:"gbps"` // bus bandwidth, 1e9 bytes per second
	Name   string  `json:"name"` // in a word or two, for a line in a plot
	Text   string  `json:"text"`
	Source string  `json:"source"`
}

// Heat is the times of each rank by size, of the last launch of a curve. Where ranks wait for each other, all take as long as
// the slowest: who issued late tells more.
type Heat struct {
	Curve       int       `json:"curve"`
	Axis        int       `json:"axis"`
	Ranks       []string  `json:"ranks"`                    // "3 node1", by rank
	Median      []Figures `json:"median_us"`                // by size, then rank; an empty list where a size has none
	Late        []Figures `json:"late_us,omitempty"`        // how much later than the first it issued
	Uncertainty float64   `json:"uncertainty_us,omitempty"` // of Late: less than that says nothing
	Slowest     string    `json:"slowest"`                  // which ranks take longest at most sizes, in words; "" for none
	Latest      string    `json:"latest"`                   // which ranks issue last
}

// Quality is what is known of the quality of the values.
type Quality struct {
	Checks   []Count // outcomes of the check of the data, by point
	Misses   []Miss
	Warnings []Tally
	Notices  []notice.Notice // on all values of some runs
	Files    []string        // problems of files
}

// Miss is points without a valid value, of one reason.
type Miss struct {
	Status string
	Reason string // of one of them
	N      int
	Where  string // contender, collectives, sizes and runs
}

// Tally is a warning that several points or runs have.
type Tally struct {
	Code     notice.Code
	Severity notice.Severity
	Message  string // of one of them
	N        int
	Of       string // point, run
	Where    string
}

// File is a file that lies beside the report or where it was read.
type File struct {
	Name   string // as it is shown
	Href   string // relative, escaped for a link
	What   string
	Points int
}
