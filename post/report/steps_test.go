package report

import (
	"fmt"
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

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
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
	b.addMade(beside)
	for i, f := range files {
		b.addFile(&result.File{Path: fmt.Sprintf("results/step %d.jsonl", i+1), Run: f.Run, Ranks: f.Ranks, End: f.End})
	}
	b.addStepRuns(steps.Gather(files))
	return b.report(analysed{Curves: b.curves.Curves()})
}

// severalSteps are runs of three backends, one rehearsed.
func severalSteps() []stepstest.Run {
	mpi, gloo, rehearsed := stepstest.Default(), stepstest.Default(), stepstest.Default()
	mpi.Groups = append(mpi.Groups, step.Point{Strategy: step.DDP, Type: coll.Float32, Progress: step.Poll,
		Compression: "8x:10ms"})
	gloo.Backend, gloo.Launch, gloo.Slower, gloo.Groups = "gloo", 1, 1.5, []step.Point{{Strategy: step.DDP,
		Type: coll.Float32, Progress: step.Thread}}
	rehearsed.Backend, rehearsed.Launch, rehearsed.Rehearsed, rehearsed.Groups = "nccl-rehearsal", 2, true,
		[]step.Point{
			{Strategy: step.FSDP, Type: coll.BFloat16},
		}
	return []stepstest.Run{mpi, gloo, rehearsed}
}

func markdownOf(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	must.NoError(t, r.WriteMarkdown(&b))
	return b.String()
}

func TestMarkdownOfSteps(t *testing.T) {
	golden.Text(t, "testdata/steps.md", markdownOf(t, ofStepRuns(nil, severalSteps()...)))
}

// TestStepsBesideCollectives: each has its sections, and counts for itself.
func TestStepsBesideCollectives(t *testing.T) {
	both := markdownOf(t, ofStepRuns([]*made{runOf(1, "mpi", coll.AllReduce)}, stepstest.Default()))
	alone := markdownOf(t, ofStepRuns(nil, stepstest.Default()))
	for _, section := range []string{
		"## Training step\n", "## Planned and measured\n", "<summary>Environment<", "## Runs\n",
	} {
		if !strings.Contains(both, section) || !strings.Contains(alone, section) {
			t.Errorf("no %q", section)
		}
	}
	for _, section := range []string{"## Findings\n", "algbw", "reaches"} {
		if !strings.Contains(both, section) || strings.Contains(alone, section) {
			t.Errorf("%q is not only in the report about both", section)
		}
	}
	for text, want := range map[string]string{both: "15 points planned. 15 ok.", alone: "8 points planned. 8 ok."} {
		test.StrContains(t, text, want)
	}
	test.StrNotContains(t, both, "records with a time stand as")
}

func TestOversubscribedSteps(t *testing.T) {
	shared := notice.Of(notice.Oversubscribed{Ranks: 4, Cores: 2, Host: "a"})
	crowded := stepstest.Default()
	crowded.Edit = func(f *result.StepFile) { f.Run.Warnings = shared }
	collective := runOf(1, "mpi", coll.AllReduce)
	collective.run.Warnings = shared
	for effect, beside := range map[notice.CrowdedVerdict][]*made{
		notice.ThisHostAlone: nil, notice.NoSpeedOrSteps: {collective},
	} {
		r := ofStepRuns(beside, crowded)
		banner, is := r.Banners[0].Fact.(notice.OversubscribedRuns)
		if !is || banner.Effect != effect {
			t.Errorf("%+v, want effect %v", r.Banners[0], effect)
		}
		for _, h := range r.Headlines {
			if h.Severity != notice.Info {
				t.Errorf("a headline is a %s: %+v", h.Severity, h)
			}
		}
	}
}

func TestManyStepRuns(t *testing.T) {
	var runs []stepstest.Run
	for i := range headedStepRuns + 2 {
		r := stepstest.Default()
		r.Launch = i + 1
		runs = append(runs, r)
	}
	r := ofStepRuns(nil, runs...)
	last := r.Headlines[len(r.Headlines)-1]
	if want := notice.New(notice.MoreStepRuns{Runs: 2}); !want.Equal(last.Notice) {
		t.Errorf("the last headline is %+v", last)
	}
}

func TestEndOfRoundsIsExplained(t *testing.T) {
	for _, why := range []string{
		stats.Precision.String(), stats.Budget.String(), stats.Fixed.String(), stats.Maximum.String(), "asked",
	} {
		if stopTexts[why] == "" {
			t.Errorf("%q is not explained", why)
		}
	}
}
