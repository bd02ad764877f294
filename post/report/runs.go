package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/analysis"
)

// statuses are in the order in which they are told.
var statuses = []result.Status{result.OK, result.Unfinished, result.Skipped, result.Unsupported, result.OOM, result.Timeout, result.Wrong, result.Failed}

// maxRuns is how many runs are listed one by one.
const maxRuns = 500

// addRuns lists the runs, those first whose end is bad where there are too many.
func (b *builder) addRuns(r *Report, links []int) {
	names := b.runs.names()
	listed := slices.Clone(b.runs)
	if len(listed) > maxRuns {
		slices.SortStableFunc(listed, func(x, y *gathered) int { return cmp.Compare(badness(y), badness(x)) })
		r.LeftOut = append(r.LeftOut, notice.ReportLeftOut{Shown: maxRuns, Of: len(listed), What: notice.LeftRuns})
		listed = listed[:maxRuns]
		slices.SortFunc(listed, func(x, y *gathered) int { return cmp.Compare(x.number, y.number) })
	}
	for _, g := range listed {
		run := g.run
		one := Run{
			Number: g.number, ID: run.ID, Who: names[analysis.ContenderOf(run)], World: run.World, Nodes: run.Nodes, Hosts: g.layout.hostList(), Sweep: run.Sweep.Name,
			Planned: planned(run), Counts: countsOf(g), Left: g.left(), Outcome: outcomeOf(g), Command: shellWords(run.Command), Warnings: run.Warnings.Texts(),
			Marks: marksOf(run),
		}
		if !run.Start.IsZero() {
			one.Start = run.Start.UTC().Format(time.RFC3339)
		}
		if g.end != nil {
			one.Reason = g.end.Reason
		}
		for _, id := range run.Resumes {
			if before := b.byRun[id]; before != nil {
				one.Resumes = append(one.Resumes, before.number)
			}
		}
		if g.open() {
			one.Resume = resumeCommand(run)
		}
		for _, f := range g.files {
			if links[f] >= 0 {
				one.Files = append(one.Files, links[f])
			}
		}
		r.Runs = append(r.Runs, one)
	}
}

// names are those of all contenders that have a run.
func (l runList) names() map[analysis.Contender]string {
	var all []analysis.Contender
	seen := map[analysis.Contender]bool{}
	for _, g := range l {
		if who := analysis.ContenderOf(g.run); !seen[who] {
			seen[who] = true
			all = append(all, who)
		}
	}
	return analysis.Names(all)
}

// badness is how much a run asks to be looked at.
func badness(g *gathered) int {
	switch {
	case g.counts[result.Wrong] > 0:
		return 3
	case g.open():
		return 2
	case g.end == nil || g.end.Outcome != result.Complete:
		return 1
	}
	return 0
}

func countsOf(g *gathered) (counts []Count) {
	known := 0
	for _, s := range statuses {
		if n := g.counts[s]; n > 0 {
			counts = append(counts, Count{string(s), n})
			known += n
		}
	}
	if n := g.rows - known; n > 0 {
		counts = append(counts, Count{"other", n})
	}
	if n := g.records - g.rows; n > 0 {
		counts = append(counts, Count{"counted in another run or file", n})
	}
	return counts
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

// open says whether the run can be gone on with: it was not finished, or points of it failed, and no run here continues it.
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

// resumeCommand is the command that goes on with a run; the launcher before it is not known.
func resumeCommand(run *result.Run) string {
	if len(run.Command) == 0 {
		return ""
	}
	command := shellWords(run.Command)
	if !slices.Contains(run.Command, "--resume") {
		command += " --resume"
	}
	return command
}

// shellWords writes a command as it can be typed.
func shellWords(command []string) string {
	words := make([]string, len(command))
	for i, w := range command {
		words[i] = w
		if w == "" || strings.ContainsFunc(w, unsafeInShell) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func unsafeInShell(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_./,:=+@%^", c)
}

// plan sums up what was planned and what was done. A point that several runs of a chain tried was planned once.
func (l runList) plan() (p Plan) {
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
	all.records = all.rows
	p.Counts = countsOf(all)
	if imported > 0 {
		p.Notices = []notice.Notice{notice.New(notice.PlanUnknown{Points: imported})}
	}
	return p
}

// mostShort is how many imported runs without a good end are listed.
const mostShort = 3

// urgent is what remains to be measured, and which runs have no good end.
func (l runList) urgent(left int) (facts []notice.Fact) {
	var running, open []int
	points := notice.OpenPoints{Left: left}
	var short []notice.RunEnd
	for _, g := range l {
		if g.run.Imported != nil {
			if g.end == nil || g.end.Outcome != result.Complete {
				short = append(short, endOf(g))
			}
			continue
		}
		if g.end == nil {
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
	if n := len(short); n > 0 {
		listed := min(n, mostShort)
		facts = append(facts, notice.ImportedUnfinished{Runs: n, Ends: short[:listed], More: n - listed})
	}
	return facts
}

func endOf(g *gathered) notice.RunEnd {
	if g.end == nil {
		return notice.RunEnd{Run: g.number}
	}
	return notice.RunEnd{Run: g.number, Outcome: string(g.end.Outcome), Cause: g.end.Cause}
}
