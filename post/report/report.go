// Package report is the model of a report about many runs, and its two forms: a Markdown text, and a page that is one
// file. It decides what stands in a report and how much of it; what is to be found in the figures is the work of
// package analysis. It writes no file by itself.
package report

import (
	"slices"
	"strings"

	"busbar/internal/notice"
)

// Report is what stands on the page. It is plain data: the page's script reads it as JSON, whose lists are never null.
// Texts are whole sentences or words, not markup; whoever shows one escapes it.
type Report struct {
	Title     string     `json:"title"`
	Made      string     `json:"made"` // when, RFC 3339 in UTC
	Tool      string     `json:"tool"` // which post made it
	Totals    Totals     `json:"totals"`
	Banners   []Headline `json:"banners"`
	Headlines []Headline `json:"headlines"`
	Plan      Plan       `json:"plan"`
	Runs      []Run      `json:"runs"`

	Environment []Fact `json:"environment"`
	Method      []Fact `json:"method"`

	Axes     [][]int64 `json:"axes"` // sizes in bytes, ascending, each list once; Curve.Axis and Heat.Axis say which
	Families []Family  `json:"families"`
	Curves   []Curve   `json:"curves"`
	Notes    []string  `json:"notes"` // what points are to be read with, each text once: Mark.Note and Curve.Paths say which
	Bases    []string  `json:"bases"` // the words for what bounds are; Curve.Bases says which
	Findings []Finding `json:"findings"`
	Models   []Model   `json:"models"` // of curves that have one
	Ceilings []Ceiling `json:"ceilings"`
	Heats    []Heat    `json:"heats"`
	Quality  Quality   `json:"quality"`

	Steps    *Steps     `json:"steps,omitempty"`    // where training steps were measured
	Timeline *Timelines `json:"timeline,omitempty"` // where one was read

	Files   []File   `json:"files"`
	LeftOut []string `json:"left_out"` // what did not fit the page, by which rule it was chosen, and where it is
}

// Totals are how many there are of what the report lists, also where it does not list all.
type Totals struct {
	Runs   int `json:"runs"`
	Curves int `json:"curves"`
	Points int `json:"points"` // of curves
	Rows   int `json:"rows"`   // records of collectives, with a figure or without
	Steps  int `json:"steps"`  // points of training steps with figures
}

// Headline is a notice as a report shows it.
type Headline struct {
	Code     notice.Code     `json:"code"`
	Severity notice.Severity `json:"severity"`
	Message  string          `json:"message"`           // whole sentences, with the location
	Finding  int             `json:"finding,omitempty"` // its number, if it is a finding
}

// Severities are those of all that the report reports.
func (r *Report) Severities() (all []notice.Severity) {
	for _, list := range [][]Headline{r.Banners, r.Headlines, r.Plan.Notices} {
		for _, h := range list {
			all = append(all, h.Severity)
		}
	}
	for _, f := range r.Findings {
		all = append(all, f.Severity)
	}
	if r.Timeline != nil {
		for _, n := range r.Timeline.Found.Notices() {
			all = append(all, n.Severity)
		}
	}
	return all
}

// Ignore removes the banners and headlines that shows does not show.
func (r *Report) Ignore(shows func(notice.Code) bool) {
	hidden := func(h Headline) bool { return !shows(h.Code) }
	r.Banners = slices.DeleteFunc(r.Banners, hidden)
	r.Headlines = slices.DeleteFunc(r.Headlines, hidden)
	r.Plan.Notices = slices.DeleteFunc(r.Plan.Notices, hidden)
}

// headline is a notice with its details and advice.
func headline(fact notice.Fact) Headline {
	n := notice.New(fact)
	words := append([]string{n.Message() + "."}, n.Details()...)
	if do := notice.ToDo(fact); do != "" {
		words = append(words, strings.TrimSuffix(do, ".")+".")
	}
	return Headline{Code: n.Code(), Severity: n.Severity, Message: strings.Join(words, " ")}
}

// Plan is what was planned against what was done, over all runs together.
type Plan struct {
	Planned int        `json:"planned"`
	Counts  []Count    `json:"counts"` // by status, ok first
	Left    int        `json:"left"`   // planned points that no run has a record of
	Notices []Headline `json:"notices"`
}

// Count is how many there are of something.
type Count struct {
	Text string `json:"text"`
	N    int    `json:"n"`
}

