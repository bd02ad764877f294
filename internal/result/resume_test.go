package result

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"

	"github.com/shoenig/test/must"
)

// TestResume: of runs with the same key, older first, points with status ok are done.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	files := []string{
		written(t, dir, "z.jsonl", "a reduce gather:timeout reduce@2"),
		written(t, dir, "b.jsonl", "b<a gather@3"),
		written(t, dir, "gloo.jsonl", "c.gloo gather"),
		writeLines(t, dir, "foreign.jsonl", "{}\n"),
	}
	for i, change := range []func(*Run){
		func(r *Run) { r.Backend.Version = "2.28.3" }, func(r *Run) { r.Nodes, r.RanksPerNode = 1, 4 },
		func(r *Run) { r.Device = "A100" }, func(r *Run) { r.World = 2 }, func(r *Run) { r.Rehearse = true },
		func(r *Run) { r.Method.Graph = 20 }, func(r *Run) { r.Method.Aggregate = 4 },
	} {
		run := runOf(fmt.Sprint("other", i), 2)
		change(&run)
		lines := numbered(sampleRecord(sampleCase(t, coll.AllGather, 8), 1e-5))
		files = append(files, writeLines(t, dir, run.ID+".jsonl", append([]any{run}, lines...)...))
	}
	past := ReadPast(files)
	if len(past.Problems) != 1 || past.Problems[0].Code() != "not-a-results-file" {
		t.Errorf("problems: %v", past.Problems)
	}
	run := sampleRun()
	done, runs := past.Done(run.Key())
	reduce, gather := sampleCase(t, coll.AllReduce, 8), sampleCase(t, coll.AllGather, 8)
	for _, point := range []PointKey{Point("nccl", reduce, 0), Point("nccl", reduce, 2), Point("nccl", gather, 3)} {
		if !done.Has(point) {
			t.Errorf("%v in cycle %d is not done", point.Case, point.Cycle)
		}
	}
	if len(done) != 3 || !slices.Equal(runs, []string{"a", "b"}) {
		t.Errorf("%d points are done, in %v", len(done), runs)
	}
}

// TestResumeSteps: step points with status ok count for a run with the same key; rounds without a record and imported
// points do not; runs of collectives and of steps do not continue each other.
func TestResumeSteps(t *testing.T) {
	dir := t.TempDir()
	run := sampleSteps()
	run.Step.Interval = 2e-4
	w, _ := newWriter(t, dir, run)
	appendGroup(t, w, &run, 1, 6)
	must.NoError(t, w.AppendRound(&StepRound{N: 3, Number: 1, Round: sampleRound(0)}))
	failed := StepRecord{N: 4, Point: run.Step.Points[3], Status: Failed, Why: Because(notice.RankFailed{Problem: "x"})}
	must.NoError(t, w.Append(&failed))
	collectives := sampleRun()
	collectives.ID = "run-2"
	c, _ := newWriter(t, dir, collectives)
	sampleAppend(t, c, 1)
	files, err := Find(dir)
	must.NoError(t, err)
	text, err := os.ReadFile(w.Path())
	must.NoError(t, err)
	imported := writeLines(t, dir, "imported.jsonl", strings.Replace(
		strings.ReplaceAll(string(text), "run-1", "run-0"), `"step":{`, `"imported":{},"step":{`, 1))
	torn := writeLines(t, dir, "torn.jsonl", string(text)+`{"kind":"rou`)
	past := ReadPast(append(files, imported, torn))
	if len(past.Problems) != 1 {
		t.Errorf("problems %v", past.Problems)
	}
	done, runs := past.Done(run.Key())
	if len(done) != 2 || !done.Has(StepPoint("nccl", run.Step.Points[0])) ||
		!done.Has(StepPoint("nccl", run.Step.Points[1])) || !slices.Equal(runs, []string{"run-1"}) {
		t.Errorf("done %v, runs %v", done, runs)
	}
	if cases, runs := past.Done(collectives.Key()); len(cases) != 1 || !slices.Equal(runs, []string{"run-2"}) {
		t.Errorf("of collectives: %v, runs %v", cases, runs)
	}
	for what, change := range map[string]func(s *Step){
		"model": func(s *Step) { s.Model = "uniform" }, "source": func(s *Step) { s.Source = "layers: []" },
		"first bucket": func(s *Step) { s.First++ }, "computing": func(s *Step) { s.Computing = "2 threads of FMA" },
		"scale": func(s *Step) { s.Backward *= 2 }, "interval": func(s *Step) { s.Interval = 1e-3 },
	} {
		other := *run.Step
		if change(&other); other.key() == run.Step.key() {
			t.Errorf("another %s is continued", what)
		}
	}
	fewer := *run.Step
	if fewer.Points = fewer.Points[1:2]; fewer.key() != run.Step.key() {
		t.Error("a run of fewer points does not continue")
	}
}
