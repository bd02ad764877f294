package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/step"
	"busbar/post/steps"
	"busbar/post/steps/stepstest"
)

// ofStepRuns is the report of runs of training steps, and of collectives beside them.
func ofStepRuns(beside []*made, made ...stepstest.Run) *Report {
	var files []*result.StepFile
	var runs []*result.Run
	for _, m := range beside {
		runs = append(runs, m.run)
	}
	for _, m := range made {
		f := m.File()
		files, runs = append(files, f), append(runs, &f.Run)
	}
	b := newBuilder(runs, Options{Tool: "post, test", Made: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), Dir: "out"})
	for i, m := range beside {
		for _, r := range m.records {
			b.add(result.Row{Run: m.run, Record: r})
		}
		b.addFile(&result.File{Path: fmt.Sprintf("results/run %d.jsonl", i+1), Run: *m.run, Ranks: m.ranks, Points: len(m.records), End: m.end})
	}
	for i, f := range files {
		b.addFile(&result.File{Path: fmt.Sprintf("results/step %d.jsonl", i+1), Run: f.Run, Ranks: f.Ranks, End: f.End})
	}
	b.addStepRuns(steps.Gather(files))
	return b.report(analysed{Curves: b.curves.Curves()})
}

// severalSteps are runs of three backends, one rehearsed.
func severalSteps() []stepstest.Run {
	mpi, gloo, rehearsed := stepstest.Default(), stepstest.Default(), stepstest.Default()
	mpi.Groups = append(mpi.Groups, step.Point{Strategy: step.DDP, Type: coll.Float32, Progress: step.Poll, Compression: "8x:10ms"})
	gloo.Backend, gloo.Launch, gloo.Slower, gloo.Groups = "gloo", 1, 1.5, []step.Point{{Strategy: step.DDP, Type: coll.Float32, Progress: step.Thread}}
	rehearsed.Backend, rehearsed.Launch, rehearsed.Rehearsed, rehearsed.Groups = "nccl-rehearsal", 2, true, []step.Point{{Strategy: step.FSDP, Type: coll.BFloat16}}
	return []stepstest.Run{mpi, gloo, rehearsed}
}