// Run is one run, with its number in this report.
type Run struct {
	Number   int      `json:"number"` // from 1
	ID       string   `json:"id"`
	Who      string   `json:"who"`   // the contender
	Start    string   `json:"start"` // RFC 3339 in UTC; "" where it is not known
	World    int      `json:"world"` // 0: not known
	Nodes    int      `json:"nodes"`
	Hosts    string   `json:"hosts"` // "node[1-4]" or a few names
	Sweep    string   `json:"sweep"`
	Planned  int      `json:"planned"`
	Counts   []Count  `json:"counts"`
	Left     int      `json:"left"`
	Outcome  string   `json:"outcome"` // complete, interrupted, aborted, cut off, imported
	Reason   string   `json:"reason,omitempty"`
	Resumes  []int    `json:"resumes,omitempty"` // numbers of the runs that it continues
	Resume   string   `json:"resume,omitempty"`  // a command that goes on with it
	Marks    []string `json:"marks,omitempty"`   // rehearsed, imported, shared cores
	Command  string   `json:"command"`
	Warnings []string `json:"warnings,omitempty"`
	Files    []int    `json:"files"` // indices in Report.Files
}

// Fact is one thing that runs have: what it is, and which runs have which value of it.
type Fact struct {
	Topic  string  `json:"topic"` // facts of one topic stand together
	Name   string  `json:"name"`
	Values []Value `json:"values"`
}

// Value is what some of the runs have of a fact.
type Value struct {
	Text string `json:"text"`
	Runs string `json:"runs,omitempty"` // "runs 1 to 12 and 15"; "" for all
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
// has such a thing.
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
var bases = []string{"none", "95 % interval within the launch", "least and greatest over launches", "95 % interval over launches"}

// Mark says that a point is to be read with a note.
type Mark struct {
	Point int `json:"p"` // index on the axis
	Note  int `json:"n"` // index in Report.Notes
}

// Finding is one thing found in a curve.
type Finding struct {
	Number   int             `json:"number"` // from 1
	Code     notice.Code     `json:"code"`
	Severity notice.Severity `json:"severity"`
	Curve    int             `json:"curve"` // index in Report.Curves; -1: its curve was left out
	Where    string          `json:"where"` // the curve in words
	From     int64           `json:"from"`  // bytes, both of measured sizes
	To       int64           `json:"to"`
	Message  string          `json:"message"` // with its location
	Evidence []string        `json:"evidence"`
	Hints    []Hint          `json:"hints"`
	Also     []Place         `json:"also"` // where else it was found
}

// Place is a range of sizes of one curve.
type Place struct {
	Curve int   `json:"curve"` // index in Report.Curves
	From  int64 `json:"from"`  // bytes, both of measured sizes
	To    int64 `json:"to"`
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
	Says     string `json:"says"`
	Source   string `json:"source"`
	Variable string `json:"variable,omitempty"`
	Value    string `json:"value,omitempty"`
	Sweep    string `json:"sweep,omitempty"` // lines of a campaign, or a command, ready to be copied
}

// Model is the law that the times of a curve follow over sizes, or several one after the other, in words and as it is drawn.
type Model struct {
	Curve     int    `json:"curve"` // index in Report.Curves
	Latency   string `json:"latency"`
	Bandwidth string `json:"bandwidth"`
	Half      string `json:"half"`    // the size that reaches half of it
	Changes   string `json:"changes"` // sizes from which on another law holds; "" where there is one law
	Scatter   string `json:"scatter"` // of points around the laws
	Bounds    string `json:"bounds"`  // what those of the figures are
	Laws      []Law  `json:"laws"`
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
	Checks   []Count    `json:"checks"` // outcomes of the check of the data, by point
	Misses   []Miss     `json:"misses"`
	Warnings []Tally    `json:"warnings"`
	Notices  []Headline `json:"notices"` // on all values of some runs
	Files    []string   `json:"files"`   // problems of files
}

// Miss is points without a valid value, of one reason.
type Miss struct {
	Status string `json:"status"`
	Reason string `json:"reason"` // of one of them
	N      int    `json:"n"`
	Where  string `json:"where"` // contender, collectives, sizes and runs
}

// Tally is a warning that several points or runs have.
type Tally struct {
	Code     notice.Code     `json:"code"`
	Severity notice.Severity `json:"severity"`
	Message  string          `json:"message"` // of one of them
	N        int             `json:"n"`
	Of       string          `json:"of"` // point, run
	Where    string          `json:"where"`
}

// File is a file that lies beside the report or where it was read.
type File struct {
	Name   string `json:"name"` // as it is shown
	Href   string `json:"href"` // relative, escaped for a link
	What   string `json:"what"`
	Points int    `json:"points,omitempty"`
}
