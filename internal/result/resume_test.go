package result

import (
	"os"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
)

func TestResume(t *testing.T) {
	dir := t.TempDir()
	ok := func(c coll.Collective, change func(*Record)) Record {
		r := sampleRecord(sampleCase(t, c, 8), 1e-5)
		if change != nil {
			change(&r)
		}
		return r
	}
	other := func(id string, minute int, change func(*Run)) Run {
		r := runOf(id, minute)
		change(&r)
		return r
	}
	reduce, gather := ok(coll.AllReduce, nil), ok(coll.AllGather, nil)
	lines := func(run Run, records ...Record) []any { return append([]any{run}, numbered(records...)...) }
	files := []string{
		writeLines(t, dir, "z-oldest.jsonl", lines(runOf("a", 0), reduce, notOK(gather.Case, Timeout, "hang"))...),
		writeLines(t, dir, "b.jsonl", lines(runOf("b", 1, "a"), ok(coll.Broadcast, func(r *Record) { r.Cycle = 1 }),
			ok(coll.SendRecv, func(r *Record) { r.Mode = coll.Latency }))...),
		writeLines(t, dir, "library.jsonl", lines(other("c", 2, func(r *Run) { r.Backend.Version = "2.28.3" }), gather)...),
		writeLines(t, dir, "shape.jsonl", lines(other("d", 2, func(r *Run) { r.Nodes, r.RanksPerNode = 1, 4 }), gather)...),
		writeLines(t, dir, "device.jsonl", lines(other("e", 2, func(r *Run) { r.Device = "A100" }), gather)...),
		writeLines(t, dir, "world.jsonl", lines(other("f", 2, func(r *Run) { r.World = 2 }), gather)...),
		writeLines(t, dir, "rehearsed.jsonl", lines(other("g", 2, func(r *Run) { r.Rehearse = true }), gather)...),
		writeLines(t, dir, "foreign.jsonl", "{}\n"),
		writeLines(t, dir, "torn.jsonl", append(lines(other("h", 3, func(r *Run) { r.Nodes = 9 })), `{"kind":`)...),
	}
	past := ReadPast(files)
	if len(past.Problems) != 3 { // foreign, torn, and torn holds no points
		t.Errorf("problems: %v", past.Problems)
	}
	run := sampleRun()
	done, runs := past.Done(run.Key())
	if !slices.Equal(runs, []string{"a", "b"}) {
		t.Errorf("continues %v", runs)
	}
	latency := sampleCase(t, coll.SendRecv, 8)
	latency.Mode = coll.Latency
	for _, c := range []struct {
		point PointKey
		done  bool
	}{
		{Point("nccl", reduce.Case, 0), true},
		{Point("nccl", reduce.Case, 1), true},
		{Point("nccl", reduce.Case, 2), false},
		{Point("gloo", reduce.Case, 0), false},
		{Point("nccl", gather.Case, 0), false},
		{Point("nccl", sampleCase(t, coll.Broadcast, 8), 0), true},
		{Point("nccl", sampleCase(t, coll.SendRecv, 8), 0), false},
		{Point("nccl", latency, 0), true},
		{Point("nccl", sampleCase(t, coll.AllReduce, 16), 0), false},
	} {
		if done.Has(c.point) != c.done {
			t.Errorf("%v cycle %d of %s: done is %v", c.point.Case, c.point.Cycle, c.point.Backend, !c.done)
		}
	}
	if len(done) != 3 {
		t.Errorf("%d points are done", len(done))
	}
	run.Backend.Name = "gloo"
	if done, runs := past.Done(run.Key()); len(done) != 0 || len(runs) != 0 {
		t.Errorf("another backend: %v %v", done, runs)
	}
}

func TestUnfit(t *testing.T) {
	dir := t.TempDir()
	unfit := func(id string, minute int, change func(*Run)) string {
		r := runOf(id, minute)
		r.Nodes, r.RanksPerNode, r.Device = 0, 0, ""
		if change != nil {
			change(&r)
		}
		record := notOK(sampleCase(t, coll.AllReduce, 8), Skipped, "this launch has 2 ranks")
		return writeLines(t, dir, id+".jsonl", append([]any{r}, numbered(record)...)...)
	}
	past := ReadPast([]string{
		unfit("late", 9, nil), unfit("early", 1, nil), unfit("world", 2, func(r *Run) { r.World = 8 }),
		unfit("gloo", 2, func(r *Run) {
			r.Backend.Name = "gloo"
		}),
		unfit("real", 2, func(r *Run) { r.Nodes = 1 }),
	})
	if got := past.Unfit("nccl", 4); !slices.Equal(got, []string{"early", "late"}) {
		t.Errorf("a world of 4 did not fit in %v", got)
	}
	if got := past.Unfit("nccl", 16); len(got) != 0 {
		t.Errorf("a world of 16 did not fit in %v", got)
	}
}

// TestStepsAreResumed: points of training steps that are ok count for a run with the same key, rounds without a record
// do not, what another tool measured does not, and runs of collectives and of steps do not continue each other.
func TestStepsAreResumed(t *testing.T) {
	dir := t.TempDir()
	run := sampleSteps()
	run.Step.Interval = 2e-4
	w, _ := newWriter(t, dir, run)
	appendGroup(t, w, &run, 1, 6)
	if err := w.AppendRound(&StepRound{N: 3, Number: 1, Round: sampleRound(0)}); err != nil {
		t.Fatal(err)
	}
	failed := StepRecord{N: 4, Point: run.Step.Points[3], Status: Failed, Why: Because(notice.RankFailed{Problem: "x"})}
	if err := w.Append(&failed); err != nil {
		t.Fatal(err)
	}
	collectives := sampleRun()
	collectives.ID = "run-2"
	c, _ := newWriter(t, dir, collectives)
	sampleAppend(t, c, 1)
	files, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(w.Path())
	if err != nil {
		t.Fatal(err)
	}
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
		"model": func(s *Step) { s.Model = "uniform" }, "source": func(s *Step) {
			s.Source = "layers: []"
		}, "first bucket": func(s *Step) { s.First++ },
		"computing": func(s *Step) {
			s.Computing = "2 threads of FMA"
		}, "scale": func(s *Step) { s.Backward *= 2 }, "interval": func(s *Step) { s.Interval = 1e-3 },
	} {
		other := *run.Step
		change(&other)
		changed := run
		changed.Step = &other
		if done, runs := past.Done(changed.Key()); len(done) > 0 || len(runs) > 0 {
			t.Errorf("another %s is continued: %v", what, done)
		}
	}
	fewer := *run.Step
	fewer.Points = fewer.Points[1:2]
	changed := run
	changed.Step = &fewer
	if done, _ := past.Done(changed.Key()); !done.Has(StepPoint("nccl", run.Step.Points[1])) {
		t.Error("a run of fewer points does not continue")
	}
}
