package report

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// names are those of all contenders that have a run.
func (l runList) names() map[analysis.Contender]string {
	var all []analysis.Contender
	for _, g := range l {
		all = units.AddOnce(all, analysis.ContenderOf(g.run))
	}
	return analysis.Names(all)
}

// countWords are how many records of each status there are.
func (g *gathered) countWords() string {
	var words []string
	known := 0
	add := func(n int, text string) {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, text))
		}
	}
	for _, s := range result.Statuses {
		add(g.counts[s], string(s))
		known += g.counts[s]
	}
	add(g.rows-known, "other")
	add(g.records-g.rows, "counted in another run or file")
	return strings.Join(words, ", ")
}

// left is how many planned points have no record.
func (g *gathered) left() int {
	switch {
	case g.run.Imported != nil:
		return 0
	case g.end != nil:
		return g.end.Left
	}
	return max(0, planned(g.run)-g.records)
}

// planned is how many points a run was to measure; 0 where that is not known.
func planned(run *result.Run) int {
	if run.Step != nil {
		return len(run.Step.Points)
	}
	return run.Sweep.Points
}

// open reports whether the run can be resumed: it was not finished, or points of it failed, and no run here continues
// it.
func (g *gathered) open() bool {
	return g.run.Imported == nil && !g.later && (g.left() > 0 || g.failed() > 0)
}

// failed is how many points a resumed run measures again.
func (g *gathered) failed() int {
	return g.counts[result.Unfinished] + g.counts[result.OOM] + g.counts[result.Timeout] + g.counts[result.Failed]
}

func outcomeOf(g *gathered) string {
	switch {
	case g.end == nil && g.run.Imported != nil:
		return "imported, end not recorded"
	case g.end == nil:
		return "cut off, or still running"
	case g.run.Imported != nil && g.end.Outcome != result.Complete:
		return "imported, " + string(g.end.Outcome)
	case g.run.Imported != nil:
		return "imported"
	}
	return string(g.end.Outcome)
}

func marksOf(run *result.Run) (marks []string) {
	if run.Rehearse {
		marks = append(marks, "simulated")
	}
	if run.Imported != nil {
		marks = append(marks, "imported from "+run.Imported.Tool)
	}
	if why := notice.Reason(run.Crowded()); why != "" {
		marks = append(marks, why)
	}
	if run.Pattern != nil {
		marks = append(marks, "pattern of "+run.Pattern.Kind)
	}
	return marks
}

// resumeCommand is the command that resumes a run; the launcher before it is not known.
func resumeCommand(run *result.Run) string {
	if len(run.Command) == 0 {
		return ""
	}
	command := units.Shell(run.Command...)
	if !slices.Contains(run.Command, "--resume") {
		command += " --resume"
	}
	return command
}

// plan is what was planned and what was done, over all runs together.
type plan struct {
	Planned int
	Left    int    // planned points that no run has a record of
	Done    string // by status
	Notices []notice.Notice
}

// plan sums up what was planned and what was done. A point that several runs of a chain tried was planned once.
func (l runList) plan() (p plan) {
	all := &gathered{counts: map[result.Status]int{}}
	imported := 0
	for _, g := range l {
		for s, n := range g.counts {
			all.counts[s] += n
		}
		all.rows += g.rows
		switch {
		case g.run.Imported != nil:
			imported += g.rows
		case !g.later:
			p.Left += g.left()
		}
	}
	p.Planned = all.rows - imported + p.Left
	p.Done = all.countWords()
	if imported > 0 {
		p.Notices = []notice.Notice{notice.New(notice.PlanUnknown{Points: imported})}
	}
	return p
}

// urgent is what remains to be measured, and which runs did not complete.
func (l runList) urgent(left int) (facts []notice.Fact) {
	var running, open, short []int
	points := notice.OpenPoints{Left: left}
	for _, g := range l {
		switch imported := g.run.Imported != nil; {
		case imported && (g.end == nil || g.end.Outcome != result.Complete):
			short = append(short, g.number)
		case !imported && g.end == nil:
			running = append(running, g.number)
		}
		if g.open() {
			open = append(open, g.number)
			points.Failed += g.failed()
		}
	}
	if running != nil {
		facts = append(facts, notice.EndNotRecorded{Runs: l.some(running)})
	}
	if open != nil {
		command := resumeCommand(l[open[0]-1].run)
		facts = append(facts, notice.PointsOpen{Points: points, Runs: l.some(open), Command: command})
	}
	if short != nil {
		facts = append(facts, notice.ImportedUnfinished{Runs: l.some(short)})
	}
	return facts
}
