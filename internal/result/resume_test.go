package result

import (
	"slices"
	"testing"

	"busbar/internal/coll"
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
		writeLines(t, dir, "b.jsonl", lines(runOf("b", 1, "a"), ok(coll.Broadcast, func(r *Record) { r.Cycle = 1 }), ok(coll.SendRecv, func(r *Record) { r.Mode = coll.Latency }))...),
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
		if done[c.point] != c.done {
			t.Errorf("%v cycle %d of %s: done is %v", c.point.Case, c.point.Cycle, c.point.Backend, done[c.point])
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
		unfit("late", 9, nil), unfit("early", 1, nil), unfit("world", 2, func(r *Run) { r.World = 8 }), unfit("gloo", 2, func(r *Run) { r.Backend.Name = "gloo" }),
		unfit("real", 2, func(r *Run) { r.Nodes = 1 }),
	})
	if got := past.Unfit("nccl", 4); !slices.Equal(got, []string{"early", "late"}) {
		t.Errorf("a world of 4 did not fit in %v", got)
	}
	if got := past.Unfit("nccl", 16); len(got) != 0 {
		t.Errorf("a world of 16 did not fit in %v", got)
	}
}
