package steps_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/post/steps"
	"busbar/post/steps/stepstest"

	"github.com/shoenig/test/must"
)

// everything is a run with strategies, types and compression.
func everything() stepstest.Run {
	r := stepstest.Default()
	r.Groups = append(r.Groups,
		step.Point{Strategy: step.DDP, Type: coll.BFloat16, Progress: step.Poll},
		step.Point{Strategy: step.DDP, Type: coll.Float32, Progress: step.Poll,
			Compression: "powersgd-4:10ms"},
		step.Point{Strategy: step.FSDP, Type: coll.Float32, Progress: step.Poll})
	return r
}

// findingsOf is all findings of runs.
func findingsOf(files ...*result.StepFile) string {
	var b strings.Builder
	for _, r := range steps.Gather(files) {
		fmt.Fprintf(&b, "# %s, %s, %d files, %d left\n", r.Library(), r.World(), len(r.Files), r.Left)
		for _, g := range r.Groups {
			fmt.Fprintf(&b, "## %s\n", g.Title())
			for _, p := range g.Points {
				fmt.Fprintf(&b, "%s: %s, verdict %d\n", steps.Bucket(p.Bucket), p.Status, g.Compared(p).Verdict)
				for _, why := range p.Reasons() {
					fmt.Fprintf(&b, "  %s\n", why)
				}
			}
			for _, n := range g.Findings() {
				fmt.Fprintf(&b, "- %s %s: %s\n", n.Severity, n.Code(), notice.Paragraph(n.Fact))
			}
		}
		for _, n := range r.Findings() {
			fmt.Fprintf(&b, "- %s %s: %s\n", n.Severity, n.Code(), notice.Paragraph(n.Fact))
		}
	}
	return b.String()
}

// files are runs of each kind, by the name of their golden file.
func files() map[string][]*result.StepFile {
	cut, failed := stepstest.Default(), stepstest.Default()
	cut.Edit = stepstest.CutOff(6, 12)
	failed.Groups = failed.Groups[:1]
	failed.Edit = func(f *result.StepFile) {
		for i := range f.Records {
			f.Records[i].Status, f.Records[i].Reason, f.Records[i].Figures = result.Failed, "MPI_Wait: it failed", nil
		}
		f.Records[1].Status, f.Records[1].Reason, f.Records[1].Check = result.Wrong, "",
			result.Check{Result: "wrong", Wrong: 3, First: &result.Wrong1{Rank: 1, Host: "node17", Index: 7, Want: "3",
				Got: "-1"}}
	}
	more := stepstest.Default()
	more.Launch = 1
	more.Edit = func(f *result.StepFile) {
		f.Run.Resumes = []string{"step-mpi-4-0"}
		f.Run.Step.Points, f.Rounds, f.Records = f.Run.Step.Points[5:], f.Rounds[5:], f.Records[5:]
		for i := range f.Records {
			f.Records[i].N = i + 1
		}
	}
	return map[string][]*result.StepFile{
		"everything": {everything().File()}, "cut off": {cut.File()}, "failed": {failed.File()},
		"resumed": {more.File(), cut.File()},
	}
}

// read is a file as it is read from the disk.
func read(t *testing.T, f *result.StepFile) *result.StepFile {
	t.Helper()
	back, err := result.ReadSteps(stepstest.Save(t, t.TempDir(), f))
	must.NoError(t, err)
	return back
}

func TestRunFacts(t *testing.T) {
	for name, made := range files() {
		var all []*result.StepFile
		for _, f := range made {
			all = append(all, read(t, f))
		}
		golden.Text(t, filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txt"), findingsOf(all...))
	}
}