func markdownOf(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdownOfSteps(t *testing.T) {
	golden.Text(t, "testdata/steps.md", markdownOf(t, ofStepRuns(nil, severalSteps()...)))
}

// TestStepsBesideCollectives: each has its sections, and counts for itself.
func TestStepsBesideCollectives(t *testing.T) {
	both := markdownOf(t, ofStepRuns([]*made{runOf(1, "mpi", coll.AllReduce)}, stepstest.Default()))
	alone := markdownOf(t, ofStepRuns(nil, stepstest.Default()))
	for _, section := range []string{"## Training step\n", "## Plan and done\n", "## Environment\n", "## Runs\n", "Efficiency of weak scaling"} {
		if !strings.Contains(both, section) || !strings.Contains(alone, section) {
			t.Errorf("no %q", section)
		}
	}
	for _, section := range []string{"## Findings\n", "algbw", "reaches"} {
		if !strings.Contains(both, section) || strings.Contains(alone, section) {
			t.Errorf("%q: beside %v, alone %v", section, strings.Contains(both, section), strings.Contains(alone, section))
		}
	}
	for text, want := range map[string]string{both: "15 points planned. 15 ok.", alone: "8 points planned. 8 ok."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(both, "records with a time stand as") {
		t.Error("points of steps are counted as records of curves")
	}
}

// Of steps whose ranks shared cores it is told which bucket is the best, so that nothing says that there is no such word; of collectives
// there is none.
func TestCrowdedSteps(t *testing.T) {
	shared := notice.Of(notice.Oversubscribed{Ranks: 4, Cores: 2, Host: "a"})
	crowded := stepstest.Default()
	crowded.Edit = func(f *result.StepFile) { f.Run.Warnings = shared }
	collective := runOf(1, "mpi", coll.AllReduce)
	collective.run.Warnings = shared
	const word, alone = "No verdict about speed", "for such a machine alone"
	for _, c := range []struct {
		name        string
		beside      []*made
		word, alone int
	}{{"steps", nil, 0, 3}, {"both", []*made{collective}, 1, 2}} {
		r := ofStepRuns(c.beside, crowded)
		said := []string{inWords(r.Banners[0])}
		for _, h := range r.Headlines {
			said = append(said, h.words())
		}
		text := strings.Join(append(said, r.Steps.Runs[0].About...), "\n")
		if strings.Count(text, word) != c.word || strings.Count(text, alone) < c.alone {
			t.Errorf("%s: %s", c.name, text)
		}
		if c.word == 0 && strings.Contains(markdownOf(t, r), word) {
			t.Errorf("%s: the page has %q", c.name, word)
		}
	}
}

// evilSteps is a run whose every text is one that a page or a table could trip over.
func evilSteps(name string) stepstest.Run {
	r := stepstest.Default()
	r.Edit = func(f *result.StepFile) {
		s := f.Run.Step
		s.Model, s.About, s.Computing, f.Run.Backend.Library, f.Run.Variant = name, name, name, name, name
		for i := range f.Records {
			one := &f.Records[i]
			one.Stop, one.Notes, one.Warnings, one.Check.Way = name, []string{name}, notice.Of(notice.Recorded{Text: name}), name
			one.Timeline.Ops[0].Name, one.Timeline.Segments[0].Name, one.Timeline.Segments[0].Work = name, name, name
		}
		f.Records[0].Status, f.Records[0].Reason, f.Records[0].Figures = result.Failed, name, nil
	}
	return r
}

func TestStepsEscape(t *testing.T) {
	text := markdownOf(t, ofStepRuns(nil, evilSteps(evil)))
	for i, line := range strings.Split(text, "\n") {
		if strings.ContainsAny(line, "\x1b\u202e") || strings.Contains(strings.ReplaceAll(line, `\<`, ""), "<img") {
			t.Errorf("line %d: %q", i+1, line)
		}
	}
}

// TestManySteps: what does not fit is said, and the best of each group are drawn before others.
func TestManySteps(t *testing.T) {
	big := stepstest.Default()
	big.Edit = func(f *result.StepFile) {
		for i := range f.Records {
			one := f.Records[i].Timeline
			for len(one.Segments) < 2000 {
				one.Segments = append(one.Segments, one.Segments...)
			}
		}
	}
	runs := []stepstest.Run{big}
	for i := range maxStepRuns {
		r := stepstest.Default()
		r.Launch = i + 1
		runs = append(runs, r)
	}
	r := ofStepRuns(nil, runs...)
	if len(r.LeftOut) != 2 || r.LeftOut[0] != (notice.ReportLeftOut{Shown: 50, Of: 51, What: notice.LeftStepRuns}) ||
		r.LeftOut[1].What != notice.LeftStepPlots {
		t.Errorf("left out: %+v", r.LeftOut)
	}
	if len(r.Steps.Runs) != maxStepRuns {
		t.Errorf("%d runs", len(r.Steps.Runs))
	}
	boxes := 0
	for _, run := range r.Steps.Runs {
		for _, g := range run.Groups {
			for _, p := range g.Points {
				if p.Lanes != nil {
					boxes += len(p.Lanes.Segments) + len(p.Lanes.Ops)
				}
			}
		}
	}
	if boxes > maxBoxes || boxes < maxBoxes/2 {
		t.Errorf("%d boxes", boxes)
	}
	for _, p := range r.Steps.Runs[0].Groups[0].Points {
		if p.Verdict == "best" && p.Lanes == nil {
			t.Error("the best is not drawn")
		}
	}
}

// TestWhyRoundsEnded: every word by which rank says why rounds ended is explained.
func TestWhyRoundsEnded(t *testing.T) {
	for _, why := range []string{stats.Precision.String(), stats.Budget.String(), stats.Fixed.String(), stats.Maximum.String(), "asked"} {
		if stepStops[why] == "" {
			t.Errorf("%q is not explained", why)
		}
	}
}

// A note of all points stands once, one of some names them.
func TestNotesOfSteps(t *testing.T) {
	g := StepGroup{Points: []StepPoint{{Bucket: "1 MiB", Notes: []string{"by a ring", "wrong data."}}, {Bucket: "5 MiB", Notes: []string{"by a ring"}}, {Bucket: "all", Notes: []string{"late", "by a ring", "wrong data."}}}}
	if got, want := g.notes(), []string{"By a ring.", "1 MiB, all: wrong data.", "all: late."}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
