package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/post/steps"
)

const (
	stepTimesHead   = "   bucket  ops  compute   ±%     comm   ±%  in turn   ±%  overlap   ±%"
	stepFiguresHead = "   bucket   exposed  %step  %wall %intvl %bound   comp   comm  speed  %weak"
)

// showSteps writes a run of training steps from its file, behind an empty line where another stands before it. The error is that there
// is nothing to show; it is among the problems.
func showSteps(w io.Writer, path string, ncclTests, behind bool) ([]result.Problem, error) {
	f, err := result.ReadSteps(path)
	switch {
	case err != nil:
		return []result.Problem{problemOf(path, err)}, err
	case ncclTests:
		err = errors.New("measured training steps, for which nccl-tests' layout has no place")
		return []result.Problem{problemOf(path, err)}, err
	}
	if behind {
		fmt.Fprintln(w)
	}
	writeStepRun(w, f)
	return f.Problems, nil
}

// writeStepRun writes a run of training steps: what it was, the tables of each group of points with what they tell, footnotes.
func writeStepRun(w io.Writer, f *result.StepFile) {
	notes := &footnotes{}
	writeStepHead(w, f, notes)
	for _, run := range steps.Gather([]*result.StepFile{f}) {
		for _, g := range run.Groups {
			writeStepGroup(w, g, notes)
		}
		if says := run.Says(); len(says) > 0 {
			fmt.Fprintln(w, "\nall groups")
			writeSentences(w, says)
		}
	}
	notes.write(w)
}

// writeStepHead says what was run, where, and how it ended.
func writeStepHead(w io.Writer, f *result.StepFile, notes *footnotes) {
	r := &f.Run
	line := beginHead(w, f.Path, r.Rehearse)
	line(steps.About(r.Step))
	line(fmt.Sprintf("%s (%s), %s on %s of %s", r.Backend.Name, r.Backend.Library, units.Count(r.World, "rank"), units.Count(r.Nodes, "node"), r.Device))
	line(fmt.Sprintf("host %s, %s, %s", r.Machine.Host, r.Start.UTC().Format("2006-01-02 15:04:05 UTC"), r.Tool))
	line(steps.How(r.Step))
	counts := map[result.Status]int{}
	for i := range f.Records {
		counts[f.Records[i].Status]++
	}
	line(endWords(f.End, counts) + " " + notes.marks(r.Warnings.Texts()))
}

func writeStepGroup(w io.Writer, g *steps.Group, notes *footnotes) {
	fmt.Fprintf(w, "\n%s\n", printable(g.Title()))
	timed := false
	fmt.Fprintln(w, stepTimesHead)
	for _, p := range g.Points {
		bucket := fmt.Sprintf("%9s", steps.Bucket(p.Bucket))
		if !p.Timed() {
			writeStatus(w, bucket, p.Reasons())
			continue
		}
		timed = true
		t := p.Figures
		row := bucket + fmt.Sprintf(" %4s", ifKnown(len(p.Ops) > 0, fmt.Sprint(len(p.Ops))))
		for _, f := range []step.Time{t.Compute, t.Comm, t.Sequential, t.Overlapped} {
			row += fmt.Sprintf(" %8s %4s", units.Duration(f.Value), halfWidth(f.Figure))
		}
		fmt.Fprintf(w, "%s  %s\n", row, shortMark(g, p))
	}
	if timed {
		writeStepFigures(w, g, notes)
	}
	writeSentences(w, g.Says())
}

func writeStepFigures(w io.Writer, g *steps.Group, notes *footnotes) {
	fmt.Fprintf(w, "%s\n", stepFiguresHead)
	for _, p := range g.Points {
		if !p.Timed() {
			continue
		}
		f := p.Figures
		row := fmt.Sprintf("%9s %9s %6s %6s %6s %6s %6s %6s %6s %6s", steps.Bucket(p.Bucket), steps.Duration(f.Exposed.Value), hundredth(&step.Figure{Value: f.Share()}),
			hundredth(f.Overlap), hundredth(f.ByInterval), hundredth(f.Bound), factor(f.SlowerComp), factor(f.SlowerComm), factor(f.SpeedUp), hundredth(f.Efficiency))
		fmt.Fprintln(w, strings.TrimRight(row+" "+notes.marks(footnotesOf(p)), " "))
	}
}

// footnotesOf is what a point is to be read with.
func footnotesOf(p *steps.Point) (all []string) {
	all = append(all, p.Reasons()...)
	all = append(all, p.Notes...)
	return append(all, p.Warnings.Texts()...)
}

// halfWidth is half the interval in percent of the time; "-" where there is none.
func halfWidth(f step.Figure) string {
	if f.Hi <= f.Lo || f.Value <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 50*(f.Hi-f.Lo)/f.Value)
}

func hundredth(f *step.Figure) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*f.Value)
}

func factor(f *step.Figure) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", f.Value)
}

// shortMark is how a point stands to the best, in a word that fits the table.
func shortMark(g *steps.Group, p *steps.Point) string {
	switch s := g.Compared(p); s.Verdict {
	case step.Best:
		return "best"
	case step.Least:
		return "least"
	case step.NoDifference:
		return "="
	case step.Slower:
		return "+" + step.Percent(s.Slower.Value)
	case step.TooFewRounds:
		return "?"
	}
	return ""
}

// writeStatus writes why there are no figures over as many lines as it needs.
func writeStatus(w io.Writer, name string, reasons []string) {
	for _, reason := range reasons {
		for _, line := range wrap(reason, 80-len(name)-2) {
			fmt.Fprintf(w, "%s  %s\n", name, line)
			name = strings.Repeat(" ", len(name))
		}
	}
}

func writeSentences(w io.Writer, all []steps.Sentence) {
	for _, s := range all {
		hanging(w, "- ", s.Says)
	}
}
